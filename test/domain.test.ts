import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDomain } from '../src/domain.ts';
import { hostileText } from './support/arbitraries.ts';

const label = 'a'.repeat(63);
/** 253 characters, the longest that DNS takes. */
const longest = `${label}.${label}.${label}.${'b'.repeat(61)}`;

describe('a domain', () => {
  test.each([
    ['docs.acme.com', 'docs.acme.com'],
    ['acme.com', 'acme.com'],
    ['  docs.acme.com\n', 'docs.acme.com'],
    ['DOCS.Acme.COM', 'docs.acme.com'],
    ['docs.acme.com.', 'docs.acme.com'],
    ['a-b.c-d.io', 'a-b.c-d.io'],
    ['1.2.3.example', '1.2.3.example'],
    ['3com.example', '3com.example'],
    ['docs.acme.co.uk', 'docs.acme.co.uk'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    [longest, longest],
    [`${longest}.`, longest],
  ])('%j is read as it is', (typed, domain) => {
    expect(readDomain(typed)).toEqual({ kind: 'domain', domain });
  });

  test.each([
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['MÜNCHEN.DE', 'xn--mnchen-3ya.de'],
    ['mu\u0308nchen.de', 'xn--mnchen-3ya.de'],
    ['日本.jp', 'xn--wgv71a.jp'],
    ['日本。jp', 'xn--wgv71a.jp'],
    ['日本．jp．', 'xn--wgv71a.jp'],
    ['документы.рф', 'xn--d1acoigc6ae0f.xn--p1ai'],
    ['straße.de', 'xn--strae-oqa.de'],
    ['ｄｏｃｓ.acme.com', 'docs.acme.com'],
    // A Cyrillic а in it: another name, and it shows.
    ['аcme.com', 'xn--cme-5cd.com'],
  ])('in other scripts, %s, is read as %s', (typed, domain) => {
    expect(readDomain(typed)).toEqual({ kind: 'domain', domain });
  });

  test.each([
    ['<http://docs.acme.com|docs.acme.com>'],
    ['<https://docs.acme.com|docs.acme.com>'],
    ['<https://docs.acme.com/>'],
    ['<https://docs.acme.com>'],
    ['<http://docs.acme.com|Docs.Acme.com>'],
    ['“docs.acme.com”'],
    ['‘docs.acme.com’'],
    ['«docs.acme.com»'],
    ['„docs.acme.com“'],
    ['"docs.acme.com"'],
    ["'docs.acme.com'"],
    ['`docs.acme.com`'],
    ['“<http://docs.acme.com|docs.acme.com>”'],
  ])('as Slack or a keyboard puts it, %s, is understood', (typed) => {
    expect(readDomain(typed)).toEqual({ kind: 'domain', domain: 'docs.acme.com' });
  });
});

describe('what is not quite a domain', () => {
  test.each([
    'https://docs.acme.com',
    'https://docs.acme.com/',
    'https://docs.acme.com/v2',
    'HTTP://Docs.Acme.Com/v2?x=1#y',
    'ftp://docs.acme.com/pub',
    'docs.acme.com/',
    'docs.acme.com/v2',
    'docs.acme.com:443',
    'docs.acme.com:8080/v2',
    'docs.acme.com?v=2',
    'docs.acme.com#top',
    'ana@docs.acme.com',
    'https://ana:pw@docs.acme.com:8080/v2',
    '//docs.acme.com',
    'docs%2Eacme.com',
    '<https://docs.acme.com/v2>',
    '<https://docs.acme.com/v2|docs.acme.com/v2>',
    '<mailto:ana@docs.acme.com|ana@docs.acme.com>',
  ])('%s is unclear, and docs.acme.com is suggested', (typed) => {
    expect(readDomain(typed)).toEqual({
      kind: 'unclear',
      typed: expect.any(String),
      suggested: 'docs.acme.com',
    });
  });

  test.each([
    ['📦.acme.com', 'xn--cu8h.acme.com'],
    ['docs\u00ADx.acme.com', 'docsx.acme.com'],
  ])('%j is unclear, since it does not show what it is, and %s is suggested', (typed, suggested) => {
    expect(readDomain(typed)).toEqual({ kind: 'unclear', typed, suggested });
  });

  test('is shown as it was typed, without the quotes and the marks of Slack', () => {
    expect(readDomain(' “https://docs.acme.com/v2” ')).toMatchObject({ typed: 'https://docs.acme.com/v2' });
    expect(readDomain('<http://docs.acme.com/a|docs.acme.com/a>')).toMatchObject({
      typed: 'docs.acme.com/a',
    });
  });
});

describe('what is no domain', () => {
  test.each([
    ['empty', ''],
    ['white space', ' \n\t '],
    ['quotes around nothing', '“”'],
    ['a single label', 'docs'],
    ['localhost', 'localhost'],
    ['below localhost', 'docs.localhost'],
    ['localhost with a dot', 'localhost.'],
    ['IPv4', '192.168.0.1'],
    ['IPv4 in wide digits', '１９２.１６８.０.１'],
    ['IPv4 in hexadecimal', '0x7f.1'],
    ['IPv4 in parts', '127.1'],
    ['IPv4 with a port', '10.0.0.1:80'],
    ['IPv4 in an address', 'http://10.0.0.1/'],
    ['IPv6', '::1'],
    ['IPv6 in brackets', '[2001:db8::1]'],
    ['IPv6 in an address', 'https://[2001:db8::1]/'],
    ['a number as the last label', 'docs.acme.123'],
    ['a hexadecimal number as the last label', 'docs.acme.0x1f'],
    ['an underscore', 'docs_v2.acme.com'],
    ['a star', '*.acme.com'],
    ['a leading dash', '-docs.acme.com'],
    ['a trailing dash', 'docs-.acme.com'],
    ['a leading dot', '.acme.com'],
    ['two dots', 'docs..acme.com'],
    ['two dots at the end', 'acme.com..'],
    ['a dot', '.'],
    ['an option', '--project'],
    ['a word and more', 'docs acme.com'],
    ['a joiner', 'docs\u200Dx.acme.com'],
    ['a change of direction', 'docs\u202E.acme.com'],
    ['a label of 64 characters', `${'a'.repeat(64)}.com`],
    ['254 characters', `a${longest.slice(0, 252)}.c`],
    ['300 characters', `${'a.'.repeat(148)}comm`],
    ['10,000 characters', `${'a'.repeat(10_000)}.com`],
    ['a mention', '<@U0ANA>'],
    ['a channel', '<#C0DOCS|docs>'],
    ['everyone', '<!channel>'],
    ['a lone surrogate', '\uD83D.com'],
  ])('%s: nothing is suggested', (_, typed) => {
    expect(readDomain(typed)).toEqual({
      kind: 'unclear',
      typed: expect.any(String),
      suggested: undefined,
    });
  });
});

describe('whatever is typed', () => {
  const pieces = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'a',
          'docs',
          'com',
          '.',
          '-',
          '。',
          'xn--',
          '1',
          '0x1',
          'ü',
          '日',
          'ß',
          '%2E',
          '%',
          '/',
        ),
        fc.constantFrom(
          ':',
          '@',
          '?',
          '#',
          '[',
          ']',
          '<',
          '>',
          '|',
          'https://',
          '“',
          '*',
          '_',
          ' ',
          '\u200D',
        ),
        fc.string({ unit: 'binary', maxLength: 2 }),
      ),
      { maxLength: 14 },
    )
    .map((parts) => parts.join(''));
  const typed = fc.oneof(pieces, hostileText, fc.domain(), fc.webUrl(), fc.ipV4(), fc.ipV6());

  test('it is read without an error, and what is accepted or suggested is a host name that stays the same', () => {
    fc.assert(
      fc.property(typed, (text) => {
        const read = readDomain(text);
        const domain = read.kind === 'domain' ? read.domain : read.suggested;
        if (domain === undefined) return;
        expect(domain).toMatch(/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
        expect(domain.length).toBeLessThanOrEqual(253);
        expect(readDomain(domain)).toEqual({ kind: 'domain', domain });
        expect(new URL(`https://${domain}/`).hostname).toBe(domain);
      }),
      { numRuns: 5000 },
    );
  });

  test('every ordinary domain is accepted, and every address of a site leads to its domain', () => {
    fc.assert(
      fc.property(fc.domain(), (domain) => {
        expect(readDomain(domain)).toEqual({ kind: 'domain', domain: domain.toLowerCase() });
        expect(readDomain(`https://ana@${domain}:8443/v2?x=1`)).toMatchObject({
          kind: 'unclear',
          suggested: domain.toLowerCase(),
        });
      }),
    );
  });
});
