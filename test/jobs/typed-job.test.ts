import { expect, test } from 'vitest';
import { chooseJobs, mayMean, readJobField, readTypedJob, type TypedJob } from '../../src/jobs/typed-job.ts';
import { shortId } from '../../src/jobs/wording-view.ts';
import { SLACK_LIMITS } from '../../src/slack/limits.ts';

const JOB = 'se_3f9a77bd04c24a06';
const address = (...ids: string[]): TypedJob => ({ kind: 'address', ids });

test.each<[string, TypedJob | undefined]>([
  [` ${JOB}\n`, { kind: 'id', id: JOB }],
  [`<${JOB}>`, { kind: 'id', id: JOB }],
  ['1', { kind: 'id', id: '1' }],
  ['se.3f9a', { kind: 'id', id: 'se.3f9a' }],
  [shortId(JOB), { kind: 'short', start: 'se_3f9a', end: '4a06' }],
  ['se_3f9a...4a06', { kind: 'short', start: 'se_3f9a', end: '4a06' }],
  ['se_3f9a…', { kind: 'short', start: 'se_3f9a', end: '' }],
  [`HTTPS://dash.example/acme/exports/${JOB}/`, address(JOB)],
  [`<https://dash.example/exports/${JOB}|dash.example/exports/…>`, address(JOB)],
  [`[the export](https://dash.example/exports/${JOB})`, address(JOB)],
  [`dash.example/acme-2024/exports/${JOB}`, address('acme-2024', JOB)],
  [`https://dash.example/#/exports?job=${JOB}&tab=2026#log`, address(JOB)],
  ['https://dash.example/exports/latest/v1.20.300/2026/%zz', undefined],
  ...['', '<>', '…', 'se_…', '3f9…a0', 'se_3f9a…04c2…4a06', 'the second one', '../x', 'a/b', 'https://'].map(
    (typed): [string, undefined] => [typed, undefined],
  ),
  [`se_${'0'.repeat(600)}`, undefined],
  [`https://dash.example/${'a/'.repeat(2000)}${JOB}`, undefined],
])('%j is read as %j', (typed, job) => expect(readTypedJob(typed)).toEqual(job));

test.each([
  [JOB, true],
  ['se_3f9a77', false],
  ['se_3f9a…4a06', true],
  ['…24a06x', false],
  ['…c24a06', true],
  [`${JOB}…${JOB}`, false],
  [`https://dash.example/x/${JOB}?y=123456`, true],
  [`https://dash.example/${JOB}0`, false],
])('%s may mean the job: %s', (typed, fits) => {
  const read = readTypedJob(typed);
  expect(read && mayMean(read, JOB)).toBe(fits);
});

test('an unknown job may be what was typed, or the last id of an address', () => {
  const chosen = (typed: string) => chooseJobs(readTypedJob(typed) as TypedJob, []);
  expect(chosen('job_1')).toEqual([{ id: 'job_1' }]);
  expect(chosen('se_3f9a…4a06')).toEqual([]);
  expect(chosen(`https://dash.example/prj_12345/exports/${JOB}/2026`)).toEqual([{ id: JOB }]);
});

test('the problem of a field keeps to its length, however long and many the ids are', async () => {
  const ids = Array.from({ length: 5 }, (_, index) => ({ id: `se_${index}${'0'.repeat(100)}` }));
  const read = await readJobField(shortId(JOB), async () => ids);
  const { problem } = read as { problem: string };
  expect(problem).toMatch(/^Copy one of these IDs: se_00/);
  expect(problem.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
});
