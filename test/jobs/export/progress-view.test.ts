import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cardMessage,
  exportLine,
  progressMessage,
  stateLabel,
} from '../../../src/jobs/export/progress-view.ts';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, aRun, ended, STATES } from '../../support/jobs/export/builders.ts';
import { messageOf, THREAD } from '../../support/jobs/export/rendering.ts';
import { reads } from '../../support/slack/rendering.ts';

describe('the card', () => {
  test('says what, who, and by which job', () => {
    expect(reads(cardMessage(aRun()))).toBe(
      '📦 Static export · docs.acme.com — Running\nAsked for by @ana · job se_3f9a…4a06 · details in the thread',
    );
  });

  test('leaves the job out while there is none', () => {
    const { jobId: _, ...run } = aRun({ state: 'starting' });
    expect(reads(cardMessage(run))).toBe(
      '📦 Static export · docs.acme.com — Queued\nAsked for by @ana · details in the thread',
    );
  });

  test('leaves the job out while it is queued: the card changes with its state word only', () => {
    expect(reads(cardMessage(aRun({ status: 'queued' })))).toBe(
      '📦 Static export · docs.acme.com — Queued\nAsked for by @ana · details in the thread',
    );
  });

  test.each([
    ['se_1', 'se_1'],
    ['0123456789abcdef', '0123456789abcdef'],
    ['0123456789abcdefg', '0123456…defg'],
    ['se_\n<!channel>', 'se_ <!channel>'],
  ])('shows the job id %j as %s', (jobId, shown) => {
    expect(reads(cardMessage(aRun({ jobId })))).toContain(`· job ${shown} ·`);
  });

  test('says which label, and which pages where it is not all of them', () => {
    const card = (changes: Partial<ExportRun>) => reads(cardMessage(aRun(changes)));
    expect(card({ version: 'spring release', paths: ['/guides'] })).toBe(
      '📦 Static export · docs.acme.com (spring release) — Running\nAsked for by @ana · only /guides · job se_3f9a…4a06 · details in the thread',
    );
    expect(card({ paths: ['/guides', '/api'] })).toContain('@ana · only 2 pages ·');
    expect(card({ paths: [`/${'x'.repeat(499)}`] })).toContain(`· only /${'x'.repeat(58)}… ·`);
  });

  test('of an export that was not started from here, says so', () => {
    expect(reads(cardMessage(aRun({ joined: true, domain: '' })))).toBe(
      '📦 Static export · job se_3f9a…4a06 — Running\nWatched by @ana · job se_3f9a…4a06 · details in the thread',
    );
  });

  test('cuts a very long name', () => {
    const name = 'Ana '.repeat(100);
    expect(reads(cardMessage(aRun({ requester: { id: 'U0ANA', name } })))).toContain(
      `@${name.slice(0, 59)}… ·`,
    );
  });
});

describe('the state in a word', () => {
  test.each<[ExportRun['state'], string | undefined, string]>([
    ['accepted', undefined, 'Queued'],
    ['carding', undefined, 'Queued'],
    ['starting', undefined, 'Queued'],
    ['watching', 'queued', 'Queued'],
    ['watching', 'running', 'Running'],
    ['watching', 'packaging', 'Running'],
    ['watching', '', 'Running'],
    ['bundling', 'completed', 'Running'],
    ['unknown', undefined, 'Start unclear'],
  ])('%s with the status %j is %s', (state, status, word) => {
    const { status: _, ...run } = aRun({ state });
    expect(stateLabel(status === undefined ? run : { ...run, status })).toBe(word);
  });

  test.each<[Ending['kind'], string]>([
    ['done', 'Done'],
    ['failed', 'Failed'],
    ['notStarted', 'Not started'],
    ['lost', 'Lost'],
    ['gaveUp', 'No longer watched'],
    ['noLink', 'Done, without a link yet'],
    ['left', 'Start unclear'],
    ['noPlace', 'Not started'],
    ['broken', 'Stopped by an error'],
  ])('ended as %s is "%s"', (kind, word) => {
    expect(stateLabel(ended(anEnding[kind]))).toBe(word);
  });

  test('every state and every ending has one, with no emoji and no more than five words', () => {
    for (const run of [
      ...STATES.map((state) => aRun({ state })),
      ...Object.values(anEnding).map((e) => ended(e)),
    ])
      expect(stateLabel(run)).toMatch(/^[A-Z][a-z]+(?:,? [a-z]+){0,4}$/);
  });
});

