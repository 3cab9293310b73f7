import { Later } from '../../runtime/later.ts';
import type { JobContext } from '../engine/context.ts';

const POST_MS = 200;

/**
 * Returns the state of a run's card; throws `Later` while it is on its way. The card comes first: if it cannot be posted,
 * nothing starts. `elsewhere`: the app cannot post in the conversation, but can write to the person.
 */
export async function awaitCard(
  run: { asked: { joinable: boolean }; inDirectMessage: boolean; sinceMs: number },
  key: string,
  context: Pick<JobContext, 'outbox' | 'now'>,
) {
  const delivery = await context.outbox.deliveryState(key);
  if (delivery.kind === 'waiting') {
    const { dueInMs } = delivery;
    throw new Later(dueInMs ? dueInMs + POST_MS : deliveryCheckMs(run, context));
  }
  if (delivery.kind === 'refused' && !run.asked.joinable && !run.inDirectMessage)
    return { kind: 'elsewhere' as const };
  return delivery;
}

/** Returns the pause before the next check of a message that is pending since `sinceMs`. */
export const deliveryCheckMs = (
  { sinceMs }: { sinceMs: number },
  { now }: Pick<JobContext, 'now'>,
  longestMs = 2000,
) => Math.min(Math.max((now() - sinceMs) / 2, POST_MS), longestMs);
