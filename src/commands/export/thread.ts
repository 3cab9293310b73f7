import type { ExportRun } from '../../jobs/export/record.ts';
import { cardKey } from '../../jobs/export/view.ts';
import { canSee } from '../../jobs/may-see.ts';
import { messageUrl } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../command.ts';

/** The address of a run's card, for those who can open it; nothing while it has none. */
export async function cardPermalink(
  run: ExportRun,
  caller: Pick<Caller, 'user' | 'channel'>,
  { delivery, isPublic, workspaceUrl }: Pick<CommandTools, 'delivery' | 'isPublic' | 'workspaceUrl'>,
): Promise<string | undefined> {
  if (!(await canSee(run, caller, isPublic))) return undefined;
  const card = await delivery(cardKey(run)).catch(() => undefined);
  if (card?.kind !== 'shown') return undefined;
  return messageUrl(workspaceUrl, card);
}
