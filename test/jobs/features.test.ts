import { describe, expect, test } from 'vitest';
import { registry } from '../../src/commands/index.ts';
import { defaultConfigFile } from '../../src/config/file.ts';
import { keyIdOf } from '../../src/docs-api/client.ts';
import { digestFeature } from '../../src/jobs/digest/feature.ts';
import { limitsOf } from '../../src/jobs/digest/figures/limits.ts';
import type { FeatureContext, WorkContext } from '../../src/jobs/feature.ts';
import { features, limitLines, workWithKey } from '../../src/jobs/features.ts';
import type { Viewer } from '../../src/jobs/visibility.ts';
import { workText, workWaitsText } from '../../src/jobs/wording-view.ts';
import { message } from '../../src/slack/blocks.ts';
import type { RunStore } from '../../src/store/runs.ts';
import { NOW_MS } from '../support/builders.ts';
import { aProject } from '../support/commands/builders.ts';
import { anInstruction, aThread } from '../support/jobs/agent/builders.ts';
import { anEdition, aSchedule } from '../support/jobs/digest/builders.ts';
import { aRun } from '../support/jobs/export/builders.ts';

const ana: Viewer = { user: { id: 'U0ANA', fullMember: true }, channel: { id: 'C0DOCS' } };

const aContext = (changes: Partial<FeatureContext> = {}): FeatureContext => ({
  runs: { activeOf: async () => [], someOf: async () => ({ runs: [], complete: true }) },
  threads: { followed: async () => [], followedIndex: async () => [] },
  outbox: { deliveryState: async () => ({ kind: 'waiting' }) },
  isPublic: async () => true,
  workspaceUrl: () => 'https://acme.example/',
  projects: [aProject({ name: 'acme', projectId: 'prj_1' })],
  limits: { ...defaultConfigFile.limits, followUpsPerHour: 1000 },
  timing: { editsPerMinute: 44 },
  rateLimiter: { usage: async () => undefined },
  ...changes,
});

const activeRuns = (runs: unknown[]) =>
  ({ activeOf: async () => runs, someOf: async () => ({ runs, complete: true }) }) as unknown as Pick<
    RunStore,
    'activeOf' | 'someOf'
  >;

async function statusLines(changes: Partial<FeatureContext>): Promise<string[]> {
  const found = await Promise.all(
    features.map(({ status }) => status?.lines('T0ACME', ana, aContext(changes)) ?? []),
  );
  return found.flat().map((line) => message([line]).text.replace(/<!date\^[^>]*>/g, 'TIME'));
}

test('every command has its line in the help, in the order of the commands', () => {
  expect(features.flatMap(({ command }) => command ?? [])).toEqual(registry.commands.map(({ name }) => name));
});

test('exports have their lines in the status, the oldest first, and those without one are counted', async () => {
  const runs = [3, 2, 1].map((n) => aRun({ domain: `d${n}.acme.com`, attemptAtMs: NOW_MS + n }));
  const line = (n: number) => `⏳ Exporting · d${n}.acme.com · requested by you TIME`;
  expect((await statusLines({ runs: activeRuns(runs) })).slice(0, 4)).toEqual([
    'Exports you can see here — 3 running',
    line(1),
    line(2),
    line(3),
  ]);
  const many = Array.from({ length: 7 }, () => aRun());
  const lines = await statusLines({ runs: activeRuns([...many, aRun({ state: 'ended' })]) });
  expect(lines[0]).toBe('Exports you can see here — 7 running');
  expect(lines[6]).toBe('and 2 more');
});

test('followed threads are counted', async () => {
  expect(await statusLines({})).toContain('Agent threads — none followed');
  const threads = {
    followed: async () => Array.from({ length: 1200 }, String),
    followedIndex: async () => [],
  };
  expect(await statusLines({ threads })).toContain('Agent threads — 1,200 followed');
});

const limits = (changes: Partial<FeatureContext>) =>
  limitLines({ teamId: 'T0ACME', userId: 'U0ANA' }, aContext(changes));

