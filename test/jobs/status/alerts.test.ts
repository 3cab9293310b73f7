import { expect, test } from 'vitest';
import { createAlerts } from '../../../src/jobs/status/alerts.ts';
import { createStores } from '../../../src/store/stores.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aProject } from '../../support/commands/builders.ts';
import { redisForTests } from '../../support/redis.ts';
import { anOutbox } from '../../support/slack/world.ts';

const redis = redisForTests();

test('of a key that two workspaces share, the admins of each are reminded once, also if their ids are the same', async () => {
  const outbox = anOutbox(redis.client);
  const expires = new Date(NOW_MS + 86_400_000).toISOString().slice(0, 10);
  const reminded: string[] = [];
  const alertsOf = () =>
    createAlerts({
      tokens: new Map(),
      ...{ admin: ['U0ANA'], now: () => NOW_MS, log: { warn() {} }, groupMembers: async () => [] },
      projects: [aProject({ name: 'acme', apiKeyExpires: expires })],
      stores: createStores(redis.client),
      outbox: {
        ...outbox,
        async publish(teamId, message, ...more) {
          reminded.push(`${teamId} ${message.key}`);
          return outbox.publish(teamId, message, ...more);
        },
      },
    });
  for (const team of ['T0ACME', 'T0GLOBEX', 'T0ACME']) await alertsOf().remindOfExpiry(team);
  expect(new Set(reminded.map((one) => one.split(' ')[1])).size).toBe(2);
  expect(reminded).toHaveLength(2);
});

/** Each of a thousand waiting exports alerts at each failed poll. */
test.each<[string, string[], () => Promise<string[] | undefined>]>([
  ['without admins', [], async () => []],
  ['with an empty group', ['S0DOCS'], async () => undefined],
  ['while Slack does not name them', ['S0DOCS'], () => Promise.reject(new Error('away'))],
])('%s, nothing that waits is counted, and Slack is asked once', async (_, admin, group) => {
  const asked: string[] = [];
  const stores = createStores(redis.client);
  const { alertAdmins } = createAlerts({
    tokens: new Map(),
    ...{ admin, outbox: anOutbox(redis.client), now: () => NOW_MS, log: { warn() {} } },
    projects: [aProject({ name: 'acme' })],
    groupMembers(id) {
      asked.push(id);
      return group();
    },
    stores: {
      ...stores,
      runs: {
        ...stores.runs,
        async activeOf(_schema, job) {
          asked.push(job);
          return [];
        },
      },
    },
  });
  for (let poll = 0; poll < 3; poll += 1) expect(await alertAdmins('T0ACME', 'acme')).toBe(false);
  expect(asked).toEqual(admin);
});
