import type { Command } from 'ioredis';
import type { RedisClient } from './client.ts';

/** Redis is slow if more than this part of its answers takes longer: the 99th percentile is above the limit. */
const SLOW_ANSWER_MS = 200;
const SLOW_PART = 0.01;

/** In how many spans the time is judged after which slow answers are a problem. */
const SPANS = 6;

/** `node` is of a cluster only. */
type Send = (this: RedisClient, command: Command, stream?: never, node?: never) => unknown;

interface LatencyParts {
  /** For how long answers have to be slow, span after span. */
  slowMs: number;
  monotonicMs: () => number;
  /** Called with the duration of each answer, in milliseconds. */
  observe: (ms: number) => void;
}

/** Times the answers of connections. It costs less than a microsecond a command. */
export function createLatencyWatch({ slowMs, monotonicMs, observe }: LatencyParts) {
  let answers = 0;
  let slowAnswers = 0;
  let judgedAtMs = monotonicMs();
  let slowSinceMs: number | undefined;

  function count(ms: number) {
    answers += 1;
    if (ms > SLOW_ANSWER_MS) slowAnswers += 1;
    observe(ms);
  }

  return {
    /** Times this connection from now on. Its duplicates, on which BullMQ waits for jobs, do not count. */
    add(redis: RedisClient) {
      // Its class keeps the method, so that a tracer that replaces it there is called as well.
      const own: { sendCommand: Send } = Object.getPrototypeOf(redis);
      redis.sendCommand = (command: Command, stream?: never, node?: never) => {
        // A command that waits for the connection is sent again once there is one. WAIT waits for a replica.
        if (redis.status === 'ready' && command.name !== 'wait') {
          const sentMs = monotonicMs();
          const { resolve } = command;
          // Cheaper than another promise.
          command.resolve = (answer) => {
            count(monotonicMs() - sentMs);
            resolve(answer);
          };
        }
        return own.sendCommand.call(redis, command, stream, node);
      };
    },
    /** Returns whether answers have been slow for `slowMs`; called often. A span without answers proves nothing. */
    isSlow(): boolean {
      const nowMs = monotonicMs();
      if (answers > 0 && nowMs - judgedAtMs >= slowMs / SPANS) {
        slowSinceMs = slowAnswers > answers * SLOW_PART ? (slowSinceMs ?? nowMs) : undefined;
        [answers, slowAnswers, judgedAtMs] = [0, 0, nowMs];
      }
      return slowSinceMs !== undefined && nowMs - slowSinceMs >= slowMs;
    },
  };
}
