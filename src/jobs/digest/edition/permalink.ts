import type { Outbox } from '../../../slack/outbox.ts';
import { messageUrl } from '../../../slack/text.ts';
import { type EditionRun, rootKey } from './record.ts';

/** Returns the address of a digest's message; undefined while it is not posted. */
export async function permalinkOf(
  edition: EditionRun,
  outbox: Pick<Outbox, 'deliveryState'>,
  workspaceUrl: string | undefined,
): Promise<string | undefined> {
  const root = await outbox.deliveryState(rootKey(edition));
  return root.kind === 'shown' && workspaceUrl !== undefined ? messageUrl(workspaceUrl, root) : undefined;
}
