import { describe, expect, test } from 'vitest';
import { type ScheduleRun, scheduleQuotas } from '../../../../src/jobs/digest/schedule/record.ts';
import {
  activate,
  changeSchedule,
  followEdition,
  nextDue,
  recordOutcome,
  scheduleTransitions as transitions,
} from '../../../../src/jobs/digest/schedule/transitions.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import {
  aSchedule,
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  MONDAY_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import { redisForTests } from '../../../support/redis.ts';

const ben = { id: 'U0BEN', name: 'ben' };
const active = activate(aSchedule(), MONDAY_MS);

describe('a click', () => {
  test.each<[string, keyof typeof transitions, Partial<ScheduleRun>]>([
    ['[Pause] on a paused one', 'pause', { state: 'paused' }],
    ['[Pause] before the test post', 'pause', { state: 'testing' }],
    ['[Resume] on one at work', 'resume', {}],
    ['[Resume] on a removed one', 'resume', { state: 'removed' }],
    ['[Remove] on a removed one', 'remove', { state: 'removed' }],
    ['[Take over] while the owner is there', 'takeOver', {}],
    ['[Take over] by the owner', 'takeOver', { ownerLeft: true, owner: ben }],
    ['[Take over] on a removed one', 'takeOver', { ownerLeft: true, state: 'removed' }],
  ])('%s changes nothing', (_, name, changes) => {
    expect(transitions[name]({ ...active, ...changes }, ben, MONDAY_MS)).toBeUndefined();
  });

  test('[Remove] lets go of the record after a while', () => {
    expect(transitions.remove(active, ben, MONDAY_MS)).toMatchObject({ state: 'removed', lasting: false });
  });

  test('[Take over] lets a schedule go on that was paused for its owner', () => {
    const left = { ...active, state: 'paused' as const, pausedByPermission: true, ownerLeft: true };
    expect(transitions.takeOver(left, ben, MONDAY_MS)).toMatchObject({
      state: 'active',
      owner: ben,
      people: ['U0BEN'],
      takenFrom: { id: 'U0ANA' },
    });
  });
});

describe('a change', () => {
  test('of what is in it has its figures collected anew, and keeps its time', () => {
    const prepared = { ...active, prepared: '2026-W38' };
    const changed = changeSchedule(prepared, { sections: ['readers'] }, DUE_MS - 1);
    expect(changed).toMatchObject({ sections: ['readers'], nextAtMs: DUE_MS });
    expect(changed?.prepared).toBeUndefined();
  });

  test('does nothing to a removed one', () => {
    expect(changeSchedule({ ...active, state: 'removed' }, { alerts: true }, MONDAY_MS)).toBeUndefined();
  });

  test('that drops alerts forgets what is known of them', () => {
    const watching = { ...active, alerts: true, alert: { nextAtMs: DUE_MS } };
    expect(changeSchedule(watching, { alerts: false }, MONDAY_MS)?.alert).toBeUndefined();
    expect(changeSchedule(watching, { sections: [] }, MONDAY_MS)?.alert).toEqual({ nextAtMs: DUE_MS });
  });
});

test('what is not being posted has no outcome, and nothing is posted of what is removed', () => {
  expect(recordOutcome(active, { why: 'place' }, undefined, MONDAY_MS)).toBe(active);
  const posting = { run: 'e1', week: '2026-W38' };
  expect(followEdition({ ...active, state: 'removed' }, posting, MONDAY_MS)).toBeUndefined();
});

test('the next digest is that of a week that is not posted yet', () => {
  expect(nextDue(active, DUE_MS - 1)).toBe(DUE_MS);
  expect(nextDue({ ...active, lastWeek: '2026-W38' }, DUE_MS - 1)).toBe(DUE_MS + 7 * DAY_MS);
  const newYearMs = Date.UTC(2027, 0, 4, 8);
  expect(nextDue({ ...active, lastWeek: '2026-W53' }, newYearMs - 1)).toBe(newYearMs + 7 * DAY_MS);
});

describe('how many schedules a person has', () => {
  const redis = redisForTests();
  test('is counted for as long as they are there', async () => {
    const runs = createRunStore(redis.client);
    const quotas = scheduleQuotas(active).map((quota) => ({ ...quota, max: 1 }));
    const accept = (id: string) =>
      runs.accept(aSchedule({ id, claim: id }), Number.MAX_SAFE_INTEGER, HOUR_MS, undefined, quotas);
    expect(await accept('one')).toMatchObject({ kind: 'accepted' });
    expect(await redis.client.pttl(`{docket}:quota:${quotas[0]?.name}`)).toBe(-1);
    expect(await accept('two')).toMatchObject({ kind: 'full', by: 'one' });
    const removed = await runs.save(aSchedule({ id: 'one', claim: 'one', state: 'removed' }), true);
    expect(removed && (await runs.markIdle(removed, true))).toBe(true);
    expect(await accept('two')).toMatchObject({ kind: 'accepted' });
  });
});
