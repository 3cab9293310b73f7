import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks, mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { readDomain } from '../../../src/commands/domain.ts';
import {
  type Ending,
  type ExportRun,
  exportActions,
  exportRun,
  runButton,
  startAnother,
} from '../../../src/jobs/export/run.ts';
import {
  cardMessage,
  exportMessages,
  noPlaceMessage,
  progressMessage,
  runningMessage,
  stateWord,
} from '../../../src/jobs/export/view.ts';
import { fillLinks, type Message } from '../../../src/slack/blocks.ts';
import { anEnding, anyRun, aRun, NOW_MS, type REASONS_NOT_TO_START, STATES, slackCode } from './any-run.ts';

const THREAD = 'https://acme.example/archives/C0DOCS/p1789914659000100';

const REQUEST = '123.456.abcdef';

/** What is shown, as a person reads it: mentions by name, times as TIME, buttons by their labels. */
function reads({ text, blocks }: Message): string {
  const words = text
    .replaceAll('<@U0ANA>', '@Ana')
    .replace(/<!date\^\d+\^([^|]+)\|[^>]*>/g, 'TIME$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  const labels = buttonsIn(blocks).map((button) => `[${button.text.text}]`);
  return labels.length === 0 ? words : `${words}\n${labels.join(' ')}`;
}

interface AButton {
  text: { text: string };
  action_id: string;
  value?: string;
  url?: string;
}

function buttonsIn(blocks: Message['blocks']): AButton[] {
  return blocks.flatMap((block) => (block.type === 'actions' ? (block.elements as AButton[]) : []));
}

/** The message of a run whose key ends or goes on with `part`. */
function messageOf(run: ExportRun, part: string): string | undefined {
  const shown = exportMessages(run).find(({ key }) => key.startsWith(`${run.id}.${part}`));
  return shown && reads(shown.message);
}

const ended = (ending: Ending, changes: Partial<ExportRun> = {}) =>
  aRun({ state: 'ended', ending, completedAtMs: NOW_MS, ...changes });

describe('whatever a record holds', () => {
  const runButtons: string[] = [
    exportActions.startAgain,
    exportActions.leave,
    exportActions.tryAgain,
    exportActions.checkNow,
    exportActions.newLink,
    exportActions.notify,
    exportActions.refresh,
  ];
  const everyMessage = (run: ExportRun, code: string) => [
    ...exportMessages(run),
    { kind: 'private' as const, message: runningMessage(run, NOW_MS, THREAD, REQUEST) },
    { kind: 'private' as const, message: runningMessage(run, NOW_MS, undefined, REQUEST) },
    { kind: 'private' as const, message: noPlaceMessage(run, code) },
  ];
  function always(claim: (shown: { kind: string; message: Message }, run: ExportRun) => void) {
    fc.assert(
      fc.property(anyRun, slackCode, (run, code) => {
        for (const shown of everyMessage(run, code)) claim(shown, run);
      }),
      { numRuns: 400 },
    );
  }

  test('the records that this is tried with are ones that the schema takes', () => {
    fc.assert(fc.property(anyRun, (run) => exportRun.parse(run) !== undefined));
  });

  test.each(['https://bundles.example/b.zip?X-Signature=1', undefined])(
    'Slack takes every message, with the link %s',
    async (link) => {
      await fc.assert(
        fc.asyncProperty(anyRun, slackCode, async (run, code) => {
          for (const { message } of everyMessage(run, code)) {
            const { blocks } = await fillLinks(message, async () => link);
            expect(mistakesIn(blocks, 'message')).toEqual([]);
            expect(() => checkMessageBlocks(blocks, (prefix) => prefix)).not.toThrow();
          }
        }),
        { numRuns: 400 },
      );
    },
  );

  test('nobody is mentioned but whoever asked or wanted to be told, in endings and questions', () => {
    always(({ kind, message: { text, blocks } }, { requester, watchers }) => {
      const allowed = kind === 'ending' ? [requester, ...watchers].map(({ id }) => id) : [];
      expect(allowed).toEqual(expect.arrayContaining(notifiedBy(text, blocks as unknown as Block[])));
      const mentions = [requester, ...watchers].map(({ id }) => `<@${id}>`);
      const ours = mentions
        .reduce((rest, mention) => rest.replaceAll(mention, ''), text)
        .replace(/<!date\^\d+\^[^|<>]+\|[^|<>]+>/g, '');
      expect(ours).not.toMatch(/<[!@#]/);
    });
  });

  test('the words can be read aloud, fit, and hold no link', () => {
    always(({ message: { text } }, run) => {
      expect(text.trim()).not.toBe('');
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3800);
      if (run.ending?.kind === 'done') expect(text).not.toContain(run.ending.link);
      expect(text).not.toContain(THREAD);
    });
  });

  test('one line of somebody else stays one line, and changes no direction', () => {
    always(({ message: { text } }) => {
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
      expect(text.split('\n').length).toBeLessThanOrEqual(3);
    });
  });

  test('every button of a run carries what its listener understands, and Slack takes it', () => {
    always(({ message: { blocks } }, run) => {
      for (const { action_id: action, value, url } of buttonsIn(blocks)) {
        if (action === exportActions.startAnother) {
          expect(startAnother.parse(JSON.parse(value ?? '')).request).toBe(REQUEST);
          continue;
        }
        if (!runButtons.includes(action)) {
          expect(value).toBeUndefined();
          expect(url).toMatch(/^(?:docket-link:|https:)/);
          continue;
        }
        expect(value?.length).toBeLessThanOrEqual(2000);
        const { run: id, attempt, resumed } = runButton.parse(JSON.parse(value ?? ''));
        expect({ id, attempt, resumed }).toEqual({ id: run.id, attempt: run.attempt, resumed: run.resumed });
      }
    });
  });

  test('no percentage is shown that the platform did not tell', () => {
    const silent = anyRun.map((run) => ({
      ...run,
      looks: run.looks.map(({ atMs }) => ({ atMs })),
      domain: 'docs.acme.com',
      requester: { id: 'U0ANA', name: 'ana' },
    }));
    fc.assert(
      fc.property(silent, (run) => {
        const { progressText: _, status: __, answer: ___, ending, ...rest } = run;
        rest.jobId = 'se_1';
        const words = { ...rest, ...(ending && !('reason' in ending) && !('code' in ending) && { ending }) };
        for (const { message } of [
          ...exportMessages(words),
          { message: runningMessage(words, NOW_MS, THREAD, REQUEST) },
        ])
          expect(message.text).not.toMatch(/%|[▓░]/);
      }),
    );
  });

  test('a record that was stored and read again shows the same', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const again = exportRun.parse(JSON.parse(JSON.stringify(run)));
        expect(exportMessages(again)).toEqual(exportMessages(run));
      }),
    );
  });
});