describe('the progress', () => {
  const BUTTONS = '\n[Refresh] [Notify me too]';
  const whole = (changes: Partial<ExportRun>) => reads(progressMessage(aRun(changes)));
  const shown = (changes: Partial<ExportRun>) => whole(changes).replace(BUTTONS, '');

  test('has its buttons while the job is watched, and none after', () => {
    expect(whole({})).toContain(BUTTONS);
    expect(whole({ state: 'bundling' })).not.toContain('[');
    expect(whole({ state: 'ended', ending: anEnding.done })).not.toContain('[');
  });

  const at = (fraction: number) => [{ atMs: NOW_MS, fraction }];

  test.each<[string, Partial<ExportRun>, string]>([
    ['nothing told', {}, 'Running · started TIME{ago}'],
    ['queued', { status: 'queued', looks: at(0) }, 'Queued · started TIME{ago}'],
    [
      'a fraction and pages',
      { looks: at(0.42), pageCount: 128 },
      'Running · ▓▓▓▓░░░░░░ 42% · 128 pages so far · started TIME{ago}',
    ],
    ['one page', { pageCount: 1 }, 'Running · 1 page so far · started TIME{ago}'],
    ['no page', { pageCount: 0 }, 'Running · 0 pages so far · started TIME{ago}'],
    ['many pages', { pageCount: 12480 }, 'Running · 12,480 pages so far · started TIME{ago}'],
    ['the beginning', { looks: at(0) }, 'Running · ░░░░░░░░░░ 0% · started TIME{ago}'],
    ['all but done', { looks: at(0.999) }, 'Running · ▓▓▓▓▓▓▓▓▓░ 99% · started TIME{ago}'],
    ['the whole', { looks: at(1) }, 'Running · ▓▓▓▓▓▓▓▓▓▓ 100% · started TIME{ago}'],
    ['words', { progressText: 'Rendering\nguides' }, 'Running · Rendering guides · started TIME{ago}'],
    ['an unknown status', { status: 'packaging <!here>' }, 'packaging <!here> · started TIME{ago}'],
    ['a status of white space', { status: ' \u202E' }, 'Running · started TIME{ago}'],
    ['words of white space', { progressText: '\n\u202E' }, 'Running · started TIME{ago}'],
    [
      'completed, the link on its way',
      { state: 'bundling', looks: at(1) },
      'Running · ▓▓▓▓▓▓▓▓▓▓ 100% · started TIME{ago}',
    ],
  ])('%s', (_, changes, expected) => {
    expect(shown(changes)).toBe(expected);
  });

  test('a percentage of the platform is shown as the platform gave it', () => {
    const wrong = Array.from({ length: 101 }, (_, percent) => percent).filter(
      (percent) => percent !== 1 && !shown({ looks: at(percent / 100) }).includes(` ${percent}% `),
    );
    expect(wrong).toEqual([]);
  });

  test('never rounds up', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (fraction) => {
        const percent = Number(/(\d+)%/.exec(shown({ looks: at(fraction) }))?.[1]);
        expect(percent).toBeLessThanOrEqual(fraction * 100 + 1e-6);
        expect(percent).toBeGreaterThan(fraction * 100 - 1);
        if (fraction < 0.9999) expect(percent).toBeLessThan(100);
      }),
    );
  });

  test('after the end: how many pages and how long, once and for all', () => {
    expect(shown({ state: 'ended', ending: anEnding.done, pageCount: 412, completedAtMs: NOW_MS })).toBe(
      'Done · 412 pages · took 3 min',
    );
  });

  const limitText =
    "Running · started TIME{ago}\nThe platform's limit is reached; nothing is lost. I go on about TIME{time}.";
  test.each<[string, NonNullable<ExportRun['trouble']>['kind'], number, string]>([
    ['a limit', 'limit', 1, limitText],
    [
      'a rejected key',
      'key',
      1,
      'Running · started TIME{ago}\n⚠️ My platform key was rejected; whoever runs Docket has to renew it. I go on when it works again.',
    ],
    [
      'looks that are forbidden',
      'forbidden',
      1,
      "Running · started TIME{ago}\n⚠️ The platform doesn't let me look at this export (403). I go on when it does again.",
    ],
    [
      'a project that is gone from the settings',
      'project',
      1,
      'Running · started TIME{ago}\n⚠️ My settings no longer have the project default. I go on when it is back.',
    ],
    ['two failures', 'down', 2, 'Running · started TIME{ago}'],
    [
      'three failures',
      'down',
      3,
      "Running · started TIME{ago}\nI can't reach the platform and keep trying; the job itself may be fine.",
    ],
    ['two times not found', 'lost', 2, 'Running · started TIME{ago}'],
  ])('with trouble: %s', (_, kind, inARow, expected) => {
    expect(shown({ trouble: { kind, inARow, nextMs: NOW_MS + 60_000 } })).toBe(expected);
  });

  test('with a rejected key, the admins are named only when they were notified', () => {
    const trouble = { kind: 'key', inARow: 1, adminsTold: true, nextMs: NOW_MS } as const;
    expect(shown({ trouble })).toBe(
      'Running · started TIME{ago}\n⚠️ My platform key was rejected; the admins have been told. I go on when it works again.',
    );
  });

  test('stalled: since when, and that it is still looked at', () => {
    const stalled = { looks: at(0.42), stalled: true, movedAtMs: NOW_MS - 600_000 };
    expect(whole(stalled)).toBe(
      'Running · ▓▓▓▓░░░░░░ 42% · started TIME{ago}\n⚠️ No progress since TIME{time}. Still checking.\n[Refresh] [Notify me too]',
    );
    expect(whole({ ...stalled, state: 'bundling' })).not.toContain('No progress');
    expect(whole({ ...stalled, trouble: { kind: 'down', inARow: 3, nextMs: NOW_MS } })).not.toContain(
      'No progress',
    );
  });

  test('of an export that was not started from here: no start that nobody reported', () => {
    const joined = aRun({ joined: true, startedAtMs: undefined });
    expect(messageOf(joined, 'progress')).toBeUndefined();
    expect(messageOf({ ...joined, looks: at(0.42) }, 'progress')).toBe(
      'Running · ▓▓▓▓░░░░░░ 42%\n[Refresh] [Notify me too]',
    );
  });

  test('with trouble before the start: nothing is started yet', () => {
    const { startedAtMs: _, jobId: __, ...run } = aRun({ state: 'starting' });
    const trouble = { kind: 'down', inARow: 1, nextMs: NOW_MS } as const;
    expect(messageOf({ ...run, trouble }, 'progress')).toBe(
      "Queued\nThe docs platform isn't answering, so nothing is started yet. I keep trying.",
    );
  });
});

describe('a line of a list', () => {
  const line = (run: ExportRun, thread?: string) => reads(message([exportLine(run, thread)]));

  test('says what, how far, who and when, with the way to the thread for those who can open it', () => {
    const run = aRun({ version: '1.2', looks: [{ atMs: NOW_MS, fraction: 0.37 }], pageCount: 12 });
    const words =
      'docs.acme.com (1.2) — Running · ▓▓▓░░░░░░░ 37% · 12 pages so far · asked for by @ana TIME{ago}';
    expect(line(run)).toBe(words);
    expect(line(run, THREAD)).toBe(`${words} · <${THREAD}|Open thread>`);
  });

  test('shows no progress once the run has ended', () => {
    const run = aRun({ state: 'bundling', looks: [{ atMs: NOW_MS, fraction: 1 }] });
    expect(line(run)).toBe('docs.acme.com — Running · asked for by @ana TIME{ago}');
  });
});
