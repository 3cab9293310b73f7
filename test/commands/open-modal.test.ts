import { expect, test } from 'vitest';
import type { UserFacingError } from '../../src/commands/intake.ts';
import { createModalOpener } from '../../src/commands/open-modal.ts';
import { message } from '../../src/slack/blocks.ts';
import { noticeView } from '../../src/slack/modals.ts';
import { createValueStores } from '../../src/store/values.ts';
import { aCaller } from '../support/commands/builders.ts';
import { redisForTests } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';

const notOpened =
  "Slack didn't open the form. Try again in a moment, or type the whole command. Add help to see how.";
const view = noticeView('Test', message([['Done']]));

const redis = redisForTests();

type Parts = Parameters<typeof createModalOpener>[0];

function openerWith(changes: Partial<Parts> = {}) {
  const opened: unknown[][] = [];
  const { log, text } = keptLog();
  const open = createModalOpener({
    slack: {
      openModal: async (...what) => void opened.push(what),
      updateModal: async (...what) => void opened.push(['update', ...what]),
    },
    responseUrls: createValueStores(redis.client).responseUrls,
    timeoutMs: 1200,
    monotonicMs: () => 500,
    log,
    ...changes,
  });
  return { open, opened, log: text };
}

test('takes less time for a request that was received long ago, so that the answer is not late', async () => {
  const { open, opened } = openerWith({ monotonicMs: () => 3000 });
  await open(aCaller({ receivedAtMs: 1000 }), view);
  expect(opened).toEqual([['1.2.a', view, 300]]);
});

test('is not even tried for a request that has taken too long already, and says so', async () => {
  const { open, opened } = openerWith({ monotonicMs: () => 3300 });
  const error = await open(aCaller({ receivedAtMs: 1000 }), view).catch((thrown: unknown) => thrown);
  expect((error as UserFacingError).reply.text).toBe(notOpened);
  expect(opened).toEqual([]);
});

test.each([
  ['breaks', { put: () => Promise.reject(new Error('away')) }],
  ['does not answer', { put: () => new Promise<never>(() => {}) }],
])('opens it all the same while the store of addresses %s', async (_, broken) => {
  const responseUrls = { ...createValueStores(redis.client).responseUrls, ...broken };
  const { open, opened, log } = openerWith({ responseUrls });
  await open(aCaller(), view);
  expect(opened).toHaveLength(1);
  expect(log()).toContain('its response URL was not kept');
  expect(log()).not.toContain('hooks.example');
});
