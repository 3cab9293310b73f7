import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseProgress } from '../../src/docs-api/text.ts';

const running = (value: unknown) => parseProgress(value, false);
const completed = (value: unknown) => parseProgress(value, true);

describe('a number', () => {
  test.each([
    [0, 0],
    [2, 0.02],
    [42, 0.42],
    [42.5, 0.425],
    [100, 1],
  ])('%s is the fraction %s', (value, fraction) => expect(running(value)).toEqual({ fraction }));

  test.each([0.42, 0.999, '0.42'])('%j is a fraction, or less than one percent', (value) => {
    const fraction = value === 0.999 ? 0.999 : 0.42;
    expect(running(value)).toEqual({ fraction, unsure: true });
  });

  test('exactly 1 is one percent while the job runs, and the whole when it has completed', () => {
    expect(running(1)).toEqual({ fraction: 0.01 });
    expect(completed(1)).toEqual({ fraction: 1 });
  });

  test.each([-1, 100.5, 412, Number.NaN, Number.POSITIVE_INFINITY])('%s is dropped', (value) => {
    expect(running(value)).toBeUndefined();
  });
});

describe('text', () => {
  test.each([
    ['42%', 0.42],
    [' 42 % ', 0.42],
    ['42.5%', 0.425],
    ['1%', 0.01],
    ['42', 0.42],
    ['1', 0.01],
  ])('%j is the fraction %s', (value, fraction) => expect(running(value)).toEqual({ fraction }));

  test.each(['rendering', '12 of 40 pages', '150%', '412', '42,5%', 'NaN'])(
    '%j is kept as words',
    (value) => {
      expect(running(value)).toEqual({ text: value });
    },
  );

  test('is one line, and cut', () => {
    expect(running('a\n\u0000b')).toEqual({ text: 'a b' });
    expect(running('x'.repeat(500))?.text).toHaveLength(80);
    expect(running('  \n')).toBeUndefined();
  });
});

test.each([
  [{ done: 12, total: 40 }, 0.3],
  [{ done: 0, total: 40, unit: 'pages' }, 0],
  [{ done: 40, total: 40 }, 1],
])('%j is the fraction %s', (value, fraction) => expect(running(value)).toEqual({ fraction }));

test.each([
  undefined,
  null,
  true,
  [],
  [12, 40],
  {},
  { done: 12 },
  { done: 12, total: 0 },
  { done: 41, total: 40 },
  { done: -1, total: 40 },
  { done: '12', total: '40' },
  { percent: 42 },
  { value: 0.42 },
  { message: 'rendering' },
])('%j is no progress', (value) => {
  expect(running(value)).toBeUndefined();
  expect(completed(value)).toBeUndefined();
});

test('whatever comes, a fraction is 0 to 1, a text is short, and it is one of them', () => {
  const keys = fc.constantFrom('done', 'total', 'percent', '__proto__');
  const shapes = fc.oneof(
    fc.anything(),
    fc.jsonValue(),
    fc.double(),
    fc.dictionary(keys, fc.oneof(fc.double(), fc.jsonValue())),
    fc.string(),
  );
  fc.assert(
    fc.property(shapes, fc.boolean(), (value, isCompleted) => {
      const progress = parseProgress(value, isCompleted);
      if (progress === undefined) return;
      expect((progress.fraction === undefined) !== (progress.text === undefined)).toBe(true);
      if (progress.fraction !== undefined) {
        expect(progress.fraction).toBeGreaterThanOrEqual(0);
        expect(progress.fraction).toBeLessThanOrEqual(1);
      }
      if (progress.text !== undefined) expect([...progress.text].length).toBeLessThanOrEqual(80);
      expect(progress.text).not.toBe('');
    }),
    { numRuns: 1000 },
  );
});
