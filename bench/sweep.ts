import { createQueues } from '../src/jobs/engine/queue.ts';
import { startSweeper } from '../src/jobs/engine/workers.ts';
import { createLog } from '../src/runtime/log.ts';
import { defaultTiming } from '../src/runtime/timing.ts';
import { createDueStore } from '../src/store/due.ts';
import { keys } from '../src/store/keys.ts';
import { connectForWork } from '../src/store/redis/connections.ts';
import { memberOf, type RunRef } from '../src/store/run-scripts.ts';
import { createRunStore } from '../src/store/runs.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { median } from './parts/figures.ts';
import { printTable } from './parts/table.ts';

/**
 * The time of one sweep with 10,000 runs: none is overdue, as usual; a hundred are, as after the death of a busy process;
 * a thousand are, the most that one sweep takes, as after an outage.
 */
const RUNS = 10_000;
const ROUNDS = 15;
const MOST_MS = 50;

const redis = await startTestRedis();
const connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
const queues = createQueues(connection, () => {});
const runs = createRunStore(connection);
const due = createDueStore(connection);
const ensure = ({ job, id }: RunRef) => queues.enqueue('docs-export', job, id);
const all = Array.from({ length: RUNS }, (_, index) => ({ job: 'export', id: `run-${index}` }));
for (let from = 0; from < RUNS; from += 500) await Promise.all(all.slice(from, from + 500).map(ensure));

/** Returns the median duration of sweeps that find so many runs overdue, in milliseconds. */
async function sweepMs(overdue: number): Promise<number> {
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const nowMs = await runs.timeMs();
    const scored = all.flatMap((run, index) => [nowMs + (index < overdue ? -60_000 : 20_000), memberOf(run)]);
    await redis.client.zadd(keys.activeRuns(), ...scored);
    tookMs.push(await oneSweepMs());
  }
  return median(tookMs);
}

/** Returns how long a sweep takes, from the search for overdue entries to its end. */
function oneSweepMs(): Promise<number> {
  return new Promise((resolve) => {
    let startedAtMs = 0;
    const stopping = new AbortController();
    startSweeper({
      due: {
        ...due,
        async overdue(...args) {
          startedAtMs = performance.now();
          return due.overdue(...args);
        },
      },
      wake: ensure,
      onError(error) {
        throw error;
      },
      async alsoDo() {
        stopping.abort();
        resolve(performance.now() - startedAtMs);
      },
      everyMs: defaultTiming.sweepMs / 1000,
      log: createLog('warn', []),
      stopping: stopping.signal,
    });
  });
}

const [waiting, some, most] = [await sweepMs(0), await sweepMs(100), await sweepMs(1000)];
printTable([
  { what: `${RUNS} runs that wait`, figure: `${waiting.toFixed(1)} ms`, held: waiting < MOST_MS },
  { what: '100 of them overdue', figure: `${some.toFixed(1)} ms` },
  { what: '1000 of them overdue', figure: `${most.toFixed(1)} ms` },
]);
await queues.close();
connection.disconnect();
await redis.close();
