import type { Message } from '../../slack/blocks.ts';
import { SlackApiError } from '../../slack/errors.ts';
import type { RunBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import { slackRetryMs } from '../engine/polling.ts';

const POST_MS = 200;

/**
 * Returns the state of a run's card. The card comes first; if it cannot be posted, nothing starts. `elsewhere`: the app
 * cannot post in the conversation, but can write to the person.
 */
export async function loadCardState(
  run: { asked: { joinable: boolean }; inDirectMessage: boolean; sinceMs: number },
  key: string,
  context: JobContext,
) {
  const delivery = await context.outbox.deliveryState(key);
  if (delivery.kind === 'waiting') {
    const { dueInMs } = delivery;
    return { kind: 'waiting' as const, inMs: dueInMs ? dueInMs + POST_MS : deliveryCheckMs(run, context) };
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

/**
 * Posts a message once to the requester, in the conversation of the request, while that is possible. `requestId` is the
 * run of the request, if that is not `run`. Returns true if the message has arrived, false if not, and a number of
 * milliseconds while Slack's answer may still come: ask again after them.
 */
export async function postWhereAsked(
  run: RunBase,
  step: string,
  message: Message,
  { responseUrls, callOnce, callResult, postEphemeral, timing }: JobContext,
  requestId = run.id,
): Promise<boolean | number> {
  const responseUrl = await responseUrls.find(requestId);
  // It may have arrived through a response URL that existed then.
  if (responseUrl === undefined) return (await callResult(run.id, step))?.result === true;
  const posted = await callOnce(run, step, timing.slackCallMs, () =>
    postEphemeral(responseUrl, message, timing.slackCallMs),
  );
  return posted.kind === 'inFlight' ? Math.max(1, posted.forMs) : posted.kind === 'done' && posted.value;
}

/**
 * Posts an ephemeral once. Returns undefined when it arrived, may have arrived or never will; else the milliseconds until
 * the next call.
 */
export async function postEphemeralOnce(
  run: RunBase,
  step: string,
  to: Parameters<JobContext['slack']['postEphemeralTo']>[0],
  message: Message,
  context: JobContext,
): Promise<number | undefined> {
  const outcome = await context.callOnce(run, step, context.timing.slackCallMs, () =>
    context.slack.postEphemeralTo(to, message),
  );
  if (outcome.kind === 'inFlight') return outcome.forMs;
  if (outcome.kind !== 'notHappened') return undefined;
  if (!(outcome.error instanceof SlackApiError)) throw outcome.error;
  context.log.warn({ run: run.id, code: outcome.error.code }, 'Slack refused an ephemeral');
  return slackRetryMs(outcome.error, context);
}

/**
 * Posts a run's result to `userId`: in the conversation of the request, or by direct message if its arrival there is
 * unconfirmed. Repeats use the same `name`. Returns 0 when done, else the milliseconds until the next call.
 */
export async function reportPrivately(
  run: RunBase,
  { name, userId, message }: { name: string; userId: string; message: Message },
  context: JobContext,
): Promise<number> {
  const arrival = await postWhereAsked(run, name, message, context);
  if (arrival !== false) return arrival === true ? 0 : arrival;
  const post = { key: `${run.id}.${name}`, place: { user: userId }, kind: 'ending' as const, message };
  await context.outbox.publish(run.teamId, post, run.rev);
  return 0;
}
