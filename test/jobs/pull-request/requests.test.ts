import { beforeAll, expect, test } from 'vitest';
import { createStandInGitHost } from '../../../demo/git-host/git-host.ts';
import { runOnce } from '../../../src/jobs/engine/job.ts';
import { pullRequestJob, repositoryJob } from '../../../src/jobs/pull-request/job.ts';
import { newPullRequest } from '../../../src/jobs/pull-request/record.ts';
import { onTestClock } from '../../support/jobs/faults/redis.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';
import { gitHostOn } from '../../support/jobs/pull-request/host.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = Date.parse('2027-03-01T08:30:00Z');
const REPOSITORIES = Array.from({ length: 20 }, (_, n) => `acme/docs-${n}`);
const PULLS = 500;

const server = redisForTests();
beforeAll(() => server.client.config('SET', 'appendonly', 'no'));

test('500 pull requests of 20 repositories take 1,000 requests an hour, and each merge is shown in time', async () => {
  const clock = { ms: START_MS };
  const redis = onTestClock(server.client, clock);
  const host = createStandInGitHost({ nowMs: () => clock.ms, repositories: REPOSITORIES });
  /** When each run is due. */
  const due = new Map<string, { job: string; atMs: number }>();
  const shownMs = new Map<string, number>();
  const context = jobContext(redis, {
    now: () => clock.ms,
    gitHost: gitHostOn(host),
    wake: async ({ job, id }) => void due.set(id, { job, atMs: clock.ms }),
    outbox: {
      async publish(_, { key }) {
        const [, id] = /^(.*)\.ended$/.exec(key) ?? [];
        if (id && !shownMs.has(id)) shownMs.set(id, clock.ms);
      },
    },
  });
  const runs = Array.from({ length: PULLS }, (_, n) => {
    const repository = REPOSITORIES[n % REPOSITORIES.length] ?? '';
    return newPullRequest(
      {
        ...aPullRequest(),
        repository,
        link: `https://git.acme.com/${repository}/pull/${n}`,
        number: n,
        thread: `t${n}`,
        openedAtMs: START_MS,
      },
      clock.ms,
    );
  });
  for (const run of runs) {
    await context.store.runs.accept(run);
    await context.wake(run);
  }

  /** Steps what is due until then, at its time. */
  async function until(endMs: number) {
    for (;;) {
      const [next] = [...due].sort(([, one], [, other]) => one.atMs - other.atMs);
      if (next === undefined || next[1].atMs > endMs) break;
      const [id, { job, atMs }] = next;
      clock.ms = Math.max(clock.ms, atMs);
      due.delete(id);
      const waits = await runOnce(job === 'pull-request' ? pullRequestJob : repositoryJob, id, context);
      // It may have been woken in between.
      if (waits && !due.has(id)) due.set(id, { job, atMs: clock.ms + Math.max(waits.inMs, 1) });
      for (const { job: listed, id: other } of await newlyListed())
        due.set(other, { job: listed, atMs: clock.ms });
    }
    clock.ms = endMs;
  }
  let known = new Set(runs.map(({ id }) => id));
  async function newlyListed() {
    if (known.size >= PULLS + REPOSITORIES.length) return [];
    const fresh = (await context.store.runs.active()).filter(({ id }) => !known.has(id));
    known = new Set([...known, ...fresh.map(({ id }) => id)]);
    return fresh;
  }

  const merged: { id: string; atMs: number; withinMs: number }[] = [];
  let next = 0;
  function merge(count: number, withinMs: number) {
    for (const run of runs.slice(next, next + count)) {
      host.merge(host.pull(run.repository, run.number));
      merged.push({ id: run.id, atMs: clock.ms, withinMs });
    }
    next += count;
  }
  await until(START_MS + 8 * MINUTE_MS);
  // The checks of all run in the first hour: more requests than there are slots.
  for (const pull of host.pulls) host.check(pull, { build: 'running' });
  for (const minutes of [11, 29, 44, 59]) {
    await until(START_MS + minutes * MINUTE_MS);
    merge(20, 5 * MINUTE_MS);
  }
  await until(START_MS + 75 * MINUTE_MS);
  for (const [n, pull] of host.pulls.entries()) host.check(pull, { build: n % 2 ? 'failed' : 'passed' });
  for (const minutes of [100, 190, 250]) {
    await until(START_MS + minutes * MINUTE_MS);
    merge(100, HOUR_MS);
  }
  await until(START_MS + 6 * HOUR_MS);

  const late = merged.filter(({ id, atMs, withinMs }) => (shownMs.get(id) ?? Infinity) - atMs > withinMs);
  expect(
    late.map(({ id, atMs }) => [
      (atMs - START_MS) / MINUTE_MS,
      ((shownMs.get(id) ?? NaN) - atMs) / MINUTE_MS,
    ]),
  ).toEqual([]);
  const times = host.wire.calls.map(({ atMs }) => atMs);
  const inHour = times.map((from) => times.filter((atMs) => atMs >= from && atMs < from + HOUR_MS).length);
  expect(Math.max(...inHour)).toBeLessThanOrEqual(1000);
  expect(Math.max(...inHour)).toBeGreaterThan(800);
  expect(host.wire.calls.some(({ outcome }) => outcome === '304')).toBe(true);
}, 300_000);
