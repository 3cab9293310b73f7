import { beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../src/runtime/log.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { SlackApiError, type SlackErrorKind } from '../../src/slack/errors.ts';
import { createChannels, createLookups } from '../../src/slack/lookups.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { redisForTests } from '../support/redis.ts';

const lasting: SlackErrorKind[] = ['place', 'missing', 'refused', 'blocks'];
const passing: SlackErrorKind[] = ['limited', 'unreachable', 'unclear', 'token'];
const failing = (kind: SlackErrorKind) => async () => {
  throw new SlackApiError(kind, 'users.info', 'some_code');
};

describe('facts about channels', () => {
  const redis = redisForTests();
  let asked: string[];
  let refusal: SlackApiError | undefined;
  const outcome = (id: string) =>
    createChannels(
      {
        async channel(channelId) {
          asked.push(channelId);
          if (refusal) throw refusal;
          return { shared: false, isPublic: true };
        },
      },
      createRateLimitStore(redis.client),
      () => 'T0ACME',
      defaultTiming,
    )(id).catch(({ kind, retryAfterMs }: SlackApiError) => ({ kind, retryAfterMs }));
  beforeEach(() => {
    asked = [];
    refusal = undefined;
  });

  test('are requested no more often than Slack allows, and the error says when to try again', async () => {
    let last: Awaited<ReturnType<typeof outcome>> | undefined;
    for (let index = 0; index < 50; index += 1) last = await outcome(`C${index}`);
    expect(asked.length).toBeLessThan(15);
    expect(last).toMatchObject({ kind: 'limited', retryAfterMs: expect.any(Number) });
  });

  test('are not requested after a 429 before its time', async () => {
    refusal = new SlackApiError('limited', 'conversations.info', 'ratelimited', { retryAfterMs: 20_000 });
    expect(await outcome('C1')).toEqual({ kind: 'limited', retryAfterMs: 20_000 });
    refusal = undefined;
    expect(await outcome('C2')).toMatchObject({ kind: 'limited' });
    expect(asked).toEqual(['C1']);
  });
});

const named = {
  person: async () => ({ name: 'ana' }),
  channelName: async () => 'docs',
  groups: async () => new Map([['S0DOCS', 'docs-admins']]),
};

describe('who may read a conversation', () => {
  function setting(channel: () => Promise<{ isPublic: boolean }>) {
    const clock = { ms: 0 };
    let asked = 0;
    const slack = {
      ...named,
      channel: async () => {
        asked += 1;
        return { shared: false, ...(await channel()) };
      },
      members: async () => channel().then(() => ['U0ANA']),
    };
    const parts = { timeoutMs: 20, cacheMs: 5000, now: () => clock.ms };
    const readers = createLookups(slack, parts, createLog('silent', []));
    return { ...readers, asked: () => asked, clock };
  }

  test('is believed for a while, and requested again then', async () => {
    const slack = { isPublic: true };
    const { isPublic, asked, clock } = setting(async () => ({ ...slack }));
    expect(await isPublic('C1')).toBe(true);
    slack.isPublic = false;
    clock.ms = 4999;
    expect([await isPublic('C1'), asked()]).toEqual([true, 1]);
    clock.ms = 5000;
    expect([await isPublic('C1'), asked()]).toEqual([false, 2]);
  });

  test.each([...lasting.map((kind) => [kind, 1] as const), ...passing.map((kind) => [kind, 2] as const)])(
    'is nobody else if Slack refuses with kind %s, which is requested %i times',
    async (kind, times) => {
      const { isPublic, isMember, asked } = setting(failing(kind));
      expect([await isPublic('C1'), await isPublic('C1')]).toEqual([false, false]);
      expect([await isMember('C1', 'U0ANA'), asked()]).toEqual([false, times]);
    },
  );

  test('is nobody else without an answer in time', async () => {
    expect(await setting(() => new Promise(() => {})).isPublic('C1')).toBe(false);
  });

  test('are the members that Slack lists', async () => {
    const { isMember } = setting(async () => ({ isPublic: false }));
    expect([await isMember('C1', 'U0ANA'), await isMember('C1', 'U0BEN')]).toEqual([true, false]);
  });
});

describe('names', () => {
  let asked: string[];
  let nowMs: number;
  beforeEach(() => {
    asked = [];
    nowMs = 0;
  });
  const told =
    <T>(value: T) =>
    async (id = 'groups') => {
      asked.push(id);
      return value;
    };
  const parts = {
    person: told({ name: 'ana' }),
    channelName: told('docs'),
    groups: told(new Map([['S0DOCS', 'docs-admins']])),
  };
  const unused = { channel: failing('place'), members: failing('place') };
  const createNames = (slack: typeof parts) =>
    createLookups(
      { ...unused, ...slack },
      { timeoutMs: 10, cacheMs: 5000, now: () => nowMs },
      createLog('silent', []),
    ).names;
  const all = { users: ['U0ANA'], channels: ['C0DOCS'], groups: ['S0DOCS', 'S0NONE'], everybody: false };
  const namesOf = async (look: ReturnType<typeof createNames>) => {
    const { users, channels, groups } = await look(all);
    return [users.get('U0ANA'), channels.get('C0DOCS'), groups.get('S0DOCS'), groups.get('S0NONE')];
  };

  test('are looked up for all mentions, and believed for a while', async () => {
    const look = createNames(parts);
    expect(await namesOf(look)).toEqual(['ana', 'docs', 'docs-admins', undefined]);
    nowMs = 4999;
    await look(all);
    expect(asked).toEqual(['U0ANA', 'C0DOCS', 'groups']);
    nowMs = 5000;
    await look({ ...all, channels: [], groups: [] });
    expect(asked).toEqual(['U0ANA', 'C0DOCS', 'groups', 'U0ANA']);
  });

  test('are looked up for the first of very many mentions', async () => {
    const users = Array.from({ length: 600 }, (_, n) => `U0${n}`);
    const known = await createNames(parts)({ ...all, users, groups: [] });
    expect(asked).toEqual([...users.slice(0, 20), 'C0DOCS']);
    expect([known.users.get('U019'), known.users.get('U020')]).toEqual(['ana', undefined]);
  });

  describe.each(['person', 'channelName', 'groups'] as const)('without an answer of %s', (part) => {
    test.each(lasting)('are missing, and not looked up again soon, after kind %s', async (kind) => {
      let times = 0;
      const look = createNames({ ...parts, [part]: () => failing(kind)().finally(() => (times += 1)) });
      await look(all);
      const found = await namesOf(look);
      expect([found.filter((name) => name === undefined).length, times]).toEqual([2, 1]);
    });

    test.each(passing)('are unknown, and looked up again, after kind %s', async (kind) => {
      let isBroken = true;
      const look = createNames({ ...parts, [part]: () => (isBroken ? failing(kind)() : parts[part]()) });
      await expect(look(all)).rejects.toThrow();
      isBroken = false;
      expect(await namesOf(look)).toEqual(['ana', 'docs', 'docs-admins', undefined]);
    });

    test('are unknown if it takes too long', async () => {
      const look = createNames({ ...parts, [part]: () => new Promise(() => {}) });
      await expect(look(all)).rejects.toThrow();
    });
  });
});
