import { expect, test } from 'vitest';
import { mistakesIn } from '../../../../demo/slack/block-kit/check.ts';
import { mentionMessage, projectMessage } from '../../../../src/jobs/agent/mention/view.ts';
import { anOffer } from '../../../support/jobs/agent/builders.ts';

test('an offer says what the job would be about, and carries the mention', () => {
  const { text, blocks } = mentionMessage('m1', anOffer);
  expect(text).toBe(
    'No agent job is followed here. Start a new one with "Add a **quickstart**"?\nTo follow an existing job, reply @Docket follow &lt;job id&gt;.',
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
    'This thread follows no agent job, so there is nothing to change.\nTo follow an existing job, reply @Docket follow &lt;job id&gt;.',
  );
});

test('help names all commands, the task first, and what can be said in a thread', () => {
  expect(mentionMessage('m1', { kind: 'help' }).text).toBe(
    [
      'Export a site: /docs-export docs.acme.com',
      'Instruct the docs agent: /docs-agent new Add a quickstart',
      'Set up a weekly digest: /docs-digest create',
      'See the status: /docs-status',
      'Start a job in a thread: @Docket Add a quickstart',
      'Follow a job in a thread: @Docket follow &lt;job id&gt;',
      'Add help to any command for details.',
    ].join('\n'),
  );
});

test('the offer of an export carries the site and the mention, and fits however long the name is', () => {
  const site = `${'a'.repeat(60)}.${'b'.repeat(60)}.acme.com`;
  for (const one of ['docs.acme.com', site]) {
    const { blocks } = mentionMessage('m1', { kind: 'export', site: one });
    expect(mistakesIn(blocks, 'message')).toEqual([]);
    expect(JSON.stringify(blocks)).toContain(
      JSON.stringify(JSON.stringify({ v: 1, domain: one, privately: false, request: 'm1' })),
    );
  }
});

test('of a job whose project is not clear says what to type', () => {
  const answer = { kind: 'project' as const, problem: { kind: 'ask' as const, names: ['acme', 'beta'] } };
  expect(mentionMessage('m1', { ...answer, jobId: 'job_1' }).text).toMatch(
    /^Which project is it in: acme, beta\? [\s\S]*\n@Docket follow job_1 --project acme$/,
  );
  const unknown = { kind: 'unknown' as const, named: 'gamma', names: ['acme', 'beta'] };
  expect(mentionMessage('m1', { ...answer, problem: unknown, jobId: 'job_1' }).text).toBe(
    'No project "gamma". Available: acme, beta.',
  );
});

test('of what is no job id asks which one', () => {
  expect(mentionMessage('m1', { kind: 'badFollow' }).text).toBe(
    'Which job? Write @Docket follow and its whole ID.',
  );
});

test('in a thread where nothing instructs the agent says in one sentence what does', () => {
  expect(mentionMessage('m1', { kind: 'closed' }).text).toBe(
    "Replies here don't go to the docs agent. Click [Ask the agent] above, or type /docs-agent new and your instruction.",
  );
});

test('a new job is for a project', () => {
  expect(projectMessage({ kind: 'ask', names: ['acme', 'beta'] }, '/docs-agent new …', 'new').text).toBe(
    'Which project is it for: acme, beta? Nothing was sent. For example: \n/docs-agent new … --project acme',
  );
});

test('of many projects names the first', () => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  expect(projectMessage({ kind: 'ask', names }, '/docs-agent new …').text).toContain('p8, p9 and 20 more?');
});
