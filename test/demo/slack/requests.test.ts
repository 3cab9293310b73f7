import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createStandInSlack, type StandInSlackOptions } from '../../../demo/slack/slack.ts';
import {
  clientOf,
  type Received,
  type Reply,
  startTinyBot,
  widerManifest,
} from '../../support/demo/slack/bot.ts';

async function setting(
  reply?: (received: Received) => Reply | Promise<Reply>,
  options: StandInSlackOptions = {},
) {
  const clock = { ms: Date.UTC(2026, 8, 14, 9) };
  // Events would come between the requests that these tests are about.
  const manifest = widerManifest({ events: [] });
  const slack = createStandInSlack({ now: () => clock.ms, manifest, ...options });
  const bot = await startTinyBot(reply);
  slack.botUrl = bot.url;
  const web = clientOf(slack);
  const refresh = {
    type: 'button' as const,
    action_id: 'refresh',
    text: { type: 'plain_text' as const, text: 'Refresh' },
  };
  const card = async (where = '#docs') => {
    await web.chat.postMessage({
      channel: slack.channel(where).id,
      text: 'Running',
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: '*Running*' } },
        { type: 'actions', block_id: 'buttons', elements: [{ ...refresh, value: 'v' }] },
      ],
    });
    const sent = slack.messages.at(-1);
    if (!sent) throw new Error('nothing was sent');
    return sent;
  };
  const respond = async (url: unknown, body: unknown) => {
    const answer = await slack.fetch(String(url), { method: 'POST', body: JSON.stringify(body) });
    return `${answer.status} ${JSON.stringify(await answer.json())}`;
  };
  return { clock, slack, bot, web, card, respond, ana: slack.person('ana') };
}

test('a command arrives as Slack sends it, signed', async () => {
  const { slack, bot, ana, clock } = await setting();
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
  const { bot, ana } = await setting();
  await ana.types(where, '/docs-export');
  expect(bot.received[0]?.form.channel_name).toBe(name);
});

test('text comes as it was typed, or with references where the manifest asks for them', async () => {
  const commands = [{ command: '/tell', description: '', usageHint: '', shouldEscape: true }];
  const { bot, ana } = await setting(undefined, { manifest: widerManifest({ commands }) });
  await ana.types('#docs', '/docs-export @ben <b>');
  await ana.types('#docs', '/tell @ben <b>');
  expect(bot.received.map(({ form }) => form.text)).toEqual(['@ben <b>', '<@U0BEN> &lt;b&gt;']);
});

test('what people cannot do is refused', async () => {
  const { slack, bot, card } = await setting();
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

test('an entry of a menu is clicked like a button, and read with the dots that it is behind', async () => {
  const { slack, bot, web, ana } = await setting();
  const option = { text: { type: 'plain_text' as const, text: 'New link' }, value: 'export.new_link' };
  await web.chat.postMessage({
    channel: slack.channel('#docs').id,
    text: 'Exported',
    blocks: [
      {
        type: 'actions',
        block_id: 'about',
        elements: [{ type: 'overflow', action_id: 'menu', options: [option] }],
      },
    ],
  });
  const [message] = slack.messages.slice(-1);
  if (message === undefined) throw new Error('nothing was sent');
  expect(slack.read(message)).toContain('[⋯ New link]');
  await ana.clicks(message, 'New link');
  expect(JSON.parse(bot.received[0]?.form.payload ?? '')).toMatchObject({
    actions: [{ type: 'overflow', action_id: 'menu', block_id: 'about', selected_option: option }],
  });
});

test('a click finds what a person sees, and nothing where several look the same', async () => {
  const { slack, bot, web, ana } = await setting();
  const plain = (text: string) => ({ type: 'plain_text' as const, text });
  const button = (value: string, text = 'Open') => ({
    type: 'button' as const,
    action_id: value,
    text: plain(text),
    value,
  });
  const menu = (value: string, ...texts: string[]) => ({
    type: 'overflow' as const,
    action_id: value,
    options: texts.map((text) => ({ text: plain(text), value: `${value} ${text}` })),
  });
  const says = (text: string) => ({ type: 'section' as const, text: { type: 'mrkdwn' as const, text } });
  const row = (...elements: (ReturnType<typeof button> | ReturnType<typeof menu>)[]) => ({
    type: 'actions' as const,
    elements,
  });
  await web.chat.postMessage({
    channel: slack.channel('#docs').id,
    text: 'x',
    blocks: [
      says('of <@U0ANA>'),
      row(button('first')),
      says('of <@U0BEN>'),
      row(button('second'), menu('menu', 'Leave')),
      says('of both'),
      row(button('third'), menu('other', 'Open', 'Leave')),
      { ...says('beside it'), accessory: button('fourth', 'Go') },
      says('said twice'),
      says('said twice'),
    ],
  });
  const [message] = slack.messages.slice(-1);
  if (message === undefined) throw new Error('nothing was sent');
  const clicked = async (text: string, below?: string) => {
    await ana.clicks(message, text, below === undefined ? {} : { below });
    const { actions } = JSON.parse(bot.received.at(-1)?.form.payload ?? '');
    return actions[0].value ?? actions[0].selected_option.value;
  };
  await expect(clicked('Open')).rejects.toThrow('4 times [Open]');
  expect(await clicked('Open', 'of @ana')).toBe('first');
  expect(await clicked('Open', 'of @ben')).toBe('second');
  await expect(clicked('Open', 'of both')).rejects.toThrow('2 times [Open]');
  await expect(clicked('Leave')).rejects.toThrow('2 times [Leave]');
  expect(await clicked('Leave', 'of @ben')).toBe('menu Leave');
  expect(await clicked('Leave', 'of both')).toBe('other Leave');
  expect(await clicked('Go')).toBe('fourth');
  expect(await clicked('Go', 'beside it')).toBe('fourth');
  await expect(clicked('Go', 'said twice')).rejects.toThrow('2 blocks here say "said twice"');
  await expect(clicked('Go', 'U0ANA')).rejects.toThrow('Nothing here says "U0ANA"');
  expect(() => ana.asked(message, 'Open')).toThrow('4 times [Open]');
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
  const { slack, ana } = await setting(() => reply);
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
  const { slack, ana } = await setting(() => reply, { answerWithinMs: reply === 'never' ? 30 : 3000 });
  expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: false, failed });
  expect(slack.violations).toEqual([violation]);
  expect(ana.sees('#docs')).toEqual([]);
});

