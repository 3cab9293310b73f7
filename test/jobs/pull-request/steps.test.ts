import { expect, test } from 'vitest';
import { createStandInGitHost } from '../../../demo/git-host/git-host.ts';
import { limitOfHost } from '../../../src/git-hosts/git-host.ts';
import type { Pull } from '../../../src/git-hosts/pull.ts';
import { type ThreadRound, threadRun } from '../../../src/jobs/agent/thread/record.ts';
import { followPullRequest } from '../../../src/jobs/pull-request/follow.ts';
import { pullRequestJob, repositoryJob } from '../../../src/jobs/pull-request/job.ts';
import {
  distinct,
  newPullRequest,
  newRepository,
  openedMs,
  type PullRequestRun,
  pullRequestEvents,
  pullRequestId,
  pullRequestRun,
} from '../../../src/jobs/pull-request/record.ts';
import type { NamedSecret } from '../../../src/projects.ts';
import { Later } from '../../../src/runtime/later.ts';
import { keys } from '../../../src/store/keys.ts';
import { createStores } from '../../../src/store/stores.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRound, aThread } from '../../support/jobs/agent/builders.ts';
import { onTestClock } from '../../support/jobs/faults/redis.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';
import { gitHostOn } from '../../support/jobs/pull-request/host.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const server = redisForTests();

const LINK = 'https://git.acme.com/acme/docs/pull/131';

const MINUTE_MS = 60_000;

let number = 131;

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
async function following(thread: string, changes: Partial<PullRequestRun> = {}, fineGrained = false) {
  const clock = { ms: NOW_MS };
  const host = createStandInGitHost({ nowMs: () => clock.ms, fineGrained });
  const granted = new Set<string>();
  const refused = new Set<number>();
  const pull = host.pull('acme/docs', number);
  const posts: string[] = [];
  const redis = onTestClock(server.client, clock);
  const context = jobContext(redis, {
    rateLimiter: {
      ...createStores(redis).rateLimiter,
      async awaitSlot(_, { id }) {
        if (refused.delete(granted.size)) throw new Later(MINUTE_MS);
        granted.add(id);
      },
    },
    now: () => clock.ms,
    gitHost: gitHostOn(host, { remindAfterDays: 1 }),
    outbox: { publish: async (_, { key }) => void posts.push(key.slice(key.indexOf('.') + 1)) },
  });
  const { runs } = context.store;
  const unread = { pull: undefined, details: undefined };
  const given = aPullRequest({
    ...unread,
    link: LINK.replace('131', String(number)),
    number,
    thread,
    openedAtMs: NOW_MS,
    ...changes,
  });
  const run = newPullRequest(given, NOW_MS);
  await runs.accept(aThread({ id: thread, claim: undefined, project: 'acme' }));
  await runs.accept(run);
  const load = async () => (await runs.load(run.id, pullRequestRun)) ?? expect.fail('no run');
  return {
    ...{ clock, granted, refused, host, pull, posts, context, run, load },
    read: async () => context.gitHost('acme')?.read('acme/docs', pull.number, async () => {}),
    /** Gets what the list has once it is merged. */
    async merges() {
      const found = await this.read();
      await context.sendEvent(pullRequestEvents, run.id, { kind: 'seen', pull: found as Pull }, 'merged');
      await this.steps();
    },
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
    number += 1;
    const one = await following(`reminded ${name}`);
    await one.steps();
    const { remindAtMs = expect.fail('no reminder is planned') } = await one.load();
    change(one);
    await one.steps(remindAtMs);
    expect(one.posts.includes('reminder'), name).toBe(name === 'open');
  }
});

