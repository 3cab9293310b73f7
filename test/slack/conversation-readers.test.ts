import { expect, test } from 'vitest';
import { createLog } from '../../src/runtime/log.ts';
import { SlackApiError, type SlackErrorKind } from '../../src/slack/errors.ts';
import { createConversationReaders } from '../../src/slack/lookups.ts';

function setting(channel: (id: string) => Promise<{ isPublic: boolean }>) {
  const clock = { ms: 0 };
  const asked: string[] = [];
  const { isPublic, isMember } = createConversationReaders({
    channel: async (id) => {
      asked.push(id);
      return { shared: false, ...(await channel(id)) };
    },
    members: async (id) => {
      await channel(id);
      return ['U0ANA'];
    },
    timeoutMs: 20,
    cacheMs: 5000,
    now: () => clock.ms,
    log: createLog('silent', []),
  });
  return { isPublic, isMember, asked, clock };
}

const fails = (kind: SlackErrorKind) => async () => {
  throw new SlackApiError(kind, 'conversations.info', 'some_code');
};

test('what Slack says is believed for a while, and asked again then', async () => {
  const slack = { isPublic: true };
  const { isPublic, asked, clock } = setting(async () => ({ ...slack }));
  expect(await isPublic('C1')).toBe(true);
  slack.isPublic = false;
  clock.ms = 4999;
  expect(await isPublic('C1')).toBe(true);
  clock.ms = 5000;
  expect(await isPublic('C1')).toBe(false);
  expect(asked).toEqual(['C1', 'C1']);
});

test('what the app cannot see is private, and not asked again soon', async () => {
  const { isPublic, asked } = setting(fails('place'));
  expect([await isPublic('C1'), await isPublic('C1')]).toEqual([false, false]);
  expect(asked).toHaveLength(1);
});

test.each<SlackErrorKind>(['limited', 'unreachable', 'unclear', 'token'])(
  'what Slack does not say just now (%s) is private, and asked again',
  async (kind) => {
    const { isPublic, asked } = setting(fails(kind));
    expect([await isPublic('C1'), await isPublic('C1')]).toEqual([false, false]);
    expect(asked).toHaveLength(2);
  },
);

test('what Slack does not say in time is private', async () => {
  const { isPublic } = setting(() => new Promise(() => {}));
  expect(await isPublic('C1')).toBe(false);
});

test('members are those whom Slack lists; where it says nothing, nobody is one', async () => {
  const { isMember } = setting(async () => ({ isPublic: false }));
  expect([await isMember('C1', 'U0ANA'), await isMember('C1', 'U0BEN')]).toEqual([true, false]);
  expect(await setting(fails('place')).isMember('C1', 'U0ANA')).toBe(false);
});