test('a bot that is down fails for the person, and breaks no rule', async () => {
  const { slack, bot, ana } = await setting();
  await bot.close();
  expect(await ana.types('#docs', '/docs-export')).toMatchObject({ status: 0, failed: 'dispatch_failed' });
  expect(slack.violations).toEqual([]);
});

test('a click arrives with the message, and its answer can replace the message', async () => {
  const { slack, bot, ana, card, respond } = await setting();
  const sent = await card();
  expect(await ana.clicks(sent, 'Refresh')).toMatchObject({ ok: true });
  const payload = bot.received[0]?.json ?? {};
  expect(payload).toMatchObject({
    type: 'block_actions',
    user: { id: 'U0ANA', username: 'ana', team_id: 'T0ACME' },
    team: { id: 'T0ACME', domain: 'acme' },
    api_app_id: 'A0DOCKET',
    container: { type: 'message', message_ts: sent.ts, channel_id: sent.channel, is_ephemeral: false },
    channel: { id: sent.channel, name: 'docs' },
    message: { ts: sent.ts, text: 'Running', bot_id: 'B0DOCKET' },
    state: { values: {} },
    actions: [
      { action_id: 'refresh', block_id: 'buttons', type: 'button', value: 'v', text: { text: 'Refresh' } },
    ],
  });
  expect(await respond(payload.response_url, { text: 'Ready', replace_original: true })).toBe(
    '200 {"ok":true}',
  );
  expect(slack.messages).toMatchObject([{ text: 'Ready', blocks: [], edits: [{ text: 'Running' }] }]);
});

