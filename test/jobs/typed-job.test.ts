import { describe, expect, test } from 'vitest';
import { mayMean, readTypedJob, type TypedJob, unknownJobs } from '../../src/jobs/typed-job.ts';
import { shortId } from '../../src/jobs/wording-view.ts';

const JOB = 'se_3f9a77bd04c24a06';
const read = (typed: string) => {
  const job = readTypedJob(typed);
  if (job === undefined) throw new Error(`${typed} is no job`);
  return job;
};
const address = (...parts: string[]): TypedJob => ({ kind: 'address', parts });

describe('what is typed', () => {
  test.each<[string, TypedJob]>([
    [JOB, { kind: 'id', id: JOB }],
    [` ${JOB}\n`, { kind: 'id', id: JOB }],
    [`<${JOB}>`, { kind: 'id', id: JOB }],
    ['1', { kind: 'id', id: '1' }],
    ['se.3f9a', { kind: 'id', id: 'se.3f9a' }],
    [shortId(JOB), { kind: 'short', start: 'se_3f9a', end: '4a06' }],
    ['se_3f9a...4a06', { kind: 'short', start: 'se_3f9a', end: '4a06' }],
    ['se_3f9a…', { kind: 'short', start: 'se_3f9a', end: '' }],
    ['…04c24a06', { kind: 'short', start: '', end: '04c24a06' }],
    [`https://dash.example/acme/exports/${JOB}`, address('acme', 'exports', JOB)],
    [`HTTPS://dash.example/exports/${JOB}/`, address('exports', JOB)],
    [`<https://dash.example/exports/${JOB}>`, address('exports', JOB)],
    [`<https://dash.example/exports/${JOB}|dash.example/exports/…>`, address('exports', JOB)],
    [`[the export](https://dash.example/exports/${JOB})`, address('exports', JOB)],
    [`dash.example/exports/${JOB}`, address('exports', JOB)],
    [`https://dash.example/exports?job=${JOB}&tab=1#log`, address('exports', 'job', JOB, 'tab', '1', 'log')],
    [`https://dash.example/#/exports/${JOB}?x=2`, address('exports', JOB, 'x', '2')],
    ['https://dash.example/a%2Fb/%20/%zz/c', address('%zz', 'c')],
    ['https://dash.example/a/a/a', address('a')],
    ['https://dash.example', address()],
  ])('%j', (typed, job) => expect(readTypedJob(typed)).toEqual(job));

  test.each([
    '',
    ' ',
    '<>',
    '…',
    'se_…',
    '3f9…a0',
    'se_3f9a…04c2…4a06',
    'the second one',
    '../x',
    'a/b',
    'https://',
    `se_${'0'.repeat(600)}`,
    `https://dash.example/${'a/'.repeat(2000)}${JOB}`,
  ])('%j is no job', (typed) => expect(readTypedJob(typed)).toBeUndefined());

  test('of a long address the last parts are looked at', () => {
    const parts = Array.from({ length: 100 }, (_, index) => `part${index}`);
    expect(read(`https://dash.example/${parts.join('/')}`)).toEqual(address(...parts.slice(80)));
  });
});

describe('may be meant', () => {
  test.each([
    [JOB, true],
    ['se_3f9a', true],
    ['se_3f9a77bd04c24a0', true],
    ['se_3f', false],
    ['3f9a77bd', false],
    ['se_3f9a…4a06', true],
    ['se_3f9a…', true],
    ['…24a06x', false],
    ['…c24a06', true],
    ['se_3f9b…4a06', false],
    [`https://dash.example/x/${JOB}?y`, true],
    [`https://dash.example/?a=${JOB}`, true],
    [`https://dash.example/${JOB}0`, false],
  ])('by %s: %s', (typed, fits) => expect(mayMean(read(typed), JOB)).toBe(fits));

  test('no id that is counted up, by another one', () => {
    expect(mayMean(read('job_100'), 'job_1000')).toBe(false);
    expect(mayMean(read('job_100'), 'job_100')).toBe(true);
  });

  test('no short form by what overlaps in it', () => {
    expect(mayMean(read('abcabc…abcabc'), 'abcabcabc')).toBe(false);
  });
});

describe('may be the id of a job that nobody here knows', () => {
  test.each([
    ['job_1', ['job_1']],
    ['se_3f9a…4a06', []],
    [`https://dash.example/acme/exports/${JOB}/2026?tab=log`, [JOB]],
    ['https://dash.example/acme-2024/exports/se_3f9a77', ['acme-2024', 'se_3f9a77']],
    [`https://dash.example/prj_12345/${JOB}`, [JOB]],
    ['https://dash.example/exports/latest', []],
    ['https://dash.example/v1.20.300/x', []],
  ])('%s', (typed, ids) => expect(unknownJobs(read(typed), ['prj_12345', undefined])).toEqual(ids));
});