describe('a domain that a person may ask for', () => {
  test('is written out in the card, the ending and the buttons, however long it is', () => {
    const label = 'a'.repeat(63);
    const domain = `${label}.${label}.${label}.${'b'.repeat(61)}`;
    expect(readDomain(domain)).toEqual({ kind: 'domain', domain });
    const run = ended({ kind: 'failed' }, { domain });
    expect(messageOf(run, 'card')).toContain(domain);
    expect(messageOf(run, 'end')).toContain(domain);
    expect(exportMessages(run).flatMap(({ message }) => mistakesIn(message.blocks, 'message'))).toEqual([]);
  });
});

describe('which messages there are', () => {
  const keysAndKinds = (run: ExportRun) =>
    exportMessages(run).map(({ key, kind }) => [key.replace(run.id, ''), kind]);
  const before = { startedAtMs: undefined, jobId: undefined };

  test.each<[string, ExportRun, string[][]]>([
    ['accepted: nothing yet', aRun({ state: 'accepted', ...before }), []],
    ['the card on its way: the card', aRun({ state: 'carding', ...before }), [['.card', 'state']]],
    ['about to start: the card', aRun({ state: 'starting', ...before }), [['.card', 'state']]],
    [
      'running: card and progress',
      aRun(),
      [
        ['.card', 'state'],
        ['.progress', 'progress'],
      ],
    ],
    [
      'start unclear: card and question',
      aRun({ state: 'unknown', attempt: 2, ...before }),
      [
        ['.card', 'state'],
        ['.question.2', 'ending'],
      ],
    ],
    [
      'ended: card, the last progress, the ending',
      ended(anEnding.done, { attempt: 2, resumed: 3 }),
      [
        ['.card', 'state'],
        ['.progress', 'state'],
        ['.end.2.3', 'ending'],
      ],
    ],
    [
      'left: card and the answered question, no ending of its own',
      ended(anEnding.left, {
        ...before,
        answer: { attempt: 1, by: 'ben', byId: 'U0BEN', action: 'leave' },
      }),
      [
        ['.card', 'state'],
        ['.question.1', 'ending'],
      ],
    ],
    ['no place for a card: none', ended(anEnding.noPlace, before), []],
  ])('%s', (_, run, expected) => {
    expect(keysAndKinds(run)).toEqual(expected);
  });

  test('they are in the channel, with the details under the card; what must be told reaches the person', () => {
    expect(
      exportMessages(ended(anEnding.done)).map(({ place, otherwise }) => ({ place, otherwise })),
    ).toEqual([
      { place: { channel: 'C0DOCS' }, otherwise: undefined },
      { place: { under: '3f9a1c2b4d5e6f708192a3b4.card' }, otherwise: undefined },
      { place: { under: '3f9a1c2b4d5e6f708192a3b4.card' }, otherwise: 'U0ANA' },
    ]);
  });

  test('in direct messages, the card is another one and belongs to the person', () => {
    const [card, progress] = exportMessages(aRun({ inDirectMessage: true }));
    expect(card).toMatchObject({ key: '3f9a1c2b4d5e6f708192a3b4.card.dm', place: { user: 'U0ANA' } });
    expect(progress?.place).toEqual({ under: '3f9a1c2b4d5e6f708192a3b4.card.dm' });
  });

  test('an earlier ending is no longer shown anew once the run goes on', () => {
    const keys = exportMessages(aRun({ attempt: 2 })).map(({ key }) => key);
    expect(keys.filter((key) => key.includes('.end.'))).toEqual([]);
  });
});

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
    expect(stateWord(status === undefined ? run : { ...run, status })).toBe(word);
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
    expect(stateWord(ended(anEnding[kind]))).toBe(word);
  });

  test('every state and every ending has one, with no emoji and no more than five words', () => {
    for (const run of [
      ...STATES.map((state) => aRun({ state })),
      ...Object.values(anEnding).map((e) => ended(e)),
    ])
      expect(stateWord(run)).toMatch(/^[A-Z][a-z]+(?:,? [a-z]+){0,4}$/);
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
      'Running · started TIME{ago}\nMy platform key was rejected; whoever runs Docket has to renew it. I go on when it works again.',
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

  test('with trouble before the start: nothing is started yet', () => {
    const { startedAtMs: _, jobId: __, ...run } = aRun({ state: 'starting' });
    const trouble = { kind: 'down', inARow: 1, nextMs: NOW_MS } as const;
    expect(messageOf({ ...run, trouble }, 'progress')).toBe(
      "Queued\nThe docs platform isn't answering, so nothing is started yet. I keep trying.",
    );
  });
});

