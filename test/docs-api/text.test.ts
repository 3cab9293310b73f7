import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsEmailAddress, oneLine, parseProgress, parseTimestamp } from '../../src/docs-api/text.ts';

describe('progress', () => {
  test.each<[unknown, ReturnType<typeof parseProgress>]>([
    ...[
      [0, 0],
      [42, 0.42],
      [42.5, 0.425],
      [100, 1],
      [1, 0.01],
      ['1', 0.01],
      ['42', 0.42],
      ['1%', 0.01],
      [' 42.5 % ', 0.425],
    ].map(([value, fraction]) => [value, { fraction: Number(fraction) }] as [unknown, object]),
    [{ done: 12, total: 40, unit: 'pages' }, { fraction: 0.3 }],
    [0.42, { fraction: 0.42, unsure: true }],
    ['0.42', { fraction: 0.42, unsure: true }],
    ...['rendering', '12 of 40 pages', '150%', '412', '42,5%'].map(
      (text) => [text, { text }] as [unknown, object],
    ),
    ['a\n\u0000b', { text: 'a b' }],
    ['x'.repeat(500), { text: `${'x'.repeat(79)}…` }],
    ...[-1, 412, Number.NaN, null, true, [12, 40], {}, '  \n'].map(
      (value) => [value, undefined] as [unknown, undefined],
    ),
    ...[
      { done: 12 },
      { done: 1, total: 0 },
      { done: 41, total: 40 },
      { done: -1, total: 40 },
      { percent: 42 },
    ].map((value) => [value, undefined] as [unknown, undefined]),
  ])('%j reads %j', (value, progress) => {
    expect(parseProgress(value, false)).toEqual(progress);
  });

  test('exactly 1 is the whole when the job has completed', () => {
    expect(parseProgress(1, true)).toEqual({ fraction: 1 });
  });

  test('is a fraction from 0 to 1 or a short text, whatever comes', () => {
    const keys = fc.constantFrom('done', 'total', 'percent', '__proto__');
    const counts = fc.dictionary(keys, fc.oneof(fc.double(), fc.jsonValue()));
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.double(), counts, fc.string()),
        fc.boolean(),
        (value, isCompleted) => {
          const { fraction, text } = parseProgress(value, isCompleted) ?? { text: 'none' };
          if (fraction === undefined) expect(text).toSatisfy((short: string) => /^.{1,80}$/u.test(short));
          else expect([text, fraction >= 0 && fraction <= 1]).toEqual([undefined, true]);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('times', () => {
  const MOMENT = Date.UTC(2026, 8, 14, 14, 30);

  test.each([
    ...['2026-09-14T14:30:00Z', '2026-09-14T14:30:00.000Z', '2026-09-14T14:30Z', '2026-09-14T16:30:00+02:00'],
    ...['2026-09-14T14:30:00', '2026-09-14 14:30:00', '2026-09-14 14:30:00 +00', '20260914T143000Z'],
    ...[MOMENT, MOMENT / 1000, String(MOMENT), String(MOMENT / 1000)],
  ])('%j is that moment', (value) => expect(parseTimestamp(value)).toBe(MOMENT));

  test('a date is the beginning of its day in UTC', () => {
    expect(parseTimestamp('2026-09-14')).toBe(Date.UTC(2026, 8, 14));
  });

  test.each([
    ...[null, undefined, true, {}, [], '', 'soon', '3600', 3600, 0, -1, Number.NaN],
    ...['2026-13-01T00:00:00Z', '1999-12-31T23:59:59Z', '1970-03-01', '2026-09-14T14:30:00+99:00'],
  ])('%j is no moment', (value) => expect(parseTimestamp(value)).toBeUndefined());

  test('every moment survives each of its spellings', () => {
    const seconds = fc.integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2199, 11, 31) / 1000 });
    fc.assert(
      fc.property(seconds, (at) => {
        const ms = at * 1000;
        for (const value of [at, ms, String(at), String(ms), new Date(ms).toISOString()])
          expect(parseTimestamp(value)).toBe(ms);
      }),
    );
  });

  test('whatever comes, the answer is a plausible moment or none', () => {
    const texts = fc.stringMatching(/^[\dTZ:+. -]{0,30}$/);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), texts), (value) => {
        const year = new Date(parseTimestamp(value) ?? 1e12).getUTCFullYear();
        expect(year).toSatisfy((one: number) => one >= 2000 && one <= 2200);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('e-mail addresses', () => {
  test.each([
    ...[
      'reset password ana@example.com',
      'ana.lopez+docs@mail.example.co.uk',
      'ANA@EXAMPLE.COM.',
      '@a ana@example.com',
    ],
    ...[
      'mailto:ana@example.com?subject=x',
      'ana\u200B@exa\u00ADmple.com',
      'ana＠example．com',
      'ana@例子.公司',
    ],
    ...['ana@example.xn--p1ai', '/u/ana@example.com/settings', '/unsubscribe?email=ana%40example.com'],
    ...[
      '/login?next=%2Fu%2Fana%2540example.com%2Fs',
      'an%C3%B6@example.com',
      'is it ana@163.com?',
      'ana@उदाहरण.भारत',
    ],
  ])('%s holds one', (text) => {
    expect(holdsEmailAddress(text)).toBe(true);
  });

  test.each([
    ...[
      '',
      'sso okta',
      '@acme/sdk install',
      '@socket.io/redis-adapter',
      'npm i @acme/sdk.js',
      'sdk@1.2.3 release notes',
    ],
    ...[
      '/cdn/sdk@1.2.3/dist/main.js',
      'https://cdn.example/npm/@acme/sdk.js',
      'sdk@latest',
      '/npm/lodash@es.mjs',
    ],
    ...[
      '/npm/vue@3.prod.js?module',
      '/img/logo@2x.dark.png',
      '/sdk@2.0.0-beta.rc1/install',
      'a @ b.com',
      '100%40',
    ],
  ])('%s holds none', (text) => {
    expect(holdsEmailAddress(text)).toBe(false);
  });
});

describe('text of the platform', () => {
  test.each([
    ['two\r\nlines\tand a tab', 'two lines and a tab'],
    ['bell\u0007 and \u202Eturned\u202C', 'bell and turned'],
    ['Authorization: Bearer other-token.', 'Authorization: Bearer …'],
    ['see https://files.test/b.tar.gz?X-Signature=abc#x now', 'see https://files.test/b.tar.gz?… now'],
    ['https://user:pass@github.com/acme/docs', 'https://github.com/acme/docs'],
    ['Page https://docs.acme.com/guides/x failed', 'Page https://docs.acme.com/guides/x failed'],
    ['🦊'.repeat(400), `${'🦊'.repeat(299)}…`],
  ])('%j becomes %j', (text, line) => expect(oneLine(text)).toBe(line));

  test('is one line, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(oneLine(text)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});