test('of several threads on a job, those post that asked, and one of them reminds', async () => {
  const context = jobContext(server.client, { gitHost: gitHostOn(createStandInGitHost()) });
  const ending = { kind: 'newPr' as const, prLink: LINK, atMs: NOW_MS };
  const quietOf = async (id: string, round: Partial<ThreadRound>) => {
    const thread = aThread({ id, project: 'acme', rounds: [aRound({ ending, ...round })] });
    await followPullRequest(thread, context);
    const run = await context.store.runs.load(pullRequestId(id, 'acme/docs', 131), pullRequestRun);
    return run?.isQuiet ?? false;
  };
  expect(await quietOf('asked', {})).toBe(false);
  expect(await quietOf('found', { last: undefined, found: true })).toBe(false);
  expect(await quietOf('elsewhere', { last: undefined, authors: [] })).toBe(true);

  number += 1;
  const threads = [
    await following('quiet', { isQuiet: true }),
    await following('loud'),
    await following('also loud'),
  ];
  for (const { host, pull } of threads) host.check(pull, { build: 'failed' });
  for (const one of threads) await one.steps();
  const dueMs = (await threads[1]?.load())?.remindAtMs ?? expect.fail('no reminder is planned');
  for (const one of threads) await one.steps(dueMs);
  for (const { host, pull } of threads) host.merge(pull);
  for (const one of threads) await one.merges();
  expect(threads.map(({ posts }) => posts)).toEqual([
    [],
    ['checks.1', 'reminder', 'ended'],
    ['checks.1', 'ended'],
  ]);
  for (const one of threads) expect((await one.load()).state).toBe('ended');
});

test('lists and counts have a pull request once, with who asked for it', () => {
  const quiet = aPullRequest({ thread: 'quiet', isQuiet: true });
  const asked = aPullRequest({ thread: 'asked' });
  const other = aPullRequest({ thread: 'quiet', number: 132, isQuiet: true });
  expect(distinct([quiet, other, asked])).toEqual([asked, other]);
});

test('a check that fails later is seen, and so is one that passes after it failed', async () => {
  number += 1;
  const { host, pull, steps, posts, load } = await following('late');
  host.check(pull, { build: 'passed', links: 'passed' });
  await steps();
  host.check(pull, { links: 'failed' });
  await steps(NOW_MS + 6 * MINUTE_MS);
  expect(posts).toEqual(['checks.1']);
  await steps(NOW_MS + 15 * MINUTE_MS);
  expect((await load()).nextReadMs).toBe(NOW_MS + (15 + 59) * MINUTE_MS);
  host.check(pull, { links: 'passed' });
  await steps(NOW_MS + 80 * MINUTE_MS);
  expect(await load()).toMatchObject({ details: { checks: 'passed', failed: [] } });
  expect((await load()).nextReadMs).toBeUndefined();
});

test('nobody is asked for anything in a thread that ended or is not known', async () => {
  for (const state of ['following', 'ended', 'missing'] as const) {
    number += 1;
    const one = await following(`stopped ${state}`);
    const { host, pull, posts, load } = one;
    const { runs } = one.context.store;
    const thread = (await runs.load(`stopped ${state}`, threadRun)) ?? expect.fail('no thread');
    if (state === 'missing') await server.client.del(keys.run(thread.id));
    else await runs.saveStep({ ...thread, state });
    host.check(pull, { build: 'failed' });
    await one.steps();
    const { remindAtMs = expect.fail('no reminder is planned') } = await load();
    expect(await one.steps(remindAtMs), state).toBeGreaterThan(MINUTE_MS);
    host.merge(pull);
    await one.merges();
    expect(posts, state).toEqual(state === 'following' ? ['checks.1', 'reminder', 'ended'] : ['ended']);
  }
});

test('an end from before the round is not posted again', async () => {
  number += 1;
  const { host, pull, steps, posts, load } = await following('again', {
    openedAtMs: NOW_MS + 60 * MINUTE_MS,
  });
  host.merge(pull);
  await steps(NOW_MS + 60 * MINUTE_MS);
  expect(await load()).toMatchObject({ state: 'ended', pull: { state: 'merged' } });
  expect(posts).toEqual([]);
});

