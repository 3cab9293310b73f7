import { expect, test } from 'vitest';
import { createAdminAlert } from '../../../src/jobs/alerts/admin-alert.ts';
import { message } from '../../../src/slack/blocks.ts';
import { createAlertStore } from '../../../src/store/alerts.ts';
import { NOW_MS } from '../../support/builders.ts';
import { redisForTests } from '../../support/redis.ts';
import { anOutbox } from '../../support/slack/world.ts';
import { dueIds } from '../../support/store/world.ts';

const redis = redisForTests();

test.each([
  ['that comes once for all is not repeated after its hour', true, ['digest-1.U0ANA']],
  ['comes again after its hour', undefined, [`digest-1.${NOW_MS}.U0ANA`, `digest-1.${NOW_MS + 1}.U0ANA`]],
])('an alert %s', async (_, once, keys) => {
  let nowMs = NOW_MS;
  const alert = createAdminAlert({
    admins: async () => ({ ids: ['U0ANA'], complete: true }),
    alerts: createAlertStore(redis.client),
    outbox: anOutbox(redis.client, { now: () => nowMs }),
    now: () => nowMs,
  });
  const wanted = { name: 'digest', messageKeyPrefix: 'digest-1', message: message([['Paused']]) };
  for (let time = 0; time < 2; time += 1) {
    await alert('T0ACME', { ...wanted, ...(once && { once }) });
    // Redis forgets alerts by its own clock.
    for (const key of await redis.client.keys('{docket}:alert*')) await redis.client.del(key);
    nowMs += 1;
  }
  expect((await dueIds(redis, 'messages')).toSorted()).toEqual(keys);
});
