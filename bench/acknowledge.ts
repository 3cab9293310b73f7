import { parseArgs } from 'node:util';
import { startTestRedis } from '../test/support/redis.ts';
import type { AgentProcess } from './parts/agent-process.ts';
import { inTurns, ratioRow } from './parts/blocks.ts';
import type { BoltFloor } from './parts/bolt-floor-process.ts';
import { startBot } from './parts/bot.ts';
import { curves, savePlot } from './parts/plot.ts';
import { type Remote, startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * How long Slack waits for the acknowledgement of a command, against a bare Bolt app that adds one BullMQ job. Both are
 * processes of their own, and so are the stand-ins; both write to the same Redis. Docket's is a `web` process: as with the
 * floor, nobody works on what was added. With `--running` it works on the exports as well, which run for hours: then
 * each block is longer, and slower. With `--split` as well, a `worker` process of its own works on them.
 */
const RATIO = 1.3;
const WARM_UP = 1;

const { values } = parseArgs({
  options: {
    rate: { type: 'string' },
    blocks: { type: 'string' },
    running: { type: 'boolean', default: false },
    split: { type: 'boolean', default: false },
  },
  strict: false,
});
const isRunning = values.running === true;
const BLOCK_MS = isRunning ? 30_000 : 5000;
const rate = Number(values.rate ?? (isRunning ? 30 : 100));
const blocks = Number(values.blocks ?? (isRunning ? 2 : 6));

const redis = await startTestRedis();
const slack = startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname);
/** Measures in a process that does nothing else: answering the bot's calls would delay what it measures. */
const typist = startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname);
const platform = startRemote<AgentProcess>(new URL('./parts/agent-process.ts', import.meta.url).pathname);
const [{ apiUrl, token, signingSecret }, { url, apiKey, projectId }] = [
  await slack.listen(),
  await platform.listen(),
];
await typist.listen();
const settings = {
  SLACK_BOT_TOKEN: token,
  SLACK_SIGNING_SECRET: signingSecret,
  SLACK_API_URL: apiUrl,
  DOCS_API_URL: url,
  DOCS_API_KEY: apiKey,
  DOCS_PROJECT_ID: projectId,
  REDIS_URL: redis.url,
};
const isSplit = isRunning && values.split === true;
const bot = await startBot({ ...settings, DOCKET_ROLE: isRunning && !isSplit ? 'all' : 'web' });
const worker = isSplit ? await startBot({ ...settings, DOCKET_ROLE: 'worker', HEALTH_PORT: '0' }) : undefined;
const floor: Remote<BoltFloor> = startRemote<BoltFloor>(
  new URL('./parts/bolt-floor-process.ts', import.meta.url).pathname,
  { REDIS_URL: redis.url, SIGNING_SECRET: signingSecret },
);
const floorPort = await floor.start();

let refused = 0;
/** Of all blocks, the first included. */
const cpuMs = { docket: 0, floor: 0 };
async function block(side: 'docket' | 'floor', port: number, pid: number): Promise<number[]> {
  // What was accepted before counts toward the quotas of those who asked for it, and makes Redis' file longer.
  await redis.client.flushall();
  await typist.sendTo(port);
  const before = usageOf(pid).cpuMs;
  const result = await typist.typeCommands(rate, BLOCK_MS);
  cpuMs[side] += usageOf(pid).cpuMs - before;
  refused += result.refused;
  return result.tookMs;
}
const sides = await inTurns(blocks, WARM_UP, {
  docket: () => block('docket', bot.port, bot.pid),
  floor: () => block('floor', floorPort, floor.pid),
});

const count = ((blocks + WARM_UP) * BLOCK_MS * rate) / 1000;
const perCommand = (side: 'docket' | 'floor') => (cpuMs[side] / count).toFixed(2);
printTable([
  { what: 'commands a second, blocks', figure: `${rate}, ${blocks} of ${BLOCK_MS / 1000} s` },
  ratioRow(sides, `50 % (≤ ${RATIO} times)`, 0.5, RATIO),
  ratioRow(sides, '95 %', 0.95),
  ratioRow(sides, `99 % (≤ ${RATIO} times)`, 0.99, RATIO),
  { what: 'processor time of a command', figure: `${perCommand('docket')} / ${perCommand('floor')} ms` },
  { what: 'refused (0)', figure: String(refused), held: refused === 0 },
  { what: 'warnings in the log', figure: String(bot.complaints().length) },
]);
const series = { Docket: sides.docket.flat(), 'bare Bolt': sides.floor.flat() };
savePlot('acknowledge', curves({ title: 'Acknowledgement of a command', unit: 'ms', series }));
for (const line of bot.complaints().slice(0, 3)) console.error(line);
await bot.stop();
await worker?.stop();
for (const child of [slack, typist, platform, floor]) child.stop();
await redis.close();
