import { describe, expect, test } from 'vitest';
import type { AgentJob } from '../../../../src/docs-api/schemas.ts';
import type { WatchRun } from '../../../../src/jobs/agent/watch/record.ts';
import {
  addThread,
  applyPoll,
  giveUpRound,
  markNotFound,
  newWatch,
  recordSend,
  removeThread,
  requestPoll,
  roundOf,
} from '../../../../src/jobs/agent/watch/transitions.ts';

const T0 = 1_758_000_000_000;
const GRACE = 60_000;
const PR = 'https://github.com/acme/docs/pull/7';
const OTHER_PR = 'https://github.com/acme/docs/pull/8';

const job = (status: AgentJob['status'], changes: Partial<AgentJob> = {}): AgentJob => ({
  id: 'aj_1',
  status,
  rawStatus: status,
  ...changes,
});
const fresh = () => addThread(newWatch('T1', 'default', 'aj_1', T0), 'thread-1', T0);
/** Looked at once while it was idle, and with nothing to tell any more. */
const idle = (changes: Partial<AgentJob> = {}): WatchRun => ({
  ...applyPoll(fresh(), job('completed', changes), T0, GRACE),
  untold: false,
});
const poll = (watch: WatchRun, found: AgentJob, inMs: number) => applyPoll(watch, found, T0 + inMs, GRACE);
const endings = (watch: WatchRun) => watch.endings.map(({ kind, n }) => `${kind} ${n}`);

describe('a job that is followed', () => {
  test('is polled at once, which threads learn; without a round it is not polled again', () => {
    expect(fresh()).toMatchObject({ lookWanted: true, lasting: true, threads: ['thread-1'] });
    const watch = poll(fresh(), job('completed', { repository: 'https://x/y', prLink: PR }), 5);
    expect(watch).toMatchObject({
      lookWanted: false,
      untold: true,
      lastPr: PR,
      seen: { status: 'completed' },
    });
    expect(watch.round).toBeUndefined();
    expect(endings(watch)).toEqual([]);
  });

  test('by a thread that follows it already, changes nothing', () => {
    const watch = fresh();
    expect(addThread(watch, 'thread-1', T0)).toBe(watch);
  });

  test('by nobody any more, is not kept for ever', () => {
    expect(removeThread(fresh(), 'thread-1')).toMatchObject({ threads: [], lasting: false });
    const watch = fresh();
    expect(removeThread(watch, 'thread-2')).toBe(watch);
  });

  test('while it is at work: a round that nobody here began, and its end is told', () => {
    const watch = poll(fresh(), job('active'), 5);
    expect(watch.round).toMatchObject({ n: 1, found: true, active: true });
    expect(endings(poll(watch, job('completed', { prLink: PR }), 900))).toEqual(['newPr 1']);
  });
});

