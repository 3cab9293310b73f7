import { wait } from '../../runtime/later.ts';
import type { Message } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import type { JobContext } from '../engine/context.ts';
import { type StepResult, save } from '../engine/job.ts';
import { deliveryCheckMs } from '../shared/place.ts';
import { reportPrivately } from '../shared/report.ts';
import { activate, end, type Schedule } from './record.ts';
import type { ScheduleViews } from './view.ts';

/** Longest pause between checks of a message, or of the work of a due time. */
const MAX_CHECK_MS = 30_000;

/** Returns the pause before the next check of work that began at that time; if there is none, no check is due. */
export const workCheckMs = (sinceMs: number | undefined, context: JobContext) =>
  sinceMs === undefined ? Infinity : deliveryCheckMs({ sinceMs }, context, MAX_CHECK_MS);

/** Publishes a message once: `name` is unique within the schedule. */
export const publish = (
  run: Schedule,
  name: string,
  place: OutboxMessage['place'],
  message: Message,
  { outbox }: JobContext,
  more: Partial<OutboxMessage> = {},
) =>
  outbox.publish(run.teamId, { key: `${run.id}.${name}`, place, kind: 'ending', message, ...more }, run.rev);

/** Says in the channel that the owner has left, or to the owner, once for each active period, that the schedule pauses. */
export const publishRefusal = <S extends Schedule>(
  run: S,
  hasLeft: boolean,
  views: ScheduleViews<S>,
  context: JobContext,
) =>
  hasLeft
    ? publish(run, `left.${run.owner.id}`, { channel: run.channel }, views.ownerLeft(run), context)
    : publish(run, `not-permitted.${run.sinceMs}`, { user: run.owner.id }, views.notPermitted(run), context);

/** Activates a schedule if its first message, the one with this key, arrived in the channel; otherwise ends it. */
export async function awaitTest<S extends Schedule>(
  run: S,
  key: string,
  views: ScheduleViews<S>,
  context: JobContext,
): Promise<StepResult<S>> {
  const { outbox, now } = context;
  const delivery = await outbox.deliveryState(key);
  if (delivery.kind === 'waiting') return wait(deliveryCheckMs(run, context, MAX_CHECK_MS));
  const isShown = delivery.kind === 'shown';
  const next = isShown ? activate(run, now()) : { ...end(run, now()), refusal: delivery.code };
  const report = isShown
    ? { name: 'created', message: views.created(next) }
    : { name: 'no-place', message: views.noPlace(run, delivery.code) };
  await reportPrivately(run, { ...report, userId: run.owner.id }, context);
  return save(next, { audit: isShown ? 'set up' : `not set up: ${delivery.code}` });
}

/** Announces a new owner in the channel. Returns undefined if there is none. */
export async function announceTakeover<S extends Schedule>(
  run: S,
  views: ScheduleViews<S>,
  context: JobContext,
): Promise<StepResult<S> | undefined> {
  const { takenFrom } = run;
  if (takenFrom === undefined) return undefined;
  const message = views.takenOver(run, takenFrom);
  await publish(run, `left.${takenFrom.id}`, { channel: run.channel }, message, context);
  return save({ ...run, takenFrom: undefined });
}
