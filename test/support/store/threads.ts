import { beforeAll, beforeEach, expect } from 'vitest';
import { createRunStore, type RunStore } from '../../../src/store/runs.ts';
import { createThreadStore, type ThreadStore, threadClaim } from '../../../src/store/threads.ts';
import { redisForTests } from '../redis.ts';
import { aThread, place, thread } from './builders.ts';

/** The stores of a test file with a Redis of their own, and what its tests do with one thread at one place. */
export function threadStoresForTests() {
  const redis = redisForTests();
  let runs: RunStore;
  let threads: ThreadStore;
  let inTime: number;
  beforeAll(() => {
    runs = createRunStore(redis.client);
    threads = createThreadStore(redis.client);
  });
  beforeEach(async () => {
    inTime = (await runs.timeMs()) + 60_000;
  });

  const claim = threadClaim(place);
  const said = (text: string) => ({ event: { text }, dedupeKey: text });
  const tell = (text: string, underOurs = false) => threads.appendToThread(place, said(text), underOurs);
  const post = (text: string, deadlineMs = inTime) =>
    runs.appendToInbox('agent-thread', 't1', said(text), deadlineMs);
  const accept = (run = aThread()) => runs.accept(run, { deadlineMs: inTime, claimMs: 60_000 });
  const open = (id = 't1') => runs.loadWithInbox(id, thread);
  const heard = async (id = 't1') => (await open(id))?.inbox;
  const texts = (...all: string[]) => all.map((text) => ({ text }));
  const lives = (key: string) => redis.client.pttl(key);

  async function following(run = aThread()) {
    await accept(run);
    await threads.follow(run, place);
    return run;
  }

  /** Somebody had a look at the run, and settled it. */
  async function settled() {
    await following();
    expect(await runs.markIdle(aThread(), false)).toBe(true);
  }

  return {
    redis,
    get runs() {
      return runs;
    },
    get threads() {
      return threads;
    },
    /** On the clock of Redis, a minute from now. */
    get inTime() {
      return inTime;
    },
    claim,
    said,
    tell,
    post,
    accept,
    open,
    heard,
    texts,
    lives,
    following,
    settled,
  };
}
