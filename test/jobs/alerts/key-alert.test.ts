import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { createKeyAlert } from '../../../src/jobs/alerts/key-alert.ts';
import { retention } from '../../../src/runtime/timing.ts';
import { createAlertStore } from '../../../src/store/alerts.ts';
import { keys } from '../../../src/store/keys.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import { redisForTests } from '../../support/redis.ts';
import { anOutbox } from '../../support/slack/world.ts';
import { dueIds } from '../../support/store/world.ts';

const NOW_MS = Date.UTC(2026, 8, 20, 14);

const redis = redisForTests();
let nowMs: number;
beforeEach(() => {
  nowMs = NOW_MS;
});

/** As one process has it: nothing is shared but Redis. `asked` is called whenever Slack is asked who the admins are. */
function alertFor(ids: readonly string[], { complete = true, asked = () => {} } = {}) {
  return createKeyAlert({
    async admins() {
      asked();
      return { ids, complete };
    },
    alerts: createAlertStore(redis.client),
    outbox: anOutbox(redis.client, { now: () => nowMs }),
    now: () => nowMs,
  });
}

/** The direct messages that were wanted. */
async function messages() {
  const store = createMessageStore(redis.client);
  const found = await Promise.all((await dueIds(redis, 'messages')).map((key) => store.load(key)));
  return found.flatMap((record) => (record === undefined ? [] : [record.wanted]));
}

test('each admin gets a direct message that names the project and the fix', async () => {
  expect(await alertFor(['U0ANA', 'U0BEN'])('T0ACME', 'acme')).toBe(true);
  const told = await messages();
  expect(told.map(({ place }) => place)).toEqual(
    expect.arrayContaining([{ user: 'U0ANA' }, { user: 'U0BEN' }]),
  );
  expect(told).toHaveLength(2);
  expect(told[0]?.text).toBe(
    '🔑 The docs platform rejects the API key of project acme.\nSet a new one and restart me; what runs goes on by itself then. I tell you once an hour at most.',
  );
  expect(mistakesIn(told[0]?.blocks, 'message')).toEqual([]);
});

test('within the hour nobody is notified again, whichever process finds out', async () => {
  await alertFor(['U0ANA'])('T0ACME', 'acme');
  nowMs += retention.adminAlertMs - 1;
  expect(await alertFor(['U0ANA'])('T0ACME', 'acme')).toBe(true);
  expect(await messages()).toHaveLength(1);
});

test('after the hour they are notified once more', async () => {
  const alert = alertFor(['U0ANA']);
  await alert('T0ACME', 'acme');
  // Redis forgets the alert by its own clock.
  await redis.client.del(keys.alert('key:T0ACME:acme'), keys.alertPeople('key:T0ACME:acme'));
  nowMs += retention.adminAlertMs;
  await alert('T0ACME', 'acme');
  await alert('T0ACME', 'acme');
  expect(await messages()).toHaveLength(2);
});

test('each project has an hour of its own', async () => {
  const alert = alertFor(['U0ANA']);
  await alert('T0ACME', 'acme');
  await alert('T0ACME', 'beta');
  expect((await messages()).map(({ text }) => text.split('\n')[0]).sort()).toEqual([
    '🔑 The docs platform rejects the API key of project acme.',
    '🔑 The docs platform rejects the API key of project beta.',
  ]);
});

test('of many at once, by two processes, one message comes', async () => {
  const both = [alertFor(['U0ANA']), alertFor(['U0ANA'])];
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      nowMs += 1;
      return both[index % 2]?.('T0ACME', 'acme');
    }),
  );
  expect(await messages()).toHaveLength(1);
});

test('ten admins are notified and no more', async () => {
  const many = Array.from({ length: 30 }, (_, index) => `U0${index}`);
  expect(await alertFor(many)('T0ACME', 'acme')).toBe(true);
  expect(await messages()).toHaveLength(10);
});

test('without an admin nobody is notified, and the answer says so', async () => {
  expect(await alertFor([])('T0ACME', 'acme')).toBe(false);
  expect(await messages()).toEqual([]);
});

describe('who the admins are', () => {
  test('is asked once an hour, however many runs and processes find out', async () => {
    const asked = vi.fn();
    const both = [alertFor(['U0ANA'], { asked }), alertFor(['U0ANA'], { asked })];
    for (let time = 0; time < 30; time += 1) expect(await both[time % 2]?.('T0ACME', 'acme')).toBe(true);
    expect(asked).toHaveBeenCalledTimes(1);
    const livesMs = await redis.client.pttl(keys.alertPeople('key:T0ACME:acme'));
    expect(livesMs).toBeGreaterThan(retention.adminAlertMs - 60_000);
  });

  test('is asked once by runs that find out at the same moment', async () => {
    const asked = vi.fn();
    const alert = alertFor(['U0ANA'], { asked });
    const told = await Promise.all(Array.from({ length: 30 }, () => alert('T0ACME', 'acme')));
    expect(told).toEqual(told.map(() => true));
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test('is asked again soon where Slack did not tell all of it, and those who were notified are not notified again', async () => {
    await alertFor(['U0ANA'], { complete: false })('T0ACME', 'acme');
    expect(await redis.client.pttl(keys.alertPeople('key:T0ACME:acme'))).toBeLessThanOrEqual(60_000);
    await redis.client.del(keys.alertPeople('key:T0ACME:acme'));
    nowMs += 60_000;
    await alertFor(['U0ANA', 'U0BEN'])('T0ACME', 'acme');
    expect((await messages()).map(({ place }) => place)).toEqual([{ user: 'U0ANA' }, { user: 'U0BEN' }]);
  });

  test('is asked again after Slack did not answer at all', async () => {
    let answers = false;
    const alert = alertFor(['U0ANA'], {
      asked() {
        if (!answers) throw new Error('Slack is away');
      },
    });
    await expect(alert('T0ACME', 'acme')).rejects.toThrow('away');
    answers = true;
    expect(await alert('T0ACME', 'acme')).toBe(true);
  });
});
