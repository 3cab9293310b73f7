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

type EphemeralParts = Pick<JobContext, 'runs' | 'callOnceInSlack' | 'steps' | 'postEphemeral' | 'timing'>;

/** Whether an ephemeral arrived: that is not known while somebody may still wait for Slack's answer, for `inMs` at most. */
type Arrival = 'yes' | 'notKnown' | { inMs: number };

async function tryWhereAsked(
  runId: string,
  step: string,
  message: Message,
  { runs, callOnceInSlack, steps, postEphemeral, timing }: EphemeralParts,
): Promise<Arrival> {
  const responseUrl = await runs.responseUrl(runId);
  // It may have arrived while there was one.
  if (responseUrl === undefined)
    return (await steps.result(runId, step))?.value === true ? 'yes' : 'notKnown';
  const posted = await callOnceInSlack(runId, step, () =>
    postEphemeral(responseUrl, message, timing.slackCallMs),
  );
  if (posted.kind === 'inFlight') return { inMs: Math.max(1, posted.forMs) };
  return posted.kind === 'done' && posted.value ? 'yes' : 'notKnown';
}

/** Posts a message once to whoever made a request, where they made it, while that can be. */
export async function postWhereAsked(
  runId: string,
  step: string,
  message: Message,
  parts: EphemeralParts,
): Promise<void> {
  await tryWhereAsked(runId, step, message, parts);
}

/**
 * Posts to `userId` what becomes of their run: where they asked, or by direct message when that is not known to have
 * arrived; `direct` is how it reads there, where that differs. `name` is the same for a repeat. Returns 0 when it is
 * done, else in how many milliseconds to ask again.
 */
export async function reportPrivately(
  run: RunBase,
  report: { name: string; userId: string; message: Message; direct?: Message },
  context: EphemeralParts & Pick<JobContext, 'outbox'>,
): Promise<number> {
  const { name, userId, message, direct = message } = report;
  const arrival = await tryWhereAsked(run.id, name, message, context);
  if (arrival === 'yes') return 0;
  if (arrival !== 'notKnown') return arrival.inMs;
  const place = { user: userId };
  const post = { key: `${run.id}.${name}`, place, kind: 'ending' as const, message: direct };
  await context.outbox.publish(run.teamId, post, run.rev);
  return 0;
}