describe('the ending', () => {
  const looks = [{ atMs: NOW_MS, fraction: 0.61 }];
  const said = (ending: Ending, changes: Partial<ExportRun> = {}) => messageOf(ended(ending, changes), 'end');

  test.each<[string, string | undefined, string | undefined]>([
    [
      'done',
      said(anEnding.done, { pageCount: 412 }),
      '✅ @Ana The export of docs.acme.com is ready · 412 pages · 18.4 MB · took 3 min\nThe link works until TIME{date_short_pretty} {time}. Anyone who has it can download the bundle.\n[Download bundle] [New link]',
    ],
    [
      'done, with nothing else told',
      said({ kind: 'done', link: 'x' }, { completedAtMs: undefined }),
      "✅ @Ana The export of docs.acme.com is ready\nThe platform didn't say how long the link works. Anyone who has it can download the bundle.\n[Download bundle] [New link]",
    ],
    [
      'done, one page and one byte',
      said({ kind: 'done', link: 'x', linkEndsAtMs: NOW_MS, sizeBytes: 1 }, { pageCount: 1 }),
      '✅ @Ana The export of docs.acme.com is ready · 1 page · 1 byte · took 3 min\nThe link works until TIME{date_short_pretty} {time}. Anyone who has it can download the bundle.\n[Download bundle] [New link]',
    ],
    [
      'failed',
      said(anEnding.failed, { looks }),
      '❌ @Ana The export of docs.acme.com failed at 61% after 3 min.\nThe platform said: "Page guides/x failed to render"\nYour live site is not affected. ref 3f9a1c2b\n[Try again]',
    ],
    [
      'failed, without a reason',
      said({ kind: 'failed' }),
      '❌ @Ana The export of docs.acme.com failed after 3 min.\nThe platform gave no reason.\nYour live site is not affected. ref 3f9a1c2b\n[Try again]',
    ],
    [
      'failed, with a reason that says nothing',
      said({ kind: 'failed', reason: ' \u202E\n' }),
      '❌ @Ana The export of docs.acme.com failed after 3 min.\nThe platform gave no reason.\nYour live site is not affected. ref 3f9a1c2b\n[Try again]',
    ],
    [
      'lost',
      said(anEnding.lost),
      '❌ @Ana The platform no longer knows the export of docs.acme.com (404).\n[Start another]',
    ],
    [
      'gave up',
      said(anEnding.gaveUp),
      '⌛ @Ana I stopped watching the export of docs.acme.com after 6 h. It may still finish.\n[Check now]',
    ],
    [
      'no link',
      said(anEnding.noLink),
      "⚠️ @Ana The export of docs.acme.com finished, but I couldn't get a download link yet.\n[Try again]",
    ],
    [
      'broken',
      said(anEnding.broken),
      '❌ @Ana Something broke on my side during the export of docs.acme.com. It may still finish at the platform. ref 7f3c1d\n[Check now]',
    ],
    [
      'broken before anybody knows whether it started',
      said(anEnding.broken, { jobId: undefined }),
      "❌ @Ana Something broke on my side during the export of docs.acme.com. It may or may not have started: look in the platform's dashboard before you start it again. ref 7f3c1d\n[Start again]",
    ],
    ['left', said(anEnding.left), undefined],
    ['no place', said(anEnding.noPlace), undefined],
  ])('%s', (_, text, expected) => {
    expect(text).toBe(expected);
  });

  test.each<[(typeof REASONS_NOT_TO_START)[number], string]>([
    [
      'domain',
      "❌ @Ana The platform doesn't accept docs.acme.com, so nothing was started. Check the spelling and type the command again.",
    ],
    [
      'plan',
      "❌ @Ana Static export needs the Enterprise plan, and this organization doesn't seem to have it. Nothing was started.",
    ],
    [
      'key',
      '❌ @Ana My platform key was rejected, so nothing was started. Whoever runs Docket has to renew it.\n[Try again]',
    ],
    [
      'limit',
      "❌ @Ana The platform's limit is reached, so nothing was started. Try again later.\n[Try again]",
    ],
    [
      'down',
      "❌ @Ana The docs platform isn't answering, so nothing was started. Try again in a little while.\n[Try again]",
    ],
    ['other', '❌ @Ana The platform refused the export. Nothing was started.\n[Try again]'],
  ])('not started: %s', (why, expected) => {
    expect(said({ kind: 'notStarted', why })).toBe(expected);
  });

  test('not started: the words of the platform are added', () => {
    expect(said(anEnding.notStarted)).toBe(
      '❌ @Ana The platform doesn\'t accept docs.acme.com, so nothing was started. Check the spelling and type the command again.\nThe platform said: "Unknown domain"',
    );
  });

  test('a long reason is cut', () => {
    expect(said({ kind: 'failed', reason: '😀'.repeat(400) })).toContain(`said: "${'😀'.repeat(299)}…"`);
  });

  test('each way to end a run that is started has a state in words, not by an emoji alone', () => {
    for (const ending of Object.values(anEnding)) {
      const text = said(ending);
      if (text !== undefined) expect(text).toMatch(/^(?:✅|❌|⚠️|⌛) @Ana [A-Z]/);
    }
  });
});

