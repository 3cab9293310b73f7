import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDomain } from '../src/domain.ts';
import { hostileText } from './support/arbitraries.ts';

describe('whatever is typed', () => {
  const pieces = fc
    .array(
      fc.oneof(
        fc.constantFrom(...'a docs com . - 。 xn-- 1 0x1 ü 日 ß %2E % /'.split(' ')),
        fc.constantFrom(...': @ ? # [ ] < > | https:// “ * _'.split(' '), ' ', '\u200D'),
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
