import { expect, test } from 'vitest';
import { until } from '../support/flows/reading.ts';
import { createWorld } from '../support/flows/world.ts';

const HISTORY = 'conversations.history';

test('15 messages a page and few calls: a lost post is found behind many pages, and is not posted twice', async () => {
  // One call a second in place of one a minute.
  const world = await createWorld({ slack: { distributed: true, rateLimits: 60 } });
  const { slack } = world;
  await world.startBot();
  slack.wire.order('chat.postMessage', { kind: 'hang', when: 'after' });
  await slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await slack.until(() => slack.messages.length === 1);
  for (let said = 0; said < 50; said += 1) await slack.person('ben').says('#docs', `Something else, ${said}`);
  await until(world, '#docs', ['42%']);
  const answered = slack.wire.calls.filter(({ name }) => name === HISTORY).length - slack.limited.length;
  expect(slack.messages.filter(({ text }) => text.includes('Requested by'))).toHaveLength(1);
  expect(answered).toBe(4);
  // That reading is scarce is what Slack tells by refusing.
  expect(new Set(slack.limited.splice(0).map(({ name }) => name))).toEqual(new Set([HISTORY]));
  await world.close();
});
