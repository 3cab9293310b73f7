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

test('a click finds what a person sees, and nothing where several look the same', async () => {
  const { slack, bot, web, ana } = await requestSetting();
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
