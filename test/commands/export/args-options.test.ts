import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathsOn, readPaths, readVersion } from '../../../src/commands/export/args.ts';
import { hostileText } from '../../support/arbitraries.ts';

const problemOf = (read: { kind: 'ok' } | { kind: 'unclear'; problem: string }) =>
  read.kind === 'unclear' ? read.problem : read;

describe('a version label', () => {
  test.each([
    ['1.2', '1.2'],
    ['  spring release\u00A0', 'spring release'],
    ['\uFEFF1.2\u200B', '1.2'],
    ['📦'.repeat(100), '📦'.repeat(100)],
  ])('%j', (text, version) => expect(readVersion(text)).toEqual({ kind: 'ok', value: version }));

  test.each([
    ['', 'The version is empty. Type one, such as 1.2 or spring release.'],
    ['\u00AD', 'The version is empty. Type one, such as 1.2 or spring release.'],
    ['📦'.repeat(101), 'A version has at most 100 characters, and this one has 101. Shorten it.'],
    ['a\nb', 'A version must fit on one line. Remove line breaks and tabs.'],
    ['a\u0000b', 'A version must fit on one line. Remove line breaks and tabs.'],
    ['a\u2028b', 'A version must fit on one line. Remove line breaks and tabs.'],
    ['a\uD83D', 'A version must fit on one line. Remove line breaks and tabs.'],
  ])('%j is refused with the fix', (text, problem) => expect(problemOf(readVersion(text))).toBe(problem));
});

describe('paths', () => {
  test.each<[string, string[]]>([
    ['/guides', ['/guides']],
    ['guides/start', ['/guides/start']],
    [' /guides ， api、/a، /b ,, ', ['/guides', '/api', '/a', '/b']],
    ['\uFEFF/gui\u200Bdes\u200E', ['/guides']],
    ['/guides\n/api\r\n', ['/guides', '/api']],
    ['/guides", "/api', ['/guides', '/api']],
    ['https://docs.acme.com/guides/x', ['https://docs.acme.com/guides/x']],
    ['HTTPS://Docs.Acme.com:8443/Guides/X?tab=1#top', ['HTTPS://Docs.Acme.com:8443/Guides/X']],
    ['https://docs.acme.com', ['https://docs.acme.com/']],
    [
      '<http://docs.acme.com/a|docs.acme.com/a>,<https://docs.acme.com/b>',
      ['http://docs.acme.com/a', 'https://docs.acme.com/b'],
    ],
    ['<https://docs.acme.com/a,b|docs.acme.com/a,b>,/c', ['https://docs.acme.com/a,b', '/c']],
    ['index,/index/,/,/guides/index', ['/', '/guides/index']],
    ['/guides/x?tab=1#top', ['/guides/x']],
    ['/гид/日本', ['/гид/日本']],
    ['v1.2/intro', ['/v1.2/intro']],
    ['/docs.acme.com/x', ['/docs.acme.com/x']],
    ['/a:b', ['/a:b']],
    [`/${'📦'.repeat(499)}`, [`/${'📦'.repeat(499)}`]],
  ])('%j', (text, paths) => expect(readPaths(text)).toEqual({ kind: 'ok', value: paths }));

  const many = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`);

  test('may be a hundred, each once', () => {
    expect(readPaths([...many(100), '/0'].join())).toEqual({ kind: 'ok', value: many(100) });
    expect(problemOf(readPaths(many(101).join()))).toBe(
      'At most 100 paths, and you gave 101. Leave some out, or export everything.',
    );
  });

  test.each(['', ' ', ',,', ' ， \n', '“”,""'])('%j has none', (text) =>
    expect(problemOf(readPaths(text))).toBe('No paths given. Type them like /guides,/api.'),
  );

  test.each([
    ...[
      '..',
      '/a/../b',
      '/a/..',
      '/./a',
      '/a/%2E%2e/b',
      '/a%2f../b',
      'https://docs.acme.com/a/../b',
      '/a\\b',
    ],
    ...['//docs.acme.com/a', 'docs.acme.com/a', 'docs.acme.com', 'ftp://docs.acme.com/a', 'https://', '#top'],
    ...[
      'docs.acme.com:8080/a',
      'mailto:ana@acme.com',
      'javascript:x',
      '?x=1',
      '<@U0ANA>',
      '/a<b',
      '/a\u0000b',
    ],
  ])('%j is no page path, also among others', (piece) => {
    const shown = piece.replace('\u0000', '');
    expect(problemOf(readPaths(`/ok,${piece}`))).toBe(
      `“${shown}” isn't a page path. Type the whole path, starting with a slash: /guides/start.`,
    );
  });

  test('with a space between them, or too long, are refused with the fix', () => {
    expect(problemOf(readPaths('/a /b'))).toBe(
      '“/a /b” has a space in it. Put commas between paths: /guides,/api.',
    );
    expect(problemOf(readPaths(`/${'x'.repeat(500)}`))).toBe(
      `A path has at most 500 characters; “/${'x'.repeat(48)}…” has 501.`,
    );
  });
});

test('whatever is typed is read without an error, what is read is read again the same, and problems are short', () => {
  const signs = [
    '/',
    '.',
    '..',
    ',',
    '，',
    '\n',
    ' ',
    '?',
    '#',
    '<',
    '>',
    '|',
    ':',
    '\\',
    '%2e',
    '%2f',
    '"',
    '“',
  ];
  const words = ['’', 'https://', 'docs.acme.com', 'a', 'ü', '\u200B', '\u200D', '\u202E', '\uD83D'];
  const piece = fc.oneof(fc.constantFrom(...signs, ...words), fc.string({ unit: 'binary', maxLength: 4 }));
  const typed = fc.oneof(
    fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
    hostileText,
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
  );
  fc.assert(
    fc.property(typed, (text) => {
      const paths = readPaths(text);
      const version = readVersion(text);
      if (paths.kind === 'ok') {
        const again = pathsOn('docs.acme.com', paths.value);
        if (again.kind === 'unclear') expect(again.problem.length).toBeLessThanOrEqual(150);
        for (const path of paths.value)
          expect(path).toMatch(/^(?:https?:\/\/[^/]+)?\/(?!\/)[^?#\s\\<>\p{Cc}]*$/u);
        for (const path of paths.value) expect(path.split('/')).not.toContain('..');
      } else expect(paths.problem.length).toBeLessThanOrEqual(150);
      if (version.kind === 'ok') expect(readVersion(version.value)).toEqual(version);
      else expect(version.problem.length).toBeLessThanOrEqual(150);
    }),
    { numRuns: 5000 },
  );
});
