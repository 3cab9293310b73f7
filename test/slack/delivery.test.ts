import { beforeEach, expect, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import type { SlackApi } from '../../src/slack/client.ts';
import { createDelivery } from '../../src/slack/delivery.ts';
import { SlackApiError } from '../../src/slack/errors.ts';
import { createMessageStore, type WantedMessage } from '../../src/store/messages.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { createThreadStore } from '../../src/store/threads.ts';
import { createValueStores } from '../../src/store/values.ts';
import { redisForTests } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';
import { pausesOf } from '../support/slack/world.ts';
import { aMessage, noteDelivery } from '../support/store/builders.ts';
import { timePasses } from '../support/store/limits.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 8, 20, 14);

const redis = redisForTests();
let deliver: ReturnType<typeof pausesOf>;
/** Thrown by the next post. */
let notBegun: Error | undefined;
let nowMs: number;
/** What Slack was told, in order: `key: text`. */
let told: string[];
let kept: ReturnType<typeof keptLog>;
/** One slot an hour, so that slots come back only when the test says so. */
let hourly: { count: number; windowMs: number; interactiveShare: number };
beforeEach(async () => {
  hourly = { count: 1, windowMs: HOUR_MS, interactiveShare: 0 };
  nowMs = NOW_MS;
  told = [];
  kept = keptLog('error');
  notBegun = undefined;
  const pace = createRateLimitStore(redis.client);
  const textOf = (content: Parameters<SlackApi['edit']>[1]) =>
    typeof content === 'string' ? content : content.text;
  const slack: Partial<SlackApi> = {
    refusedForMs: () => 0,
    post: async ({ channel }, content, { key }) => {
      if (notBegun !== undefined) throw notBegun;
      told.push(`${key}: ${textOf(content)}`);
      return { channel, ts: `${nowMs / 1000}` };
    },
    edit: async (_at, content) => void told.push(textOf(content)),
    remove: async ({ ts }) => void told.push(`deleted ${ts}`),
  };
  deliver = pausesOf(
    createDelivery({
      slack: slack as SlackApi,
      messages: createMessageStore(redis.client),
      links: createValueStores(redis.client).links,
      people: createValueStores(redis.client).people,
      threads: createThreadStore(redis.client),
      rateLimiter: { ...pace, awaitSlot: (of, turn) => pace.awaitSlot({ ...of, ...hourly }, turn) },
      now: () => nowMs,
      random: () => 0.5,
      timing: defaultTiming,
      log: kept.log,
    }),
  );
  for (const name of ['edit:T0ACME', 'post:T0ACME:C0DOCS']) {
    await pace.takeSlot({ name, ...hourly }, { id: 'spent' });
  }
});

let version = 0;

/** Says how a message should look. */
async function want(key: string, kind: WantedMessage['kind'], text = key, more: Partial<WantedMessage> = {}) {
  version += 1;
  const wanted = aMessage({ kind, text, hash: `${key} ${version}`, ...more });
  await createMessageStore(redis.client).publish(key, wanted, version);
}

/** A message that Slack shows since some time, and that was edited then. */
async function shown(key: string, agoMs: { posted: number; edited?: number }) {
  const { posted, edited } = agoMs;
  await want(key, 'progress', 'first');
  await noteDelivery(createMessageStore(redis.client), key, {
    channel: 'C0DOCS',
    ts: String((NOW_MS - posted) / 1000),
    ...(edited !== undefined && { editedAtMs: NOW_MS - edited }),
  });
}

/** Everybody asks, as often as turns come back. */
async function afterTurns(bucket: string, count: number, names: string[]) {
  for (const key of names) await deliver(key);
  for (let turn = 0; turn < count; turn += 1) {
    await timePasses(redis.client, bucket, HOUR_MS);
    nowMs += 60_000;
    for (const key of names) await deliver(key);
  }
  return told;
}
const afterEdits = (count: number, names: string[]) => afterTurns('edit:T0ACME', count, names);

test('a post that nobody waits for leaves a slot of its channel to one that somebody asked for', async () => {
  Object.assign(hourly, { count: 2, interactiveShare: 0.5 });
  await want('digest', 'state', 'digest', { lowPriority: true });
  await want('card', 'state');
  // One of the two slots is taken.
  await afterTurns('post:T0ACME:C0DOCS', 0, ['digest', 'card']);
  expect(told).toEqual(['card: card']);
  expect(await afterTurns('post:T0ACME:C0DOCS', 1, ['digest'])).toEqual(['card: card', 'digest: digest']);
});

test('a post that nobody waits for and its channel refuses is given up, and alarms nobody', async () => {
  notBegun = new SlackApiError('place', 'chat.postMessage', 'not_in_channel');
  hourly.count = 2;
  await want('welcome', 'state', 'welcome', { lowPriority: true });
  await afterTurns('post:T0ACME:C0DOCS', 3, ['welcome']);
  expect(await deliver('welcome')).toBeUndefined();
  expect(kept.lines).toEqual([]);
  await want('card', 'state');
  await afterTurns('post:T0ACME:C0DOCS', 1, ['card']);
  expect(kept.text()).toContain('a message cannot be delivered');
});

test.each([
  ['state', {}, true],
  ['state', { repost: false }, false],
  ['ending', {}, true],
  ['progress', {}, false],
] as const)('a deleted %s, %j, is posted again: %j', async (kind, more, isReposted) => {
  await want('run', kind, 'run', more);
  await noteDelivery(createMessageStore(redis.client), 'run', { deleted: true });
  const posted = await afterTurns('post:T0ACME:C0DOCS', 2, ['run']);
  expect(posted).toEqual(isReposted ? ['run: run'] : []);
});

test('endings, clicks and changes of state do not wait behind progress', async () => {
  Object.assign(hourly, { count: 4, interactiveShare: 0.5 });
  const progress = Array.from({ length: 20 }, (_, index) => `progress ${index}`);
  for (const key of [...progress, 'ending', 'clicked']) await shown(key, { posted: 60_000 });
  for (const key of progress) await want(key, 'progress');
  for (const key of progress) await deliver(key);
  await want('ending', 'ending');
  await want('clicked', 'state', 'clicked', { interactive: true });
  for (const key of ['ending', 'clicked']) await deliver(key);
  // One slot of low priority is spent already.
  expect(told).toEqual(['progress 0', 'ending', 'clicked']);
});

test('progress that was overtaken while it waited is skipped, and the last is shown', async () => {
  await shown('run', { posted: 60_000 });
  for (const text of ['20%', '40%', '60%']) {
    await want('run', 'progress', text);
    await deliver('run');
  }
  await want('run', 'state', 'Done');
  expect(await afterEdits(2, ['run'])).toEqual(['Done']);
});

test('a deletion does not wait behind edits', async () => {
  await shown('run', { posted: 60_000 });
  await want('run', 'state', 'Done', { retracted: true });
  expect(await deliver('run')).toBeUndefined();
  expect(told).toEqual([`deleted ${(NOW_MS - 60_000) / 1000}`]);
});
