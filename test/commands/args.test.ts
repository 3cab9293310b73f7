import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Flag, ok, readCommand } from '../../src/commands/args.ts';
import { optional } from '../../src/commands/params.ts';
import { type Token, tokenize } from '../../src/commands/tokens.ts';
import { message } from '../../src/slack/blocks.ts';
import { stripInvisible } from '../../src/slack/visible.ts';
import { hostileText } from '../support/arbitraries.ts';

type Bare<T> = T extends unknown ? Omit<T, 'start' | 'end'> : never;
const tokensOf = (text: string): Bare<Token>[] =>
  tokenize(stripInvisible(text)).map(({ start: _start, end: _end, ...token }) => token);
const plain = (...texts: string[]): Bare<Token>[] => texts.map((text) => ({ kind: 'plain', text }));
const flag = (name: string, value?: string): Bare<Token> => ({ kind: 'flag', name, value });

describe('text', () => {
  test.each<[string, string[]]>([
    ['', []],
    [' \n\t\u00A0\u200B ', []],
    ['docs.acme.com', ['docs.acme.com']],
    ['  one   two\nthree\tfour\r\nfive ', ['one', 'two', 'three', 'four', 'five']],
    ['one\u00A0two\u202Fthree\u3000four', ['one', 'two', 'three', 'four']],
    ['\uFEFFdocs\u200B.acme.com\u200E \u2060\u200Ctwo\u200D', ['docs.acme.com', 'two']],
    ['می\u200Cخواهم 👩\u200D💻', ['می\u200Cخواهم', '👩\u200D💻']],
    ['a&amp;b &lt;c&gt; &amp;lt; &quot;', ['a&b', '<c>', '&lt;', '&quot;']],
    ['<http://docs.acme.com|docs.acme.com> x', ['<http://docs.acme.com|docs.acme.com>', 'x']],
    ['<https://a.test/?q="x&amp;y=“z”|a.test>', ['<https://a.test/?q="x&y=“z”|a.test>']],
    ['a-b - -- — -5 —1', ['a-b', '-', '--', '—', '-5', '—1']],
  ])('%j', (text, words) => expect(tokensOf(text)).toEqual(plain(...words)));
});

describe('quotes', () => {
  test.each<[string, string[]]>([
    ['"spring release" x', ['spring release', 'x']],
    ["'spring release' x", ['spring release', 'x']],
    ['“spring release” x', ['spring release', 'x']],
    ['‘spring release’ x', ['spring release', 'x']],
    ['„spring release“ x', ['spring release', 'x']],
    ['„spring release” x', ['spring release', 'x']],
    ['”spring release” x', ['spring release', 'x']],
    ['«spring release» x', ['spring release', 'x']],
    ['»spring release« x', ['spring release', 'x']],
    ['‹spring release› x', ['spring release', 'x']],
    ['‚spring release‘ x', ['spring release', 'x']],
    ['`spring release` x', ['spring release', 'x']],
    ['「spring release」 x', ['spring release', 'x']],
    ['“spring release" x', ['spring release', 'x']],
    ['"spring\nrelease"', ['spring\nrelease']],
    ["'it's here' x", ["it's here", 'x']],
    ['“it’s Ana’s” x', ['it’s Ana’s', 'x']],
    ['"the “big” one" x', ['the “big” one', 'x']],
    ['“a" “b”', ['a', 'b']],
    ['"" “” x', ['', '', 'x']],
    ['" " x', [' ', 'x']],
    ['"--private" “— beta”', ['--private', '— beta']],
  ])('around %j are left out', (text, words) => expect(tokensOf(text)).toEqual(plain(...words)));

  test.each<[string, string[]]>([
    ['“spring release', ['“spring', 'release']],
    ['spring release”', ['spring', 'release”']],
    ['"spring ‘release x', ['"spring', '‘release', 'x']],
    ['"one "two" x', ['"one', 'two', 'x']],
    ['“spring’ release', ['“spring’', 'release']],
    ["O'Brien's d’accord", ["O'Brien's", 'd’accord']],
    ["'tis the season's", ["'tis", 'the', "season's"]],
    ['5" 6’', ['5"', '6’']],
    ['"', ['"']],
    ['a"b c"d', ['a"b', 'c"d']],
  ])('without a partner or inside words, %j, are characters like others', (text, words) =>
    expect(tokensOf(text)).toEqual(plain(...words)),
  );
});

