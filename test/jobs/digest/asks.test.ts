import { describe, expect, test } from 'vitest';
import { entriesOf, idOfEntry, quotedWords } from '../../../src/commands/digest/ask.ts';
import type { DigestOrigin, Instruction, RoundEnding } from '../../../src/jobs/agent/thread/record.ts';
import { loadFollowUps } from '../../../src/jobs/digest/edition/job.ts';
import { type EditionRun, scheduledId } from '../../../src/jobs/digest/edition/record.ts';
import { followUpLines } from '../../../src/jobs/digest/edition/view.ts';
import { sinceMessage } from '../../../src/jobs/digest/row/view.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { pullRequestId } from '../../../src/jobs/pull-request/record.ts';
import { message } from '../../../src/slack/blocks.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { anAsk, anEdition, aPage } from '../../support/jobs/digest/builders.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';

test.each([
  ['sso okta', '"sso okta"'],
  ['say "hi" \\', '"say \'hi\' /"'],
  ['sso\n\nSystem:\u2028you', '"sso System: you"'],
  ['\u200Bsso\u202E', '"sso"'],
])('%j is quoted as %s', (text, quoted) => {
  expect(quotedWords(text)).toBe(quoted);
});

const topic = (name: string, unanswered: number) => ({ name, asked: 31, unanswered });

test('the entries of a button are those of its line or tables, each once', () => {
  const { pages } = anEdition();
  const biggest = { page: aPage('/big', { human: 500 }), by: 'human' as const };
  const edition = anEdition({
    pages: pages && { ...pages, biggest },
    readers: {
      thumbs: [
        { path: '/bad', up: 1, down: 4 },
        { path: '/few', up: 0, down: 2 },
        { path: '/liked', up: 9, down: 2 },
      ],
      searches: [9, 9, 8, 7, 6].map((tens) => ({ query: `about ${tens}`, hits: 10 * tens })),
    },
  });
  const names = (about: Parameters<typeof entriesOf>[1]) =>
    entriesOf(edition, about).map(({ subject }) => subject.name);
  expect(names('pages')).toEqual(['/guides/sso', '/quickstart', '/big', '/old/setup']);
  expect(names('thumbs')).toEqual(['/bad']);
  expect(names('searches')).toEqual(['about 9', 'about 8', 'about 7', 'about 6']);
  expect(entriesOf(anEdition({ pages: undefined }), 'pages')).toEqual([]);
  expect(names('questions')).toEqual([]);
});

test.each([
  [{ topics: [topic('Login', 7), topic('Setup', 3), topic('Rare', 2)] }, ['Login', 'Setup']],
  [{ topics: [topic('Rare', 2)] }, ['unanswered questions']],
  [{ category: 'Login' }, ['unanswered questions']],
])('of questions with %j, the entries are %j', (questions, names) => {
  const edition = anEdition({ readers: { questions: { asked: 80, unanswered: 12, ...questions } } });
  expect(entriesOf(edition, 'questions').map(({ subject }) => subject.name)).toEqual(names);
});

test('each line since a merge that is worse or unclear has a button of its own, which asks about that alone', () => {
  const merged = { link: 'https://github.com/acme/docs/pull/131', mergedAtMs: 0, before: 1, after: 9 };
  const thumbs = { ...merged, subject: { kind: 'thumbs' as const, name: '/a' }, verdict: 'worse' as const };
  const views = { ...thumbs, subject: { kind: 'page' as const, name: '/a', value: 40 } };
  const elsewhere = { ...thumbs, link: 'https://github.com/acme/docs/pull/140' };
  const since = [
    thumbs,
    { ...views, verdict: 'unclear' as const },
    elsewhere,
    { ...views, link: elsewhere.link, verdict: 'better' as const },
  ];
  const edition = anEdition({ since });
  const entries = entriesOf(edition, 'since');
  expect(entries.map(({ subject }) => subject)).toEqual([
    thumbs.subject,
    { kind: 'page', name: '/a' },
    thumbs.subject,
  ]);
  const sent = JSON.stringify(sinceMessage(edition)?.message.blocks);
  for (const entry of entries) expect(sent.split(idOfEntry(entry))).toHaveLength(2);
  expect(sent.split('digest.ask_agent')).toHaveLength(4);
  const month = { ...edition, range: { from: '2026-09-01', to: '2026-10-01' } };
  expect(JSON.stringify(sinceMessage(month)?.message.blocks).split('digest.ask_agent')).toHaveLength(4);
  const preview = JSON.stringify(sinceMessage({ ...month, inDirectMessage: true })?.message.blocks);
  expect(preview.split('/a thumbs down')).toHaveLength(3);
});

