import { WebClient } from '@slack/web-api';
import { expect, test } from 'vitest';
import { clientOf, refusal, widerManifest } from '../test-support/bot.ts';
import { createStandInSlack } from './slack.ts';

const UNKNOWN_TS = '1000000000.000001';

test('takes JSON bodies, but no token in them', async () => {
  const slack = createStandInSlack();
  const call = async (headers: Record<string, string>, body: string) =>
    (
      await slack.fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', headers, body })
    ).json() as Promise<unknown>;
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const bearer = { authorization: `Bearer ${slack.tokens.bot}` };
  const message = { channel: slack.channel('#docs').id, text: 'from JSON' };

  expect(await call({ ...json, ...bearer }, JSON.stringify(message))).toMatchObject({ ok: true });
  expect(await call(json, JSON.stringify({ ...message, token: slack.tokens.bot }))).toMatchObject({
    error: 'not_authed',
  });
  expect(await call({ ...json, ...bearer }, '{')).toMatchObject({ error: 'invalid_json' });
  expect(await call({ 'content-type': 'text/plain', ...bearer }, 'x')).toMatchObject({
    error: 'invalid_post_type',
  });
  const form = new URLSearchParams({ ...message, token: slack.tokens.bot }).toString();
  expect(await call({ 'content-type': 'application/x-www-form-urlencoded' }, form)).toMatchObject({
    ok: true,
  });
});

const INTO_DOCS = { channel: '#docs', text: 'x' };

test.each([
  ['chat.nonsense', {}, 'unknown_method'],
  ['conversations.info', { channel: '#secret' }, 'channel_not_found'],
  ['reactions.add', { channel: '#docs', timestamp: UNKNOWN_TS, name: 'eyes' }, 'message_not_found'],
  ['conversations.open', { users: 'U0NOBODY' }, 'user_not_found'],
  ['users.info', { user: 'U0NOBODY' }, 'user_not_found'],
  ['chat.postMessage', { channel: '#docs' }, 'no_text'],
  ['chat.postMessage', { text: 'x' }, 'invalid_arguments'],
  ['chat.postMessage', { channel: 'C0NOWHERE', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: '#elsewhere', text: 'x' }, 'not_in_channel'],
  ['chat.postMessage', { channel: '#secret', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: 'ana+ben', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: '#archive', text: 'x' }, 'is_archived'],
  ['chat.postMessage', { ...INTO_DOCS, blocks: 'no JSON' }, 'invalid_blocks_format'],
  ['chat.postMessage', { ...INTO_DOCS, blocks: [{ type: 'nonsense' }] }, 'invalid_blocks'],
  ['chat.postMessage', { ...INTO_DOCS, metadata: { event_type: 'a' } }, 'invalid_metadata_schema'],
  [
    'chat.postMessage',
    { ...INTO_DOCS, metadata: { event_type: 'a', event_payload: { deep: { er: { est: 1 } } } } },
    'invalid_metadata_schema',
  ],
  [
    'chat.postMessage',
    { ...INTO_DOCS, metadata: { event_type: 'a', event_payload: { long: 'x'.repeat(9000) } } },
    'metadata_too_large',
  ],
  ['chat.postEphemeral', { channel: '#private', user: 'U0SUE', text: 'x' }, 'user_not_in_channel'],
  ['conversations.history', { channel: '#elsewhere' }, 'not_in_channel'],
  ['conversations.history', { channel: '#docs', limit: 1000 }, 'invalid_arguments'],
  ['conversations.history', { channel: '#docs', cursor: 'nonsense' }, 'invalid_cursor'],
  ['conversations.replies', { channel: '#docs', ts: UNKNOWN_TS }, 'thread_not_found'],
  ['chat.update', { channel: '#docs', ts: UNKNOWN_TS, text: 'x' }, 'message_not_found'],
  ['chat.delete', { channel: '#docs', ts: UNKNOWN_TS }, 'message_not_found'],
])('%s %j is refused: %s', async (method, args: Record<string, unknown>, error) => {
  const slack = createStandInSlack();
  // Conversations are written by name here; the real API takes ids.
  const named = typeof args.channel === 'string' && /^[#@a-z]/.test(args.channel);
  const real = named ? { ...args, channel: slack.channel(String(args.channel)).id } : args;
  expect(await refusal(clientOf(slack).apiCall(method, real))).toMatchObject({ ok: false, error });
  expect(slack.messages).toEqual([]);
});

test('no token, and another one, are refused', async () => {
  const slack = createStandInSlack();
  const without = new WebClient(undefined, { slackApiUrl: slack.apiUrl, fetch: slack.fetch });
  expect(await refusal(without.auth.test())).toMatchObject({ error: 'not_authed' });
  expect(await refusal(clientOf(slack, 'xoxb-other').auth.test())).toMatchObject({ error: 'invalid_auth' });
});

test('a missing scope is named, and breaks a rule; a missing channel does not', async () => {
  const slack = createStandInSlack({
    manifest: { ...widerManifest({}), scopes: ['chat:write', 'im:history'] },
  });
  const web = clientOf(slack);
  expect(await refusal(web.conversations.history({ channel: slack.channel('#docs').id }))).toMatchObject({
    error: 'missing_scope',
    needed: 'channels:history',
    provided: 'chat:write,im:history',
  });
  await refusal(web.chat.postMessage({ channel: 'C0NOWHERE', text: 'x' }));
  expect(slack.violations).toEqual(['conversations.history: missing_scope · needs channels:history']);
});
