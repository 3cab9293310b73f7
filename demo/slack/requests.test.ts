import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Received, Reply } from '../test-support/bot.ts';
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
