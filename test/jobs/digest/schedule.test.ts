import { describe, expect, test } from 'vitest';
import { editionRun, isComplete } from '../../../src/jobs/digest/edition/record.ts';
import { comparePages } from '../../../src/jobs/digest/model.ts';
import {
  alertsOf,
  alertsToPost,
  mostMoved,
  quietAfter,
  stepAlert,
} from '../../../src/jobs/digest/schedule/alerts.ts';
import { scheduleJob } from '../../../src/jobs/digest/schedule/job.ts';
import { type Alert, scheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { alertMessage } from '../../../src/jobs/digest/schedule/view.ts';
import { wait } from '../../../src/runtime/later.ts';
import type { OutboxMessage } from '../../../src/slack/outbox.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEdition, aSchedule } from '../../support/jobs/digest/builders.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

test('whose owner may no longer set up digests is paused, posts nothing, and tells its owner alone', async () => {
  const published: OutboxMessage[] = [];
  const person = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
  const context = jobContext(redis.client, {
    now: () => NOW_MS,
    policy: { check: async () => ({ kind: 'refused', person, contacts: 'ana' }) },
    outbox: { publish: async (_team, one) => void published.push(one) },
  });
  const schedule = aSchedule();
  await context.store.runs.accept(schedule);
  await stepJob(scheduleJob, schedule.id, context);
  const stored = await context.store.runs.load(schedule.id, scheduleRun);
  expect(stored).toMatchObject({ state: 'paused', pausedBy: 'permission' });
  expect(await context.store.runs.activeOf(editionRun, 'digest', 'T0ACME')).toEqual([]);
  expect(published.map(({ place }) => place)).toEqual([{ user: 'U0ANA' }]);
});

test.each<[string, Parameters<typeof anEdition>[0], days: number, boolean]>([
  ['is complete', {}, 1, true],
  ['lacks its pages', { noPages: 'failed' }, 26, false],
  ['lacks its pages, and its messages may have expired', { noPages: 'failed' }, 28, true],
  ['broke, and its messages may have expired', { ended: { why: 'broken' } }, 28, true],
  ['was never posted', { ended: { why: 'place' } }, 28, false],
  ['got no numbers', { ended: { why: 'platform' }, totals: undefined }, 28, false],
])('a digest that %s (%#)', (_, changes, days, is) => {
  expect(isComplete(anEdition(changes), NOW_MS + days * 86_400_000)).toBe(is);
});

describe('a day is unusual', () => {
  const day = (human: number, ai = 0) => ({ human, ai });
  /** A day and the 56 before it, the latest first. */
  const days = (now: number, ...before: number[]) => [
    day(now),
    ...Array.from({ length: 56 }, (_, at) => day(before[at % before.length] ?? 0)),
  ];

  test.each<[string, number, number[], boolean]>([
    ['39% less is not', 610, [1000], false],
    ['40% less is', 600, [1000], true],
    ['39% more is not', 1390, [1000], false],
    ['40% more is', 1400, [1000], true],
    // Half of the days are a tenth away from the others: a deviation of about 7%.
    ['four deviations are not', 800, [1000, 1500], false],
    ['more than four are', 200, [1000, 1100], true],
    ['where the day has 200', 200, [100], true],
    ['not where neither has', 199, [100], false],
    ['none at all where 20 are usual', 0, [20], true],
    ['not none at all where fewer are', 0, [19], false],
    ['not before 57 are known', 0, [], false],
  ])('%s', (_, now, before, isUnusual) => {
    expect(alertsOf(days(now, ...before))).toHaveLength(isUnusual ? 1 : 0);
  });

  test('a fall by a third that lasts for most of a week is told as one, that of a few days is not', () => {
    const fallen = (count: number) => days(650, 1000).map((one, ago) => (ago < count ? day(650) : one));
    expect(alertsOf(fallen(3))).toEqual([]);
    expect(alertsOf(fallen(7))).toEqual([{ by: 'human', now: 650, usual: 1000, ofWeek: true }]);
  });
});

test('a clock that was set back past the start of a schedule does not keep its check busy', async () => {
  const sinceMs = Date.parse('2026-11-02T09:01:00Z');
  const timetable = { weekday: 1, time: '09:00', zone: 'UTC' };
  const context = jobContext(redis.client, { now: () => sinceMs - 180_000 });
  const next = await stepAlert({ ...aSchedule(), alerts: true, sinceMs, timetable }, context);
  expect(next).toMatchObject({ alert: { atMs: Date.parse('2026-11-03T09:00:00Z') } });
});

test('a monthly digest has no posts about unusual days', async () => {
  const timetable = { monthly: true as const, time: '09:00', zone: 'UTC' };
  const context = jobContext(redis.client, { now: () => NOW_MS });
  expect(await stepAlert({ ...aSchedule(), alerts: true, timetable }, context)).toEqual(wait(Infinity));
});

describe('after an alert', () => {
  const alert = (by: Alert['by'], now: number, ofWeek = false): Alert => ({ by, now, usual: 1000, ofWeek });

  test.each<[string, Alert, Alert, string, boolean]>([
    ['the same is not told for a week', alert('human', 400), alert('human', 300), '2026-11-08', false],
    ['then it is', alert('human', 400), alert('human', 300), '2026-11-09', true],
    ['people are told after AI', alert('ai', 1400), alert('human', 400), '2026-11-04', true],
    ['a larger move the other way is told', alert('human', 1500), alert('human', 400), '2026-11-04', true],
    ['a smaller one is not', alert('human', 5000), alert('human', 400), '2026-11-04', false],
    ['no views at all are told', alert('human', 400), alert('human', 0), '2026-11-04', true],
    ['but once', alert('human', 0), alert('human', 0), '2026-11-04', false],
    ['a lasting fall is told', alert('human', 600, true), alert('human', 600, true), '2026-11-30', true],
    ['once in four weeks', alert('human', 600, true), alert('human', 600, true), '2026-11-29', false],
  ])('%s', (_, first, next, on, isTold) => {
    const quiet = quietAfter({}, [first], '2026-11-02');
    expect(alertsToPost([next], quiet, on)).toEqual(isTold ? [next] : []);
  });

  test('the pages that moved are those that moved as the day did, the most moved first', async () => {
    const page = (path: string, human: number) => ({ path, human, ai: 0 });
    const now = [page('/a', 10), page('/b', 500), page('/c', 70), page('/d', 99)];
    const before = [page('/a', 1400), page('/b', 10), page('/c', 7000), page('/d', 700)];
    const pages = await comparePages([now], [before]);
    expect(mostMoved(pages, { by: 'human', now: 100, usual: 1000 }, 1, 7)).toEqual([
      { path: '/c', now: 70, before: 1000 },
      { path: '/a', now: 10, before: 200 },
    ]);
  });

  test('a hostile path does no harm in the line, and a site neither', () => {
    const path = `/<!channel>\n\u202e${'x'.repeat(2000)}`;
    const { text, blocks } = alertMessage(
      { site: '<!here> docs' },
      '2026-11-19',
      [{ by: 'ai', now: 1800, usual: 1000 }],
      [{ path, now: 900, before: 100 }],
    );
    expect(text).not.toMatch(/<!|\u202e/u);
    expect(text.split('\n')).toHaveLength(3);
    expect(text.length).toBeLessThan(400);
    expect(JSON.stringify(blocks)).toContain('AI up 80%');
  });
});
