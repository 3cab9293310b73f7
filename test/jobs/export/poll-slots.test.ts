import { expect, test } from 'vitest';
import { pollSlotOf } from '../../../src/jobs/export/poll-step.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { pollRateLimit } from '../../../src/jobs/polling.ts';
import { createRateLimitStore } from '../../../src/store/rate-limit.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { redisForTests } from '../../support/redis.ts';

const HOUR_MS = 3_600_000;

const redis = redisForTests();

/** One look an hour, so that turns come back only when the test says so. */
function ask(run: ExportRun, perSecond = 1 / 3600) {
  const rateLimit = pollRateLimit('export-status', 'k1', perSecond);
  return createRateLimitStore(redis.client).takeSlot(rateLimit, pollSlotOf(run, NOW_MS));
}

async function turnComesBack() {
  for (const key of await redis.client.keys('*export-status*'))
    if ((await redis.client.type(key)) === 'string') await redis.client.incrbyfloat(key, -HOUR_MS);
}

/** A run that ends in so many milliseconds at the rate seen, and that looks again about halfway. */
function endingIn(id: string, restMs: number, { lookedAgoMs = 30_000, jitter = 0.5 } = {}): ExportRun {
  const startedAtMs = NOW_MS - 100_000;
  const atMs = NOW_MS - lookedAgoMs;
  const looks = [
    { atMs: startedAtMs, fraction: 0 },
    { atMs, fraction: (100_000 - lookedAgoMs) / (100_000 + restMs) },
  ];
  const nextLookAtMs = atMs + Math.abs(restMs + lookedAgoMs) * (0.45 + jitter * 0.1);
  return aRun({ id, startedAtMs, looks, nextLookAtMs });
}

/** Due now, or a little earlier with less jitter. */
const far = (id: string, jitter = 0.5) => endingIn(id, 30_000, { jitter });

/** The order in which runs get their looks when all of them ask whenever a turn comes back. */
async function order(...runs: ExportRun[]) {
  for (const id of ['spent', 'spent too']) await ask(far(id));
  const served: string[] = [];
  const all = async () => {
    for (const run of runs) if (!served.includes(run.id) && (await ask(run)) === 0) served.push(run.id);
  };
  await all();
  while (served.length < runs.length) {
    await turnComesBack();
    await all();
  }
  return served;
}

test('two polls at once, then everybody waits', async () => {
  const waits = [];
  for (const id of ['a', 'b', 'c']) waits.push(await ask(far(id)));
  expect(waits).toEqual([0, 0, 5000]);
});

test('a run near its end polls before those that were due earlier', async () => {
  const near = endingIn('near', 5000, { lookedAgoMs: 5000 });
  expect(await order(far('far', 0), near)).toEqual(['near', 'far']);
});

test('a run that is a little overdue counts as near its end, and one that is long overdue does not', async () => {
  const long = endingIn('long overdue', -25_000, { lookedAgoMs: 27_000 });
  const little = endingIn('overdue', -5000, { lookedAgoMs: 8000 });
  expect(await order(long, far('far'), little)).toEqual(['overdue', 'long overdue', 'far']);
});

test('a poll that a person asked for goes before those that were due earlier', async () => {
  const clicked = { ...far('clicked'), nextLookAtMs: NOW_MS + 5000, lookWanted: true };
  expect(await order(far('due', 0), clicked)).toEqual(['clicked', 'due']);
});

test('among equals, whoever is due since the longest time goes first', async () => {
  expect(await order(far('a', 0.2), far('b', 0.4), far('c', 0))).toEqual(['c', 'a', 'b']);
});

test('among equals people go in turn, however many exports one of them has', async () => {
  const mine = ['a', 'b', 'c', 'd'].map((id) => far(id, 0));
  const other = { ...far('ben’s', 0.5), requester: { id: 'U0BEN', name: 'ben' } };
  expect((await order(...mine, other)).indexOf('ben’s')).toBeLessThan(2);
});

test('each key has its own polls, however many projects share it', async () => {
  for (const id of ['a', 'b']) await ask(far(id));
  expect(await ask({ ...far('c'), project: 'other' })).toBeGreaterThan(0);
  const pace = createRateLimitStore(redis.client);
  expect(
    await pace.takeSlot(pollRateLimit('export-status', 'k2', 1 / 3600), pollSlotOf(far('d'), NOW_MS)),
  ).toBe(0);
});