test('each request has a slot, also if a step has to wait for its later ones', async () => {
  number += 1;
  const one = await following('fine-grained', {}, true);
  const { host, granted, refused, clock, context, run, load } = one;
  const calls = () => host.wire.calls.length;
  await one.steps();
  expect(calls()).toBe(5);
  expect(granted.size).toBe(5);

  // The reminder reads the pull request, and gets no slot for its details.
  const { remindAtMs = expect.fail('no reminder is planned') } = await load();
  refused.add(granted.size + 1);
  const inMs = (await one.steps(remindAtMs)) ?? expect.fail('it does not wait');
  await one.steps(remindAtMs + inMs);
  expect(one.posts).toEqual(['reminder']);
  expect(granted.size).toBeGreaterThanOrEqual(calls());

  // The list has two pages, and there is no slot for the second one.
  for (let other = 1000; other < 1120; other += 1) host.pull('acme/docs', other);
  refused.add(granted.size + 1);
  const { id } = newRepository(run, clock.ms);
  clock.ms += (await stepJob(repositoryJob, id, context)) ?? expect.fail('it does not wait');
  await stepJob(repositoryJob, id, context);
  const lists = host.wire.calls.filter(({ name }) => name === 'GitHub pulls');
  expect(lists).toHaveLength(3);
  expect(granted.size).toBeGreaterThanOrEqual(calls());
});

test('a token has one limit, whatever it is called, and a file keeps its limit', () => {
  const nameOf = (token: NamedSecret) =>
    limitOfHost({ host: 'github', apiUrl: 'https://git.acme.com', token, remindAfterDays: 0 }).name;
  expect(nameOf({ secret: 's', name: 'ONE' })).toBe(nameOf({ secret: 's', name: 'OTHER' }));
  expect(nameOf({ secret: 's', name: 'ONE' })).not.toBe(nameOf({ secret: 't', name: 'ONE' }));
  const file = '/run/token';
  expect(nameOf({ secret: 's', name: file, file })).toBe(nameOf({ secret: 't', name: file, file }));
});

test('its age is that at its host, not that of a round', async () => {
  number += 1;
  const one = await following('old', { openedAtMs: NOW_MS + 60 * MINUTE_MS });
  expect(openedMs(one.run)).toBe(NOW_MS + 60 * MINUTE_MS);
  await one.steps(NOW_MS + 60 * MINUTE_MS);
  expect(openedMs(await one.load())).toBe(NOW_MS - (NOW_MS % 1000));
});

test('a read after the merge that fails is made once more', async () => {
  number += 1;
  const one = await following('by whom');
  await one.steps();
  one.host.merge(one.pull, 'ben');
  const { by: _, ...merged } = (await one.read()) ?? expect.fail('nothing was read');
  const order = one.host.wire.order('GitHub pulls/{number}', { kind: 'answer', status: 502 }, 1);
  await one.context.sendEvent(pullRequestEvents, one.run.id, { kind: 'seen', pull: merged }, 'merged');
  const inMs = (await one.steps()) ?? expect.fail('it does not wait');
  order.takeBack();
  await one.steps(NOW_MS + inMs);
  expect(await one.load()).toMatchObject({ state: 'ended', pull: { by: 'ben' } });
  expect(new Set(one.posts)).toEqual(new Set(['ended']));
});

test('a comment of its author is no review', async () => {
  number += 1;
  const one = await following('own comment');
  one.host.review(one.pull, 'docs-agent', 'COMMENTED');
  await one.steps();
  expect(await one.load()).toMatchObject({ details: { review: 'none' } });
});

test('another host in the settings is not asked about it', async () => {
  number += 1;
  const one = await following('moved', { link: `https://git.old.example/acme/docs/pull/${number}` });
  expect(await one.steps()).toBe(5 * MINUTE_MS);
  await stepJob(repositoryJob, newRepository(one.run, 0).id, one.context);
  expect(one.host.wire.calls).toEqual([]);
  expect(newRepository({ ...one.run, link: LINK }, 0).id).not.toBe(newRepository(one.run, 0).id);
});
