import { expect, test } from 'vitest';
import { createStandInGitHost } from '../../../demo/git-host/git-host.ts';
import { followPullRequest } from '../../../src/jobs/pull-request/follow.ts';
import { pullRequestJob } from '../../../src/jobs/pull-request/job.ts';
import {
  newPullRequest,
  type PullRequestRun,
  pullRequestRun,
} from '../../../src/jobs/pull-request/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRound, aThread } from '../../support/jobs/agent/builders.ts';
import { onTestClock } from '../../support/jobs/faults/redis.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';
import { gitHostOn } from '../../support/jobs/pull-request/host.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const server = redisForTests();

const LINK = 'https://git.acme.com/acme/docs/pull/131';

test('a pull request is of the latest round that has it, however its address is spelled', async () => {
  const context = jobContext(server.client, { gitHost: gitHostOn(createStandInGitHost()) });
  const rounds = ['', '/', '/files', '?x'].map((rest, n) =>
    aRound({ n: n + 1, ending: { kind: 'newPr', prLink: LINK + rest, atMs: NOW_MS } }),
  );
  const saved = await followPullRequest(aThread({ id: 'spelled', project: 'acme', rounds }), context);
  const thread = saved && 'run' in saved ? saved.run : expect.fail('nothing is saved');
  expect(thread.rounds.map(({ pullRequest }) => pullRequest !== undefined)).toEqual([
    ...[false, false, false, true],
  ]);
  expect(await followPullRequest(thread, context)).toBeUndefined();
});

/** A followed pull request of a stand-in, a clock, and the posts about it. */
async function following(thread: string, changes: Partial<PullRequestRun> = {}) {
  const clock = { ms: NOW_MS };
  const host = createStandInGitHost({ nowMs: () => clock.ms });
  const pull = host.pull('acme/docs', 131);
  const posts: string[] = [];
  const context = jobContext(onTestClock(server.client, clock), {
    now: () => clock.ms,
    gitHost: gitHostOn(host, { remindAfterDays: 1 }),
    outbox: { publish: async (_, { key }) => void posts.push(key.slice(key.indexOf('.') + 1)) },
  });
  const { runs } = context.store;
  const unread = { pull: undefined, details: undefined };
  const given = aPullRequest({ ...unread, link: LINK, thread, openedAtMs: NOW_MS, ...changes });
  const run = newPullRequest(given, NOW_MS);
  await runs.accept(aThread({ id: thread, claim: undefined, project: 'acme' }));
  await runs.accept(run);
  const load = async () => (await runs.load(run.id, pullRequestRun)) ?? expect.fail('no run');
  return {
    ...{ clock, host, pull, posts, context, run, load },
    /** Steps it at a time until it waits; returns for how long. */
    async steps(atMs = clock.ms) {
      clock.ms = atMs;
      return stepJob(pullRequestJob, run.id, context);
    },
  };
}

test('the reminder comes only if the state at that time says so', async () => {
  const changes: Record<string, (one: Awaited<ReturnType<typeof following>>) => void> = {
    draft: ({ host, pull }) => host.change(pull, { isDraft: true }),
    reviewed: ({ host, pull }) => host.review(pull, 'sue', 'APPROVED'),
    merged: ({ host, pull }) => host.merge(pull),
    open: () => {},
  };
  for (const [name, change] of Object.entries(changes)) {
    const one = await following(`reminded ${name}`);
    await one.steps();
    const { remindAtMs = expect.fail('no reminder is planned') } = await one.load();
    change(one);
    await one.steps(remindAtMs);
    expect(one.posts.includes('reminder'), name).toBe(name === 'open');
  }
});
