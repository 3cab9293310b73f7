import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerptOf, parseThreadText } from '../../../src/jobs/agent/thread-text.ts';

const kindOf = (text: string) => parseThreadText(text).kind;

describe('talk among people', () => {
  test.each([
    'aside',
    'Aside: we should ask legal',
    'ASIDE we should ask legal',
    'aside, I like it',
    'aside — later',
    'aside\nlater',
    '  \u200Baside later',
    ', aside later',
    '_aside_ later',
    '**Aside:** later',
    'ａｓｉｄｅ later',
    'aside🙂',
  ])('%j', (text) => {
    expect(kindOf(text)).toBe('aside');
  });

  test.each([
    'asides are fine',
    'aside2',
    'asidé',
    'Put this aside',
    '@ben aside',
    '`aside` elements need a role',
    '<aside> needs a role',
  ])('but not %j', (text) => {
    expect(kindOf(text)).toBe('instruction');
  });
});

test.each(['', '   ', '\u200B\u2060', '\u3164', ',', ': ', ' – '])('%j is no text', (text) => {
  expect(kindOf(text)).toBe('empty');
});

test.each([
  ...['👍', '👍🏽👍🏽', ':wave:', '…', '+1', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '❤️', ':-)', '@ben'],
  ...['Hi', 'Hello!', 'hey there :wave:', 'Good morning, team', 'ok', 'OK.', 'Okay, thanks!'],
  ...[
    'Thanks 🙏',
    '**thank you!!**',
    'thx :D',
    'Thanks @ben, great work',
    'ｔｈａｎｋｓ',
    "that's great",
    'LGTM :+1:',
  ],
])('%j is no instruction', (text) => {
  expect(kindOf(text)).toBe('smallTalk');
});

test.each([
  '?',
  ' ？? ',
  'status?',
  'Status',
  'hi, any update?',
  "What's the status?",
  'is it done yet?? 🙂',
])('%j asks how far the agent is', (text) => {
  expect(kindOf(text)).toBe('status');
});

test.each([
  ...[
    '0',
    '2',
    'ok, go ahead',
    'thanks, now also fix the typo',
    'hi, add a quickstart',
    'nice, but shorten it',
  ],
  ...[
    'all',
    'yes, please',
    'update the status',
    'status page is missing',
    '+15',
    'good examples',
    'thank Ben in the intro',
  ],
])('%j is an instruction', (text) => {
  expect(kindOf(text)).toBe('instruction');
});

describe('an export', () => {
  test.each([
    ['export docs.acme.com', 'docs.acme.com'],
    ['Export  docs.acme.com.', 'docs.acme.com'],
    ['export `docs.acme.com`', 'docs.acme.com'],
  ])('%j', (text, site) => {
    expect(parseThreadText(text)).toEqual({ kind: 'export', site });
  });

  test('of an address suggests its site', () => {
    const typed = 'https://docs.acme.com/v2';
    expect(parseThreadText(`export ${typed}`)).toEqual({ kind: 'export', site: 'docs.acme.com', typed });
  });

  test('without a site', () => {
    expect(parseThreadText('Export')).toEqual({ kind: 'export' });
  });

  test.each([
    'export the tables as CSV',
    'exports docs.acme.com',
    'please export docs.acme.com',
    'export docs.acme.com settings into a table',
    'export changelog',
    'export `openapi.json`',
    'export README.md',
    'export guides/setup.md',
    'export v2.1',
  ])('%j is an instruction', (text) => {
    expect(kindOf(text)).toBe('instruction');
  });
});

describe('a command', () => {
  test.each([
    ['stop', 'stop'],
    ['Stop.', 'stop'],
    [' STOP!! ', 'stop'],
    [', stop', 'stop'],
    [': stop', 'stop'],
    ['st\u200Bop', 'stop'],
    ['`stop`', 'stop'],
    ['"stop"', 'stop'],
    ['“stop”.', 'stop'],
    ['**stop**', 'stop'],
    ['only when mentioned', 'onlyMentioned'],
    ['Only  when\u00A0mentioned…', 'onlyMentioned'],
    ['only\nwhen mentioned', 'onlyMentioned'],
    ['all replies', 'allReplies'],
    ['All replies, ', 'allReplies'],
    ['help?', 'help'],
    ['ＨＥＬＰ', 'help'],
    ['What can you do?', 'help'],
  ])('%j', (text, command) => {
    expect(parseThreadText(text)).toEqual({ kind: 'command', command });
  });

  test.each([
    'stop using tabs',
    'please stop',
    'stop stop',
    'stop\nusing tabs',
    'onlywhenmentioned',
    'all replies please',
    'help me with the quickstart',
    'helper',
    'hint',
    'why?',
  ])('%j is more than that, so it is an instruction', (text) => {
    expect(kindOf(text)).toBe('instruction');
  });
});