describe('the question about a start without an answer', () => {
  const asked = aRun({ state: 'unknown', startedAtMs: undefined });

  test('says what is not known, and what to do', () => {
    expect(messageOf(asked, 'question')).toBe(
      "⚠️ @Ana The platform gave no clear answer, so I can't tell whether the export of docs.acme.com started.\nLook in the platform's dashboard before you start it again.\n[Start again] [Leave it]",
    );
  });

  test.each([
    ['startAgain', 'The platform gave no clear answer to the first start. Started again by @ben.'],
    ['leave', 'The platform gave no clear answer to the start. Left at that by @ben.'],
    ['late', "The platform's answer came late: the export did start."],
  ] as const)('answered (%s), it has no buttons and mentions nobody', (action, text) => {
    const answer = { attempt: 1, by: 'ben', byId: 'U0BEN', action };
    expect(messageOf(aRun({ attempt: 2, answer }), 'question.1')).toBe(text);
  });
});

describe('told privately', () => {
  test.each<[string, ExportRun, string | undefined, string]>([
    [
      'running',
      aRun({ looks: [{ atMs: NOW_MS, fraction: 0.37 }] }),
      THREAD,
      'An export of docs.acme.com is at 37% (started by @ana 3 min ago).\n[Open thread] [Notify me too] [Start another]',
    ],
    [
      'running, in a place that the asker may not see',
      aRun(),
      undefined,
      'An export of docs.acme.com is under way (started by @ana 3 min ago).\n[Notify me too] [Start another]',
    ],
    [
      'start unclear',
      aRun({ state: 'unknown' }),
      THREAD,
      "I can't tell whether @ana's export of docs.acme.com started, so I start no other. Answer the question in its thread first.\n[Open thread]",
    ],
  ])('%s', (_, run, thread, expected) => {
    expect(reads(runningMessage(run, NOW_MS, thread, REQUEST))).toBe(expected);
  });

  test.each<[string, boolean, string]>([
    [
      'not_in_channel',
      true,
      "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
    ],
    [
      'channel_not_found',
      true,
      "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
    ],
    [
      'channel_not_found',
      false,
      "Slack doesn't let me post here (channel_not_found), so nothing was started.",
    ],
    ['is_archived', true, "Slack doesn't let me post here (is_archived), so nothing was started."],
  ])('no place: %s, joinable %s', (code, joinable, expected) => {
    const run = aRun({ asked: { channel: 'C0DOCS', joinable, isPublic: true, atMs: NOW_MS } });
    expect(reads(noPlaceMessage(run, code))).toBe(expected);
  });
});
