import { expect, test } from 'vitest';
import { readTypedJob, soleJob } from '../../../src/jobs/shared/typed-job.ts';
import { shortId } from '../../../src/jobs/shared/wording-view.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';

const JOB = 'se_3f9a77bd04c24a06';

test.each<[string, string | undefined]>([
  [` ${JOB}\n`, JOB],
  [`<${JOB}>`, JOB],
  ['1', '1'],
  ['se.3f9a', 'se.3f9a'],
  [`HTTPS://dash.example/acme/exports/${JOB}/`, JOB],
  [`<https://dash.example/exports/${JOB}|dash.example/exports/…>`, JOB],
  [`[the export](https://dash.example/exports/${JOB})`, JOB],
  [`dash.example/acme-2024/exports/${JOB}`, JOB],
  [`https://dash.example/#/exports?job=${JOB}&tab=2026#log`, JOB],
  [`https://dash.example/prj_12345/exports/${JOB}/2026`, JOB],
  ['https://dash.example/exports/latest/v1.20.300/2026/%zz', undefined],
  ...['', '<>', '…', 'se_…', '3f9…a0', 'se_3f9a…04c2…4a06', 'the second one', '../x', 'a/b', 'https://'].map(
    (typed): [string, undefined] => [typed, undefined],
  ),
  [`se_${'0'.repeat(600)}`, undefined],
  [`https://dash.example/${'a/'.repeat(2000)}${JOB}`, undefined],
])('%j is read as %j', (typed, id) => expect(readTypedJob(typed)?.id).toBe(id));

test.each([
  [JOB, true],
  ['se_3f9a77', false],
  [shortId(JOB), true],
  ['se_3f9a...4a06', true],
  ['se_3f9a…', true],
  ...['…', 'se_…', '3f9…a0', 'se_3f9a…04c2…4a06'].map((typed): [string, undefined] => [typed, undefined]),
  ['…24a06x', false],
  ['…c24a06', true],
  [`${JOB}…${JOB}`, false],
  [`https://dash.example/x/${JOB}?y=123456`, true],
  [`https://dash.example/${JOB}0`, false],
])('%s may mean the job: %s', (typed, fits) => {
  expect(readTypedJob(typed)?.mayMean(JOB)).toBe(fits);
});

test('an unknown job may be what was typed', () => {
  const chosen = (typed: string) => soleJob(readTypedJob(typed), [], '/docs-export watch se_1');
  expect(chosen('job_1')).toEqual({ job: { id: 'job_1' } });
  const problem =
    'No job that you can see here matches that. Type its whole ID, such as /docs-export watch se_1.';
  expect(chosen('se_3f9a…4a06')).toEqual({ problem });
});

test('the problem of a field keeps to its length, however long and many the ids are', () => {
  const ids = Array.from({ length: 5 }, (_, index) => ({ id: `se_${index}${'0'.repeat(100)}` }));
  const read = soleJob(readTypedJob(shortId(JOB)), ids, '');
  const { problem } = read as { problem: string };
  expect(problem).toMatch(/^Several jobs match that. Type one of these IDs: se_00/);
  expect(problem.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
});