test.each([
  [{ free: 4, waiting: 0 }, '4 free right now, none waiting'],
  [{ free: 0, waiting: 1 }, 'all in use right now, 1 waiting'],
  [{ free: 0, waiting: 1200 }, 'all in use right now, 1,200 waiting'],
])('how much of the edits is in use: %j', async (usage, words) => {
  expect(await limits({ rateLimiter: { usage: async () => ({ ...usage, used: 0, nextMs: 0 }) } })).toContain(
    `edits in Slack: up to 44 a minute, ${words}`,
  );
});

describe('the instructions of the past hour', () => {
  test('are counted', async () => {
    const rateLimiter = { usage: async () => ({ used: 12, free: 988, waiting: 0, nextMs: 0 }) };
    expect((await limits({ rateLimiter })).slice(2, 3)).toEqual([
      'instructions to the docs agent: 12 of 1,000 used in the past hour',
    ]);
  });

  test('of several projects say which, and who waits; one without an agent has none', async () => {
    const projects = [
      aProject({ name: 'acme', projectId: 'prj_1' }),
      aProject({ name: 'beta', projectId: 'prj_2' }),
      aProject({ name: 'gamma' }),
    ];
    const rateLimiter = {
      usage: async ({ name }: { name: string }) => ({
        ...(name === 'follow-ups:acme' ? { used: 12, waiting: 0 } : { used: 1000, waiting: 3 }),
        free: 0,
        nextMs: 0,
      }),
    };
    expect((await limits({ projects, rateLimiter })).slice(2, 4)).toEqual([
      'instructions to the docs agent in acme: 12 of 1,000 used in the past hour',
      'instructions to the docs agent in beta: 1,000 of 1,000 used in the past hour, 3 waiting',
    ]);
  });
});

test('what is not known of a limit is left out', async () => {
  const changed = { ...defaultConfigFile.limits, exportStatusPerSecond: 0.5 };
  expect(await limits({ limits: changed })).toEqual([
    'status checks of exports: up to 0.5 a second for each API key',
    'edits in Slack: up to 44 a minute',
    'instructions to the docs agent: up to 100 an hour',
    'analytics requests: up to 100 an hour',
  ]);
});

describe('analytics requests of the past hour', () => {
  test('of one organization are counted together, whatever the keys', async () => {
    const shared = { organization: 'acme', projectId: 'prj' };
    const projects = [
      aProject({ ...shared, name: 'acme', apiKey: 'adm_1' }),
      aProject({ ...shared, name: 'beta', apiKey: 'adm_2' }),
    ];
    const asked: string[] = [];
    const usage = async ({ name }: { name: string }) => {
      asked.push(name);
      return { used: 12, free: 88, waiting: 0, nextMs: 0 };
    };
    expect((await limits({ projects, rateLimiter: { usage } })).at(-1)).toBe(
      'analytics requests: 12 of 100 used in the past hour',
    );
    expect(asked.filter((name) => name.startsWith('analytics:'))).toEqual(['analytics:organization:acme']);
    const all = (project: string, keyId: string) =>
      limitsOf(
        { teamId: 'T0ACME', urgent: false, project },
        { keyId },
        { projects, limits: defaultConfigFile.limits },
      ).needed.map(({ name }) => name);
    expect(all('acme', 'key 1')).toEqual(all('beta', 'key 2'));
    expect(all('gamma', 'key 3')).toContain('analytics:key 3');
  });

  const rateLimiter = {
    usage: async ({ name }: { name: string }) => ({
      used: name === `analytics:${keyIdOf({ apiKey: 'adm_1' })}` ? 12 : 90,
      free: 0,
      waiting: 0,
      nextMs: 0,
    }),
  };

  test('are counted', async () => {
    expect((await limits({ rateLimiter })).at(-1)).toBe(
      'analytics requests: 12 of 100 used in the past hour',
    );
  });

  test('say which projects share a key, where there are several; those without an id have none', async () => {
    const projects = [
      aProject({ name: 'acme', projectId: 'prj_1' }),
      aProject({ name: 'beta', projectId: 'prj_2', apiKey: 'adm_2' }),
      aProject({ name: 'gamma', projectId: 'prj_3' }),
      aProject({ name: 'delta', apiKey: 'adm_3' }),
    ];
    expect((await limits({ projects, rateLimiter })).slice(-2)).toEqual([
      'analytics requests for acme, gamma: 12 of 100 used in the past hour',
      'analytics requests for beta: 90 of 100 used in the past hour',
    ]);
  });
});

