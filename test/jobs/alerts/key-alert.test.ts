import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { createKeyAlert, findRejectedKeys } from '../../../src/jobs/alerts/key-alert.ts';
import { retention } from '../../../src/runtime/timing.ts';
import { createAlertStore } from '../../../src/store/alerts.ts';
import { keys } from '../../../src/store/keys.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import { createRejectedKeyStore } from '../../../src/store/rejected-keys.ts';
import { aProject } from '../../support/commands/builders.ts';
import { redisForTests } from '../../support/redis.ts';
import { anOutbox } from '../../support/slack/world.ts';
import { dueIds } from '../../support/store/world.ts';

const NOW_MS = Date.UTC(2026, 8, 20, 14);

const redis = redisForTests();
let nowMs: number;
beforeEach(() => {
  nowMs = NOW_MS;
});

const projects = [
  aProject({ name: 'acme', apiKey: 'adm_acme', apiKeyVariable: 'ACME_DOCS_API_KEY' }),
  aProject({ name: 'beta', apiKey: 'adm_other', apiKeyVariable: 'DOCS_API_KEY' }),
  aProject({ name: 'gamma', apiKey: 'adm_other', apiKeyVariable: 'DOCS_API_KEY' }),
];

interface AlertOptions {
  complete?: boolean;
  asked?: () => void;
  waits?: (teamId: string, projects: readonly string[]) => Promise<string>;
  among?: typeof projects;
}

const said = (text = '') => text.replace(/<!date\^(\d+)\^[^>]*>/g, 'SINCE $1').split('\n');

/** As one process has it: nothing is shared but Redis. `asked` is called whenever Slack is asked who the admins are. */
function alertFor(
  ids: readonly string[],
  { complete = true, asked = () => {}, waits = async () => '', among = projects }: AlertOptions = {},
) {
  return createKeyAlert({
    projects: among,
    rejectedKeys: createRejectedKeyStore(redis.client),
    waits,
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

test('each admin gets a direct message that names the setting, since when, what waits, and the fix', async () => {
  const waits = async (_: string, names: readonly string[]) => `3 exports of ${names} wait`;
  const among = projects.slice(0, 1);
  expect(await alertFor(['U0ANA', 'U0BEN'], { waits, among })('T0ACME', 'acme')).toBe(true);
  const told = await messages();
  expect(told.map(({ place }) => place)).toEqual(
    expect.arrayContaining([{ user: 'U0ANA' }, { user: 'U0BEN' }]),
  );
  expect(told).toHaveLength(2);
  expect(said(told[0]?.text)).toEqual([
    `ACME_DOCS_API_KEY has been rejected since SINCE ${NOW_MS / 1000}; 3 exports of acme wait.`,
    'Set a new one and restart me; waiting work then resumes by itself.',
  ]);
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
  await redis.client.del(
    keys.alert('key:T0ACME:ACME_DOCS_API_KEY'),
    keys.alertPeople('key:T0ACME:ACME_DOCS_API_KEY'),
  );
  nowMs += retention.adminAlertMs;
  await alert('T0ACME', 'acme');
  await alert('T0ACME', 'acme');
  expect(await messages()).toHaveLength(2);
});

test('each key has an hour of its own, whichever of its projects find out', async () => {
  const alert = alertFor(['U0ANA']);
  for (const project of ['acme', 'beta', 'gamma']) await alert('T0ACME', project);
  expect((await messages()).map(({ text }) => said(text)[0]).sort()).toEqual([
    `ACME_DOCS_API_KEY (acme) has been rejected since SINCE ${NOW_MS / 1000}.`,
    `DOCS_API_KEY (beta, gamma) has been rejected since SINCE ${NOW_MS / 1000}.`,
  ]);
});

test('what it says of what waits stays the same for its hour, and since when for as long as it lasts', async () => {
  let count = 0;
  const waits = async () => {
    count += 1;
    return `${count} exports wait`;
  };
  await alertFor(['U0ANA'], { waits })('T0ACME', 'acme');
  nowMs += 60_000;
  await alertFor(['U0ANA'], { waits })('T0ACME', 'acme');
  expect((await messages()).map(({ text }) => said(text)[0])).toEqual([
    `ACME_DOCS_API_KEY (acme) has been rejected since SINCE ${NOW_MS / 1000}; 1 exports wait.`,
  ]);
  for (const key of await redis.client.keys('{docket}:alert*')) await redis.client.del(key);
  nowMs += retention.adminAlertMs;
  await alertFor(['U0ANA'], { waits })('T0ACME', 'acme');
  expect((await messages()).map(({ text }) => said(text)[0])).toContain(
    `ACME_DOCS_API_KEY (acme) has been rejected since SINCE ${NOW_MS / 1000}; 2 exports wait.`,
  );
});

test('where it cannot be counted what waits, the alert comes all the same', async () => {
  const waits = () => Promise.reject(new Error('unreadable'));
  expect(await alertFor(['U0ANA'], { waits })('T0ACME', 'acme')).toBe(true);
  expect(await messages()).toHaveLength(1);
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
    const livesMs = await redis.client.pttl(keys.alertPeople('key:T0ACME:ACME_DOCS_API_KEY'));
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
    expect(await redis.client.pttl(keys.alertPeople('key:T0ACME:ACME_DOCS_API_KEY'))).toBeLessThanOrEqual(
      60_000,
    );
    await redis.client.del(keys.alertPeople('key:T0ACME:ACME_DOCS_API_KEY'));
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

test('the keys that are rejected are found by their settings, with what waits in their projects', async () => {
  const store = createRejectedKeyStore(redis.client);
  const waits = async (names: readonly string[]) => (names.length === 2 ? '1 export waits' : '');
  const find = (among = projects) => findRejectedKeys(among, store.since, waits);
  expect(await find()).toEqual([]);
  await alertFor([])('T0ACME', 'gamma');
  const key = { variable: 'DOCS_API_KEY', isFile: false, sinceMs: NOW_MS, waiting: '1 export waits' };
  expect(await find()).toEqual([{ ...key, names: ['beta', 'gamma'] }]);
  // With one key alone, nobody needs to know of which projects it is.
  expect(await find(projects.slice(1))).toEqual([{ ...key, names: [] }]);
  const fails = () => Promise.reject(new Error('unreadable'));
  expect(await findRejectedKeys(projects, store.since, fails)).toMatchObject([{ waiting: '' }]);
  // That a key is rejected is said in time, also while counting takes long.
  const hangs = () => new Promise<never>(() => {});
  expect(await findRejectedKeys(projects, store.since, hangs)).toMatchObject([{ waiting: '' }]);
});
