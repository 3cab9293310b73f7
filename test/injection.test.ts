import { describe, expect, test } from 'vitest';
import { notifiedBy } from '../demo/slack/notifies.ts';
import type { Block } from '../demo/slack/workspace.ts';
import { threadChoices } from '../src/commands/agent/modal.ts';
import { ephemeralMessage, offerMessage, threadNeeds } from '../src/jobs/agent/thread/ephemeral-view.ts';
import type { ThreadRun } from '../src/jobs/agent/thread/record.ts';
import { threadLine, threadMessages } from '../src/jobs/agent/thread/view.ts';
import { scheduleNeeds, scheduleNotes } from '../src/jobs/digest/schedule/view.ts';
import { exportNeeds } from '../src/jobs/export/feature.ts';
import { exportLine, runningMessage } from '../src/jobs/export/progress-view.ts';
import type { Ending, ExportRun } from '../src/jobs/export/record.ts';
import { exportMessages, refusedLinkMessage } from '../src/jobs/export/view.ts';
import { homeView, refusalText } from '../src/jobs/home/view.ts';
import { notPermittedText, unknownProjectText } from '../src/jobs/shared/wording-view.ts';
import { auditMessage, statusMessage } from '../src/jobs/status/view.ts';
import { contextBlock, type Message, message } from '../src/slack/blocks.ts';
import { choiceField } from '../src/slack/modals.ts';
import { sanitizeUserText } from '../src/slack/text.ts';
import { aHome, aState, needsOf } from './gallery/states/workspace.ts';
import { NOW_MS } from './support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from './support/jobs/agent/builders.ts';
import { aSchedule } from './support/jobs/digest/builders.ts';
import { aLinkRun, anEnding, aRun, REQUEST, STATES, THREAD } from './support/jobs/export/builders.ts';
import { withoutIsolates } from './support/slack/rendering.ts';
import { anAuditEntry } from './support/store/builders.ts';

const WORDS = [
  '*bold* _it_ ~gone~ `code`',
  '<!channel> <@U1> <#C1> <!subteam^S1>',
  '<https://evil.example|click>',
  'https://evil.example/x www.evil.example evil.example',
  ':tada: :x:',
  '&lt;!here&gt; &amp; &',
  '@here #general',
  'עברית :x: 12',
  '\u202Eabc\u2066\u200B\u200D\u00AD\u{E0041}',
  '*<@U1>`'.repeat(300),
];

/** Every export, in every state and ending, with these words wherever people or the platform choose them. */
function exportsWith(words: string): ExportRun[] {
  const foreign: Partial<ExportRun> = {
    project: words,
    version: words,
    paths: [words],
    by: { id: 'U0ANA', name: words },
    status: words,
    progressText: words,
    unknownJobId: words,
    answer: { attempt: 1, by: { id: 'U0BEN', name: words }, action: 'leave' },
  };
  const endings: Ending[] = [
    ...Object.values(anEnding),
    { kind: 'failed', reason: words },
    ...(['domain', 'plan', 'key', 'limit', 'down', 'project', 'permission', 'other'] as const).map((why) => ({
      kind: 'notStarted' as const,
      why,
      reason: words,
    })),
    { kind: 'noLink', why: 'project' },
    { kind: 'done', link: 'l', privately: true, refusal: 'cannot_dm_bot' },
  ];
  const troubles = (['down', 'limit', 'key', 'project', 'forbidden', 'lost'] as const).map((kind) => ({
    kind,
    inARow: 3,
    nextMs: NOW_MS,
  }));
  return [
    ...STATES.map((state) => aRun({ ...foreign, state })),
    ...troubles.map((trouble) => aRun({ ...foreign, pollFailure: trouble })),
    ...endings.map((ending) => aRun({ ...foreign, state: 'ended', ending })),
    aRun({ ...foreign, joined: true, domain: '', jobId: words }),
    aRun({ ...foreign, watchers: [{ id: 'U0BEN', name: words }], state: 'unknown', answer: undefined }),
  ];
}

