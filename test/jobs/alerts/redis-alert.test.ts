import { expect, test } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { createRedisAlert } from '../../../src/jobs/alerts/redis-alert.ts';
import { createAlertStore } from '../../../src/store/alerts.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import type { RedisProblem } from '../../../src/store/redis/problems.ts';
import { redisForTests } from '../../support/redis.ts';
import { reads } from '../../support/slack/rendering.ts';
import { anOutbox } from '../../support/slack/world.ts';
import { dueIds } from '../../support/store/world.ts';

const NOW_MS = Date.UTC(2026, 8, 20, 14);

const redis = redisForTests();

function alertOf({ team = 'T0ACME', fails = 0, work = '' } = {}) {
  let failures = fails;
  const state = { team: team as string | undefined, nowMs: NOW_MS };
  const alert = createRedisAlert({
    admins: async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('Slack is away');
      return { ids: ['U0ANA', 'U0BEN'], complete: true };
    },
    alerts: createAlertStore(redis.client),
    outbox: anOutbox(redis.client, { now: () => state.nowMs }),
    teamId: () => state.team,
    atWork: async () => work,
    now: () => state.nowMs,
  });
  return { alert, state };
}

async function messages() {
  const store = createMessageStore(redis.client);
  const found = await Promise.all((await dueIds(redis, 'messages')).map((key) => store.load(key)));
  return found.flatMap((record) => (record === undefined ? [] : [record.wanted]));
}

const a = (kind: RedisProblem['kind']): RedisProblem => ({ kind, fatal: false, text: `It is ${kind}.` });

test('each admin hears of what loses work without anybody noticing, with the fix', async () => {
  await alertOf({ work: '3 exports and 1 digest' }).alert([a('eviction')]);
  const told = await messages();
  expect(told.map(({ place }) => place)).toEqual(
    expect.arrayContaining([{ user: 'U0ANA' }, { user: 'U0BEN' }]),
  );
  expect(told).toHaveLength(2);
  expect(told[0]?.text).toBe('It is eviction.\nRunning now, and could be lost: 3 exports and 1 digest.');
  expect(reads({ text: '', blocks: told[0]?.blocks ?? [] })).toBe(
    "⚠️ It is eviction.\nSince TIME{date_short_pretty} {time}. Running now, and could be lost: 3 exports and 1 digest.\nI keep running. I won't repeat this while the problem lasts.",
  );
  expect(mistakesIn(told[0]?.blocks, 'message')).toEqual([]);
});

test('where nothing is known to be at work, nothing is said of it', async () => {
  await alertOf().alert([a('eviction')]);
  const [told] = await messages();
  expect(told?.text).toBe('It is eviction.');
  expect(reads({ text: '', blocks: told?.blocks ?? [] })).toContain(
    "⚠️ It is eviction.\nSince TIME{date_short_pretty} {time}.\nI keep running. I won't repeat",
  );
});

test('once while it lasts, and each of two', async () => {
  const { alert, state } = alertOf();
  for (let check = 0; check < 5; check += 1) {
    await alert([a('eviction'), a('volatile')]);
    state.nowMs += 3_600_000;
    // Redis forgets alerts by its own clock.
    for (const key of await redis.client.keys('{docket}:alert*')) await redis.client.del(key);
  }
  expect(await messages()).toHaveLength(4);
  await alert([]);
  await alert([a('volatile')]);
  expect(await messages()).toHaveLength(6);
});

test('whichever process finds out', async () => {
  await alertOf().alert([a('volatile')]);
  await alertOf().alert([a('volatile')]);
  expect(await messages()).toHaveLength(2);
});

test.each(['unreachable', 'read-only', 'snapshots', 'eviction-unknown', 'volatile-unknown'] as const)(
  'nobody hears of %s, which everybody notices or which may be as it should',
  async (kind) => {
    await alertOf().alert([a(kind)]);
    expect(await messages()).toEqual([]);
  },
);

test('what could not be reported is reported after the next check', async () => {
  const { alert } = alertOf({ fails: 1 });
  await expect(alert([a('volatile')])).rejects.toThrow('Slack is away');
  await alert([a('volatile')]);
  expect(await messages()).toHaveLength(2);
});

test('before Slack has said who the bot is, it waits', async () => {
  const { alert, state } = alertOf();
  state.team = undefined;
  await alert([a('volatile')]);
  expect(await messages()).toEqual([]);
  state.team = 'T0ACME';
  await alert([a('volatile')]);
  expect(await messages()).toHaveLength(2);
});
