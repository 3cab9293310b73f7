import type { ExportRun } from '../../jobs/export/record.ts';
import { cardKey } from '../../jobs/export/view.ts';
import { maySee } from '../../jobs/may-see.ts';
import { messageAddress } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../command.ts';

/** The address of a run's card, for those who can open it; nothing while it has none. */
export async function threadOf(
  run: ExportRun,
  caller: Pick<Caller, 'user' | 'channel'>,
  { delivery, isPublic, workspaceUrl }: Pick<CommandTools, 'delivery' | 'isPublic' | 'workspaceUrl'>,
): Promise<string | undefined> {
  if (!(await maySee(run, caller, isPublic))) return undefined;
  const card = await delivery(cardKey(run)).catch(() => undefined);
  if (card?.kind !== 'shown') return undefined;
  return messageAddress(workspaceUrl, card);
}