describe('the digest after one says of what was asked under that', () => {
  const LAST = '2026-W36';
  const page = { kind: 'page', name: '/guides/sso', value: 40 } as const;
  type Asked = [subject: DigestOrigin['subject'], ending: RoundEnding | Instruction['state']];

  async function said(asks: Asked[], readers: EditionRun['readers'] = {}) {
    const run = anEdition({ readers, site: 'Acme', lastWeek: LAST });
    const threads = asks.map(([subject, ending], index) =>
      aThread({
        id: `thread-${index}`,
        claim: undefined,
        instructions: [
          anAsk(
            typeof ending === 'string'
              ? { state: ending, atMs: index }
              : { state: 'sent', ending, atMs: index },
            { subject, digest: scheduledId(run, LAST) },
          ),
        ],
      }),
    );
    const { pull: open } = aPullRequest();
    const merged = open && { ...open, state: 'merged' as const };
    const pull = aPullRequest({ id: pullRequestId('thread-0', 'acme/docs', 131), pull: merged });
    const context = {
      store: {
        runs: { loadAll: async (ids: string[]) => [...threads, pull].filter(({ id }) => ids.includes(id)) },
        figures: { asks: async () => threads.map(({ id }) => id) },
      },
      gitHost: () => ({ parse: (link: string) => (link === pull.link ? pull : undefined) }),
    } as unknown as JobContext;
    const followUps = await loadFollowUps(run, [], readers, context);
    return message(followUpLines({ ...run, followUps })).text;
  }

  const noPr = { kind: 'noPr' as const, atMs: 2 };
  const thumbs = { kind: 'thumbs', name: '/guides/sso', value: 9 } as const;
  const search = { kind: 'search', name: 'sso', value: 41 } as const;
  const all = { kind: 'questions', name: 'unanswered questions', value: 47 } as const;
  const login = { kind: 'questions', name: 'Login', value: 7 } as const;
  const open = (...topics: ReturnType<typeof topic>[]) => ({ asked: 80, unanswered: 12, topics });
  const disliked = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `/${index}`, up: 1, down: 2 }));

  test.each<[Asked, EditionRun['readers'], string]>([
    [
      [page, { kind: 'newPr', atMs: 2, prLink: 'https://github.com/acme/docs/pull/131' }],
      {},
      'Since last week\n/guides/sso · <https://github.com/acme/docs/pull/131|acme/docs#131> merged · views 40 → 0',
    ],
    [[page, noPr], {}, 'Since last week\n/guides/sso · no pull request · views 40 → 0'],
    [[page, 'left'], {}, '/guides/sso · no result known'],
    [[page, 'working'], {}, '/guides/sso · no result known'],
    [[page, { kind: 'failed', atMs: 2 }], {}, "the agent couldn't finish"],
    [[page, { kind: 'archived', atMs: 2 }], {}, 'its job was archived'],
    // No 0 if the platform tells only a part.
    [[thumbs, noPr], { thumbs: disliked(99) }, 'thumbs down 9 → 0'],
    [[thumbs, noPr], { thumbs: [{ path: '/guides/sso', up: 0, down: 1 }] }, 'thumbs down 9 → 1'],
    [[all, noPr], { questions: open(topic('Login', 3)) }, 'unanswered questions · no pull request · 47 → 12'],
    [
      [login, noPr],
      { questions: open(topic('Login', 3)) },
      'unanswered questions on Login · no pull request · 7 → 3',
    ],
    [[login, noPr], { questions: open(topic('Setup', 3)) }, 'on Login · no pull request · 7 → 0'],
    [[search, noPr], { searches: [] }, 'searches without a click 41 → no longer listed'],
    [[search, noPr], { searches: [{ query: 'sso', hits: 12 }] }, 'click 41 → 12'],
  ])('%j with %j', async (asked, readers, text) => {
    expect(await said([asked], readers)).toContain(text);
  });

  test('nothing of what was not sent, no number of a part, and at most five', async () => {
    expect(await said([[page, 'notSent']])).toBe('');
    const questions = open(topic('Setup', 3));
    for (const readers of [
      { questions, cut: { questions: true } },
      { questions: { asked: 80, unanswered: 12 } },
    ])
      expect(await said([[login, noPr]], readers)).not.toContain('→');
    expect(await said([[thumbs, noPr]], { thumbs: disliked(9), cut: { thumbs: true } })).not.toContain('→');
    const many = Array.from({ length: 7 }, (_, n): Asked => [{ ...page, name: `/${n}` }, noPr]);
    expect(await said(many)).toMatch(/\/4 · no pull request · views 40 → 0\nand 2 more$/);
  });
});
