import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Received, type Reply, widerManifest } from '../test-support/bot.ts';
import { requestSetting } from '../test-support/requests.ts';

test('a command arrives as Slack sends it, signed', async () => {
  const { slack, bot, ana, clock } = await requestSetting();
  expect(await ana.types('#docs', '/docs-export docs.acme.com --private')).toMatchObject({
    ok: true,
    status: 200,
  });
  const [{ headers, body, form } = {} as Received] = bot.received;
  expect(form).toEqual({
    token: expect.any(String),
    team_id: 'T0ACME',
    team_domain: 'acme',
    channel_id: slack.channel('#docs').id,
    channel_name: 'docs',
    user_id: 'U0ANA',
    user_name: 'ana',
    command: '/docs-export',
    text: 'docs.acme.com --private',
    api_app_id: 'A0DOCKET',
    is_enterprise_install: 'false',
    response_url: expect.stringContaining('/response/'),
    trigger_id: expect.any(String),
  });
  const timestamp = String(clock.ms / 1000);
  const hash = createHmac('sha256', slack.tokens.signingSecret)
    .update(`v0:${timestamp}:${body}`)
    .digest('hex');
  expect(headers).toMatchObject({
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${hash}`,
  });
});

test.each([
  ['@ana', 'directmessage'],
  ['ana+ben', 'directmessage'],
  ['#private', 'privategroup'],
  ['#elsewhere', 'elsewhere'],
  ['ana+ben+docket', 'mpdm-ana--ben--docket-1'],
])('in %s the channel is called %s', async (where, name) => {
  const { bot, ana } = await requestSetting();
  await ana.types(where, '/docs-export');
  expect(bot.received[0]?.form.channel_name).toBe(name);
});

test('text comes as it was typed, or with references where the manifest asks for them', async () => {
  const commands = [{ command: '/tell', description: '', usageHint: '', shouldEscape: true }];
  const { bot, ana } = await requestSetting(undefined, { manifest: widerManifest({ commands }) });
  await ana.types('#docs', '/docs-export @ben <b>');
  await ana.types('#docs', '/tell @ben <b>');
  expect(bot.received.map(({ form }) => form.text)).toEqual(['@ben <b>', '<@U0BEN> &lt;b&gt;']);
});

test.each<[string, Reply, object]>([
  ['nothing', {}, {}],
  ['text', { body: 'Started' }, { ephemeral: { text: 'Started', via: 'ack', to: 'U0ANA' } }],
  [
    'JSON',
    { body: { text: 'Hi', blocks: [{ type: 'divider' }] } },
    { ephemeral: { blocks: [{ type: 'divider' }] } },
  ],
  ['in_channel', { body: { text: 'Hi all', response_type: 'in_channel' } }, { message: { text: 'Hi all' } }],
])('acknowledged with %s', async (_, reply, shown) => {
  const { slack, ana } = await requestSetting(() => reply);
  expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: true, ...shown });
  expect(slack.violations).toEqual([]);
});

test.each<[string, Reply, string, string]>([
  ['late', 'never', 'operation_timeout', '/docs-export: no answer within 30 ms'],
  ['404', { status: 404 }, 'dispatch_failed', '/docs-export: answered 404'],
  ['500', { status: 500 }, 'dispatch_failed', '/docs-export: answered 500'],
  [
    'bad blocks',
    { body: { blocks: [{ type: 'x' }] } },
    'dispatch_failed',
    '/docs-export: acknowledged with invalid_blocks',
  ],
])('a failed acknowledgement: %s', async (_, reply, failed, violation) => {
  const { slack, ana } = await requestSetting(() => reply, { answerWithinMs: reply === 'never' ? 30 : 3000 });
  expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: false, failed });
  expect(slack.violations).toEqual([violation]);
  expect(ana.sees('#docs')).toEqual([]);
});

test('a bot that is down fails for the person, and breaks no rule', async () => {
  const { slack, bot, ana } = await requestSetting();
  await bot.close();
  expect(await ana.types('#docs', '/docs-export')).toMatchObject({ status: 0, failed: 'dispatch_failed' });
  expect(slack.violations).toEqual([]);
});

test('a response_url works five times within half an hour, and takes no markdown_text', async () => {
  const { clock, slack, bot, ana, respond } = await requestSetting();
  await ana.types('#elsewhere', '/docs-export');
  const url = bot.received[0]?.form.response_url;
  expect(await respond(url, { markdown_text: '# Hi' })).toBe('400 {"ok":false,"error":"no_text"}');
  expect(await respond(url, { text: 'all', response_type: 'in_channel' })).toBe('200 {"ok":true}');
  for (const text of ['3', '4', '5']) expect(await respond(url, { text })).toBe('200 {"ok":true}');
  expect(await respond(url, { text: '6' })).toBe('404 {"ok":false,"error":"used_url"}');
  expect(ana.sees('#elsewhere')).toEqual(['all', '3', '4', '5']);
  expect(slack.person('ben').sees('#elsewhere')).toEqual(['all']);

  await ana.types('#docs', '/docs-export');
  const later = bot.received[1]?.form.response_url;
  clock.ms += 30 * 60_000 + 1;
  expect(await respond(later, { text: 'late' })).toBe('404 {"ok":false,"error":"expired_url"}');
  expect(slack.violations).toEqual([
    'response_url: no_text',
    'response_url: used_url',
    'response_url: expired_url',
  ]);
  expect(slack.wire.calls.filter(({ name }) => name === 'response_url')).toHaveLength(7);
});

test('the very same request can come again', async () => {
  const { slack, bot, ana, clock } = await requestSetting();
  await ana.types('#docs', '/docs-export');
  clock.ms += 5000;
  expect(await slack.resend()).toMatchObject({ ok: true });
  const [first, second] = bot.received;
  expect(second).toMatchObject({ body: first?.body });
  expect(second?.headers['x-slack-signature']).toBe(first?.headers['x-slack-signature']);
});

test('an event that comes meanwhile is not the request that somebody made', async () => {
  const { slack, ana } = await requestSetting();
  await ana.types('#docs', '/docs-export');
  const { request } = await slack.sendEvent({ type: 'app_uninstalled' });
  expect(request?.what).toBe('event app_uninstalled');
  expect(slack.lastRequest?.what).toBe('/docs-export');
});

test('a chosen trigger id makes a new request look like a repeat', async () => {
  const { bot, ana } = await requestSetting();
  await ana.types('#docs', '/docs-export', { triggerId: '1.2.same' });
  await ana.types('#docs', '/docs-export', { triggerId: '1.2.same' });
  expect(bot.received.map(({ form }) => form.trigger_id)).toEqual(['1.2.same', '1.2.same']);
});

test('raw requests carry whatever signature and time they are given', async () => {
  const { slack, bot, clock } = await requestSetting(() => ({ status: 401 }));
  await slack.sendRaw({ body: 'a=1', secret: 'wrong' });
  await slack.sendRaw({ body: 'a=1', timestampSec: clock.ms / 1000 + 3600 });
  expect(await slack.sendRaw({ body: 'a=1', headers: { 'x-slack-signature': 'v0=00' } })).toMatchObject({
    status: 401,
  });
  expect(bot.received[1]?.headers['x-slack-request-timestamp']).toBe(String(clock.ms / 1000 + 3600));
  expect(bot.received[2]?.headers['x-slack-signature']).toBe('v0=00');
  expect(slack.violations).toEqual([]);
});

test('message shortcuts carry the message', async () => {
  const shortcuts = [
    { name: 'Follow', type: 'message' as const, callbackId: 'follow' },
    { name: 'Start', type: 'global' as const, callbackId: 'start' },
  ];
  const { bot, card, ana } = await requestSetting(undefined, {
    manifest: widerManifest({ shortcuts, events: [] }),
  });
  const sent = await card();
  await ana.usesShortcut('Follow', sent);
  await ana.usesShortcut('Start');
  await expect(ana.usesShortcut('Start', sent)).rejects.toThrow('no message shortcut Start');
  expect(bot.received[0]?.json).toMatchObject({
    type: 'message_action',
    callback_id: 'follow',
    message_ts: sent.ts,
    message: { text: 'Running' },
    channel: { id: sent.channel },
    response_url: expect.any(String),
  });
  expect(bot.received[1]?.json).toMatchObject({ type: 'shortcut', callback_id: 'start' });
});

test('until waits for a change, and tells what there was when none comes', async () => {
  const { slack, card } = await requestSetting();
  const waiting = slack.until(() => slack.messages.find(({ text }) => text === 'Running'));
  const sent = await card();
  expect(await waiting).toBe(sent);
  await expect(slack.until(() => false, 1, 'a unicorn')).rejects.toThrow(
    /a unicorn did not come[\s\S]*#docs .* docket:\s+Running\s+\[Refresh\]/,
  );
});
