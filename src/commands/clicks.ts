import { personName } from '../jobs/wording-view.ts';
import { type Message, message } from '../slack/blocks.ts';

/** To somebody whose click cannot come from a message that they can read. `what` is an export or a thread. */
export const notVisibleMessage = (what: string) =>
  message([[`This ${what} is somebody else's, in a conversation that you can't see. Ask them.`]]);

const alreadyHandled = message([['Already handled: see the latest message in this thread.']]);

/**
 * Returns what to say to a click that came after another one: whoever clicked twice knows, everybody else sees what
 * the first one did. Without `first` nobody's click handled it.
 */
export function handledMessage(
  first: { id: string; name: string; did: string } | undefined,
  clickerId: string,
): Message | undefined {
  if (first === undefined) return alreadyHandled;
  return first.id === clickerId ? undefined : message([[`${personName(first.name)} already ${first.did}.`]]);
}

/** How often a click is tried on a record that changes under it, as one does that is being watched. */
const MAX_ATTEMPTS = 5;

/** Returns what `attempt` does: again while the record changed since it was read. `what` is an export or a link. */
export async function retryStale<T>(what: string, attempt: () => Promise<T | 'stale'>): Promise<T | Message> {
  for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
    const result = await attempt();
    if (result !== 'stale') return result;
  }
  return message([[`This ${what} is changing too fast right now. Click again.`]]);
}
