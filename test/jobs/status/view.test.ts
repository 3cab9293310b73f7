import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { type SystemState, statusMessage } from '../../../src/jobs/status/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';

const aState = (changes: Partial<SystemState> = {}): SystemState => ({
  docs: { answered: true, atMs: NOW_MS },
  slack: { answered: true, atMs: NOW_MS },
  connected: undefined,
  redisMs: 0.4,
  redisProblems: [],
  queues: [{ queue: 'docs-export', waiting: 1, active: 2, delayed: 3000, failed: 0 }],
  featureLines: [['Agent threads — none is followed'], ['Schedules — Nothing is scheduled.']],
  limits: ['looks at exports: up to 5 a second', 'edits in Slack: up to 44 a minute'],
  version: '1.2.3',
  role: 'all',
  upSinceMs: NOW_MS,
  ...changes,
});

const reads = (state: SystemState) =>
  statusMessage(state)
    .text.replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME$1')
    .split('\n');

test('one line for each thing, its state in words', () => {
  expect(reads(aState())).toEqual([
    'Docs platform — answering, last seen TIME{ago}',
    'Slack — answering, last seen TIME{ago}',
    'Redis — answers in 1 ms',
    'Queue docs-export — 1 waiting, 2 active, 3,000 for later, 0 failed',
    'Agent threads — none is followed',
    'Schedules — Nothing is scheduled.',
    'Limit — looks at exports: up to 5 a second',
    'Limit — edits in Slack: up to 44 a minute',
    'This process — Docket 1.2.3 · role all · up since TIME{date_short_pretty} {time}',
  ]);
});

test('what is wrong with Redis stands under it, with the fix', () => {
  const lines = reads(aState({ redisProblems: ['Redis drops keys. Run <this> & that.'] }));
  expect(lines.slice(2, 4)).toEqual([
    'Redis — answers in 1 ms',
    '⚠️ Redis drops keys. Run &lt;this&gt; &amp; that.',
  ]);
});

test('what is not known is not made up', () => {
  const changes = { docs: undefined, slack: undefined, redisMs: undefined, queues: undefined };
  expect(reads(aState({ ...changes, featureLines: [], limits: [] }))).toEqual([
    'Docs platform — not asked lately',
    'Slack — not called lately',
    'Redis — not answering; I start nothing I might lose',
    'This process — Docket 1.2.3 · role all · up since TIME{date_short_pretty} {time}',
  ]);
});

test('what does not answer is shown with the time of the last try', () => {
  const away = { answered: false, atMs: NOW_MS };
  expect(reads(aState({ docs: away, slack: away, connected: false })).slice(0, 2)).toEqual([
    'Docs platform — not answering, last tried TIME{ago}',
    'Slack — not answering, last tried TIME{ago} · socket not connected',
  ]);
  expect(reads(aState({ connected: true }))[1]).toBe(
    'Slack — answering, last seen TIME{ago} · socket connected',
  );
});

test('whatever the exports are called, Slack takes it and nobody is notified', () => {
  fc.assert(
    fc.property(fc.array(anyRun, { minLength: 1, maxLength: 5 }), (runs) => {
      const lines = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
      const { text, blocks } = statusMessage(aState({ featureLines: lines }));
      expect(checkMessageBlocks(blocks, (prefix) => prefix)).toHaveLength(1);
      expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
    }),
  );
});
