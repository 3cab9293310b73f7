import { describe, expect, test } from 'vitest';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { keyIdOf } from '../../../src/docs-api/client.ts';
import type { FeatureContext } from '../../../src/jobs/feature.ts';
import { createSystemSnapshot, type SystemParts } from '../../../src/jobs/status/snapshot.ts';
import { message, type Part } from '../../../src/slack/blocks.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';

const usages = new Map([
  ['edit:T0ACME', { used: 5, free: 3, waiting: 1, nextMs: 0 }],
  ['follow-ups:acme', { used: 12, free: 88, waiting: 1, nextMs: 0 }],
  [`analytics:${keyIdOf({ apiKey: 'adm_1' })}`, { used: 7, free: 93, waiting: 0, nextMs: 0 }],
]);

const features: FeatureContext = {
  runs: { activeOf: async () => [], someOf: async () => ({ runs: [], complete: true }) },
  threads: { followed: async () => ['a', 'b'], followedIndex: async () => [] },
  outbox: { deliveryState: async () => ({ kind: 'waiting' }) },
  isPublic: async () => true,
  workspaceUrl: () => 'https://acme.example/',
  projects: [aProject({ name: 'acme', projectId: 'prj_1' }), aProject()],
  limits: defaultConfigFile.limits,
  timing: { editsPerMinute: 44 },
  rateLimiter: {
    async usage({ name }) {
      const found = usages.get(name);
      if (found === undefined) throw new Error(`${name} is not asked for`);
      return found;
    },
  },
};

function parts(changes: Partial<SystemParts> = {}): SystemParts {
  return {
    snapshots: () => ({}),
    store: { load: async () => ({}), save: async () => {} },
    missingScopes: () => [],
    connected: () => undefined,
    ping: async () => 'PONG',
    redisProblems: () => [],
    ownProblems: () => [],
    counts: async () => [],
    rejectedKeys: async () => [],
    countOverdue: async () => 0,
    contact: async () => '@docs-admins',
    hasAdmins: true,
    features,
    about: { version: '1.2.3', role: 'web', upSinceMs: 1000 },
    monotonicMs: () => performance.now(),
    ...changes,
  };
}
const look = (changes: Partial<SystemParts>, limitMs = 5000) =>
  createSystemSnapshot(parts(changes))(aCaller(), limitMs);

const texts = (lines: readonly Part[][]) => lines.map((line) => message([line]).text);

test('the use of the limits is that of the workspace that asks, and of each project that has an agent', async () => {
  const { limits, waits } = await look({});
  expect(waits).toEqual(['instructions to the docs agent: 12 of 100 used in the past hour, 1 waiting']);
  expect(limits).toEqual([
    'status checks of exports: up to 5 a second for each API key',
    'edits in Slack: up to 44 a minute, 3 free right now, 1 waiting',
    'instructions to the docs agent: 12 of 100 used in the past hour, 1 waiting',
    'analytics requests: 7 of 100 used in the past hour',
  ]);
});

test('the features have their lines, in one order', async () => {
  const { running, featureLines } = await look({});
  expect(texts(running)).toEqual(['Exports you can see here — none running']);
  expect(texts(featureLines)).toEqual(['Agent threads — 2 followed', 'Schedules — Nothing is scheduled.']);
});

describe('of what this process saw and what the workers reported', () => {
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
      rejectedKeys: gives,
      countOverdue: gives,
      contact: gives,
      features: {
        ...features,
        runs: { activeOf: gives, someOf: gives },
        threads: { followed: gives, followedIndex: gives },
        rateLimiter: { usage: gives },
      },
    },
    50,
  );
  expect(performance.now() - startedMs).toBeLessThan(2000);
  expect(state).toMatchObject({
    docs: { answered: true, atMs: 5 },
    redisMs: undefined,
    queues: undefined,
    rejectedKeys: undefined,
    overdue: undefined,
    contact: undefined,
    waits: [],
    limits: [
      'status checks of exports: up to 5 a second for each API key',
      'edits in Slack: up to 44 a minute',
      'instructions to the docs agent: up to 100 an hour',
      'analytics requests: up to 100 an hour',
    ],
    role: 'web',
  });
  expect(texts(state.running)).toEqual(["Exports you can see here — can't be read right now"]);
  expect(texts(state.featureLines)).toEqual([
    "Agent threads — can't be counted right now",
    "Schedules — can't be read right now",
  ]);
});

test('what is rejected, what is late and whom to ask are part of it', async () => {
  const key = { variable: 'DOCS_API_KEY', names: [], sinceMs: 5, waiting: '' };
  const asked: number[] = [];
  const state = await look({
    rejectedKeys: async () => [key],
    async countOverdue(lateMs) {
      asked.push(lateMs);
      return 3;
    },
    hasAdmins: false,
  });
  expect(state).toMatchObject({
    rejectedKeys: [key],
    overdue: 3,
    contact: '@docs-admins',
    hasAdmins: false,
  });
  expect(asked).toEqual([60_000]);
});

test('what is wrong with Redis is reported, but not once more that it is away', async () => {
  const { redisProblems } = await look({
    redisProblems: () => [
      { kind: 'unreachable', fatal: false, text: 'It is away.' },
      { kind: 'read-only', fatal: false, text: 'It is a replica.' },
    ],
  });
  expect(redisProblems).toEqual(['It is a replica.']);
});
