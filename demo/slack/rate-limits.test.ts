import { expect, test } from 'vitest';
import { clientOf } from '../test-support/bot.ts';
import { createStandInSlack } from './slack.ts';

function setting() {
  const clock = { ms: Date.UTC(2026, 8, 14, 9) };
  const slack = createStandInSlack({ now: () => clock.ms });
  const web = clientOf(slack);
  const post = (where = '#docs') => web.chat.postMessage({ channel: slack.channel(where).id, text: 'x' });
  return { clock, slack, web, post };
}

test('a channel takes a burst of three posts, then one per second', async () => {
  const { clock, slack, post } = setting();
  for (let n = 0; n < 3; n += 1) await post();
  await expect(post()).rejects.toMatchObject({ code: 'slack_webapi_rate_limited_error', retryAfter: 1 });
  await post('#private');
  clock.ms += 1000;
  await post();
  await expect(post()).rejects.toMatchObject({ retryAfter: 1 });
  expect(slack.limited.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    'chat.postMessage 429',
    'chat.postMessage 429',
  ]);
});

test('all updates of a workspace share 50 per minute', async () => {
  const { clock, slack, web, post } = setting();
  const { ts = '', channel = '' } = await post();
  const update = () => web.chat.update({ channel, ts, text: 'x' });
  for (let n = 0; n < 50; n += 1) {
    await update();
    clock.ms += 1000;
  }
  await expect(update()).rejects.toMatchObject({ retryAfter: 10 });
  clock.ms += 10_000;
  await update();
  expect(slack.limited).toHaveLength(1);
});
