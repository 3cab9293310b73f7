import { afterEach, beforeEach, expect, test } from 'vitest';
import { redisForTests } from '../support/redis.ts';
import { createDeliveryWorld } from '../support/slack/world.ts';

const redis = redisForTests();
let world: Awaited<ReturnType<typeof createDeliveryWorld>>;
beforeEach(async () => {
  world = await createDeliveryWorld(redis);
  await world.want('line', '5%');
  await world.deliverUntilIdle('line');
});
afterEach(() => world.close());

const replaced = { retracted: true, replacedBy: 'ending' } as const;
/** What people see, in order. */
const seen = () => world.slack.messages.filter(({ deleted }) => !deleted).map(({ text }) => text);

test('a line is deleted once its ending is shown, and not before', async () => {
  const { want, deliver, deliverUntilIdle } = world;
  await want('line', 'Done: see below', replaced);
  expect(await deliver('line')).toBe(1000);
  await want('ending', 'Exported');
  expect(await deliver('line')).toBe(1000);
  expect(seen()).toEqual(['5%']);
  await deliverUntilIdle('ending');
  await deliverUntilIdle('line');
  expect(seen()).toEqual(['Exported']);
});

test('a line that was never posted needs no post, no deletion and no ending', async () => {
  const { want, deliver, calls } = world;
  await want('other', 'Done: see below', replaced);
  expect(await deliver('other')).toBeUndefined();
  expect([seen(), calls('chat.delete')]).toEqual([['5%'], 0]);
});

test.each(['compliance_exports_prevent_deletion', 'cant_delete_message'] as const)(
  'where Slack refuses deletions (%s), the line becomes its short last form',
  async (code) => {
    const { slack, want, deliverUntilIdle, calls } = world;
    slack.refuses.deletions = code;
    await want('ending', 'Exported');
    await deliverUntilIdle('ending');
    await want('line', 'Done: see below', replaced);
    await deliverUntilIdle('line');
    expect([seen(), calls('chat.delete')]).toEqual([['Done: see below', 'Exported'], 1]);
  },
);

test.each([
  ['before the deletion', { kind: 'answer', status: 200, body: { ok: false, error: 'message_not_found' } }],
  ['by a deletion whose answer was lost', { kind: 'reset', when: 'after' }],
] as const)('a line that is gone %s counts as deleted', async (_, answer) => {
  const { slack, want, deliverUntilIdle, calls } = world;
  await want('ending', 'Exported');
  await deliverUntilIdle('ending');
  slack.wire.order('chat.delete', answer);
  await want('line', 'Done: see below', replaced);
  await deliverUntilIdle('line');
  expect(calls('chat.update')).toBe(0);
});

test('if Slack refuses the ending for good, the line stays and says so', async () => {
  const { slack, want, deliverUntilIdle } = world;
  await want('ending', 'Exported', { place: { channel: slack.channel('#docs').id, threadTs: '1.000001' } });
  slack.wire.order('chat.postMessage', {
    kind: 'answer',
    status: 200,
    body: { ok: false, error: 'restricted_action_thread_locked' },
  });
  await deliverUntilIdle('ending');
  await want('line', 'Done: see below', replaced);
  await deliverUntilIdle('line');
  expect(seen()).toEqual(['Done: see below']);
});

test('a line that is needed again after its deletion is posted again', async () => {
  const { want, deliverUntilIdle } = world;
  await want('ending', 'No longer watched');
  await deliverUntilIdle('ending');
  await want('line', 'Done: see below', replaced);
  await deliverUntilIdle('line');
  await want('line', '6%', { kind: 'progress' });
  await deliverUntilIdle('line');
  expect(seen()).toEqual(['No longer watched', '6%']);
});

test.each([true, false])(
  'a line goes with the last of several replacements, was the first one shown: %s',
  async (wasShown) => {
    const { want, deliver, deliverUntilIdle } = world;
    await want('line', 'See below', replaced);
    await want('ending', 'Sent');
    if (wasShown) await deliverUntilIdle('ending');
    await want('ending', 'See below', { retracted: true, replacedBy: 'last' });
    if (!wasShown) await deliverUntilIdle('ending');
    expect(await deliver('line')).toBe(1000);
    await want('last', 'Live');
    for (const key of ['last', 'ending', 'line']) await deliverUntilIdle(key);
    expect(seen()).toEqual(['Live']);
  },
);
