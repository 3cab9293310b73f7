import { messageUrl } from '../../slack/text.ts';
import type { FeatureContext } from '../feature.ts';
import { canSee, type Viewer } from '../visibility.ts';
import type { ExportRun } from './record.ts';
import { cardKey } from './view.ts';

/** Returns the address of a run's card, for people who can open it; undefined if it is unknown. */
export async function cardPermalink(
  run: ExportRun,
  viewer: Viewer,
  { outbox, isPublic }: Pick<FeatureContext, 'outbox' | 'isPublic'>,
  workspaceUrl: string | undefined,
): Promise<string | undefined> {
  if (workspaceUrl === undefined || !(await canSee(run, viewer, isPublic))) return undefined;
  const card = await outbox.deliveryState(cardKey(run));
  return card.kind === 'shown' ? messageUrl(workspaceUrl, card) : undefined;
}
