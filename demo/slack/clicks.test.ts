import { expect, test } from 'vitest';
import { requestSetting } from '../test-support/requests.ts';

test('what people cannot do is refused', async () => {
  const { slack, bot, card } = await requestSetting();
  const [ana, sue] = [slack.person('ana'), slack.person('sue')];
  expect(await ana.types('#docs', '/docs-nonsense')).toMatchObject({ ok: false, failed: 'unknown_command' });
  await expect(ana.types('#docs', 'hello')).rejects.toThrow('no slash command');
  await expect(ana.types('#archive', '/docs-export')).rejects.toThrow('archived');
  await expect(sue.types('#private', '/docs-export')).rejects.toThrow('not in #private');
  await expect(ana.clicks(await card(), 'Retry')).rejects.toThrow(
    'No button [Retry] here; there is [Refresh]',
  );
  await expect(sue.clicks(await card('#private'), 'Refresh')).rejects.toThrow('does not see');
  expect(bot.received).toEqual([]);
});

test('an answer to a click in a thread lands in the channel, unless it is public and names the thread', async () => {
  const { slack, bot, web, ana, card, respond } = await requestSetting();
  const root = await card();
  const { blocks } = root;
  await web.apiCall('chat.postMessage', { channel: root.channel, text: 'x', blocks, thread_ts: root.ts });
  const [, reply] = slack.messages;
  if (!reply) throw new Error('no reply');
  await ana.clicks(reply, 'Refresh');
  const payload = bot.received[0]?.json ?? {};
  expect(payload.container).toMatchObject({ thread_ts: root.ts, message_ts: reply.ts });
  const answer = { text: 'y', replace_original: false, thread_ts: root.ts };
  await respond(payload.response_url, answer);
  await respond(payload.response_url, { ...answer, response_type: 'in_channel' });
  expect(slack.ephemerals[0]).not.toHaveProperty('threadTs');
  expect(slack.messages[2]).toMatchObject({ text: 'y', threadTs: root.ts });
});

test('an unacknowledged click is a violation', async () => {
  const { slack, ana, card } = await requestSetting(() => ({ status: 404 }));
  expect(await ana.clicks(await card(), 'Refresh')).toMatchObject({ ok: false, failed: 'dispatch_failed' });
  expect(slack.violations).toEqual(['block_actions [Refresh]: answered 404']);
});

test('a click on what an edit has just redrawn counts, if only one button can be meant', async () => {
  const { web, bot, ana, card } = await requestSetting();
  const message = await card();
  const block = message.blocks.find(({ type }) => type === 'actions');
  const [button] = (block?.elements ?? []) as { action_id: string }[];
  const seen = { blockId: block?.block_id ?? '', actionId: button?.action_id ?? '' };
  const edit = (blocks: unknown[]) =>
    web.apiCall('chat.update', { channel: message.channel, ts: message.ts, text: 'x', blocks });
  const redrawn = { type: 'actions', elements: block?.elements };
  await edit([redrawn]);
  expect(message.blocks[0]?.block_id).not.toBe(seen.blockId);
  expect(await ana.uses(message, seen)).toMatchObject({ ok: true });
  await edit([redrawn, redrawn]);
  await expect(ana.uses(message, seen)).rejects.toThrow('This button or menu is gone');
  expect(bot.received).toHaveLength(1);
});
