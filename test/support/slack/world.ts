import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { createStandInSlack } from '../../../demo/slack/slack.ts';
import { orWait } from '../../../src/runtime/later.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { createSlackApi } from '../../../src/slack/client.ts';
import { createDelivery } from '../../../src/slack/delivery.ts';
import { createOutbox, type Outbox } from '../../../src/slack/outbox.ts';
import { createMessageStore, type WantedMessage } from '../../../src/store/messages.ts';
import { createRateLimitStore } from '../../../src/store/rate-limit.ts';
import { createThreadStore } from '../../../src/store/threads.ts';
import { createValueStores } from '../../../src/store/values.ts';
import type { TestRedis } from '../redis.ts';
import { aMessage } from '../store/builders.ts';

/** Returns a delivery that returns in how many milliseconds it is due again; undefined once the message is shown. */
export const pausesOf = (deliver: ReturnType<typeof createDelivery>) => async (key: string) =>
  (await orWait(deliver(key)))?.inMs;

/** Deliveries to the stand-in Slack; `clock` is that of the process which delivers, ahead of Slack's. */
export async function createDeliveryWorld({ client: redis }: TestRedis, clock = { aheadMs: 0 }) {
  const slack = createStandInSlack({ rateLimits: false });
  const server = await slack.listen();
  const messages = createMessageStore(redis);
  const rateLimiter = createRateLimitStore(redis);
  const channel = slack.channel('#docs').id;
  let version = 0;
  /** Where the next delivery stops, as a process does that is short of time. */
  let stop: { reached: () => void; until: Promise<void> } | undefined;
  /** How long the next mark before a call takes. */
  let markMs = 0;

  const deliver = pausesOf(
    createDelivery({
      slack: createSlackApi({
        token: slack.tokens.bot,
        apiUrl: slack.apiUrl,
        timing: { ...defaultTiming, slackCallMs: 5000 },
        log: pino({ level: 'silent' }),
        monotonicMs: () => performance.now() + clock.aheadMs,
        onCall: () => {},
      }),
      messages: {
        ...messages,
        async save(...args) {
          const saved = await messages.save(...args);
          clock.aheadMs += markMs;
          markMs = 0;
          return saved;
        },
      },
      links: createValueStores(redis).links,
      people: createValueStores(redis).people,
      threads: createThreadStore(redis),
      rateLimiter: {
        ...rateLimiter,
        async awaitSlot(of, request) {
          const taken = rateLimiter.awaitSlot(of, request);
          await taken.catch(() => {});
          const here = stop;
          stop = undefined;
          here?.reached();
          await here?.until;
          return taken;
        },
      },
      now: () => Date.now() + clock.aheadMs,
      random: () => 0.5,
      timing: { ...defaultTiming, postsPerMinute: 6000, editsPerMinute: 6000 },
      log: pino({ level: 'silent' }),
    }),
  );

  return {
    slack,
    messages,
    deliver,
    close: server.close,
    /** Says how a message in #docs should look. */
    async want(key: string, text = key, more: Partial<WantedMessage> = {}) {
      version += 1;
      const wanted = aMessage({ place: { channel }, text, hash: `${key} ${version}`, ...more });
      await messages.publish(key, wanted, version);
    },
    /** Delivers until there is nothing left to do, and lets every pause pass; returns the pauses. */
    async deliverUntilIdle(key: string): Promise<number[]> {
      const pauses: number[] = [];
      for (let times = 0; times < 20; times += 1) {
        const inMs = await deliver(key);
        if (inMs === undefined) return pauses;
        pauses.push(inMs);
        clock.aheadMs += inMs;
      }
      throw new Error(`no end: ${pauses.join(', ')}`);
    },
    /** Has the next delivery stop once it has its slot. */
    stopAtSlot() {
      const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      stop = { reached: reached.resolve, until: release.promise };
      return { reached: reached.promise, release: release.resolve };
    },
    /** Has Redis take so long with the next mark before a call. */
    slowMark(ms: number) {
      markMs = ms;
    },
    /** Has the process freeze for so long in its next call of this method, before anything of it is sent. */
    freezeIn(method: string, ms: number) {
      const created = 'undici:request:create';
      const freeze = (message: unknown) => {
        const { request } = message as { request: { path: string } };
        if (!request.path.endsWith(`/${method}`)) return;
        clock.aheadMs += ms;
        unsubscribe(created, freeze);
      };
      subscribe(created, freeze);
    },
    texts: () => slack.messages.map(({ text }) => text),
    calls: (name: string) => slack.wire.calls.filter((call) => call.name === name).length,
  };
}

/** An outbox with real stores; what is published is delivered by nobody. */
export const anOutbox = (redis: Redis): Outbox =>
  createOutbox({ messages: createMessageStore(redis), wake: async () => {} });