describe('flags', () => {
  test.each<[string, Bare<Token>[]]>([
    ['--private', [flag('private')]],
    ['—private', [flag('private')]],
    ['–private', [flag('private')]],
    ['–-private', [flag('private')]],
    ['-–private', [flag('private')]],
    ['−−private', [flag('private')]],
    ['‐‑private', [flag('private')]],
    ['－－private', [flag('private')]],
    ['-private', [flag('private')]],
    ['--Private', [flag('private')]],
    ['--PRIVATE', [flag('private')]],
    ['\u200B--\u2060pri\u00ADvate\uFEFF', [flag('private')]],
    ['--dry–run', [flag('dry-run')]],
    ['a\u00A0—private\nb', [...plain('a'), flag('private'), ...plain('b')]],
    ['--version 1.2', [flag('version'), ...plain('1.2')]],
    ['--version=1.2', [flag('version', '1.2')]],
    ['—Version=1.2', [flag('version', '1.2')]],
    ['--version＝1.2', [flag('version', '1.2')]],
    ['--version="spring release" x', [flag('version', 'spring release'), ...plain('x')]],
    ['--version=“spring release” x', [flag('version', 'spring release'), ...plain('x')]],
    ['--version=“spring release', [flag('version', '“spring'), ...plain('release')]],
    ['--version=a=b', [flag('version', 'a=b')]],
    ['--version=""', [flag('version', '')]],
    ['--version= 1.2', [flag('version'), ...plain('1.2')]],
    ['--version=--x', [flag('version', '--x')]],
  ])('%j', (text, words) => expect(tokensOf(text)).toEqual(words));
});

const flagOf = (takes: Flag['takes'], example: string): Flag => ({ takes, usage: 'x', example, read: ok });
const flags: Record<string, Flag> = {
  version: flagOf('value', '1.2'),
  paths: flagOf('list', '/guides,/api'),
  project: flagOf('value', 'acme'),
  private: flagOf('nothing', ''),
};
const [token, text] = [optional('token', '[x]'), optional('text', '[x]')];
const subcommands = [
  { args: { one: token, two: token }, flags, example: '/docs-test a b' },
  {
    verb: 'send',
    args: { one: token, text },
    flags: { project: flagOf('value', 'acme') },
    example: '/docs-test send a',
  },
];

/** What was read of a text: the values that there are, or what is unclear about it. */
function readsAs(typed: string) {
  const read = readCommand('/docs-test', subcommands, typed);
  if (read.kind === 'unclear') return message([read.problem]).text;
  if (read.kind === 'help') return 'help';
  const values = Object.fromEntries(Object.entries(read.input).filter(([, value]) => value !== undefined));
  return read.subcommand.verb === undefined ? values : { verb: read.subcommand.verb, ...values };
}

describe('flags and their values', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['a --private b', ['a', 'b'], { private: '' }],
    ['--version 1.2 a', ['a'], { version: '1.2' }],
    ['--version=1.2 a', ['a'], { version: '1.2' }],
    ['a —version “spring release” –private', ['a'], { version: 'spring release', private: '' }],
    ['--version "--private" a', ['a'], { version: '--private' }],
    ['--version= 1.2 a', ['a'], { version: '1.2' }],
    ['--paths /a,/b a', ['a'], { paths: '/a,/b' }],
    ['--paths /a, /b ,/c , /d a', ['a'], { paths: '/a, /b ,/c , /d' }],
    ['--paths=/a， /b a', ['a'], { paths: '/a， /b' }],
    ['--paths "/a", "/b" a', ['a'], { paths: '"/a", /b' }],
    ['--paths /a, --private', [], { paths: '/a,', private: '' }],
    ['--version 1, a', ['a'], { version: '1,' }],
  ])('%j', (text, [one, two], values) => {
    expect(readsAs(text)).toEqual({ ...(one && { one }), ...(two && { two }), ...values });
  });

  test.each([
    ['--path /a', "I don't know --path. Did you mean --paths?"],
    ['--pths /a', "I don't know --pths. Did you mean --paths?"],
    ['--ver 1', "I don't know --ver. Did you mean --version?"],
    ['--verison 1', "I don't know --verison. Did you mean --version?"],
    ['–pirvate', "I don't know --pirvate. Did you mean --private?"],
    ['--privately', "I don't know --privately. Did you mean --private?"],
    ['--zip', "I don't know --zip. Available: --version, --paths, --project, --private."],
    ['--pr', "I don't know --pr. Available: --version, --paths, --project, --private."],
    ['--constructor', "I don't know --constructor. Available: --version, --paths, --project, --private."],
    ['--version', '--version needs a value, such as --version 1.2.'],
    ['a --version=', '--version needs a value, such as --version 1.2.'],
    ['--version ""', '--version needs a value, such as --version 1.2.'],
    ['--version “ ”', '--version needs a value, such as --version 1.2.'],
    ['--version --private', '--version needs a value, such as --version 1.2.'],
    ['--version —beta', '--version needs a value, such as --version 1.2.'],
    ['--paths --private', '--paths needs a value, such as --paths /guides,/api.'],
    ['--version 1 --version 2', 'Type --version only once.'],
    ['--private —Private', 'Type --private only once.'],
    ['--private=yes', '--private takes no value. Type it alone, or leave it out.'],
    ['--private=""', '--private takes no value. Type it alone, or leave it out.'],
  ])('%j is refused with the fix', (text, line) => {
    expect(readsAs(text)).toBe(line);
  });

  test('a long name is shown in part', () => {
    expect(readsAs(`--${'x'.repeat(5000)}`).length).toBeLessThan(150);
  });
});

