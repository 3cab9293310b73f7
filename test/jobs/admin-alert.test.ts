import { expect, test } from 'vitest';
import { createKeyAlert, findAdmins } from '../../src/jobs/alerts/admin-alert.ts';
import { createStores } from '../../src/store/stores.ts';
import { NOW_MS } from '../support/builders.ts';
import { redisForTests } from '../support/redis.ts';
import { anOutbox } from '../support/slack/world.ts';

const redis = redisForTests();
const quiet = { warn() {} };

/** Each of a thousand waiting exports alerts at each failed poll. */
test.each<[string, string[], () => Promise<string[] | undefined>, number]>([
  ['without admins', [], async () => [], 1],
  ['with an empty group', ['S0DOCS'], async () => undefined, 1],
  ['while Slack does not name them', ['S0DOCS'], () => Promise.reject(new Error('away')), 3],
])(
  '%s, nothing that waits is counted, and Slack is asked no more than needed',
  async (_, list, group, most) => {
    const { alerts, rejectedKeys } = createStores(redis.client);
    let lookUps = 0;
    let counts = 0;
    const alertAdmins = createKeyAlert({
      ...{ alerts, rejectedKeys, outbox: anOutbox(redis.client), now: () => NOW_MS },
      projects: [{ name: 'acme', apiKey: 'k', apiKeyVariable: 'DOCS_API_KEY' }],
      admins() {
        lookUps += 1;
        return findAdmins(list, group, quiet);
      },
      async waits() {
        counts += 1;
        return '';
      },
    });
    for (let poll = 0; poll < 3; poll += 1) expect(await alertAdmins('T0ACME', 'acme')).toBe(false);
    expect({ lookUps, counts }).toEqual({ lookUps: most, counts: 0 });
  },
);
