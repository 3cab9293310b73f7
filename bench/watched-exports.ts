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
await docket.lateness();
const before = usageOf(docket.pid).cpuMs;
let mostMb = 0;
const untilMs = performance.now() + forMs;
while (performance.now() < untilMs) {
  mostMb = Math.max(mostMb, usageOf(docket.pid).residentMb);
  await pause(500);
}
const late = await docket.lateness();
const cpu = (usageOf(docket.pid).cpuMs - before) / forMs;
docket.stop();

await redis.client.flushall();
const floor = startRemote<PollFloor>(new URL('./parts/poll-floor-process.ts', import.meta.url).pathname, {
  REDIS_URL: redis.url,
  API_KEY: api.apiKey,
  PLATFORM_URL: api.url,
});
await floor.start(jobIds, (count * forMs) / Math.max(1, late.length));
await pause(FLOOR_SETTLE_MS);
await floor.lateness();
const floorBefore = usageOf(floor.pid).cpuMs;
await pause(forMs / 2);
const floorLate = await floor.lateness();
const floorCpu = (usageOf(floor.pid).cpuMs - floorBefore) / (forMs / 2);
const floorMb = usageOf(floor.pid).residentMb;

const both = (spell: (of: { late: number[]; cpu: number; mb: number }) => string) =>
  `${spell({ late, cpu, mb: mostMb })} / ${spell({ late: floorLate, cpu: floorCpu, mb: floorMb })}`;
printTable([
  { what: 'exports, polls', figure: `${count}, ${both((of) => String(of.late.length))}` },
  { what: 'lateness: 50 %', figure: both((of) => `${quantile(of.late, 0.5).toFixed(0)} ms`) },
  {
    what: `lateness: 99 % (≤ ${LATE_MS} ms)`,
    figure: both((of) => `${quantile(of.late, 0.99).toFixed(0)} ms`),
    held: quantile(late, 0.99) <= LATE_MS,
  },
  { what: 'lateness: longest', figure: both((of) => `${quantile(of.late, 1).toFixed(0)} ms`) },
  { what: 'of a core', figure: both((of) => `${(of.cpu * 100).toFixed(0)} %`) },
  {
    what: `memory, at most (≤ ${MEMORY_MB} MB)`,
    figure: both((of) => `${of.mb.toFixed(0)} MB`),
    held: mostMb <= MEMORY_MB,
  },
  { what: 'memory before', figure: `${restMb.toFixed(0)} MB` },
]);
const series = { Docket: late, 'bare BullMQ': floorLate };
savePlot('watched-exports', curves({ title: `How late polls of ${count} exports are`, unit: 'ms', series }));
floor.stop();
await world.close();