describe('the end of a round', () => {
  const began = (before = idle()) =>
    recordSend(before, 'thread-1', 'thread-1 a 1', job('completed', { rawStatus: '' }), T0 + 1000);

  test('is not told from how the job was before the send', () => {
    const watch = poll(began(idle({ prLink: PR })), job('completed', { prLink: PR }), 30_000);
    expect(endings(watch)).toEqual([]);
    expect(watch.round).toBeDefined();
  });

  test('is believed without "active" once the grace period is over', () => {
    const watch = poll(began(idle({ prLink: PR })), job('completed', { prLink: PR }), 61_000);
    expect(endings(watch)).toEqual(['samePr 1']);
  });

  test('is believed at once when the job was seen active since', () => {
    const watch = poll(poll(began(), job('active'), 2000), job('completed', { prLink: PR }), 3000);
    expect(endings(watch)).toEqual(['newPr 1']);
    expect(watch).toMatchObject({ untold: true, lastPr: PR });
    expect(watch.round).toBeUndefined();
  });

  test('is believed at once when the answer to the send said "active"', () => {
    const watch = recordSend(idle(), 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
    expect(endings(poll(watch, job('completed'), 1200))).toEqual(['noPr 1']);
  });

  test('"active" from before a further send says nothing of that one', () => {
    const active = poll(began(), job('active'), 2000);
    const further = recordSend(
      active,
      'thread-1',
      'thread-1 b 1',
      job('completed', { rawStatus: '' }),
      T0 + 3000,
    );
    expect(further.round).toMatchObject({ n: 1, active: false, sentAtMs: T0 + 3000 });
    expect(endings(poll(further, job('completed'), 3500))).toEqual([]);
    expect(endings(poll(further, job('completed'), 63_001))).toEqual(['noPr 1']);
  });

  test.each([
    ['a new pull request', { prLink: OTHER_PR }, 'newPr'],
    ['the same pull request as before', { prLink: PR }, 'samePr'],
    ['no pull request', {}, 'noPr'],
    ['something else where the address belongs', { prText: 'PR 12' }, 'newPr'],
  ])('%s', (_, changes, kind) => {
    const watch = poll(began(idle({ prLink: PR })), job('active'), 2000);
    expect(endings(poll(watch, job('completed', changes), 4000))).toEqual([`${kind} 1`]);
  });

  test('a pull request is the same also when the job showed none while it worked', () => {
    const active = recordSend(idle({ prLink: PR }), 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
    expect(endings(poll(active, job('completed', { prLink: PR }), 4000))).toEqual(['samePr 1']);
  });

  test('a pull request of the job that a send made is new, also when it is seen before the send is recorded', () => {
    const seen = idle({ prLink: PR });
    const made = recordSend(seen, 'thread-1', 'thread-1 a 1', job('active'), T0 - 1000, true);
    expect(endings(poll(made, job('completed', { prLink: PR }), 4000))).toEqual(['newPr 1']);
    const further = recordSend(seen, 'thread-1', 'thread-1 b 1', job('active'), T0 + 1000);
    expect(endings(poll(further, job('completed', { prLink: PR }), 4000))).toEqual(['samePr 1']);
  });

  test('failed, archived, not found, given up', () => {
    const active = poll(began(), job('active'), 2000);
    expect(endings(poll(active, job('failed'), 4000))).toEqual(['failed 1']);
    expect(endings(markNotFound(active, T0 + 4000))).toEqual(['gone 1']);
    expect(giveUpRound(active, T0 + 9000).endings).toMatchObject([{ kind: 'gaveUp', afterMs: 8000 }]);
    // Archived is final, whatever was sent a moment ago.
    const archived = poll(began(), job('archived', { archivedAt: 5 }), 1100);
    expect(archived.endings).toMatchObject([{ kind: 'archived', archivedAtMs: 5 }]);
  });

  test('an unknown status is watched on', () => {
    const active = poll(began(), job('active'), 2000);
    const watch = poll(active, job('unknown', { rawStatus: 'pausing' }), 4000);
    expect(endings(watch)).toEqual([]);
    expect(watch).toMatchObject({ round: { n: 1 }, seen: { rawStatus: 'pausing' } });
  });
});

describe('a send', () => {
  test('that is told of twice belongs to one round, also when that has ended', () => {
    const once = recordSend(idle(), 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
    expect(recordSend(once, 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000)).toBe(once);
    const over = poll(once, job('completed'), 2000);
    const again = recordSend(over, 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
    expect(again).toBe(over);
    expect(roundOf(again, 'thread-1 a 1')).toBe(1);
  });

  test('after a round opens the next one', () => {
    const over = poll(
      recordSend(idle(), 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000),
      job('completed'),
      2000,
    );
    const next = recordSend(over, 'thread-1', 'thread-1 b 1', job('active'), T0 + 3000);
    expect(roundOf(next, 'thread-1 b 1')).toBe(2);
  });

  test('leaves what the answer does not tell as it was', () => {
    const known = idle({ repository: 'https://x/y', ref: 'main', prLink: PR });
    const active = recordSend(known, 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
    expect(active.seen).toMatchObject({
      status: 'active',
      repository: 'https://x/y',
      ref: 'main',
      prLink: PR,
    });
  });
});

test('a poll that somebody waits for is not made before the platform wants one', () => {
  const troubled: WatchRun = {
    ...idle(),
    trouble: { kind: 'limit', inARow: 1, sinceMs: T0, nextMs: T0 + 9000 },
  };
  expect(requestPoll(troubled, T0 + 100)).toMatchObject({ lookWanted: true, nextLookAtMs: T0 + 9000 });
  expect(requestPoll(idle(), T0 + 100)).toMatchObject({ nextLookAtMs: T0 + 100 });
});

test('a round that was given up is judged when somebody asks again, with the pull request of then', () => {
  const before = recordSend(idle({ prLink: PR }), 'thread-1', 'thread-1 a 1', job('active'), T0 + 1000);
  const over = giveUpRound(before, T0 + 9000);
  const asked = requestPoll(over, T0 + 10_000);
  expect(asked.round).toMatchObject({ n: 2, found: true, prBefore: PR });
  expect(endings(poll(asked, job('completed', { prLink: PR }), 10_100))).toEqual(['gaveUp 1', 'samePr 2']);
  expect(endings(poll(asked, job('completed', { prLink: OTHER_PR }), 10_100))).toEqual([
    'gaveUp 1',
    'newPr 2',
  ]);
  const working = poll(asked, job('active'), 10_100);
  expect(working.round).toMatchObject({ n: 2 });
});

test('that nothing has changed is no news, unless somebody waits for the poll', () => {
  expect(poll(idle(), job('completed'), 500)).toMatchObject({ untold: false });
  expect(poll(requestPoll(idle(), T0), job('completed'), 500)).toMatchObject({
    untold: true,
    lookWanted: false,
  });
});
