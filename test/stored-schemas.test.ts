import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { jobs } from '../src/jobs/index.ts';
import { version } from '../src/store/version.ts';
import {
  changedUnversioned,
  growing,
  hasGrown,
  type Shape,
  shapeOf,
  versioned,
  versionIn,
} from './support/stored-schemas.ts';

/** What the last release keeps in Redis; written anew with each release by `npm run stored-schemas`. */
const released: Record<string, { v?: number; shape: Shape }> = JSON.parse(
  readFileSync(new URL('./fixtures/stored-schemas.json', import.meta.url), 'utf8'),
);

describe.each(Object.entries(versioned))('the record of %s', (name, schema) => {
  test('has changed since the last release only with its version', () => {
    const was = released[name];
    if (was?.v === undefined) return expect(versionIn(shapeOf(schema)), 'a new kind begins with 1').toBe(1);
    expect(changedUnversioned(was.shape, shapeOf(schema), was.v), 'give it the next version').toBe(false);
    expect(versionIn(shapeOf(schema))).toBeOneOf([was.v, was.v + 1]);
  });
});

test.each(Object.entries(growing))('%s: what the last release wrote can be read', (name, schema) => {
  const was = released[name];
  if (was !== undefined) expect(hasGrown(was.shape, shapeOf(schema))).toBe(true);
});

test('every job that works on a run has its record here', () => {
  const withRuns = jobs.filter(({ data }) => data.safeParse({ runId: 'r1' }).success).map(({ name }) => name);
  const others = ['reactions'];
  expect(withRuns.filter((name) => !others.includes(name)).toSorted()).toEqual(
    Object.keys(versioned).toSorted(),
  );
});

describe('a change', () => {
  const record = (v: number, more: z.ZodRawShape = {}) =>
    shapeOf(z.object({ v: version(v), state: z.enum(['a', 'b']), ...more }));

  test.each([
    ['a new field', record(1, { note: z.string().optional() })],
    ['another type', record(1, { state: z.string() })],
    ['a further state', record(1, { state: z.enum(['a', 'b', 'c']) })],
  ])('that is %s needs the next version', (_, changed) => {
    expect(changedUnversioned(record(1), changed, 1)).toBe(true);
    expect(changedUnversioned(record(1), record(1), 1)).toBe(false);
    expect(changedUnversioned(record(1), record(2, { note: z.string().optional() }), 1)).toBe(false);
  });

  const entry = (...options: z.ZodObject[]) => shapeOf(z.union(options));
  const said = z.object({
    kind: z.literal('said'),
    text: z.string(),
    tone: z.enum(['calm', 'loud']).optional(),
  });
  const left = z.object({ kind: z.literal('left') });

  test.each([
    ['a new kind', entry(said, left), true],
    ['a new optional field', entry(said.extend({ by: z.string().optional() })), true],
    ['a new required field', entry(said.extend({ by: z.string() })), false],
    ['another type', entry(said.extend({ text: z.number() })), false],
    ['a further value', entry(said.extend({ tone: z.enum(['calm', 'loud', 'shrill']).optional() })), true],
    ['values where there was any text', entry(said.extend({ text: z.enum(['hello']) })), false],
    ['a missing value', entry(said.extend({ tone: z.enum(['calm']).optional() })), false],
    ['a missing kind', entry(left), false],
  ])('that is %s lets an entry grow, or not', (_, changed, grows) => {
    expect(hasGrown(entry(said), changed)).toBe(grows);
  });
});