describe('schedules', () => {
  const scheduleLineOf = async (runs: unknown[]) => {
    const activeOf = async (_schema: unknown, job: string) => (job === 'digest-schedule' ? runs : []);
    const lines = await statusLines({
      runs: { ...activeRuns([]), activeOf } as Pick<RunStore, 'activeOf' | 'someOf'>,
    });
    return lines.find((line) => line.startsWith('Schedules'));
  };

  test('are counted in the status, with when the next one is due', async () => {
    expect(await scheduleLineOf([])).toBe('Schedules — Nothing is scheduled.');
    expect(await scheduleLineOf([aSchedule()])).toBe('Schedules — 1 weekly digest, next TIME');
    expect(
      await scheduleLineOf([
        aSchedule(),
        aSchedule({ state: 'paused' }),
        aSchedule({ state: 'removed' }),
        aSchedule({ teamId: 'T0ELSE' }),
      ]),
    ).toBe('Schedules — 2 weekly digests, next TIME, 1 paused');
    expect(await scheduleLineOf([aSchedule({ state: 'paused' })])).toBe(
      'Schedules — 1 weekly digest, 1 paused',
    );
  });

  test('are on the Home of whoever they belong to, until they are removed', async () => {
    const home = digestFeature.homeRuns;
    const context = aContext({ runs: activeRuns([aSchedule(), aSchedule({ id: 'r2', teamId: 'T0ELSE' })]) });
    expect(await home?.lasting?.('T0ACME', 'U0ANA', context)).toEqual(['schedule-1']);
    // Others' are not even loaded.
    expect(await home?.lasting?.('T0ACME', 'U0BEN', context)).toEqual([]);
    const entry = home?.entry(aSchedule(), 'U0ANA', context);
    expect(message([(await entry?.line()) ?? []]).text.replace(/<!date[^>]*>/, 'TIME')).toBe(
      'Weekly digest · docs.acme.com in <#C0DOCS> · Mondays 09:00 Europe/Berlin · next TIME',
    );
    expect(home?.entry(aSchedule(), 'U0BEN', context)).toBeUndefined();
    expect(home?.entry(aSchedule({ state: 'removed' }), 'U0ANA', context)).toBeUndefined();
  });
});

describe('what waits for the key of a project', () => {
  const edition = (changes = {}) => anEdition({ project: 'acme', state: 'collecting', ...changes });
  const runs = [
    aRun({ project: 'acme' }),
    aRun({ project: 'acme', state: 'bundling' }),
    aRun({ project: 'acme', state: 'starting' }),
    aRun({ project: 'acme', teamId: 'T0OTHER' }),
    aRun({ project: 'other' }),
    edition(),
    edition({ state: 'posted' }),
    edition({ project: 'other' }),
  ];
  const states = ['held', 'waiting', 'working', 'over', 'failed'] as const;
  const instructions = states.map((state) => anInstruction({ state }));
  const threads = ['acme', 'other'].map((project) => aThread({ project, instructions }));
  const context = {
    runs: {
      activeOf: async (_: unknown, job: string) => runs.filter((run) => run.job === job),
      loadAll: async () => threads,
    } as unknown as WorkContext['runs'],
    threads: { followed: async () => ['a', 'b'] },
  };

  test('exports that run, instructions that are sent or next, and digests that are being collected', async () => {
    expect(await workWithKey('T0ACME', ['acme'], context)).toEqual([
      { count: 2, what: 'export' },
      { count: 2, what: 'instruction' },
      { count: 1, what: 'digest' },
    ]);
    expect(await workWithKey('T0ACME', ['none'], context)).toEqual([]);
  });

  test.each([
    [[], '', ''],
    [[{ count: 1, what: 'export' }], '1 export', '1 export waits'],
    [[{ count: 1200, what: 'export' }], '1,200 exports', '1,200 exports wait'],
    [
      [
        { count: 1, what: 'export' },
        { count: 2, what: 'instruction' },
        { count: 1, what: 'digest' },
      ],
      '1 export, 2 instructions and 1 digest',
      '1 export, 2 instructions and 1 digest wait',
    ],
  ])('%j in words', (work, text, waits) => {
    expect(workText(work)).toBe(text);
    expect(workWaitsText(work)).toBe(waits);
  });
});