test('an answer to a click in a thread lands in the channel, unless it is public and names the thread', async () => {
  const { slack, bot, web, ana, card, respond } = await setting();
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

test('a click on an ephemeral message has no message, and can delete it', async () => {
  const { slack, bot, ana, respond } = await setting((received) =>
    received.form.command
      ? {
          body: {
            text: 'Sure?',
            blocks: [
              {
                type: 'actions',
                elements: [{ type: 'button', text: { type: 'plain_text', text: 'Yes' }, url: 'https://a.b' }],
              },
            ],
          },
        }
      : {},
  );
  const { ephemeral } = await ana.types('#docs', '/docs-export');
  if (!ephemeral) throw new Error('no ephemeral');
  await expect(slack.person('ben').clicks(ephemeral, 'Yes')).rejects.toThrow('does not see');
  await ana.clicks(ephemeral, 'Yes');
  const payload = bot.received[1]?.json ?? {};
  expect(payload).toMatchObject({ container: { is_ephemeral: true }, actions: [{ url: 'https://a.b' }] });
  expect(payload).not.toHaveProperty('message');
  await respond(payload.response_url, { delete_original: true });
  expect(ana.sees('#docs')).toEqual([]);
  await expect(ana.clicks(ephemeral, 'Yes')).rejects.toThrow('gone');
});

test('an unacknowledged click is a violation', async () => {
  const { slack, ana, card } = await setting(() => ({ status: 404 }));
  expect(await ana.clicks(await card(), 'Refresh')).toMatchObject({ ok: false, failed: 'dispatch_failed' });
  expect(slack.violations).toEqual(['block_actions [Refresh]: answered 404']);
});

test('a response_url works five times within half an hour, and takes no markdown_text', async () => {
  const { clock, slack, bot, ana, respond } = await setting();
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
  const { slack, bot, ana, clock } = await setting();
  await ana.types('#docs', '/docs-export');
  clock.ms += 5000;
  expect(await slack.resend()).toMatchObject({ ok: true });
  const [first, second] = bot.received;
  expect(second).toMatchObject({ body: first?.body });
  expect(second?.headers['x-slack-signature']).toBe(first?.headers['x-slack-signature']);
});

test('a chosen trigger id makes a new request look like a repeat', async () => {
  const { bot, ana } = await setting();
  await ana.types('#docs', '/docs-export', { triggerId: '1.2.same' });
  await ana.types('#docs', '/docs-export', { triggerId: '1.2.same' });
  expect(bot.received.map(({ form }) => form.trigger_id)).toEqual(['1.2.same', '1.2.same']);
});

test('raw requests carry whatever signature and time they are given', async () => {
  const { slack, bot, clock } = await setting(() => ({ status: 401 }));
  await slack.sendRaw({ body: 'a=1', secret: 'wrong' });
  await slack.sendRaw({ body: 'a=1', timestampSec: clock.ms / 1000 + 3600 });
  expect(await slack.sendRaw({ body: 'a=1', headers: { 'x-slack-signature': 'v0=00' } })).toMatchObject({
    status: 401,
  });
  expect(bot.received[1]?.headers['x-slack-request-timestamp']).toBe(String(clock.ms / 1000 + 3600));
  expect(bot.received[2]?.headers['x-slack-signature']).toBe('v0=00');
  expect(slack.violations).toEqual([]);
});

test('selects send what was chosen, and later clicks carry it as state', async () => {
  const { slack, bot, web, ana } = await setting();
  const option = (text: string) => ({
    text: { type: 'plain_text' as const, text },
    value: text.toLowerCase(),
  });
  await web.chat.postMessage({
    channel: slack.channel('#docs').id,
    text: 'Choose',
    blocks: [
      {
        type: 'actions',
        block_id: 'b',
        elements: [
          {
            type: 'static_select',
            action_id: 'day',
            placeholder: { type: 'plain_text', text: 'Day' },
            options: [option('Mon'), option('Tue')],
          },
          { type: 'button', action_id: 'go', text: { type: 'plain_text', text: 'Go' } },
        ],
      },
    ],
  });
  const [sent] = slack.messages;
  if (!sent) throw new Error('nothing was sent');
  await ana.chooses(sent, 'Day', 'Tue');
  await expect(ana.chooses(sent, 'Day', 'Wed')).rejects.toThrow('it has Mon, Tue');
  await ana.clicks(sent, 'Go');
  expect(bot.received[0]?.json).toMatchObject({
    actions: [{ action_id: 'day', selected_option: { value: 'tue' } }],
  });
  expect(bot.received[1]?.json).toMatchObject({
    state: { values: { b: { day: { type: 'static_select', selected_option: { value: 'tue' } } } } },
  });
});

test('message shortcuts carry the message', async () => {
  const shortcuts = [
    { name: 'Follow', type: 'message' as const, callbackId: 'follow' },
    { name: 'Start', type: 'global' as const, callbackId: 'start' },
  ];
  const { bot, card, ana } = await setting(undefined, { manifest: widerManifest({ shortcuts, events: [] }) });
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
  const { slack, card } = await setting();
  const waiting = slack.until(() => slack.messages.find(({ text }) => text === 'Running'));
  const sent = await card();
  expect(await waiting).toBe(sent);
  await expect(slack.until(() => false, 1, 'a unicorn')).rejects.toThrow(
    /a unicorn did not come[\s\S]*#docs .* docket:\s+Running\s+\[Refresh\]/,
  );
});
