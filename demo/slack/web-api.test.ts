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
  ['conversations.info', { channel: '@ana' }, 'missing_scope'],
  ['reactions.add', { channel: '#docs', timestamp: UNKNOWN_TS, name: 'eyes' }, 'message_not_found'],
  ['usergroups.users.list', { usergroup: 'S0NONE' }, 'no_such_subteam'],
  ['usergroups.users.list', {}, 'invalid_arguments'],
  ['conversations.open', { users: 'U0ANA,U0BEN' }, 'missing_scope'],
  ['conversations.open', {}, 'users_list_not_supplied'],
  ['conversations.open', { users: 'U0NOBODY' }, 'user_not_found'],
  ['conversations.open', { users: 'U0DOCKET' }, 'cannot_dm_bot'],
  ['users.info', { user: 'U0NOBODY' }, 'user_not_found'],
  ['users.info', {}, 'invalid_arguments'],
  ['chat.postMessage', { channel: '#docs' }, 'no_text'],
  ['chat.postMessage', { text: 'x' }, 'invalid_arguments'],
  ['chat.postMessage', { channel: 'C0NOWHERE', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: '#elsewhere', text: 'x' }, 'not_in_channel'],
  ['chat.postMessage', { channel: '#secret', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: 'ana+ben', text: 'x' }, 'channel_not_found'],
  ['chat.postMessage', { channel: '#archive', text: 'x' }, 'is_archived'],
  ['chat.postMessage', { ...INTO_DOCS, thread_ts: '12' }, 'invalid_arguments'],
  ['chat.postMessage', { ...INTO_DOCS, blocks: 'no JSON' }, 'invalid_blocks_format'],
  ['chat.postMessage', { ...INTO_DOCS, blocks: [{ type: 'nonsense' }] }, 'invalid_blocks'],
  ['chat.postMessage', { ...INTO_DOCS, markdown_text: 'y' }, 'markdown_text_conflict'],
  ['chat.postMessage', { channel: '#docs', markdown_text: 'y'.repeat(12_001) }, 'msg_too_long'],
  ['chat.postMessage', { ...INTO_DOCS, metadata: 'no JSON' }, 'invalid_metadata_format'],
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
  ['chat.postEphemeral', { channel: '#secret', user: 'U0ANA', text: 'x' }, 'channel_not_found'],
  ['chat.postEphemeral', { channel: '#private', user: 'U0SUE', text: 'x' }, 'user_not_in_channel'],
  ['chat.getPermalink', { channel: '#docs', message_ts: UNKNOWN_TS }, 'message_not_found'],
  ['conversations.history', { channel: '#elsewhere' }, 'not_in_channel'],
  ['conversations.history', { channel: '#secret' }, 'channel_not_found'],
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

test.each<[string, string, object]>([
  ['channels:read', '#docs', { name: 'docs', is_private: false, is_member: true, is_ext_shared: false }],
  ['channels:read', '#elsewhere', { name: 'elsewhere', is_member: false }],
  ['channels:read', '#archive', { is_archived: true }],
  ['channels:read', '#shared', { is_shared: true, is_ext_shared: true, is_org_shared: false }],
  ['groups:read', '#private', { name: 'private', is_private: true, is_pending_ext_shared: false }],
  ['im:read', '@ana', { is_im: true, user: 'U0ANA' }],
  ['mpim:read', 'ana+ben+docket', { is_mpim: true, is_private: true }],
])('with %s, conversations.info tells of %s; with other rights it does not', async (scope, where, told) => {
  const all = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];
  const info = (scopes: string[]) => {
    const slack = createStandInSlack({ manifest: { ...widerManifest({}), scopes } });
    return clientOf(slack).conversations.info({ channel: slack.channel(where).id });
  };
  expect((await info([scope])).channel).toMatchObject(told);
  const others = all.filter((other) => other !== scope);
  expect(await refusal(info(others))).toMatchObject({ error: 'missing_scope', needed: scope });
});

test('user groups and their members, with usergroups:read', async () => {
  const slack = createStandInSlack({ manifest: { ...widerManifest({}), scopes: ['usergroups:read'] } });
  const web = clientOf(slack);
  expect((await web.usergroups.list({})).usergroups).toMatchObject([{ id: 'S0DOCS', handle: 'docs-admins' }]);
  expect((await web.usergroups.list({})).usergroups?.[0]).not.toHaveProperty('users');
  const counted = await web.usergroups.list({ include_users: true, include_count: true });
  expect(counted.usergroups).toMatchObject([{ users: ['U0ANA'], user_count: 1 }]);
  expect((await web.usergroups.users.list({ usergroup: 'S0DOCS' })).users).toEqual(['U0ANA']);

  const blind = createStandInSlack({ manifest: { ...widerManifest({}), scopes: ['users:read'] } });
  const refused = { error: 'missing_scope', needed: 'usergroups:read' };
  const without = clientOf(blind);
  expect(await refusal(without.usergroups.list({}))).toMatchObject(refused);
  expect(await refusal(without.usergroups.users.list({ usergroup: 'S0DOCS' }))).toMatchObject(refused);
});

test('user groups are asked for at most 20 times a minute', async () => {
  const slack = createStandInSlack({ manifest: widerManifest({ scopes: ['usergroups:read'] }) });
  const web = clientOf(slack);
  for (let n = 0; n < 20; n++) await web.usergroups.list({});
  await expect(web.usergroups.list({})).rejects.toMatchObject({ code: 'slack_webapi_rate_limited_error' });
});

test('reactions, one of each name', async () => {
  const slack = createStandInSlack();
  const web = clientOf(slack);
  const channel = slack.channel('#docs').id;
  const said = await slack.person('ana').says('#docs', 'hello');
  const reaction = { channel, timestamp: said.ts, name: 'eyes' };
  await web.reactions.add(reaction);
  expect(said.reactions).toEqual([{ name: 'eyes', users: ['U0DOCKET'] }]);
  expect((await refusal(web.reactions.add(reaction))).error).toBe('already_reacted');
  await web.reactions.remove(reaction);
  expect(said.reactions).toEqual([]);
  expect((await refusal(web.reactions.remove(reaction))).error).toBe('no_reaction');
  expect((await refusal(web.reactions.add({ ...reaction, name: ':eyes:' }))).error).toBe('invalid_name');
});

test('chat:write.public reaches public channels without membership, but no private ones', async () => {
  const slack = createStandInSlack({ manifest: widerManifest({ scopes: ['chat:write.public'] }) });
  const web = clientOf(slack);
  await web.chat.postMessage({ channel: slack.channel('#elsewhere').id, text: 'hi' });
  const secret = web.chat.postMessage({ channel: slack.channel('#secret').id, text: 'hi' });
  expect((await refusal(secret)).error).toBe('channel_not_found');
});