describe('another job to follow', () => {
  test.each([
    ['follow aj_3f9a', 'aj_3f9a'],
    ['Follow   aj_3f9a.', 'aj_3f9a'],
    ['follow `aj_3f9a`', 'aj_3f9a'],
    ['`follow aj_3f9a`', 'aj_3f9a'],
    ['follow "aj_3f9a"!', 'aj_3f9a'],
    ['follow “aj_3f9a”', 'aj_3f9a'],
    ['follow <aj_3f9a>', 'aj_3f9a'],
    ['follow aj_\u200B3f9a', 'aj_3f9a'],
    [': follow\u00A0AJ-3f.9a_', 'AJ-3f.9a_'],
    [`follow ${'x'.repeat(200)}`, 'x'.repeat(200)],
  ])('%j', (text, jobId) => {
    expect(parseThreadText(text)).toEqual({ kind: 'follow', jobId });
  });

  test.each([
    ['follow aj_3f9a --project acme', 'acme'],
    ['Follow `aj_3f9a` —project acme.', 'acme'],
    ['`follow aj_3f9a --project=Acme-2`', 'Acme-2'],
    ['follow "aj_3f9a" –project "acme"', 'acme'],
  ])('%j, in a project', (text, project) => {
    expect(parseThreadText(text)).toEqual({ kind: 'follow', jobId: 'aj_3f9a', project });
  });

  test.each(['follow', 'Follow.', 'follow .', 'follow --project acme', 'follow aj_…'])(
    '%j does not say which',
    (text) => {
      expect(parseThreadText(text)).toEqual({ kind: 'badFollow' });
    },
  );

  test.each([
    ['follow aj_3f9a…4a06', '4a06'],
    ['follow `aj_3f9a…4a06`.', '4a06'],
    ['follow aj_3f9a...4a06', '4a06'],
    ['follow aj_3f9a…', ''],
    ['“follow aj_3f9a…”', ''],
  ])('%j says it in short', (text, end) => {
    expect(parseThreadText(text)).toEqual({
      kind: 'badFollow',
      typed: { kind: 'short', start: 'aj_3f9a', end },
    });
  });

  test.each([
    'follow <https://dash.example/acme/jobs/aj_3f9a>',
    'follow [dash.example/…](https://dash.example/acme/jobs/aj_3f9a)',
    'follow https://dash.example/acme/jobs/aj_3f9a.',
    'follow `dash.example/acme/jobs/aj_3f9a`',
  ])('%j says it by an address', (text) => {
    expect(parseThreadText(text)).toEqual({
      kind: 'badFollow',
      typed: { kind: 'address', ids: ['aj_3f9a'] },
    });
  });

  test('in short, in a project', () => {
    expect(parseThreadText('follow aj_3f9a…4a06 --project acme')).toEqual({
      kind: 'badFollow',
      typed: { kind: 'short', start: 'aj_3f9a', end: '4a06' },
      project: 'acme',
    });
  });

  test.each([
    'follow job 1',
    'follow the style guide',
    'follow a/../b',
    'following aj_3f9a',
    `follow ${'x'.repeat(201)}`,
  ])('but not %j', (text) => {
    expect(kindOf(text)).toBe('instruction');
  });
});

test('whatever is written can be read, and an id is one word', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', 'follow ', 'aside', 'stop '),
      (rest, start) => {
        const words = parseThreadText(start + rest);
        if (words.kind === 'follow') expect(words.jobId).toMatch(/^\S{1,200}$/u);
      },
    ),
  );
});

test.each([
  ['one\n\ntwo\tthree ', 'one two three'],
  ['x'.repeat(60), 'x'.repeat(60)],
  ['🙂'.repeat(61), `${'🙂'.repeat(59)}…`],
])('%j is shown as %j', (text, excerpt) => {
  expect(excerptOf(text)).toBe(excerpt);
});
