import { expect, test } from 'vitest';
import { type Received, type Reply, startTinyBot, widerManifest } from '../test-support/bot.ts';
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

test('x-slack-no-retry ends the retries of a failed event', async () => {
  const { slack, ana } = await setting(() => ({ status: 500, headers: { 'x-slack-no-retry': '1' } }));
  await ana.says('#docs', 'hello');
  expect(slack.events).toMatchObject([{ attempts: [500], ended: true }]);
});

test('without a Home tab nobody opens it, and without a subscription the bot is not notified', async () => {
  const { ana } = await setting(undefined, { manifest: { ...subscribed, homeTab: false } });
  await expect(ana.opensHome()).rejects.toThrow('The manifest enables no Home tab');
  const untold = await setting(undefined, { manifest: { ...subscribed, events: [] } });
  await untold.ana.opensHome();
  expect(untold.bot.received).toEqual([]);
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
