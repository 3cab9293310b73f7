import { expect, test } from 'vitest';
import { clientOf, type Received, type Reply, startTinyBot, widerManifest } from '../test-support/bot.ts';
import { createStandInSlack, type StandInSlackOptions } from './slack.ts';

const EVENTS = [
  'message.channels',
  'message.groups',
  'message.im',
  'app_mention',
  'reaction_added',
  'app_home_opened',
];
const subscribed = widerManifest({
  events: EVENTS,
  scopes: ['app_mentions:read', 'reactions:read'],
  homeTab: true,
});

async function setting(reply?: (received: Received) => Reply, options: StandInSlackOptions = {}) {
  const bot = await startTinyBot(reply);
  const slack = createStandInSlack({
    manifest: subscribed,
    botUrl: bot.url,
    eventRetryDelaysMs: [0, 1, 2],
    ...options,
  });
  const events = () => bot.received.map(({ json }) => json.event as Record<string, unknown>);
  return { slack, bot, events, ana: slack.person('ana'), eve: slack.person('eve') };
}

test('a message arrives in the envelope of the Events API', async () => {
  const { slack, bot, ana } = await setting();
  const root = await ana.says('#docs', 'Fix <b> & tell @ben in #docs');
  await ana.says('#docs', 'please', { threadTs: root.ts });
  expect(bot.received[0]?.json).toMatchObject({
    type: 'event_callback',
    team_id: 'T0ACME',
    context_team_id: 'T0ACME',
    api_app_id: 'A0DOCKET',
    event_id: expect.stringMatching(/^Ev/),
    is_ext_shared_channel: false,
    authorizations: [{ team_id: 'T0ACME', user_id: 'U0DOCKET', is_bot: true }],
    event: {
      type: 'message',
      channel: root.channel,
      channel_type: 'channel',
      user: 'U0ANA',
      text: `Fix &lt;b&gt; &amp; tell <@U0BEN> in <#${root.channel}|docs>`,
      ts: root.ts,
      event_ts: root.ts,
      client_msg_id: expect.any(String),
    },
  });
  expect(bot.received[1]?.json).toMatchObject({ event: { thread_ts: root.ts, parent_user_id: 'U0ANA' } });
  expect(bot.received[0]?.headers).not.toHaveProperty('x-slack-retry-num');
  expect(slack.events).toMatchObject([{ attempts: [200], accepted: true }, { accepted: true }]);
});

test('a mention is two events with the same ts', async () => {
  const { bot, events, ana } = await setting();
  const said = await ana.says('#docs', '@Docket status');
  expect(events().map(({ type, ts }) => [type, ts])).toEqual([
    ['message', said.ts],
    ['app_mention', said.ts],
  ]);
  expect(new Set(bot.received.map(({ json }) => json.event_id)).size).toBe(2);
});

test.each<[string, StandInSlackOptions, string]>([
  ['not subscribed', { manifest: { ...subscribed, events: [] } }, '#docs'],
  ['no scope', { manifest: { ...subscribed, scopes: ['chat:write'] } }, '#docs'],
  ['not a member', {}, '#elsewhere'],
  ['between two people', {}, 'ana+ben'],
  ['another kind of conversation', {}, 'ana+ben+docket'],
])('no event: %s', async (_, options, where) => {
  const { bot, ana } = await setting(undefined, options);
  await ana.says(where, 'hello');
  expect(bot.received).toEqual([]);
});

test('people of other organizations are marked', async () => {
  const { bot, eve } = await setting();
  await eve.says('#shared', 'hello');
  expect(bot.received[0]?.json).toMatchObject({
    is_ext_shared_channel: true,
    event: { user: 'U0EVE', team: 'T0OTHER', user_team: 'T0OTHER', source_team: 'T0OTHER' },
  });
});

test('the bot hears of its own messages, of edits, deletions, files and reactions', async () => {
  const { slack, events, ana } = await setting();
  const channel = slack.channel('#docs').id;
  const web = clientOf(slack);
  const { ts = '' } = await web.chat.postMessage({ channel, text: 'card' });
  await web.chat.update({ channel, ts, text: 'card 2' });
  const said = await ana.says('#docs', 'see this', { files: ['a.png'] });
  await ana.edits(said, 'see that');
  await ana.reacts(said, 'eyes');
  await ana.deletes(said);
  expect(events()).toMatchObject([
    { user: 'U0DOCKET', bot_id: 'B0DOCKET', app_id: 'A0DOCKET', text: 'card' },
    { subtype: 'message_changed', message: { text: 'card 2' }, previous_message: { text: 'card' } },
    { subtype: 'file_share', files: [{ name: 'a.png' }] },
    {
      subtype: 'message_changed',
      message: { text: 'see that', edited: { user: 'U0ANA' } },
      previous_message: { text: 'see this' },
    },
    { type: 'reaction_added', reaction: 'eyes', user: 'U0ANA', item: { channel, ts: said.ts } },
    { subtype: 'message_deleted', deleted_ts: said.ts, previous_message: { text: 'see that' } },
  ]);
});

test('a failed event comes again three times, with the number and the reason', async () => {
  const { slack, bot, ana } = await setting(() => ({ status: 500 }));
  await ana.says('#docs', 'hello');
  await slack.until(() => slack.events[0]?.ended);
  expect(
    bot.received.map(({ headers }) => [headers['x-slack-retry-num'], headers['x-slack-retry-reason']]),
  ).toEqual([
    [undefined, undefined],
    ['1', 'http_error'],
    ['2', 'http_error'],
    ['3', 'http_error'],
  ]);
  expect(new Set(bot.received.map(({ body }) => body)).size).toBe(1);
  expect(slack.events).toMatchObject([{ attempts: [500, 500, 500, 500], accepted: false }]);
  expect(slack.violations).toContain('event message: answered 500');
});