describe('a text', () => {
  test.each<[string, object]>([
    ['send a b "c"  --zip\n&lt;d&gt;', { one: 'a', text: 'b "c"  --zip\n&lt;d&gt;' }],
    ['--project acme send a b', { one: 'a', text: 'b', project: 'acme' }],
    ['send “a” —Project “acme” --version 1', { one: 'a', text: '--version 1', project: 'acme' }],
    ['send a b —project=acme ', { one: 'a', text: 'b', project: 'acme' }],
    ['send a b --project "acme x"', { one: 'a', text: 'b', project: 'acme x' }],
    ['send a b --private', { one: 'a', text: 'b --private' }],
    ['send a b --project acme c', { one: 'a', text: 'b --project acme c' }],
    ['send a b --project=acme c', { one: 'a', text: 'b --project=acme c' }],
    ['send a --project acme', { one: 'a', project: 'acme' }],
    ['send', {}],
  ])('is everything that follows, as typed: %j', (typed, values) => {
    expect(readsAs(typed)).toEqual({ verb: 'send', ...values });
  });

  test.each([
    ['send a b --project', '--project needs a value, such as --project acme.'],
    ['send --project x a b --project y', 'Type --project only once.'],
    ['send a b --project x --project y', 'Type --project only once.'],
    ['send --zip a b', "I don't know --zip. Available: --version, --paths, --project, --private."],
    ['send --private a b', "--private doesn't go with send. Leave it out: /docs-test send a"],
  ])('%j is refused with the fix', (typed, line) => expect(readsAs(typed)).toBe(line));
});

test.each(['help', ' HELP\n'])('%j asks for help', (typed) => expect(readsAs(typed)).toBe('help'));

test('more words than a subcommand takes are refused with its example', () => {
  expect(readsAs('a b c')).toBe('Type /docs-test a b and nothing else.');
});

describe('whatever is typed', () => {
  const piece = fc.oneof(
    fc.constantFrom(...'"“”„‘’\'`«»「」-–—−=＝,，<>|&\\ \n\u00A0\u200B\u200D\u202E\uD83D'),
    fc.constantFrom('--', '&amp;', '&lt;', 'a', 'version', '--version', '—paths', '--private', ' '),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const typed = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    hostileText,
  );
  const visibleOf = (tokens: Bare<Token>[]) =>
    tokens
      .map((token) => (token.kind === 'plain' ? token.text : `${token.name}${token.value ?? ''}`))
      .join('');
  const hidden = /[\s"“”„‟«»″＂〝〞〟❝❞'‘’‚‛‹›`´′＇❛❜「」『』\p{Pd}\u2212=＝\p{Cf}\u180E]/gu;
  const decoded = (text: string) =>
    text.replace(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '');

  test('it is read without an error, and no letter of it is lost', () => {
    fc.assert(
      fc.property(typed, (text) => {
        readCommand('/docs-test', subcommands, text);
        const kept = visibleOf(tokensOf(text)).replace(hidden, '').toLowerCase();
        const meant = decoded(stripInvisible(text));
        expect(kept).toBe(meant.replace(hidden, '').toLowerCase());
      }),
      { numRuns: 5000 },
    );
  });

  const letters = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .map((text) => stripInvisible(text.replace(hidden, '').replaceAll('&', '')))
    .filter((text) => text !== '');
  const space = fc.constantFrom(' ', '\n', '\t', '\u00A0', ' \u200B ');

  test('words without quotes and dashes come back as they are', () => {
    fc.assert(
      fc.property(fc.array(letters), space, (words, between) => {
        expect(tokensOf(words.join(between))).toEqual(plain(...words));
      }),
    );
  });

  const pair = fc.constantFrom('""', "''", '“”', '‘’', '„“', '«»', '»«', '``', '「」');
  const phrase = fc.array(letters, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));

  test('words in quotes come back without them, as words and as values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(phrase, pair)), fc.boolean(), (phrases, asValues) => {
        const before = asValues ? '--version=' : '';
        const text = phrases
          .map(([inside, quotes]) => `${before}${quotes[0]}${inside}${quotes[1]}`)
          .join(' ');
        const words = phrases.map(([inside]) =>
          asValues ? flag('version', inside) : { kind: 'plain' as const, text: inside },
        );
        expect(tokensOf(text)).toEqual(words);
      }),
    );
  });
});
