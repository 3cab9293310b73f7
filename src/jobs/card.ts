import type { Message } from '../slack/blocks.ts';
import type { RunBase } from '../store/runs.ts';
import type { JobContext } from './context.ts';

/** What has become of a card. `elsewhere`: the app cannot be where it was asked for, but can write to the person. */
type CardState =
  | { kind: 'shown'; channel: string; ts: string }
  | { kind: 'waiting'; inMs: number }
  | { kind: 'elsewhere' }
  | { kind: 'refused'; code: string };

interface RunWithCard {
  asked: { joinable: boolean };
  inDirectMessage: boolean;
  sinceMs: number;
}

/** Returns what has become of the card of a run: it comes first, and where it cannot be posted, nothing starts. */
export async function loadCardState(
  run: RunWithCard,
  key: string,
  { outbox, now }: Pick<JobContext, 'outbox' | 'now'>,
): Promise<CardState> {
  const delivery = await outbox.deliveryState(key);
  if (delivery.kind === 'waiting') return { kind: 'waiting', inMs: deliveryCheckMs(run, { now }) };
  if (delivery.kind === 'refused' && !run.asked.joinable && !run.inDirectMessage)
    return { kind: 'elsewhere' };
  return delivery;
}

/** Returns how soon to check a message that is on its way since `sinceMs`. */
export const deliveryCheckMs = (
  { sinceMs }: { sinceMs: number },
  { now }: Pick<JobContext, 'now'>,
  longestMs = 2000,
) => Math.min(Math.max((now() - sinceMs) / 2, 50), longestMs);

type EphemeralParts = Pick<JobContext, 'runs' | 'callOnceInSlack' | 'postEphemeral' | 'timing'>;

/** Posts a message once to whoever made a request, where they made it, while that can be. Returns whether it arrived. */
export async function postWhereAsked(
  runId: string,
  step: string,
  message: Message,
  { runs, callOnceInSlack, postEphemeral, timing }: EphemeralParts,
): Promise<boolean> {
  const responseUrl = await runs.responseUrl(runId);
  if (responseUrl === undefined) return false;
  const posted = await callOnceInSlack(runId, step, () =>
    postEphemeral(responseUrl, message, timing.slackCallMs),
  );
  return posted.kind === 'done' && posted.value;
}

/**
 * Posts to `userId` what becomes of their run: where they asked, or by direct message when that is not known to have
 * arrived. `name` is the same for a repeat.
 */
export async function reportPrivately(
  run: RunBase,
  { name, userId, message }: { name: string; userId: string; message: Message },
  context: EphemeralParts & Pick<JobContext, 'outbox'>,
): Promise<void> {
  if (await postWhereAsked(run.id, name, message, context)) return;
  const place = { user: userId };
  const direct = { key: `${run.id}.${name}`, place, kind: 'ending' as const, message };
  await context.outbox.publish(run.teamId, direct, run.rev);
}
