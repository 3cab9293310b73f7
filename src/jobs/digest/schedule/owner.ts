import type { JobContext } from '../../context.ts';
import type { ScheduleRun } from './record.ts';
import { pauseItself } from './transitions.ts';
import { notPermittedMessage } from './view.ts';

/** Whether the owner may have digests. After an owner has `left`, digests continue until a person takes them over. */
type OwnerStanding = 'permitted' | 'left' | 'notPermitted' | 'unknown';

/** Looks up the owner's present standing; `unknown` while Slack does not answer. */
export async function checkOwner(
  { owner }: Pick<ScheduleRun, 'owner'>,
  { policy }: Pick<JobContext, 'policy'>,
): Promise<OwnerStanding> {
  const permission = await policy.check(owner.id, 'digest');
  switch (permission.kind) {
    case 'allowed':
      return 'permitted';
    case 'unknown':
      return 'unknown';
    case 'refused':
      return permission.person.active ? 'notPermitted' : 'left';
  }
}

/** Returns the paused schedule: its owner may no longer set up digests, and gets one message that says so. */
export async function pauseNotPermitted(
  run: ScheduleRun,
  { outbox, now }: Pick<JobContext, 'outbox' | 'now'>,
): Promise<ScheduleRun> {
  // Once for each active period, whichever step finds out.
  const key = `${run.id}.not-permitted.${run.sinceMs}`;
  const message = notPermittedMessage(run);
  await outbox.publish(run.teamId, { key, place: { user: run.owner.id }, kind: 'ending', message }, run.rev);
  return pauseItself(run, 'pausedByPermission', now());
}
