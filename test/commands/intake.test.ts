import { expect, test } from 'vitest';
import { createIntake, type IntakeParts, UserFacingError } from '../../src/commands/intake.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { createThreadStore } from '../../src/store/threads.ts';
import { unread } from '../support/metrics.ts';
import { redisForTests } from '../support/redis.ts';
import { aThread, thread } from '../support/store/builders.ts';

const redis = redisForTests();

const request = { responseUrl: undefined, receivedAtMs: 0 };
const happened = { event: { kind: 'clicked' }, dedupeKey: 'click 1' };

function intakeWith(changes: Partial<IntakeParts> = {}) {
  const runs = createRunStore(redis.client);
  const threads = createThreadStore(redis.client);
  const woken: string[] = [];
  const intake = createIntake({
    runs,
    threads,
    readers: { isPublic: async () => false, isMember: async () => false },
    wake: ({ job, id }) => void woken.push(`${job} ${id}`),
    timeoutMs: 5000,
    claimMs: 60_000,
    monotonicMs: () => 0,
    metrics: unread,
    log: createLog('silent', []),
    ...changes,
  });
  return {
    intake,
    threads,
    woken,
    tell: () => intake.appendToInbox('agent-thread', 't1', happened, request),
    refusal: async () => {
      const error = await intake
        .appendToInbox('agent-thread', 't1', happened, request)
        .catch((thrown) => thrown);
      expect(error).toBeInstanceOf(UserFacingError);
      return (error as UserFacingError).reply.text;
    },
    given: () => runs.accept(aThread(), Number.MAX_SAFE_INTEGER, 0, undefined),
    inbox: async () => (await runs.loadWithInbox('t1', thread))?.inbox,
  };
}

test('what Redis comes to too late is refused, and was not kept', async () => {
  const { appendToInbox } = createRunStore(redis.client);
  const late = intakeWith({
    runs: {
      ...createRunStore(redis.client),
      appendToInbox: (job, id, what) => appendToInbox(job, id, what, 1),
    },
  });
  await late.given();
  expect(await late.refusal()).toContain("I can't keep track of work right now");
  expect(await late.inbox()).toEqual([]);
  expect(late.woken).toEqual([]);
});

test('the deadline is what is left of the time limit, on the clock of Redis', async () => {
  const deadlines: number[] = [];
  const { tell } = intakeWith({
    monotonicMs: () => 2000,
    runs: {
      ...createRunStore(redis.client),
      appendToInbox: async (_job, _id, _what, deadlineMs) => {
        deadlines.push(deadlineMs);
        return 'gone';
      },
    },
  });
  const [seconds] = await redis.client.time();
  await tell();
  expect(deadlines[0]).toBeGreaterThanOrEqual(Number(seconds) * 1000 + 3000);
  expect(deadlines[0]).toBeLessThan(Number(seconds) * 1000 + 5000 + 3000);
});

test('what was kept without an answer is reported as in doubt, and is stepped', async () => {
  const { appendToInbox } = createRunStore(redis.client);
  const lost = intakeWith({
    timeoutMs: 300,
    runs: {
      ...createRunStore(redis.client),
      appendToInbox: async (...args) => {
        await appendToInbox(...args);
        return new Promise(() => {});
      },
    },
  });
  await lost.given();
  expect(await lost.refusal()).toContain("I can't tell whether I accepted this");
  expect(await lost.inbox()).toHaveLength(1);
  expect(lost.woken).toEqual(['agent-thread t1']);
});

test('a new run is woken once it is kept, also by a repeat, and not when it is refused', async () => {
  const { intake, woken } = intakeWith();
  expect(await intake.start(aThread(), request)).toMatchObject({ kind: 'accepted' });
  expect(woken).toEqual(['agent-thread t1']);
  expect(await intake.start(aThread(), request)).toEqual({ kind: 'repeated' });
  expect(woken).toHaveLength(2);
  const late = { ...createRunStore(redis.client), accept: async () => ({ kind: 'late' as const }) };
  const other = intakeWith({ runs: late });
  await expect(other.intake.start(aThread({ id: 't2' }), request)).rejects.toThrow(UserFacingError);
  expect(other.woken).toEqual([]);
  const quotas = [{ name: 'ana', max: 1 }];
  const start = (id: string, claim: string) => intake.start(aThread({ id, claim }), request, quotas);
  await start('t3', 'one');
  expect(await start('t4', 'one')).toEqual({ kind: 'claimed', by: 't3' });
  expect(await start('t5', 'another')).toMatchObject({ kind: 'full', by: 't3' });
  expect(woken.slice(2)).toEqual(['agent-thread t3']);
});

test('a Redis that did not answer is asked again', async () => {
  const { timeMs } = createRunStore(redis.client);
  const answers = [() => Promise.reject(new Error('away')), timeMs];
  const { intake } = intakeWith({
    runs: { ...createRunStore(redis.client), timeMs: () => (answers.shift() ?? timeMs)() },
  });
  const tell = () => intake.appendToInbox('agent-thread', 't1', happened, request);
  await expect(tell()).rejects.toThrow(UserFacingError);
  expect(await tell()).toBe('gone');
});
