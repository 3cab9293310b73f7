import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTimestamp } from '../../src/docs-api/text.ts';

const MOMENT = Date.UTC(2026, 8, 14, 14, 30);

test.each([
  '2026-09-14T14:30:00Z',
  '2026-09-14T14:30:00.000Z',
  '2026-09-14T14:30Z',
  '2026-09-14T16:30:00+02:00',
  '2026-09-14T14:30:00',
  '2026-09-14 14:30:00',
  '2026-09-14 14:30:00 +00',
  '20260914T143000Z',
  MOMENT,
  MOMENT / 1000,
  String(MOMENT),
  String(MOMENT / 1000),
])('%j is that moment', (value) => expect(parseTimestamp(value)).toBe(MOMENT));

test('a date is the beginning of its day in UTC', () => {
  expect(parseTimestamp('2026-09-14')).toBe(Date.UTC(2026, 8, 14));
});

test.each([
  null,
  undefined,
  true,
  {},
  [],
  '',
  'soon',
  '3600',
  3600,
  0,
  -1,
  Number.NaN,
  '2026-13-01T00:00:00Z',
  '1999-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
  '2026-09-14T14:30:00+99:00',
])('%j is no moment', (value) => expect(parseTimestamp(value)).toBeUndefined());

test('every moment survives each of its spellings', () => {
  const seconds = fc.integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2199, 11, 31) / 1000 });
  fc.assert(
    fc.property(seconds, (at) => {
      const ms = at * 1000;
      for (const value of [at, ms, String(at), String(ms), new Date(ms).toISOString()]) {
        expect(parseTimestamp(value)).toBe(ms);
      }
    }),
  );
});

test('whatever comes, the answer is a plausible moment or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.double(), fc.stringMatching(/^[\dTZ:+. -]{0,30}$/)), (value) => {
      const ms = parseTimestamp(value);
      if (ms !== undefined)
        expect(new Date(ms).getUTCFullYear()).toSatisfy((year: number) => year >= 2000 && year <= 2200);
    }),
    { numRuns: 2000 },
  );
});
