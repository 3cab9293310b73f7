import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from './parts/figures.ts';
import { curves, savePlot } from './parts/plot.ts';
import type { PollFloor } from './parts/poll-floor-process.ts';
import { startRemote } from './parts/remote.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';
import { createWatchedWorld } from './parts/watched.ts';

/**
 * Thousands of exports that one worker process watches, with the platform's limit lifted and Slack's as they are: each has
 * a card and progress, which the outbox posts and edits. How late are polls, and what does the process take? Beside it
 * bare BullMQ polls as many jobs as often.
 */
const LATE_MS = 1000;
const MEMORY_MB = 300;
const FLOOR_SETTLE_MS = 5000;

const { values } = parseArgs({
  options: {
    exports: { type: 'string', default: '5000' },
    settle: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '45' },
  },
  strict: false,
});
const [count, settleMs, forMs] = [
  Number(values.exports),
  Number(values.settle) * 1000,
  Number(values.seconds) * 1000,
];

const { redis, api, ...world } = await createWatchedWorld();
const docket = await world.startWorker();
const restMb = usageOf(docket.pid).residentMb;
const jobIds = await world.watch(count);
await pause(settleMs);
const ours = await observe(docket);
docket.stop();

await redis.client.flushall();
const floor = startRemote<PollFloor>(new URL('./parts/poll-floor-process.ts', import.meta.url).pathname, {
  REDIS_URL: redis.url,
  API_KEY: api.apiKey,
  PLATFORM_URL: api.url,
});
await floor.start(jobIds, (count * forMs) / Math.max(1, ours.late.length));
await pause(FLOOR_SETTLE_MS);
const theirs = await observe(floor);

/** How late its polls are from now on, what part of a core it takes, and how much memory at most. */
async function observe(watcher: { pid: number; lateness(): number[] | Promise<number[]> }) {
  await watcher.lateness();
  const before = usageOf(watcher.pid).cpuMs;
  const untilMs = performance.now() + forMs;
  let mb = 0;
  while (performance.now() < untilMs) {
    mb = Math.max(mb, usageOf(watcher.pid).residentMb);
    await pause(500);
  }
  const late = await watcher.lateness();
  return { late, cpu: (usageOf(watcher.pid).cpuMs - before) / forMs, mb };
}

const both = (spell: (of: typeof ours) => string) => `${spell(ours)} / ${spell(theirs)}`;
printTable([
  { what: 'exports, polls', figure: `${count}, ${both((of) => String(of.late.length))}` },
  { what: 'lateness: 50 %', figure: both((of) => `${quantile(of.late, 0.5).toFixed(0)} ms`) },
  {
    what: `lateness: 99 % (≤ ${LATE_MS} ms)`,
    figure: both((of) => `${quantile(of.late, 0.99).toFixed(0)} ms`),
    held: quantile(ours.late, 0.99) <= LATE_MS,
  },
  { what: 'lateness: longest', figure: both((of) => `${quantile(of.late, 1).toFixed(0)} ms`) },
  { what: 'of a core', figure: both((of) => `${(of.cpu * 100).toFixed(0)} %`) },
  {
    what: `memory, at most (≤ ${MEMORY_MB} MB)`,
    figure: both((of) => `${of.mb.toFixed(0)} MB`),
    held: ours.mb <= MEMORY_MB,
  },
  { what: 'memory before', figure: `${restMb.toFixed(0)} MB` },
]);
const series = { Docket: ours.late, 'bare BullMQ': theirs.late };
savePlot('watched-exports', curves({ title: `How late polls of ${count} exports are`, unit: 'ms', series }));
floor.stop();
await world.close();
