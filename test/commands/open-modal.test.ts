import { expect, test } from 'vitest';
import { createModalOpener } from '../../src/commands/open-modal.ts';
import { modalOrigin } from '../../src/commands/registry.ts';
import { UserFacingError } from '../../src/commands/user-facing-error.ts';
import { message } from '../../src/slack/blocks.ts';
import { SlackApiError } from '../../src/slack/errors.ts';
import { noticeView } from '../../src/slack/modals.ts';
import { createResponseUrlStore } from '../../src/store/response-urls.ts';
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
    responseUrls: createResponseUrlStore(redis.client),
    timeoutMs: 1200,
    monotonicMs: () => 500,
    log,
    ...changes,
  });
  return { open, opened, log: text };
}

test('opens it for the click or command, in time, and keeps where its answer belongs', async () => {
  const { open, opened } = openerWith();
  await open(aCaller({ requestId: 'r', triggerId: 't' }), view);
  expect(opened).toEqual([['t', view, 1200]]);
  expect(await createResponseUrlStore(redis.client).find('r')).toBe('https://hooks.example/1');
});

test('a form remembers where it was opened, and by which request', async () => {
  const { open, opened } = openerWith();
  const form = { ...view, submit: { type: 'plain_text' as const, text: 'Go' } };
  await open(aCaller({ requestId: 'r' }), form);
  const origin = { channel: { id: 'C0DOCS', name: 'docs' }, request: 'r' };
  expect(opened.map(([, sent]) => sent)).toEqual([{ ...form, private_metadata: JSON.stringify(origin) }]);
  expect(modalOrigin.parse(origin)).toEqual(origin);
});

test('a form remembers what it is about', async () => {
  const { open, opened } = openerWith();
  const form = { ...view, submit: { type: 'plain_text' as const, text: 'Go' } };
  await open(aCaller(), form, 'r1');
  const [[, sent] = []] = opened as [unknown, { private_metadata: string }][];
  expect(modalOrigin.parse(JSON.parse(sent?.private_metadata ?? ''))).toMatchObject({ about: 'r1' });
});

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

test('takes the place of the modal in which it was asked for', async () => {
  const { open, opened } = openerWith();
  await open(aCaller({ modalId: 'V1', responseUrl: undefined }), view);
  expect(opened).toEqual([['update', 'V1', view, 1200]]);
});

test('keeps nothing where there is no address', async () => {
  const { open, opened } = openerWith();
  await open(aCaller({ responseUrl: undefined }), view);
  expect(opened).toHaveLength(1);
  expect(await redis.client.keys('*')).toEqual([]);
});

test.each([
  ['breaks', { put: () => Promise.reject(new Error('away')) }],
  ['does not answer', { put: () => new Promise<never>(() => {}) }],
])('opens it all the same while the store of addresses %s', async (_, broken) => {
  const responseUrls = { ...createResponseUrlStore(redis.client), ...broken };
  const { open, opened, log } = openerWith({ responseUrls });
  await open(aCaller(), view);
  expect(opened).toHaveLength(1);
  expect(log()).toContain('its response URL was not kept');
  expect(log()).not.toContain('hooks.example');
});

test('that Slack does not open is reported, with what to do instead', async () => {
  const openDialog = () => Promise.reject(new SlackApiError('missing', 'views.open', 'expired_trigger_id'));
  const { open, log } = openerWith({ slack: { openModal: openDialog, updateModal: openDialog } });
  const error = await open(aCaller(), view).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UserFacingError);
  expect((error as UserFacingError).reply.text).toBe(notOpened);
  expect(log()).toContain('a modal was not opened');
});
