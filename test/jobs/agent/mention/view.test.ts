import { expect, test } from 'vitest';
import { mentionMessage, projectMessage } from '../../../../src/jobs/agent/mention/view.ts';
import { anOffer } from '../../../support/jobs/agent/builders.ts';

test('an offer says what the job would be about, and carries the mention', () => {
  const { text, blocks } = mentionMessage('m1', anOffer);
  expect(text).toBe(
    'No agent job is followed here. Start a new one with "Add a **quickstart**"?\nTo follow one that exists, reply @Docket follow &lt;job id&gt;.',
  );
  expect(JSON.stringify(blocks)).toContain(JSON.stringify(JSON.stringify({ v: 1, mention: 'm1' })));
});

test('who may not instruct the agent reads whom to ask', () => {
  expect(mentionMessage('m1', { kind: 'refused', ask: '@docs-admins' }).text).toBe(
    "You can't instruct the docs agent here, so nothing was sent. Ask @docs-admins.",
  );
});

test('words about a followed thread are answered with how to follow', () => {
  expect(mentionMessage('m1', { kind: 'notFollowed' }).text).toBe(
    'No agent job is followed in this thread, so there is nothing to change.\nTo follow one that exists, reply @Docket follow &lt;job id&gt;.',
  );
  expect(mentionMessage('m1', { kind: 'help' }).text).toMatch(/^I pass instructions on to the docs agent/);
});

test('of a job whose project is not clear says what to type', () => {
  const answer = { kind: 'project' as const, problem: { kind: 'ask' as const, names: ['acme', 'beta'] } };
  expect(mentionMessage('m1', { ...answer, jobId: 'job_1' }).text).toMatch(
    /^Which project is it in: acme, beta\? [\s\S]*\n@Docket follow job_1 --project acme$/,
  );
  const unknown = { kind: 'unknown' as const, named: 'gamma', names: ['acme', 'beta'] };
  expect(mentionMessage('m1', { ...answer, problem: unknown, jobId: 'job_1' }).text).toBe(
    'There is no project gamma here. There is: acme, beta.',
  );
});

test('of what is no job id asks which one', () => {
  expect(mentionMessage('m1', { kind: 'badFollow' }).text).toBe(
    'Which job? Write @Docket follow and its whole id.',
  );
});

test('a new job is for a project', () => {
  expect(projectMessage({ kind: 'ask', names: ['acme', 'beta'] }, '/docs-agent new …', 'new').text).toBe(
    'For which project: acme, beta? Nothing was sent. For example: \n/docs-agent new … --project acme',
  );
});

test('of many projects names the first', () => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  expect(projectMessage({ kind: 'ask', names }, '/docs-agent new …').text).toContain('p8, p9 and 20 more?');
});
