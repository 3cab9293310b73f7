import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerptOf, parseThreadText } from '../../../src/jobs/agent/thread-text.ts';

const KINDS = {
  aside: [
    ...['aside', 'Aside: we should ask legal', 'aside, I like it', 'aside — later', 'aside\nlater'],
    ...['  \u200Baside later', ', aside later', '**Aside:** later', 'ａｓｉｄｅ later', 'aside🙂'],
  ],
  empty: ['', '   ', '\u200B\u2060', '\u3164', ',', ': ', ' – '],
  smallTalk: [
    ...[
      '👍',
      '👍🏽👍🏽',
      ':wave:',
      '…',
      '+1',
      '1️⃣',
      '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
      ':-)',
      '@ben',
      'Hi',
      'hey there :wave:',
      'ok',
      'Okay, thanks!',
    ],
    ...[
      'Good morning, team',
      '**thank you!!**',
      'thx :D',
      'Thanks @ben, great work',
      'ｔｈａｎｋｓ',
      "that's great",
    ],
  ],
  status: ['?', ' ？? ', 'status?', 'hi, any update?', "What's the status?", 'is it done yet?? 🙂'],
  instruction: [
    ...['asides are fine', 'aside2', 'asidé', 'Put this aside', '@ben aside', '`aside` elements need a role'],
    ...[
      '0',
      'ok, go ahead',
      'thanks, now also fix the typo',
      'all',
      'yes, please',
      'update the status',
      '+15',
    ],
    ...['status page is missing', 'good examples', 'thank Ben in the intro'],
    ...[
      'export the tables as CSV',
      'exports docs.acme.com',
      'please export docs.acme.com',
      'export changelog',
    ],
    ...['export `openapi.json`', 'export guides/setup.md', 'export v2.1'],
    ...['stop using tabs', 'please stop', 'stop\nusing tabs', 'all replies please', 'helper', 'why?'],
    ...[
      'follow job 1',
      'follow the style guide',
      'follow a/../b',
      'following aj_3f9a',
      `follow ${'x'.repeat(201)}`,
    ],
  ],
};

describe.each(Object.entries(KINDS))('%s', (kind, texts) => {
  test.each(texts)('%j', (text) => {
    expect(parseThreadText(text).kind).toBe(kind);
  });
});

const follows = { kind: 'follow', jobId: 'aj_3f9a' };

test.each<[object, string[]]>([
  [
    { kind: 'export', site: 'docs.acme.com' },
    ['export docs.acme.com', 'Export  docs.acme.com.', 'export `docs.acme.com`'],
  ],
  [
    { kind: 'export', site: 'docs.acme.com', typed: 'https://docs.acme.com/v2' },
    ['export https://docs.acme.com/v2'],
  ],
  [{ kind: 'export' }, ['Export']],
  [
    { kind: 'command', command: 'stop' },
    ['stop', 'Stop.', ' STOP!! ', ', stop', 'st\u200Bop', '`stop`', '“stop”.', '**stop**'],
  ],
  [{ kind: 'command', command: 'onlyMentioned' }, ['Only  when\u00A0mentioned…', 'only\nwhen mentioned']],
  [{ kind: 'command', command: 'allReplies' }, ['All replies, ']],
  [{ kind: 'command', command: 'help' }, ['help?', 'ＨＥＬＰ', 'What can you do?']],
  [
    follows,
    [
      ...['follow aj_3f9a', 'Follow   aj_3f9a.', 'follow `aj_3f9a`', '`follow aj_3f9a`', 'follow "aj_3f9a"!'],
      ...['follow “aj_3f9a”', 'follow <aj_3f9a>', 'follow aj_\u200B3f9a'],
    ],
  ],
  [{ kind: 'follow', jobId: 'AJ-3f.9a_' }, [': follow\u00A0AJ-3f.9a_']],
  [
    { ...follows, project: 'acme' },
    ['follow aj_3f9a --project acme', 'Follow `aj_3f9a` —project acme.', 'follow "aj_3f9a" –project "acme"'],
  ],
  [{ ...follows, project: 'Acme-2' }, ['`follow aj_3f9a --project=Acme-2`']],
  [
    { kind: 'badFollow' },
    [
      ...['follow', 'Follow.', 'follow .', 'follow --project acme', 'follow aj_…', 'follow aj_3f9a…'],
      ...['follow aj_3f9a…4a06', 'follow `aj_3f9a…4a06`.', 'follow aj_3f9a...4a06', 'follow aj_3f9a...'],
      ...['“follow aj_3f9a…”', 'follow aj_3f9a…4a06 --project acme'],
    ],
  ],
  [
    follows,
    [
      'follow <https://dash.example/acme/jobs/aj_3f9a>',
      'follow [dash.example/…](https://dash.example/acme/jobs/aj_3f9a)',
      'follow `dash.example/acme/jobs/aj_3f9a`',
    ],
  ],
])('%j', (parsed, texts) => {
  for (const text of texts) expect(parseThreadText(text)).toEqual(parsed);
});

test.each([
  [
    'asked about',
    true,
    [
      'thank you for fixing it',
      "that's it, thanks a lot",
      'yes',
      'ok, go ahead',
      'Thanks for the update!',
      'Great, that was quick 🎉',
    ],
  ],
  [
    'asked about',
    true,
    ['same for the API page', "ok, I'll check it", 'yes, this change', 'Hi Ana, how was it?'],
  ],
  ['sent', false, ['ok, add a quickstart', 'yes please fix the typo', 'thanks, now also fix the typo']],
  [
    'sent',
    false,
    ['okra is missing', 'Welcome page is missing', 'thanks to the readers we know where it hurts'],
  ],
])('a reply that begins with a courtesy is %s (%s)', (_, maybeTalk, texts) => {
  const kinds = texts.map((text) => [text, parseThreadText(text)]);
  const expected = maybeTalk ? { kind: 'instruction', maybeTalk } : { kind: 'instruction' };
  expect(kinds).toEqual(texts.map((text) => [text, expected]));
});

test('whatever is written can be read, and an id is one word', () => {
  const start = fc.constantFrom('', 'follow ', 'aside', 'stop ');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), start, (rest, first) => {
      const words = parseThreadText(first + rest);
      if (words.kind === 'follow') expect(words.jobId).toMatch(/^\S{1,200}$/u);
    }),
  );
});

test.each([
  ['one\n\ntwo\tthree ', 'one two three'],
  ['x'.repeat(60), 'x'.repeat(60)],
  ['🙂'.repeat(61), `${'🙂'.repeat(59)}…`],
])('%j is shown as %j', (text, excerpt) => {
  expect(excerptOf(text)).toBe(excerpt);
});
