import { messageUrl } from '../../slack/text.ts';
import type { DeliveryState } from '../../store/messages.ts';
import { canSee, type IsPublic, type Viewer } from '../visibility.ts';
import type { ExportRun } from './record.ts';
import { cardKey } from './view.ts';

export interface PermalinkParts {
  /** How far a message has got. */
  deliveryState: (messageKey: string) => Promise<DeliveryState>;
  isPublic: IsPublic;
  /** The workspace's address, with a slash at its end; nothing while Slack has not said. */
  workspaceUrl: string | undefined;
}

/** Returns the address of a run's card, for those who can open it; nothing while none is known. */
export async function cardPermalink(
  run: ExportRun,
  viewer: Viewer,
  { deliveryState, isPublic, workspaceUrl }: PermalinkParts,
): Promise<string | undefined> {
  if (workspaceUrl === undefined || !(await canSee(run, viewer, isPublic))) return undefined;
  const card = await deliveryState(cardKey(run)).catch(() => undefined);
  return card?.kind === 'shown' ? messageUrl(workspaceUrl, card) : undefined;
}
