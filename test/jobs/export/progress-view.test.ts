import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardMessage, exportLine, progressMessage } from '../../../src/jobs/export/progress-view.ts';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import { stateOf } from '../../../src/jobs/export/state-view.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, aRun, ended, STATES } from '../../support/jobs/export/builders.ts';
import { messageOf, THREAD } from '../../support/jobs/export/rendering.ts';
import { reads, says } from '../../support/slack/rendering.ts';

describe('the card', () => {
  test('says where it stands and what, then small which kind and who', () => {
    const card = cardMessage(aRun());
    expect(reads(card)).toBe('⏳ Exporting · docs.acme.com\nStatic export · requested by ana');
    expect(says(card)).toBe('docs.acme.com: exporting. Static export · requested by ana');
  });

  test('says which label, and which pages where it is not all of them', () => {
    const card = (changes: Partial<ExportRun>) => reads(cardMessage(aRun(changes)));
    expect(card({ version: 'spring release', paths: ['/guides'] })).toBe(
      '⏳ Exporting · docs.acme.com\nStatic export "spring release" · only /guides · requested by ana',
    );
    expect(card({ paths: ['/guides', '/api'] })).toContain('Static export · only /guides and 1 more ·');
    expect(card({ paths: [`/${'x'.repeat(499)}`] })).toContain(`· only /${'x'.repeat(58)}… ·`);
  });

  test('of an export that was not started from here, says so', () => {
    expect(reads(cardMessage(aRun({ joined: true, domain: '' })))).toBe(
      '⏳ Exporting · job se_3f9a…4a06\nStatic export · watched by ana',
    );
  });

  test('cuts a very long name', () => {
    const name = 'Ana '.repeat(100);
    expect(reads(cardMessage(aRun({ requester: { id: 'U0ANA', name } })))).toContain(
      `requested by ${name.slice(0, 59)}…`,
    );
  });

  test('has what others wrote in plain text', () => {
    const { blocks } = cardMessage(
      aRun({ version: '*<!here>*', requester: { id: 'U0ANA', name: '_a_ <@U0BEN>' } }),
    );
    expect(blocks[1]).toEqual({
      type: 'context',
      elements: [
        { type: 'plain_text', text: 'Static export "*<!here>*" · requested by _a_ <@U0BEN>', emoji: false },
      ],
    });
  });
});