function threadsWith(words: string): ThreadRun[] {
  const by = { id: 'U0ANA', name: words };
  const seen = { status: 'unknown' as const, rawStatus: words, repository: words, ref: words, atMs: NOW_MS };
  const foreign: Partial<ThreadRun> = { owner: by, seen: { ...seen, model: words }, project: words };
  const round = aRound({ last: { id: '1.2', by, excerpt: words }, authors: [by] });
  const whys = ['unknown', 'refused', 'project'] as const;
  return [
    aThread(foreign),
    aThread({ ...foreign, seen: undefined, agentJobId: words }),
    aThread({ ...foreign, instructions: [anInstruction({ by, excerpt: words, text: words })] }),
    aThread({ ...foreign, rounds: [round] }),
    ...whys.map((why) =>
      aThread({ ...foreign, instructions: [aTrouble({ by, excerpt: words, reason: words, why })] }),
    ),
  ];
}

const contacts = (words: string) => `@${sanitizeUserText(words.toWellFormed(), 60)}`;

const EPHEMERALS = [
  'question',
  'notPermitted',
  'noLongerAllowed',
  'followsAlready',
  'mode',
  'stopped',
] as const;

/** What a Home says of these, and what [Answer] shows there. */
function homesWith(words: string): Message[] {
  const exports = exportsWith(words).filter(({ state }) => state === 'unknown');
  const held = anInstruction({ state: 'held', by: { id: 'U0ANA', name: words }, excerpt: words });
  const threads = threadsWith(words).map((thread) => ({
    ...thread,
    othersAtMs: NOW_MS,
    answers: {},
    instructions: [held],
  }));
  const schedule = aSchedule({
    site: words,
    owner: { id: 'U0ANA', name: words },
    failures: 1,
    failure: { why: 'place', code: 'not_in_channel', week: '2026-W38' },
  });
  const needs = [
    ...exports.flatMap((run) => needsOf(exportNeeds, run)),
    ...[...threads, ...threadsWith(words)].flatMap((run) => needsOf(threadNeeds, run)),
    ...needsOf(scheduleNeeds, schedule),
  ];
  const lines = [
    exportsWith(words).map((run) => exportLine(run, THREAD)),
    threadsWith(words).map((run) => threadLine(run, THREAD)),
  ].flat();
  const running = [{ title: 'Running now', lines: [...lines, scheduleNotes.line(schedule)], more: 0 }];
  const views = [
    aHome({ needs, running, ended: lines }),
    aHome({ running, begin: [], left: [], refusal: refusalText([], { contacts: contacts(words) }) }),
  ];
  return [
    ...views.map((home) => ({ text: '', blocks: homeView(home).blocks as Message['blocks'] })),
    ...exports.flatMap((run) => exportNeeds.of(run).map((need) => exportNeeds.question(run, need))),
    ...threads.flatMap((run) => threadNeeds.of(run).map((need) => threadNeeds.question(run, need))),
    ...scheduleNeeds.of(schedule).map((need) => scheduleNeeds.question(schedule, need)),
  ];
}

/** What `/docs-status` says of these, with and without its details. */
function statusesWith(words: string): Message[] {
  const state = aState({
    running: exportsWith(words).map((run) => exportLine(run, THREAD)),
    featureLines: threadsWith(words).map((thread) => threadLine(thread, THREAD)),
    rejectedKeys: [{ variable: 'DOCS_API_KEY', names: [], sinceMs: NOW_MS, waiting: '' }],
    hasAdmins: false,
    contact: contacts(words),
  });
  return [statusMessage(state, { isAdmin: false }), statusMessage(state, { isAdmin: true, details: true })];
}

