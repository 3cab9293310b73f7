import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageEvents } from '../../src/commands/agent/events.ts';
import { defaultConfigFile } from '../../src/config/file.ts';
import type { Log } from '../../src/runtime/log.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { connectForRequests } from '../../src/store/redis/connections.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../src/store/threads.ts';
import { NOW_MS } from '../support/builders.ts';
import { aProject } from '../support/commands/builders.ts';
import { anInstruction, aThread } from '../support/jobs/agent/builders.ts';
import { redisForTests } from '../support/redis.ts';
import { keptLog } from '../support/runtime/log.ts';

const TEXT = 'Delete the pricing page of the secret launch';
const identity = { teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' };
const thread = aThread({ instructions: [anInstruction({ text: TEXT, excerpt: TEXT })] });
const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1789912800.000100' };
const timing = { ...defaultTiming, intakeMs: 100 };

const redis = redisForTests();
let connection: Redis;
let log: Log;
let text: () => string;
afterEach(() => connection.disconnect());
beforeEach(async () => {
  const claimed = { ...thread, claim: threadClaim(place) };
  const runs = createRunStore(redis.client);
  await runs.accept(claimed, (await runs.timeMs()) + 10_000, 0, undefined);
  await createThreadStore(redis.client).follow(claimed, place);
  connection = connectForRequests({ url: redis.url }, timing, () => {}) as Redis;
  await once(connection, 'ready');
  ({ log, text } = keptLog());
});

/** What Redis does with a write, and how it is made to do so. */
const troubles: {
  trouble: string;
  says: RegExp;
  takes: string[];
  during: (run: () => Promise<void>) => Promise<void>;
}[] = [
  {
    trouble: 'is out of memory',
    says: /OOM/,
    // Their script removes something first, and Redis lets a script go on that has begun to write.
    takes: ['a reply in a followed thread', 'an instruction from a dialog'],
    async during(run: () => Promise<void>) {
      await redis.client.config('SET', 'maxmemory', '1');
      await run().finally(() => redis.client.config('SET', 'maxmemory', '0'));
    },
  },
  {
    trouble: 'is a replica',
    says: /READONLY/,
    takes: [],
    async during(run: () => Promise<void>) {
      await redis.client.replicaof('127.0.0.1', 1);
      await run().finally(() => redis.client.replicaof('NO', 'ONE'));
    },
  },
  {
    trouble: 'does not answer in time',
    says: /timed out/i,
    takes: [],
    async during(run: () => Promise<void>) {
      redis.freeze();
      await run().finally(() => redis.thaw());
    },
  },
];

const reply = {
  type: 'message',
  channel: 'C0DOCS',
  ts: '1789912900.000200',
  user: 'U0ANA',
  team: 'T0ACME',
  text: `<@U0BOT> ${TEXT}`,
};
/** Everything that writes what people wrote. */
const writes: Record<string, () => Promise<unknown>> = {
  'a reply in a followed thread': () => hear({ ...reply, thread_ts: place.rootTs, parent_user_id: 'U0ANA' }),
  'a mention elsewhere': () => hear(reply),
  'a new thread': () =>
    createRunStore(connection).accept(
      { ...thread, id: 'another' },
      Number.MAX_SAFE_INTEGER,
      60_000,
      undefined,
    ),
  'the next state of a thread': () => createRunStore(connection).saveStep(thread),
  'an instruction from a dialog': () =>
    createRunStore(connection).appendToInbox(
      'agent-thread',
      thread.id,
      { event: { kind: 'instruct', text: TEXT }, dedupeKey: 'x' },
      Number.MAX_SAFE_INTEGER,
    ),
};

const hear = async (event: object) =>
  messageEvents[0]?.handle(
    event,
    { team_id: 'T0ACME' },
    {
      identity,
      threads: createThreadStore(connection),
      runs: createRunStore(connection),
      ownPosts: { isKnownIn: async () => true },
      publish: async () => {},
      wake() {},
      updateHome: async () => {},
      changeChannelId: async () => {},
      checkToken: async () => {},
      projects: [aProject({ projectId: 'prj_1' })],
      policy: {
        check: async (id) => ({ kind: 'allowed', person: { id, name: id, fullMember: true } }) as never,
      },
      limits: defaultConfigFile.limits,
      replyMode: 'all',
      now: () => NOW_MS,
      log,
    },
  );

describe.each(troubles)('while Redis $trouble', ({ says, takes, during }) => {
  const refused = Object.keys(writes).filter((name) => !takes.some((taken) => taken === name));
  test.each(refused)('no log holds the text of %s', async (name) => {
    await during(async () => {
      const error = await Promise.resolve(writes[name]?.()).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(String(error)).toMatch(says);
      log.error({ err: error }, 'a request failed');
      log.warn({ err: new Error('around it', { cause: error }), errors: [error] });
    });
    expect(text()).toMatch(says);
    expect(text()).not.toContain('pricing');
  });
});