describe('the state in a word', () => {
  const wordOf = (run: ExportRun) => Object.values(stateOf(run)).join(' ');

  test.each<[ExportRun['state'], string | undefined, string]>([
    ['accepted', undefined, '🕒 Queued'],
    ['carding', undefined, '🕒 Queued'],
    ['starting', undefined, '🕒 Queued'],
    ['watching', 'queued', '🕒 Queued'],
    ['watching', 'running', '⏳ Exporting'],
    ['watching', 'packaging', '⏳ Exporting'],
    ['watching', '', '⏳ Exporting'],
    ['bundling', 'completed', '⏳ Exporting'],
    ['unknown', undefined, '⚠️ Needs an answer'],
  ])('%s with the status %j is %s', (state, status, word) => {
    const { status: _, ...run } = aRun({ state });
    expect(wordOf(status === undefined ? run : { ...run, status })).toBe(word);
  });

  test.each<[Ending['kind'], string]>([
    ['done', '✅ Exported'],
    ['failed', '❌ Export failed'],
    ['notStarted', '❌ Not started'],
    ['lost', '❌ Not found'],
    ['gaveUp', '💤 No longer watched'],
    ['noLink', '⚠️ Exported, no link yet'],
    ['left', '💤 Not started again'],
    ['noPlace', '❌ Not started'],
    ['broken', '❌ Stopped by an error'],
  ])('ended as %s is "%s"', (kind, word) => {
    expect(wordOf(ended(anEnding[kind]))).toBe(word);
  });

  test('where a further link cannot be had, the one before may still work', () => {
    expect(wordOf(ended(anEnding.noLink, { relinked: 1 }))).toBe('⚠️ Exported, no new link yet');
  });

  test('every state and every ending has one, of no more than five words', () => {
    for (const run of [
      ...STATES.map((state) => aRun({ state })),
      ...Object.values(anEnding).map((e) => ended(e)),
    ])
      expect(stateOf(run).label).toMatch(/^[A-Z][a-z]+(?:,? [a-z]+){0,4}$/);
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
    ['nothing told', {}, '⏳ Exporting · started TIME{ago}\njob se_3f9a77bd04c24a06'],
    [
      'queued',
      { status: 'queued', looks: at(0) },
      '🕒 Queued · requested TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'a fraction and pages',
      { looks: at(0.42), pageCount: 128 },
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 128 pages so far · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'one page',
      { pageCount: 1 },
      '⏳ Exporting · 1 page so far · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'no page',
      { pageCount: 0 },
      '⏳ Exporting · 0 pages so far · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'many pages',
      { pageCount: 12480 },
      '⏳ Exporting · 12,480 pages so far · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'the beginning',
      { looks: at(0) },
      '⏳ Exporting · ▱▱▱▱▱▱▱▱▱▱ 0% · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'all but done',
      { looks: at(0.999) },
      '⏳ Exporting · ▰▰▰▰▰▰▰▰▰▱ 99% · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'the whole',
      { looks: at(1) },
      '⏳ Exporting · ▰▰▰▰▰▰▰▰▰▰ 100% · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'words',
      { progressText: 'Rendering\nguides' },
      '⏳ Exporting · Rendering guides · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'an unknown status',
      { status: 'packaging <!here>' },
      '⏳ packaging <!here> · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'a status of white space',
      { status: ' \u202E' },
      '⏳ Exporting · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'words of white space',
      { progressText: '\n\u202E' },
      '⏳ Exporting · started TIME{ago}\njob se_3f9a77bd04c24a06',
    ],
    [
      'completed, the link on its way',
      { state: 'bundling', looks: at(1) },
      '⏳ Making the download link…\njob se_3f9a77bd04c24a06',
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

  test('after the end: when everything was, once and for all', () => {
    expect(shown({ state: 'ended', ending: anEnding.done, pageCount: 412, completedAtMs: NOW_MS })).toBe(
      'requested TIME{time} · started TIME{time} · finished TIME{time} · job se_3f9a77bd04c24a06',
    );
  });

  const limitText =
    "⏳ Exporting · started TIME{ago}\nThe platform's limit is reached; nothing is lost. I'll continue at about TIME{time}.\njob se_3f9a77bd04c24a06";
  test.each<[string, NonNullable<ExportRun['trouble']>['kind'], number, string]>([
    ['a limit', 'limit', 1, limitText],
    [
      'a rejected key',
      'key',
      1,
      "⏳ Exporting · started TIME{ago}\n⚠️ My platform key was rejected; the people who run Docket have to renew it. I'll continue when it works again.\njob se_3f9a77bd04c24a06",
    ],
    [
      'looks that are forbidden',
      'forbidden',
      1,
      "⏳ Exporting · started TIME{ago}\n⚠️ The platform doesn't let me see this export (403). I'll continue when it does.\njob se_3f9a77bd04c24a06",
    ],
    [
      'a project that is gone from the settings',
      'project',
      1,
      "⏳ Exporting · started TIME{ago}\n⚠️ My settings no longer have the project default. I'll continue when it is back.\njob se_3f9a77bd04c24a06",
    ],
    ['two failures', 'down', 2, '⏳ Exporting · started TIME{ago}\njob se_3f9a77bd04c24a06'],
    [
      'three failures',
      'down',
      3,
      "⏳ Exporting · started TIME{ago}\nI can't reach the platform. I'll keep trying; the job itself may be fine.\njob se_3f9a77bd04c24a06",
    ],
    ['two times not found', 'lost', 2, '⏳ Exporting · started TIME{ago}\njob se_3f9a77bd04c24a06'],
  ])('with trouble: %s', (_, kind, inARow, expected) => {
    expect(shown({ trouble: { kind, inARow, nextMs: NOW_MS + 60_000 } })).toBe(expected);
  });

  test('with a rejected key, the admins are named only when they were notified', () => {
    const trouble = { kind: 'key', inARow: 1, adminsTold: true, nextMs: NOW_MS } as const;
    expect(shown({ trouble })).toBe(
      "⏳ Exporting · started TIME{ago}\n⚠️ My platform key was rejected; the admins have been told. I'll continue when it works again.\njob se_3f9a77bd04c24a06",
    );
  });

  test('stalled: since when, and that it is still looked at', () => {
    const stalled = { looks: at(0.42), stalled: true, movedAtMs: NOW_MS - 600_000 };
    expect(whole(stalled)).toBe(
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · started TIME{ago}\nNo progress since TIME{time}. Still checking.\njob se_3f9a77bd04c24a06\n[Refresh] [Notify me too]',
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
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42%\njob se_3f9a77bd04c24a06\n[Refresh] [Notify me too]',
    );
  });

  test('of an export that was not started from here and is queued: since when it is watched', () => {
    expect(shown({ joined: true, status: 'queued' })).toBe(
      '🕒 Queued · watched since TIME{time}\njob se_3f9a77bd04c24a06',
    );
  });

  test('with trouble before a start that is unclear: it needs an answer, and nothing is tried again', () => {
    const { startedAtMs: _, jobId: __, ...run } = aRun({ state: 'unknown' });
    const trouble = { kind: 'limit', inARow: 1, nextMs: NOW_MS } as const;
    expect(messageOf({ ...run, trouble }, 'progress')).toBe('⚠️ Needs an answer · docs.acme.com');
  });

  test('with trouble before the start: nothing is started yet', () => {
    const { startedAtMs: _, jobId: __, ...run } = aRun({ state: 'starting' });
    const trouble = { kind: 'down', inARow: 1, nextMs: NOW_MS } as const;
    expect(messageOf({ ...run, trouble }, 'progress')).toBe(
      "🕒 Queued · requested TIME{ago}\nThe docs platform isn't answering, so nothing has started yet. I'll keep trying.",
    );
  });
});

describe('a line of a list', () => {
  const line = (run: ExportRun, thread?: string) => reads(message([exportLine(run, thread)]));

  test('says what, how far, who and when, with the way to the thread for those who can open it', () => {
    const run = aRun({ version: '1.2', looks: [{ atMs: NOW_MS, fraction: 0.37 }], pageCount: 12 });
    const words =
      '⏳ Exporting · docs.acme.com (1.2) · ▰▰▰▱▱▱▱▱▱▱ 37% · 12 pages so far · requested by ana TIME{ago}';
    expect(line(run)).toBe(words);
    expect(line(run, THREAD)).toBe(`${words} · Open thread`);
  });

  test('of an export that was not started from here, says since when it is watched', () => {
    expect(line(aRun({ joined: true }))).toBe(
      '⏳ Exporting · docs.acme.com · watched by ana since TIME{time}',
    );
  });

  test('shows no progress once the run has ended', () => {
    const run = aRun({ state: 'bundling', looks: [{ atMs: NOW_MS, fraction: 1 }] });
    expect(line(run)).toBe('⏳ Exporting · docs.acme.com · requested by ana TIME{ago}');
  });
});
