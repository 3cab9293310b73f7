import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { connectForWork } from '../../../src/store/redis/connections.ts';
import { createLatencyWatch } from '../../../src/store/redis/latency.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const second = 1000;

/** Returns a watched connection, and what was observed, by a clock that only the test moves. */
function watched() {
  let nowMs = 0;
  const observed: number[] = [];
  const latency = createLatencyWatch({
    slowMs: 60 * second,
    monotonicMs: () => nowMs,
    observe: (ms) => void observed.push(ms),
  });
  const connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
  onTestFinished(() => connection.disconnect());
  if (!(connection instanceof Redis)) throw new Error('this is no cluster');
  latency.add(connection);
  const passes = (ms: number) => {
    nowMs += ms;
  };
  /** Commands that each take as long as it says, then a pause. */
  async function answers(count: number, tookMs: number, pauseMs = 0) {
    const sent = Array.from({ length: count }, () => connection.get('{docket}:a'));
    passes(tookMs);
    await Promise.all(sent);
    passes(pauseMs);
  }
  return { connection, observed, latency, passes, answers };
}

test('only the answers of Redis itself count', async () => {
  const { connection, observed, passes, answers } = watched();
  // Waits for the connection.
  const first = connection.get('{docket}:a');
  passes(5 * second);
  await first;
  expect(observed.filter((ms) => ms > 0)).toEqual([]);
  observed.length = 0;
  await answers(2, 3);
  await Promise.all([connection.multi().set('{docket}:a', 1).get('{docket}:a').exec(), passes(4)]);
  // MULTI, EXEC and what is between them.
  expect(observed).toEqual([3, 3, 4, 4, 4, 4]);

  observed.length = 0;
  const blocking = connection.duplicate();
  onTestFinished(() => blocking.disconnect());
  const waits = [blocking.bzpopmin('{docket}:b', 0.05), connection.wait(1, 50)];
  passes(second);
  await Promise.all(waits);
  expect(observed.filter((ms) => ms >= second)).toEqual([]);
});

test('Redis is slow once more than one in a hundred answers was, for a minute, and until they are fast again', async () => {
  const { connection, latency, passes, answers } = watched();
  await connection.ping();
  passes(10 * second);
  expect(latency.isSlow()).toBe(false);
  /** Ten seconds, in which `slow` of 300 answers are slow. */
  async function span(slow: number) {
    await answers(300 - slow, 5);
    await answers(slow, 201, 10 * second);
    return latency.isSlow();
  }
  for (let spans = 0; spans < 12; spans += 1) expect(await span(3)).toBe(false);
  for (let spans = 0; spans < 6; spans += 1) expect(await span(4)).toBe(false);
  expect(await span(4)).toBe(true);
  // Without an answer, nobody knows better.
  passes(20 * second);
  expect(latency.isSlow()).toBe(true);
  expect(await span(3)).toBe(false);
  for (let spans = 0; spans < 6; spans += 1) expect(await span(300)).toBe(false);
  expect(await span(300)).toBe(true);
});
