import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/view.ts';
import {
  limitLines,
  type RunningExports,
  type SystemState,
  statusMessage,
} from '../../../src/jobs/status/view.ts';
import { anyRun, aRun, NOW_MS } from '../../support/jobs/export/any-run.ts';

const aState = (changes: Partial<SystemState> = {}): SystemState => ({
  docs: { answered: true, atMs: NOW_MS },
  slack: { answered: true, atMs: NOW_MS },
  connected: undefined,
  redisMs: 0.4,
  redisProblems: [],
  queues: [{ queue: 'docs-export', waiting: 1, active: 2, delayed: 3000, failed: 0 }],
  limits: {
    exportStatusPerSecond: 5,
    editsPerMinute: 44,
    edits: { free: 4, waiting: 0 },
    followUps: [],
  },
  threads: 0,
  version: '1.2.3',
  role: 'all',
  upSinceMs: NOW_MS,
  ...changes,
});
const none: RunningExports = { lines: [], rest: 0 };

const reads = (state: SystemState, exports: RunningExports) =>
  statusMessage(state, exports)
    .text.replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME$1')
    .split('\n');

test('one line for each thing, its state in words', () => {
  expect(reads(aState(), none)).toEqual([
    'Docs platform — answering, last seen TIME{ago}',
    'Slack — answering, last seen TIME{ago}',
    'Redis — answers in 1 ms',
    'Queue docs-export — 1 waiting, 2 active, 3,000 for later, 0 failed',
    'Exports you can see here — none is running',
    'Agent threads — none is followed',
    'Schedules — Nothing is scheduled.',
    'Limit — looks at exports: up to 5 a second for each API key',
    'Limit — edits in Slack: up to 44 a minute, 4 free just now, none waits',
    'This process — Docket 1.2.3 · role all · up since TIME{date_short_pretty} {time}',
  ]);
});

test('what is wrong with Redis stands under it, with the fix', () => {
  const lines = reads(aState({ redisProblems: ['Redis drops keys. Run <this> & that.'] }), none);
  expect(lines.slice(2, 4)).toEqual([
    'Redis — answers in 1 ms',
    '⚠️ Redis drops keys. Run &lt;this&gt; &amp; that.',
  ]);
});

test('what is not known is not made up', () => {
  const limits = {
    exportStatusPerSecond: 0.5,
    editsPerMinute: 44,
    edits: undefined,
    followUps: [{ project: 'acme', perHour: 100, use: undefined }],
  };
  const changes = {
    docs: undefined,
    slack: undefined,
    redisMs: undefined,
    queues: undefined,
    threads: undefined,
    limits,
  };
  expect(reads(aState(changes), undefined)).toEqual([
    'Docs platform — not asked lately',
    'Slack — not called lately',
    'Redis — not answering; I start nothing I might lose',
    "Exports you can see here — can't be read right now",
    "Agent threads — can't be counted right now",
    'Schedules — Nothing is scheduled.',
    'Limit — looks at exports: up to 0.5 a second for each API key',
    'Limit — edits in Slack: up to 44 a minute',
    'Limit — instructions to the docs agent: up to 100 an hour',
    'This process — Docket 1.2.3 · role all · up since TIME{date_short_pretty} {time}',
  ]);
});

test('what does not answer is told with the time of the last try', () => {
  const away = { answered: false, atMs: NOW_MS };
  expect(reads(aState({ docs: away, slack: away, connected: false }), none).slice(0, 2)).toEqual([
    'Docs platform — not answering, last tried TIME{ago}',
    'Slack — not answering, last tried TIME{ago} · socket not connected',
  ]);
  expect(reads(aState({ connected: true }), none)[1]).toBe(
    'Slack — answering, last seen TIME{ago} · socket connected',
  );
});

test('exports have their lines, and those without one are counted', () => {
  const lines = [exportLine(aRun(), undefined)];
  expect(reads(aState(), { lines, rest: 0 }).slice(4, 6)).toEqual([
    'Exports you can see here — 1 running',
    'docs.acme.com — Running · asked for by @ana TIME{ago}',
  ]);
  expect(reads(aState(), { lines, rest: 2 }).slice(4, 7)).toEqual([
    'Exports you can see here — 3 running',
    'docs.acme.com — Running · asked for by @ana TIME{ago}',
    'and 2 more',
  ]);
});

describe('how much of the edits is in use', () => {
  test.each([
    [{ free: 4, waiting: 0 }, '4 free just now, none waits'],
    [{ free: 0, waiting: 1 }, 'all in use just now, 1 waits'],
    [{ free: 0, waiting: 1200 }, 'all in use just now, 1,200 wait'],
  ])('%j', (edits, words) => {
    expect(limitLines({ exportStatusPerSecond: 5, editsPerMinute: 44, edits, followUps: [] })[1]).toBe(
      `edits in Slack: up to 44 a minute, ${words}`,
    );
  });
});

describe('the instructions of the past hour', () => {
  const limits = { exportStatusPerSecond: 5, editsPerMinute: 44, edits: undefined };
  const acme = { project: 'acme', perHour: 1000, use: { used: 12, waiting: 0 } };

  test('are counted', () => {
    expect(limitLines({ ...limits, followUps: [acme] }).slice(2)).toEqual([
      'instructions to the docs agent: 12 of 1,000 used in the past hour',
    ]);
  });

  test('of several projects say which, and who waits', () => {
    const beta = { ...acme, project: 'beta', use: { used: 1000, waiting: 3 } };
    expect(limitLines({ ...limits, followUps: [acme, beta] }).slice(2)).toEqual([
      'instructions to the docs agent in acme: 12 of 1,000 used in the past hour',
      'instructions to the docs agent in beta: 1,000 of 1,000 used in the past hour, 3 wait',
    ]);
  });
});

test('followed threads are counted', () => {
  expect(reads(aState({ threads: 1200 }), none)).toContain('Agent threads — 1,200 followed');
});

test('whatever the exports are called, Slack takes it and nobody is notified', () => {
  fc.assert(
    fc.property(fc.array(anyRun, { minLength: 1, maxLength: 5 }), (runs) => {
      const lines = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
      const { text, blocks } = statusMessage(aState(), { lines, rest: 0 });
      expect(checkMessageBlocks(blocks, (prefix) => prefix)).toHaveLength(1);
      expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
    }),
  );
});
