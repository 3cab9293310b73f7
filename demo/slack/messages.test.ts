import { expect, test } from 'vitest';
import { clientOf, refusal } from '../test-support/bot.ts';
import { createStandInSlack } from './slack.ts';

const section = (text: string) => ({ type: 'section' as const, text: { type: 'mrkdwn' as const, text } });

function setting() {
  const clock = { ms: Date.UTC(2026, 8, 14, 9) };
  const slack = createStandInSlack({ now: () => clock.ms });
  const web = clientOf(slack);
  const channel = slack.channel('#docs').id;
  /** Posts without meeting the limit of one per second. */
  const post = async (text: string, rest: { thread_ts?: string; reply_broadcast?: true } = {}) => {
    clock.ms += 1000;
    const { ts } = await web.chat.postMessage({ channel, text, ...rest } as {
      channel: string;
      text: string;
    });
    return ts ?? '';
  };
  const texts = (answer: { messages?: { text?: string }[] }) => answer.messages?.map(({ text }) => text);
  return { clock, slack, web, channel, post, texts };
}

test('updates are refused above 4,000 bytes and on messages of others', async () => {
  const { slack, web, channel, post } = setting();
  const ts = await post('mine');
  const long = (await refusal(web.chat.update({ channel, ts, text: 'ä'.repeat(2001) }))).error;
  expect(long).toBe('msg_too_long');
  await web.chat.update({ channel, ts, text: 'ä'.repeat(2000) });
  const { ts: hers } = await slack.person('ana').says('#docs', 'hers');
  expect((await refusal(web.chat.update({ channel, ts: hers, text: 'x' }))).error).toBe(
    'cant_update_message',
  );
  expect((await refusal(web.chat.delete({ channel, ts: hers }))).error).toBe('cant_delete_message');
  slack.refuses.deletions = 'compliance_exports_prevent_deletion';
  expect((await refusal(web.chat.delete({ channel, ts }))).error).toBe('compliance_exports_prevent_deletion');
  delete slack.refuses.deletions;
  await web.chat.delete({ channel, ts });
  expect((await refusal(web.chat.update({ channel, ts, text: 'x' }))).error).toBe('message_not_found');
});

test('history: newest first, pages, windows, no replies but broadcast ones', async () => {
  const { web, channel, post, texts } = setting();
  const [a, b, c] = [await post('a'), await post('b'), await post('c')];
  await post('reply', { thread_ts: a });
  await post('both', { thread_ts: a, reply_broadcast: true });

  expect(texts(await web.conversations.history({ channel }))).toEqual(['both', 'c', 'b', 'a']);
  expect(texts(await web.conversations.history({ channel, oldest: a, latest: c }))).toEqual(['b']);
  expect(texts(await web.conversations.history({ channel, oldest: a, latest: c, inclusive: true }))).toEqual([
    'c',
    'b',
    'a',
  ]);
  const wholeSeconds = String(Number.parseInt(b, 10) - 1);
  expect(texts(await web.conversations.history({ channel, oldest: wholeSeconds }))).toEqual([
    'both',
    'c',
    'b',
  ]);
  const first = await web.conversations.history({ channel, limit: 3 });
  expect(first).toMatchObject({ has_more: true });
  const cursor = first.response_metadata?.next_cursor ?? '';
  const rest = await web.conversations.history({ channel, limit: 3, cursor });
  expect([texts(first), texts(rest), rest.has_more]).toEqual([['both', 'c', 'b'], ['a'], false]);
});

test.each([
  ['plain text', 'hi ana', [], []],
  ['a mention', 'hi <@U0ANA>', [], ['U0ANA']],
  ['each person once', 'hi <@U0ANA>', [section('<@U0ANA|ana> <@U0BEN>')], ['U0ANA', 'U0BEN']],
  ['everybody', '<!here> <!channel> <!everyone|all>', [], ['here', 'channel', 'everyone']],
  ['a group', '<!subteam^S0DOCS>', [], ['S0DOCS']],
  ['neutralised', '&lt;!here&gt; &lt;@U0ANA&gt; @ana', [], []],
  ['plain_text blocks', 'x', [{ type: 'header', text: { type: 'plain_text', text: '<@U0ANA>' } }], []],
  [
    'rich text',
    'x',
    [
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'user', user_id: 'U0BEN' },
              { type: 'text', text: ' <@U0ANA> ' },
              { type: 'broadcast', range: 'here' },
              { type: 'usergroup', usergroup_id: 'S0DOCS' },
            ],
          },
        ],
      },
    ],
    ['U0BEN', 'here', 'S0DOCS'],
  ],
])('notifies: %s', async (_, text, blocks, notifies) => {
  const { slack, web, channel } = setting();
  await web.apiCall('chat.postMessage', { channel, text, blocks });
  expect(slack.messages[0]?.notifies).toEqual(notifies);
});