const messagesWith = (words: string): Message[] => [
  ...homesWith(words),
  ...statusesWith(words),
  ...exportsWith(words).flatMap((run) => [
    ...exportMessages(run).map((one) => one.message),
    runningMessage(run, NOW_MS, { thread: THREAD, mayFollow: true }, { request: REQUEST, privately: false }),
    message([exportLine(run, THREAD)]),
    { text: '', blocks: [contextBlock([exportLine(run, THREAD)])] },
  ]),
  ...threadsWith(words).flatMap((thread) => [
    ...threadMessages(thread).map((one) => one.message),
    ...EPHEMERALS.map((kind) =>
      ephemeralMessage(thread, { id: '1', to: 'U0ANA', kind, about: words, excerpt: words }),
    ),
    message([threadLine(thread, THREAD)]),
    { text: '', blocks: [contextBlock([threadLine(thread, THREAD)])] },
  ]),
  ...[anEnding.done, anEnding.noLink].flatMap((ending) =>
    exportMessages(aLinkRun({ state: 'ended', ending, domain: words, version: words })).map(
      (one) => one.message,
    ),
  ),
  refusedLinkMessage(aLinkRun({ domain: words, version: words }), {
    kind: 'done',
    link: 'l',
    refusal: 'cannot_dm_bot',
  }),
  offerMessage('m', words),
  message([scheduleNotes.line(aSchedule({ site: words, owner: { id: 'U0ANA', name: words } }))]),
  auditMessage({ done: [anAuditEntry({ subject: words })], refused: [] }),
  message([[unknownProjectText(words, ['acme'])], [notPermittedText('export', contacts(words))]]),
];

/** Every object with a text in blocks. */
function textsIn(value: unknown): { type: string; text: string; emoji?: boolean; verbatim?: boolean }[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (value === null || typeof value !== 'object') return [];
  const node = value as { type?: unknown; text?: unknown };
  const own = typeof node.type === 'string' && typeof node.text === 'string' ? [node as never] : [];
  return [...own, ...Object.values(value).flatMap(textsIn)];
}

/** What markup of ours there may be: times, channels, mentions, links to our threads, ids as code. */
const OWN_TOKENS =
  /<!date\^\d+\^[^|<>]+\|[^<>]+>|<#C0\w+>|<@U0\w+>|<https:\/\/acme\.example\/[^|<>]*\|Open thread>|`[\w./: -]+`/g;

describe.each(WORDS.map((words) => [words.slice(0, 60), words]))('%j', (_, words) => {
  const all = messagesWith(words);
  const blocks = all.map((one) => one.blocks as unknown as Block[]);

  test('mentions nobody, and is no link', () => {
    for (const { text, blocks: shown } of all) {
      const sent = shown as unknown as Block[];
      expect(['U0ANA', 'U0BEN']).toEqual(expect.arrayContaining(notifiedBy(text, sent)));
      expect(text.replace(OWN_TOKENS, '')).not.toMatch(/[<>]/);
      expect(JSON.stringify(sent)).not.toMatch(/"(?:url|user_id)":"[^"]*(?:evil|U1")/);
    }
  });

  test('is no markup, address or picture in small print', () => {
    for (const { type, text, verbatim } of blocks.flatMap(textsIn))
      if (type === 'mrkdwn') {
        expect(verbatim).toBe(true);
        expect(text.replace(OWN_TOKENS, '')).not.toMatch(/[*_~`<>]|:\w+:|\w\.\w|[@#]\w/);
      }
    for (const { type, text, emoji } of blocks.flatMap(textsIn))
      if (type === 'plain_text' && /:x:|:tada:/.test(text)) expect(emoji).toBe(false);
  });

  test('neither hides nor reorders what stands beside it', () => {
    for (const { text, blocks: shown } of all)
      for (const one of [text, ...textsIn(shown).map((object) => object.text)]) {
        // None but our own isolates, each closed in its line.
        const rest = withoutIsolates(one);
        expect(rest).not.toMatch(/\p{Bidi_Control}|[\u200B\u00AD]|\p{Cs}/u);
      }
  });

  test('is no picture in a choice of a modal', () => {
    const field = choiceField({ block: 'b', label: 'Job', choices: threadChoices(threadsWith(words)) });
    for (const { text, emoji } of textsIn(field.element)) if (text.includes(':')) expect(emoji).toBe(false);
  });
});

test('words from right to left are isolated wherever they stand in a sentence', () => {
  const code = (value: unknown) => JSON.stringify(value).includes('"code":true');
  for (const { blocks } of messagesWith('עברית'))
    for (const block of blocks as unknown as { elements?: { elements?: object[] }[] }[])
      for (const element of (block.elements ?? []).flatMap((one) => one.elements ?? [one]))
        if (!code(element) && 'text' in element && typeof element.text === 'string')
          expect(withoutIsolates(element.text)).not.toMatch(/[\u0590-\u05FF]/);
});
