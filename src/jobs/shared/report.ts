import { Later, type Wait, wait } from '../../runtime/later.ts';
import type { Message } from '../../slack/blocks.ts';
import { SlackApiError } from '../../slack/errors.ts';
import type { RunBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import { slackRetryMs } from '../engine/polling.ts';

/**
 * Posts a message once to the requester, in the conversation of the request, while that is possible. `requestId` is the
 * run of the request, if that is not `run`. Returns whether it has arrived; throws `Later` while Slack's answer may still
 * come.
 */
export async function postWhereAsked(
  run: RunBase,
  step: string,
  message: Message,
  { store, calls, slack, timing }: JobContext,
  requestId = run.id,
): Promise<boolean> {
  const responseUrl = await store.responseUrls.find(requestId);
  // It may have arrived through a response URL that existed then.
  if (responseUrl === undefined) return (await calls.callResult(run.id, step))?.result === true;
  const posted = await calls.callOnce(run, step, timing.slackCallMs, () =>
    slack.postEphemeral(responseUrl, message, timing.slackCallMs),
  );
  if (posted.kind === 'inFlight') throw new Later(Math.max(1, posted.forMs));
  return posted.kind === 'done' && posted.value;
}

/** Posts an ephemeral once. Returns undefined when it arrived, may have arrived or never will; else the pause until the next try. */
export async function postEphemeralOnce(
  run: RunBase,
  step: string,
  to: Parameters<JobContext['slack']['postEphemeralTo']>[0],
  message: Message,
  context: JobContext,
): Promise<Wait | undefined> {
  const { calls, slack, timing, log } = context;
  const outcome = await calls.callOnce(run, step, timing.slackCallMs, () =>
    slack.postEphemeralTo(to, message),
  );
  if (outcome.kind === 'inFlight') return wait(outcome.forMs);
  if (outcome.kind !== 'notHappened') return undefined;
  if (!(outcome.error instanceof SlackApiError)) throw outcome.error;
  log.warn({ run: run.id, code: outcome.error.code }, 'Slack refused an ephemeral');
  const inMs = slackRetryMs(outcome.error, context);
  return inMs === undefined ? undefined : wait(inMs);
}

/**
 * Posts a run's result to `userId`: in the conversation of the request, or by direct message if its arrival there is
 * unconfirmed. Repeats use the same `name`. Throws `Later` while its arrival is unknown.
 */
export async function reportPrivately(
  run: RunBase,
  { name, userId, message }: { name: string; userId: string; message: Message },
  context: JobContext,
): Promise<void> {
  if (await postWhereAsked(run, name, message, context)) return;
  const post = { key: `${run.id}.${name}`, place: { user: userId }, kind: 'ending' as const, message };
  await context.outbox.publish(run.teamId, post, run.rev);
}
