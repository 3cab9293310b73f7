import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCommand } from '../../../src/commands/args.ts';
import { exportCommand } from '../../../src/commands/export/command.ts';
import { isSafeId } from '../../../src/docs-api/paths.ts';
import { message } from '../../../src/slack/blocks.ts';
import { hostileText } from '../../support/arbitraries.ts';

interface Start {
  domain: string | undefined;
  project: string | undefined;
  version: string | undefined;
  paths: string[] | undefined;
  private: boolean;
}
const start = (changes: Partial<Start> = {}): Start => ({
  domain: 'docs.acme.com',
  project: undefined,
  version: undefined,
  paths: undefined,
  private: false,
  ...changes,
});

const read = (text: string) => readCommand(exportCommand.name, exportCommand.subcommands, text);
const inputOf = (text: string) => {
  const command = read(text);
  if (command.kind !== 'subcommand') return command;
  const { verb } = command.subcommand;
  return verb === undefined ? command.input : { verb, ...command.input };
};
const told = (text: string) => {
  const command = read(text);
  return command.kind === 'unclear' ? message([command.problem]).text : command;
};

describe('an export', () => {
  test.each<[string, Start]>([
    ['', start({ domain: undefined })],
    ['docs.acme.com', start()],
    ['  docs.acme.com\n', start()],
    ['“docs.acme.com”', start()],
    ['“”', start({ domain: '' })],
    ['https://docs.acme.com/v2', start({ domain: 'https://docs.acme.com/v2' })],
    [
      '<http://docs.acme.com|docs.acme.com> —private',
      start({ domain: '<http://docs.acme.com|docs.acme.com>', private: true }),
    ],
    ['docs.acme.com --private', start({ private: true })],
    ['–private docs.acme.com', start({ private: true })],
    ['--private', start({ domain: undefined, private: true })],
    ['docs.acme.com --project acme', start({ project: 'acme' })],
    ['docs.acme.com --project=" acme "', start({ project: 'acme' })],
    ['docs.acme.com --version 1.2', start({ version: '1.2' })],
    ['docs.acme.com —Version “spring release”', start({ version: 'spring release' })],
    ['docs.acme.com --version “Ana’s &amp; Ben’s”', start({ version: 'Ana’s & Ben’s' })],
    ['docs.acme.com --paths /guides,api', start({ paths: ['/guides', '/api'] })],
    ['--paths /guides, /api docs.acme.com', start({ paths: ['/guides', '/api'] })],
    ['docs.acme.com --paths “/guides”, “/api”', start({ paths: ['/guides', '/api'] })],
    [
      '–-project\u00A0acme docs.acme.com —version=“1.2 beta”\n—paths=/a，/b −−private',
      start({ project: 'acme', version: '1.2 beta', paths: ['/a', '/b'], private: true }),
    ],
  ])('%j', (text, words) => expect(inputOf(text)).toEqual(words));

  test.each([
    [
      'docs.acme.com docs.acme.org',
      'Type one domain, and two dashes before each option, such as /docs-export docs.acme.com --private.',
    ],
    [
      'docs.acme.com private',
      'Type one domain, and two dashes before each option, such as /docs-export docs.acme.com --private.',
    ],
    [
      'docs.acme.com --version spring release',
      'Type one domain, and quotes around a label of several words: --version "spring release"',
    ],
    ['docs.acme.com --label 1', "I don't know --label. Available: --project, --version, --paths, --private."],
    ['docs.acme.com --path /a', "I don't know --path. Did you mean --paths?"],
    ['docs.acme.com --version', '--version needs a value, such as --version "spring release".'],
    ['docs.acme.com --project', '--project needs a value, such as --project acme.'],
    ['docs.acme.com --paths', '--paths needs a value, such as --paths /guides,/api.'],
    ['--paths /a --paths /b', 'Type --paths only once.'],
    ['docs.acme.com --private=ana', '--private takes no value. Type it alone, or leave it out.'],
    ['--paths ,', '--paths: No paths given. Type them like /guides,/api.'],
    [
      '--paths /a, docs.acme.com',
      "--paths: “docs.acme.com” isn't a page path. Type the whole path, starting with a slash: /guides/start.",
    ],
    ['--version "spring\nrelease"', '--version: A label must fit on one line. Remove line breaks and tabs.'],
  ])('%j is refused with the fix', (text, line) => expect(told(text)).toBe(line));
});

describe('watch', () => {
  test.each<[string, string, string | undefined]>([
    ['watch se_3f9a', 'se_3f9a', undefined],
    ['Watch “se_3f9a”', 'se_3f9a', undefined],
    ['watch <se_3f9a>', 'se_3f9a', undefined],
    ['watch &lt;se_3f9a&gt;', 'se_3f9a', undefined],
    ['watch se_3f9a --project acme', 'se_3f9a', 'acme'],
    ['—project acme watch se_3f9a', 'se_3f9a', 'acme'],
  ])('%j', (text, id, project) =>
    expect(inputOf(text)).toEqual({ verb: 'watch', jobId: { kind: 'id', id }, project }),
  );

  test.each([
    ['watch', 'Which export? Type its job ID, such as /docs-export watch se_3f9a77bd04c24a06.'],
    ['watch “”', 'Which export? Type its job ID, such as /docs-export watch se_3f9a77bd04c24a06.'],
    ['watch <>', 'Which export? Type its job ID, such as /docs-export watch se_3f9a77bd04c24a06.'],
    ['watch se_1 se_2', 'Type one job ID, such as /docs-export watch se_3f9a77bd04c24a06.'],
    ['watch ../x', "../x isn't a job ID. Copy the whole ID, such as /docs-export watch se_3f9a77bd04c24a06."],
    [
      'watch "se 1"',
      "se 1 isn't a job ID. Copy the whole ID, such as /docs-export watch se_3f9a77bd04c24a06.",
    ],
    ['watch se_…', "se_… isn't a job ID. Copy the whole ID, such as /docs-export watch se_3f9a77bd04c24a06."],
    [
      'watch se_1 --private',
      "--private doesn't go with watch. Leave it out: /docs-export watch se_3f9a77bd04c24a06",
    ],
  ])('%j is refused with the fix', (text, line) => expect(told(text)).toBe(line));
});

describe('status', () => {
  test.each(['status', ' STATUS ', '“status”'])('%j', (text) =>
    expect(inputOf(text)).toEqual({ verb: 'status' }),
  );

  test.each([
    ['status docs.acme.com', 'Type /docs-export status and nothing else.'],
    ['status --project acme', "--project doesn't go with status. Leave it out: /docs-export status"],
  ])('%j is refused with the fix', (text, line) => expect(told(text)).toBe(line));
});

test('whatever is typed is read without an error, and what is unclear is one short line', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'watch',
      'status',
      'docs.acme.com',
      '--version',
      '—paths',
      '--private',
      '--project=',
      '=',
      ' ',
    ),
    fc.constantFrom(
      ' ',
      '\n',
      '"',
      '“',
      '”',
      '’',
      ',',
      '/',
      '..',
      '<',
      '>',
      '|',
      '&amp;',
      'http://',
      '\u202E',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const typed = fc.oneof(
    fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
    hostileText,
  );
  fc.assert(
    fc.property(typed, (text) => {
      const command = read(text);
      if (command.kind === 'subcommand' && command.subcommand.verb === 'watch')
        expect(isSafeId(String(command.input.jobId))).toBe(true);
      if (command.kind !== 'unclear') return;
      const line = message([command.problem]).text;
      expect(line).not.toMatch(/[\n\r]/);
      expect(line.length).toBeLessThan(300);
    }),
    { numRuns: 3000 },
  );
});
