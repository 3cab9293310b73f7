import { expect, test } from 'vitest';
import {
  createIntake,
  handledMessage,
  type IntakeParts,
  retryStale,
  UserFacingError,
} from '../../src/commands/intake.ts';
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
    refusal: async () => {
      const error = await intake
        .appendToInbox('agent-thread', 't1', happened, request)
        .catch((thrown) => thrown);
      expect(error).toBeInstanceOf(UserFacingError);
      return (error as UserFacingError).reply.text;
    },
    given: () => runs.accept(aThread()),
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

test('a click on a record that changed since it was read is tried again, and at last says so', async () => {
  const left = ['stale', 'stale', 'done'] as const;
  let tries = 0;
  expect(await retryStale('link', async () => left[tries++] ?? 'done')).toBe('done');
  expect(tries).toBe(3);
  const given = await retryStale('export', async () => 'stale');
  expect(given).toMatchObject({ text: 'This export is changing too fast right now. Click again.' });
});

test('a late click learns who was first, and whoever clicked twice nothing', () => {
  const first = { id: 'U0ANA', name: 'ana', did: 'chose to leave it' };
  expect(handledMessage(first, 'U0BEN')?.text).toBe('ana already chose to leave it.');
  expect(handledMessage(first, 'U0ANA')).toBeUndefined();
  expect(handledMessage(undefined, 'U0ANA')?.text).toMatch(/^Already handled/);
});
