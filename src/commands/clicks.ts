import { personName } from '../jobs/wording-view.ts';
import { type Message, message } from '../slack/blocks.ts';

/** Answers a click that cannot come from a message that the person can read. `what` is an export or a thread. */
export const notVisibleMessage = (what: string) =>
  message([[`This ${what} is somebody else's, in a conversation that you can't see. Ask them.`]]);

const alreadyHandled = message([['Already handled: see the latest message in this thread.']]);

/**
 * Returns the reply to a click after another one: undefined for the person who clicked first, the first click's effect
 * for others. Without `first`, no click handled it.
 */
export function handledMessage(
  first: { id: string; name: string; did: string } | undefined,
  clickerId: string,
): Message | undefined {
  if (first === undefined) return alreadyHandled;
  return first.id === clickerId ? undefined : message([[`${personName(first.name)} already ${first.did}.`]]);
}

/** Maximum tries of a click on a record that changes concurrently, as a watched one does. */
const MAX_ATTEMPTS = 5;

/** Returns the result of `attempt`, repeated if the record changed since it was read. `what` is an export or a link. */
export async function retryStale<T>(what: string, attempt: () => Promise<T | 'stale'>): Promise<T | Message> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    const result = await attempt();
    if (result !== 'stale') return result;
  }
  return message([[`This ${what} is changing too fast right now. Click again.`]]);
}
