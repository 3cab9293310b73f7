import { expect, test } from 'vitest';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { scheduleJob } from '../../../../src/jobs/digest/schedule/job.ts';
import { scheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { changeSchedule } from '../../../../src/jobs/digest/schedule/transitions.ts';
import {
  aSchedule,
  DAY_MS,
  DUE_MS,
  HOUR_MS,
  MONDAY_MS,
} from '../../../support/jobs/digest/schedule-world.ts';
import { digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();

const jobs = { 'digest-schedule': scheduleJob, 'digest-figures': figuresJob, digest: editionJob };

test('the jobs of digests together post a digest a week, and watch the days for one request each', async () => {
  const posts: { key: string; atMs: number; text: string }[] = [];
  const world = await digestWorld(redis.client, MONDAY_MS - DAY_MS, {
    context: {
      outbox: {
        async publish(_team, { key, message: { text } }) {
          if (posts.every((post) => post.key !== key)) posts.push({ key, atMs: world.nowMs, text });
        },
        async deliveryState(key) {
          const isShown = posts.some((post) => post.key === key);
          return isShown ? { kind: 'shown', channel: 'C0DOCS', ts: '1.1' } : { kind: 'waiting' };
        },
      },
    },
  });
  const { runs } = world.context;
  const requests = () => world.platform.analyticsRequests().views;

  /** Lets time pass until then, with all jobs at work. */
  async function until(untilMs: number) {
    while (world.nowMs < untilMs) {
      let inMs = untilMs - world.nowMs;
      for (const { job, id } of await runs.active()) {
        const outcome = await jobs[job as keyof typeof jobs].run({ runId: id }, world.context);
        inMs = Math.min(inMs, outcome.kind === 'again' ? outcome.inMs : 0);
      }
      world.nowMs += inMs;
    }
  }

  const run = aSchedule();
  await runs.accept(run, Number.MAX_SAFE_INTEGER, HOUR_MS, undefined);
  await until(DUE_MS + HOUR_MS);
  await until(DUE_MS + 7 * DAY_MS + HOUR_MS);
  const digests = posts.filter(({ key }) => key.endsWith('.digest'));
  expect(posts[0]?.text).toContain('The weekly digest for docs.acme.com will be posted here');
  expect(digests.map(({ atMs }) => Math.round((atMs - DUE_MS) / 60_000))).toEqual([0, 7 * 24 * 60]);
  expect(digests[0]?.text).toContain('14–20 Sep 2026');
  expect(digests[1]?.text).toContain('21–27 Sep 2026');

  const [stored] = await runs.loadAll([run.id], scheduleRun);
  const changed = stored && changeSchedule(stored, { alerts: true }, world.nowMs);
  if (changed) await runs.resume(changed, Number.MAX_SAFE_INTEGER, 0);
  await until(DUE_MS + 15 * DAY_MS);
  const before = requests();
  await until(DUE_MS + 16 * DAY_MS);
  expect(requests() - before).toBe(1);
}, 60_000);
