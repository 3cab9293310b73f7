import { beforeEach } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import {
  type EditionEnding,
  type EditionRun,
  editionRun,
} from '../../../../src/jobs/digest/edition/record.ts';
import { type FiguresRun, figuresRun, rangeKey } from '../../../../src/jobs/digest/figures/record.ts';
import type { Counts, PageCounts } from '../../../../src/jobs/digest/model.ts';
import { scheduleJob } from '../../../../src/jobs/digest/schedule/job.ts';
import { newSchedule, type ScheduleRun, scheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import type { Job } from '../../../../src/jobs/job.ts';
import type { OutboxMessage } from '../../../../src/slack/outbox.ts';
import type { DeliveryState } from '../../../../src/store/messages.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { redisForTests, type TestRedis } from '../../redis.ts';
import { type JobContextParts, jobContext } from '../world.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** Monday, 2026-09-21 06:00 UTC: an hour before it is 09:00 in Berlin. */
export const MONDAY_MS = Date.UTC(2026, 8, 21, 6);

/** 09:00 in Berlin on that Monday. */
export const DUE_MS = MONDAY_MS + HOUR_MS;

/** Ana's digest of docs.acme.com in #docs, just asked for. */
export function aSchedule(changes: Partial<ScheduleRun> = {}, nowMs = MONDAY_MS): ScheduleRun {
  const wanted = {
    project: 'acme',
    site: 'docs.acme.com',
    channel: 'C0DOCS',
    isPublic: true,
    timetable: { weekday: 1, time: '09:00', zone: 'Europe/Berlin' },
    sections: ['pages' as const],
    alerts: false,
  };
  const user = { id: 'U0ANA', name: 'ana', fullMember: true };
  return { ...newSchedule(wanted, { teamId: 'T0ACME', requestId: 'r1', user }, nowMs), ...changes };
}

/** A digest that was begun, and when. */
export interface BegunDigest
  extends Pick<EditionRun, 'id' | 'week' | 'range' | 'dueAtMs' | 'late' | 'owner'> {
  atMs: number;
}

/**
 * The job of schedules with real stores and a clock that the test moves. Digests end as `ending` says, and figures are
 * what `views` and `pages` say, both at once.
 */
export function createScheduleWorld(redis: TestRedis) {
  const runs = createRunStore(redis.client);
  const published = new Map<string, OutboxMessage>();
  const posts: string[] = [];
  const delivery: { state: DeliveryState } = { state: { kind: 'shown', channel: 'C0DOCS', ts: '1.1' } };
  const privately: string[] = [];
  const digests: BegunDigest[] = [];
  /** Requests for the figures of days, by the run that makes them. */
  const collected: { atMs: number; run: FiguresRun }[] = [];
  const world = {
    nowMs: MONDAY_MS,
    ending: (_digest: EditionRun): EditionEnding | undefined => ({ why: 'done' }),
    /** Why figures cannot be had. */
    failing: undefined as FiguresRun['failed'],
    views: (_day: string): Counts => ({ human: 1000, ai: 500 }),
    /** Nothing: there are more than the run may ask for. */
    pages: (_day: string): PageCounts[] | undefined => [],
  };

  const context = (changes: JobContextParts = {}): JobContext =>
    jobContext(redis.client, {
      runs,
      now: () => world.nowMs,
      postEphemeral: async (_url, { text }) => {
        privately.push(text);
        return true;
      },
      ...changes,
      outbox: {
        async publish(_team, one) {
          if (!published.has(one.key)) posts.push(one.message.text);
          published.set(one.key, one);
        },
        deliveryState: async (key) => (published.has(key) ? delivery.state : { kind: 'waiting' }),
        ...changes.outbox,
      },
    });

  /** Does what other jobs do: ends digests, and collects figures. Returns whether there was anything to do. */
  async function others(): Promise<boolean> {
    let busy = false;
    const { figures: kept } = context();
    for (const run of await runs.activeOf(figuresRun, 'digest-figures')) {
      collected.push({ atMs: world.nowMs, run });
      if (world.failing) {
        const failed = await runs.save({ ...run, state: 'ended', failed: world.failing });
        if (failed) await runs.markIdle(failed, true);
        busy = true;
        continue;
      }
      const pages = run.pages && world.pages(run.range.from);
      if (pages !== undefined) await kept.addPages(run, rangeKey(run.range), 0, pages);
      const ended = await runs.save({
        ...run,
        state: 'ended',
        spans: run.spans.map((span) => ({ ...span, counts: world.views(span.from) })),
        ...(run.pages && { pages: { offset: 0, state: pages === undefined ? 'tooMany' : 'complete' } }),
      });
      if (ended) await runs.markIdle(ended, true);
      busy = true;
    }
    for (const run of await runs.activeOf(editionRun, 'digest')) {
      const { id, week, range, dueAtMs, late, owner } = run;
      if (!digests.some((one) => one.id === id))
        digests.push({ id, week, range, dueAtMs, late, owner, atMs: world.nowMs });
      const ended = world.ending(run);
      if (ended === undefined) continue;
      const saved = await runs.save({ ...run, state: 'ended', ended });
      if (saved) await runs.markIdle(saved, true);
      busy = true;
    }
    return busy;
  }

  return Object.assign(world, {
    runs,
    context,
    published,
    /** The first look of each message, in the order in which they came. */
    posts,
    delivery,
    privately,
    digests,
    collected,
    others,

    /** The weeks whose digests were begun, in that order. */
    weeks: () => digests.map(({ week }) => week),

    /** A schedule whose test post was shown. */
    active(changes: Partial<ScheduleRun> = {}): Promise<ScheduleRun> {
      return this.given(aSchedule({ state: 'active', ...changes }));
    },
    async given(run: ScheduleRun): Promise<ScheduleRun> {
      await runs.accept(run, { claimMs: HOUR_MS, responseUrl: 'https://hooks.example/1' });
      return run;
    },
    stored: async (run: ScheduleRun): Promise<ScheduleRun> => {
      const found = await runs.load(run.id, scheduleRun);
      if (found === undefined) throw new Error('the schedule is gone');
      return found;
    },
    /** Saves what a person has done to it, as a command does. */
    async change(run: ScheduleRun, transition: (run: ScheduleRun) => ScheduleRun | undefined) {
      const next = transition(await this.stored(run));
      if (next === undefined) throw new Error('it counts');
      await runs.resume(next);
    },
    text: (run: ScheduleRun, name: string) => published.get(`${run.id}.${name}`)?.message.text,

    /** Lets time pass until then, with the schedules and everything else at work. */
    async until(untilMs: number, schedules: ScheduleRun[], parts: JobContextParts = {}) {
      for (;;) {
        let nextMs = untilMs;
        for (const { id } of schedules) nextMs = Math.min(nextMs, await this.step(id, parts));
        if (await others()) continue;
        if (nextMs >= untilMs && world.nowMs >= untilMs) return;
        world.nowMs = Math.max(world.nowMs, Math.min(nextMs, untilMs));
      }
    },
    /** Steps a schedule; returns when it is to be stepped again. */
    async step(id: string, parts: JobContextParts = {}): Promise<number> {
      const job: Job = scheduleJob;
      const inMs = await job.run(id, context(parts));
      return world.nowMs + (inMs ?? Infinity);
    },
  });
}

export type ScheduleWorld = ReturnType<typeof createScheduleWorld>;

/** Hands a new world to `take` before each test of a file. Returns the Redis they share, which is empty each time. */
export function onScheduleWorlds(take: (world: ScheduleWorld) => void): TestRedis {
  const redis = redisForTests();
  beforeEach(() => take(createScheduleWorld(redis)));
  return redis;
}
