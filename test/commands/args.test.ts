import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Flag, ok, optional, readCommand } from '../../src/commands/command.ts';
import { message } from '../../src/slack/blocks.ts';
import { hostileText } from '../support/arbitraries.ts';

const flagOf = (takes: Flag['takes'], example: string): Flag => ({ takes, usage: 'x', example, read: ok });
const flags: Record<string, Flag> = {
  version: flagOf('value', '1.2'),
  paths: flagOf('list', '/guides,/api'),
  project: flagOf('value', 'acme'),
  private: flagOf('nothing', ''),
};
const [token, text] = [optional('token', '[x]'), optional('text', '[x]')];
const about = { summary: '', run: async () => undefined };
const subcommands = [
  { ...about, args: { one: token, two: token }, flags, example: '/docs-test a b' },
  {
    ...about,
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

describe('arguments', () => {
  test.each<[string, string[]]>([
    ['  one \n two\t', ['one', 'two']],
    ['one\u00A0two\u200B', ['one', 'two']],
    ['a&amp;b &amp;lt;', ['a&b', '&lt;']],
    ['<http://docs.acme.com|docs.acme.com> -5', ['<http://docs.acme.com|docs.acme.com>', '-5']],
    ['"spring release" x', ['spring release', 'x']],
    ['“spring release” x', ['spring release', 'x']],
    ['«spring release» x', ['spring release', 'x']],
    ['“it’s Ana’s” x', ['it’s Ana’s', 'x']],
    ['"spring\nrelease" —', ['spring\nrelease', '—']],
    ['"--private" “— beta”', ['--private', '— beta']],
    ['“spring release', ['“spring', 'release']],
    ["O'Brien's d’accord", ["O'Brien's", 'd’accord']],
    ['5" 6’', ['5"', '6’']],
  ])('%j', (typed, [one, two]) => expect(readsAs(typed)).toEqual({ one, two }));

  test.each(['--private', '—private', '–Private', '-private', '−−private', '\u200B--pri\u00ADvate'])(
    '%j is a flag',
    (typed) => expect(readsAs(typed)).toEqual({ private: '' }),
  );
});

describe('flags and their values', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['a --private b', ['a', 'b'], { private: '' }],
    ['--version 1.2 a', ['a'], { version: '1.2' }],
    ['--version=1.2 a', ['a'], { version: '1.2' }],
    ['a —version “spring release” –private', ['a'], { version: 'spring release', private: '' }],
    ['--version "--private" a', ['a'], { version: '--private' }],
    ['--version 1.2—beta', [], { version: '1.2—beta' }],
    ['--version Ana’s', [], { version: 'Ana’s' }],
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
    ['--pths /a', "I don't know --pths. Did you mean --paths?"],
    ['--ver 1', "I don't know --ver. Did you mean --version?"],
    ['--verison 1', "I don't know --verison. Did you mean --version?"],
    ['--privately', "I don't know --privately. Did you mean --private?"],
    ['--zip', "I don't know --zip. Available: --version, --paths, --project, --private."],
    ['--constructor', "I don't know --constructor. Available: --version, --paths, --project, --private."],
    ['--version', '--version needs a value, such as --version 1.2.'],
    ['a --version=', '--version needs a value, such as --version 1.2.'],
    ['--version ""', '--version needs a value, such as --version 1.2.'],
    ['--version --private', '--version needs a value, such as --version 1.2.'],
    ['--paths --private', '--paths needs a value, such as --paths /guides,/api.'],
    ['--version 1 --version 2', 'Type --version only once.'],
    ['--private=yes', '--private takes no value. Type it alone, or leave it out.'],
  ])('%j is refused with the fix', (text, line) => {
    expect(readsAs(text)).toBe(line);
  });
});

describe('a text', () => {
  test.each<[string, object]>([
    ['send a b "c"  --zip\n&lt;d&gt;', { one: 'a', text: 'b "c"  --zip\n&lt;d&gt;' }],
    ['send “a” —Project “acme” --version 1', { one: 'a', text: '--version 1', project: 'acme' }],
    ['send a b --project "acme x"', { one: 'a', text: 'b', project: 'acme x' }],
    ['send a b --private', { one: 'a', text: 'b --private' }],
    ['send a b --project acme c', { one: 'a', text: 'b --project acme c' }],
    ['send a --project acme', { one: 'a', project: 'acme' }],
    ['send a Say “b”\n\n— c &amp; d -- e', { one: 'a', text: 'Say “b”\n\n— c &amp; d -- e' }],
    ['send a --version --project acme', { one: 'a', text: '--version', project: 'acme' }],
    ['send', {}],
  ])('is everything that follows, as typed: %j', (typed, values) => {
    expect(readsAs(typed)).toEqual({ verb: 'send', ...values });
  });

  test.each([
    ['send a b --project', '--project needs a value, such as --project acme.'],
    ['send --project x a b --project y', 'Type --project only once.'],
    ['send --zip a b', "I don't know --zip. Available: --version, --paths, --project, --private."],
    ['send --private a b', "--private doesn't go with send. Leave it out: /docs-test send a"],
  ])('%j is refused with the fix', (typed, line) => expect(readsAs(typed)).toBe(line));
});

test.each(['help', ' HELP\n'])('%j asks for help', (typed) => expect(readsAs(typed)).toBe('help'));

test('more words than a subcommand takes are refused with its example', () => {
  expect(readsAs('a b c')).toBe('Type /docs-test a b and nothing else.');
});

test('whatever is typed is read without an error', () => {
  fc.assert(fc.property(hostileText, (typed) => void readsAs(typed)));
});