test('retries end with success', async () => {
  const statuses = [500, 200];
  const { slack, ana } = await setting(() => ({ status: statuses.shift() ?? 200 }));
  await ana.says('#docs', 'hello');
  await slack.until(() => slack.events[0]?.accepted);
  expect(slack.events).toMatchObject([{ attempts: [500, 200], ended: true }]);
});

test('x-slack-no-retry ends the retries of a failed event', async () => {
  const { slack, ana } = await setting(() => ({ status: 500, headers: { 'x-slack-no-retry': '1' } }));
  await ana.says('#docs', 'hello');
  expect(slack.events).toMatchObject([{ attempts: [500], ended: true }]);
});

test('a late answer is a timeout', async () => {
  const replies: Reply[] = ['never'];
  const { slack, bot, ana } = await setting(() => replies.shift() ?? {}, { answerWithinMs: 200 });
  await ana.says('#docs', 'hello');
  await slack.until(() => slack.events[0]?.ended);
  expect(bot.received[1]?.headers['x-slack-retry-reason']).toBe('http_timeout');
});

test('opening Home, and events that nobody here can cause', async () => {
  const { slack, events, ana } = await setting();
  await ana.opensHome();
  await slack.sendEvent({ type: 'app_uninstalled' }, { eventId: 'Ev1' });
  expect(events()).toMatchObject([
    { type: 'app_home_opened', tab: 'home', user: 'U0ANA' },
    { type: 'app_uninstalled' },
  ]);
});

test('the second time, the event of Home brings along what is there', async () => {
  const { slack, events, ana } = await setting();
  await ana.opensHome();
  const blocks = [{ type: 'divider' }];
  await clientOf(slack).apiCall('views.publish', { user_id: ana.id, view: { type: 'home', blocks } });
  await ana.opensHome();
  expect(events()[0]).not.toHaveProperty('view');
  expect(events()[1]).toMatchObject({ view: { type: 'home', blocks, app_installed_team_id: 'T0ACME' } });
});

test('without a Home tab nobody opens it, and without a subscription the bot is not notified', async () => {
  const { ana } = await setting(undefined, { manifest: { ...subscribed, homeTab: false } });
  await expect(ana.opensHome()).rejects.toThrow('The manifest enables no Home tab');
  const untold = await setting(undefined, { manifest: { ...subscribed, events: [] } });
  await untold.ana.opensHome();
  expect(untold.bot.received).toEqual([]);
});

test('/invite brings the bot in', async () => {
  const { slack, events, ana } = await setting();
  await ana.types('#elsewhere', '/invite @Docket');
  await ana.says('#elsewhere', 'hello');
  expect(events()).toMatchObject([{ text: 'hello' }]);
  await clientOf(slack).chat.postMessage({ channel: slack.channel('#elsewhere').id, text: 'hi' });
});

test('who joins a channel that the bot is in, the bot hears of; and of joining itself, once', async () => {
  const { slack, events, ana } = await setting(undefined, {
    manifest: {
      ...subscribed,
      events: ['member_joined_channel'],
      scopes: [...subscribed.scopes, 'channels:read', 'groups:read'],
    },
  });
  await ana.types('#elsewhere', '/invite @ben');
  expect(events()).toEqual([]);
  await ana.types('#elsewhere', '/invite @Docket');
  await ana.types('#elsewhere', '/invite @Docket');
  await ana.types('#secret', '/invite @Docket');
  const { id } = slack.channel('#elsewhere');
  expect(events()).toMatchObject([
    { type: 'member_joined_channel', user: 'U0DOCKET', channel: id, channel_type: 'C', inviter: 'U0ANA' },
    { type: 'member_joined_channel', user: 'U0DOCKET', channel_type: 'G' },
  ]);
});

test('a deleted message with replies stays as a line of Slack', async () => {
  const { bot, events, ana } = await setting();
  const root = await ana.says('#docs', 'root');
  const reply = await ana.says('#docs', 'reply', { threadTs: root.ts });
  bot.received.splice(0);
  await ana.deletes(root);
  await ana.deletes(reply);
  expect(events()).toMatchObject([
    {
      subtype: 'message_changed',
      hidden: true,
      message: { subtype: 'tombstone', user: 'USLACKBOT', ts: root.ts },
      previous_message: { text: 'root', user: 'U0ANA' },
    },
    {
      subtype: 'message_deleted',
      deleted_ts: reply.ts,
      previous_message: { text: 'reply', thread_ts: root.ts, parent_user_id: 'U0ANA' },
    },
  ]);
});

test('a reply that is edited says in which thread it is', async () => {
  const { bot, events, ana, eve } = await setting();
  const root = await ana.says('#shared', 'root');
  const reply = await eve.says('#shared', 'reply', { threadTs: root.ts });
  bot.received.splice(0);
  await eve.edits(reply, '@Docket reply');
  const place = { ts: reply.ts, thread_ts: root.ts, parent_user_id: 'U0ANA' };
  expect(events()).toMatchObject([
    {
      subtype: 'message_changed',
      message: { ...place, text: '<@U0DOCKET> reply', user_team: 'T0OTHER', edited: { user: 'U0EVE' } },
      previous_message: { ...place, text: 'reply' },
    },
  ]);
});
