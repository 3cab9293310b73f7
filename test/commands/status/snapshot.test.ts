import { describe, expect, test } from 'vitest';
import { createSystemSnapshot, type SystemParts } from '../../../src/commands/status/snapshot.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { aProject } from '../../support/commands/command-world.ts';

const use = { used: 5, free: 3, waiting: 1, nextMs: 0 };
const usages = new Map([
  ['edit:T0ACME', use],
  ['follow-ups:acme', { used: 12, free: 88, waiting: 1, nextMs: 0 }],
]);

function parts(changes: Partial<SystemParts> = {}): SystemParts {
  return {
    snapshots: () => ({}),
    store: { load: async () => ({}), save: async () => {} },
    connected: () => undefined,
    ping: async () => 'PONG',
    redisProblems: () => [],
    counts: async () => [],
    limits: { exportStatusPerSecond: 5, followUpsPerHour: 100 },
    projects: [aProject({ name: 'acme', projectId: 'prj_1' }), aProject()],
    threads: { followed: async () => ['a', 'b'] },
    rateLimits: {
      async usage({ name }) {
        const found = usages.get(name);
        if (found === undefined) throw new Error(`${name} is not asked for`);
        return found;
      },
    },
    timing: defaultTiming,
    about: { version: '1.2.3', role: 'web', upSinceMs: 1000 },
    monotonicMs: () => performance.now(),
    ...changes,
  };
}
const look = (changes: Partial<SystemParts>, limitMs = 5000) =>
  createSystemSnapshot(parts(changes))('T0ACME', limitMs);

test('the use of the limits is that of the workspace that asks', async () => {
  const { limits } = await look({});
  expect(limits).toMatchObject({ exportStatusPerSecond: 5, edits: use });
  expect(limits.editsPerMinute).toBeGreaterThan(10);
});

test('the use of the agent is that of each project that has one', async () => {
  const state = await look({});
  expect(state.threads).toBe(2);
  expect(state.limits.followUps).toMatchObject([
    { project: 'acme', perHour: 100, use: { used: 12, waiting: 1 } },
  ]);
});

describe('of what this process saw and what the workers told', () => {
  const at = (atMs: number, answered = true) => ({ answered, atMs });
  test.each([
    ['its own alone', at(5), undefined, at(5)],
    ['theirs alone', undefined, at(5, false), at(5, false)],
    ['its own, when it is later', at(6), at(5, false), at(6)],
    ['theirs, when it is later', at(6), at(7, false), at(7, false)],
    ['nothing', undefined, undefined, undefined],
  ])('%s', async (_, own, told, expected) => {
    const state = await look({
      snapshots: () => (own ? { docs: own } : {}),
      store: { load: async () => (told ? { docs: told } : {}), save: async () => {} },
    });
    expect(state.docs).toEqual(expected);
    expect(state.slack).toBeUndefined();
  });
});

test('how long Redis took is measured on its own answer', async () => {
  let ms = 0;
  const ping = async () => {
    ms += 7;
  };
  expect(await look({ ping, monotonicMs: () => ms })).toMatchObject({ redisMs: 7 });
});

test.each([
  ['hangs', () => new Promise<never>(() => {})],
  ['fails', () => Promise.reject(new Error('Redis is away'))],
])('what %s is missing, and all else is there, within the limit', async (_, gives) => {
  const startedMs = performance.now();
  const state = await look(
    {
      snapshots: () => ({ docs: { answered: true, atMs: 5 } }),
      store: { load: gives, save: async () => {} },
      ping: gives,
      counts: gives,
      rateLimits: { usage: gives },
      threads: { followed: gives },
    },
    50,
  );
  expect(performance.now() - startedMs).toBeLessThan(2000);
  expect(state).toMatchObject({
    docs: { answered: true, atMs: 5 },
    redisMs: undefined,
    queues: undefined,
    threads: undefined,
    limits: { edits: undefined, followUps: [{ project: 'acme', perHour: 100, use: undefined }] },
    role: 'web',
  });
});

test('what is wrong with Redis is told, but not once more that it is away', async () => {
  const { redisProblems } = await look({
    redisProblems: () => [
      { kind: 'unreachable', fatal: false, text: 'It is away.' },
      { kind: 'read-only', fatal: false, text: 'It is a replica.' },
    ],
  });
  expect(redisProblems).toEqual(['It is a replica.']);
});
