import { beforeEach, expect, test } from 'vitest';
import type { SlackApi } from '../../src/slack/client.ts';
import { SlackApiError } from '../../src/slack/errors.ts';
import { createChannels } from '../../src/slack/lookups.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { redisForTests } from '../support/redis.ts';

const redis = redisForTests();
let asked: string[];
let channel: SlackApi['channel'];
/** What Slack says instead of an answer. */
let refusal: SlackApiError | undefined;
beforeEach(() => {
  asked = [];
  refusal = undefined;
  channel = createChannels({
    slack: {
      async channel(id) {
        asked.push(id);
        if (refusal) throw refusal;
        return { shared: id === 'C0SHARED', isPublic: true };
      },
    },
    rateLimiter: createRateLimitStore(redis.client),
    teamId: () => 'T0ACME',
    timing: { readsPerMinute: 40 },
  });
});

const outcome = (id: string) =>
  channel(id).catch((error: SlackApiError) => ({ kind: error.kind, retryAfterMs: error.retryAfterMs }));

test('Slack is asked no more often than it allows; whoever has to wait learns how long', async () => {
  const outcomes: Awaited<ReturnType<typeof outcome>>[] = [];
  for (let index = 0; index < 50; index += 1) outcomes.push(await outcome(`C${index}`));
  expect(asked.length).toBeLessThan(15);
  expect(outcomes.at(-1)).toMatchObject({ kind: 'limited', retryAfterMs: expect.any(Number) });
});

test('after a 429 nobody asks before its time', async () => {
  refusal = new SlackApiError('limited', 'conversations.info', 'ratelimited', { retryAfterMs: 20_000 });
  expect(await outcome('C1')).toEqual({ kind: 'limited', retryAfterMs: 20_000 });
  refusal = undefined;
  expect(await outcome('C2')).toMatchObject({ kind: 'limited' });
  expect(asked).toEqual(['C1']);
});
