import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bars, savePlot } from './parts/plot.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';
import { createWatchedWorld } from './parts/watched.ts';

/**
 * What a second worker process brings. A worker waits for the platform most of the time, and makes so many calls at
 * once: here each poll takes a while, and there are always more that are due. So the figure is about Docket's own sharing of
 * the work, and holds on a machine whose two cores Redis and the stand-ins use as well.
 */
const AT_LEAST = 1.8;
const EXPORTS = 600;
const POLL_MS = 500;
const SETTLE_MS = 5000;

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '12' } }, strict: false });
const forMs = Number(values.seconds) * 1000;

const world = await createWatchedWorld();
await world.platform.slowPolls(POLL_MS);
// Slack's limits hold up no poll, but its edits would take processor time from both alike.
const env = {
  TIMING: JSON.stringify({ pollMinMs: 1000, pollMaxMs: 1000, editsPerMinute: 1 }),
};
const first = await world.startWorker(env);
await world.watch(EXPORTS);

/** Returns polls a second, and how much of a core each process of Docket uses meanwhile. */
async function measure(pids: number[]) {
  await pause(SETTLE_MS);
  const cpu = () => pids.reduce((sum, pid) => sum + usageOf(pid).cpuMs, 0);
  const [polls, cpuMs] = [await world.platform.polls(), cpu()];
  await pause(forMs);
  return {
    perSecond: ((await world.platform.polls()) - polls) / (forMs / 1000),
    cores: (cpu() - cpuMs) / forMs / pids.length,
  };
}

const before = await measure([first.pid]);
const second = await world.startWorker(env);
const two = await measure([first.pid, second.pid]);
await second.end();
second.stop();
const after = await measure([first.pid]);
const one = (before.perSecond + after.perSecond) / 2;

const perSecond = (number: number) => `${number.toFixed(1)} a second`;
printTable([
  {
    what: 'polls by one process, before and after',
    figure: `${perSecond(before.perSecond)}, ${perSecond(after.perSecond)}`,
  },
  { what: 'polls by two', figure: perSecond(two.perSecond) },
  {
    what: `two against one (≥ ${AT_LEAST} times)`,
    figure: (two.perSecond / one).toFixed(2),
    held: two.perSecond / one >= AT_LEAST,
  },
  {
    what: 'of a core, each process: alone, as one of two',
    figure: [before, two].map(({ cores }) => `${(cores * 100).toFixed(0)} %`).join(', '),
  },
]);
const each = { 'one process': one, two: two.perSecond };
savePlot('second-worker', bars({ title: 'Polls a second', unit: '', values: each }));
first.stop();
await world.close();
