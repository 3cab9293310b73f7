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
