import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Flag, readSlashText, type SlashToken, slashTokens } from '../../src/commands/slash-text.ts';
import { message } from '../../src/slack/blocks.ts';
import { stripInvisible } from '../../src/slack/visible.ts';
import { hostileText } from '../support/jobs/export/any-run.ts';

const plain = (...texts: string[]): SlashToken[] => texts.map((text) => ({ kind: 'plain', text }));
const flag = (name: string, value?: string): SlashToken => ({ kind: 'flag', name, value });

describe('words', () => {
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
  ])('%j', (text, words) => expect(slashTokens(text)).toEqual(plain(...words)));
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
  ])('around %j are left out', (text, words) => expect(slashTokens(text)).toEqual(plain(...words)));

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
    expect(slashTokens(text)).toEqual(plain(...words)),
  );
});

describe('flags', () => {
  test.each<[string, SlashToken[]]>([
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
  ])('%j', (text, words) => expect(slashTokens(text)).toEqual(words));
});

const flags: Record<string, Flag> = {
  version: { takes: 'value', example: '1.2' },
  paths: { takes: 'list', example: '/guides,/api' },
  project: { takes: 'value', example: 'acme' },
  private: { takes: 'nothing' },
};

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
  ])('%j', (text, args, values) => {
    expect(readSlashText(text, flags)).toEqual({
      kind: 'read',
      args,
      values: new Map(Object.entries(values)),
    });
  });

  test.each([
    ['--path /a', "I don't know --path. Did you mean --paths?"],
    ['--pths /a', "I don't know --pths. Did you mean --paths?"],
    ['--ver 1', "I don't know --ver. Did you mean --version?"],
    ['--verison 1', "I don't know --verison. Did you mean --version?"],
    ['–pirvate', "I don't know --pirvate. Did you mean --private?"],
    ['--privately', "I don't know --privately. Did you mean --private?"],
    ['--zip', "I don't know --zip. There are --version, --paths, --project, --private."],
    ['--pr', "I don't know --pr. There are --version, --paths, --project, --private."],
    ['--constructor', "I don't know --constructor. There are --version, --paths, --project, --private."],
    ['--version', '--version needs a value, such as --version 1.2.'],
    ['a --version=', '--version needs a value, such as --version 1.2.'],
    ['--version ""', '--version needs a value, such as --version 1.2.'],
    ['--version “ ”', '--version needs a value, such as --version 1.2.'],
    ['--version --private', '--version needs a value, such as --version 1.2.'],
    ['--version —beta', '--version needs a value, such as --version 1.2.'],
    ['--paths --private', '--paths needs a value, such as --paths /guides,/api.'],
    ['--version 1 --version 2', 'Type --version once; it is there twice.'],
    ['--private —Private', 'Type --private once; it is there twice.'],
    ['--private=yes', '--private takes no value. Type it alone, or leave it out.'],
    ['--private=""', '--private takes no value. Type it alone, or leave it out.'],
  ])('%j is refused with the fix', (text, line) => {
    const read = readSlashText(text, flags);
    expect(read.kind === 'unclear' && message([read.message]).text).toBe(line);
  });

  test('a long name is shown in part', () => {
    const read = readSlashText(`--${'x'.repeat(5000)}`, flags);
    expect(read.kind === 'unclear' && message([read.message]).text.length).toBeLessThan(150);
  });
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
  const visibleOf = (words: SlashToken[]) =>
    words.map((word) => (word.kind === 'plain' ? word.text : `${word.name}${word.value ?? ''}`)).join('');
  const hidden = /[\s"“”„‟«»″＂〝〞〟❝❞'‘’‚‛‹›`´′＇❛❜「」『』\p{Pd}\u2212=＝\p{Cf}\u180E]/gu;
  const decoded = (text: string) =>
    text.replace(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '');

  test('it is read without an error, and no letter of it is lost', () => {
    fc.assert(
      fc.property(typed, (text) => {
        readSlashText(text, flags);
        const kept = visibleOf(slashTokens(text)).replace(hidden, '').toLowerCase();
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
        expect(slashTokens(words.join(between))).toEqual(plain(...words));
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
        expect(slashTokens(text)).toEqual(words);
      }),
    );
  });
});
