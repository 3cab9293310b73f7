import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startTestRedis } from '../test/support/redis.ts';
import type { AgentProcess } from './parts/agent-process.ts';
import { inTurns, ratioRow } from './parts/blocks.ts';
import type { BoltFloor } from './parts/bolt-floor-process.ts';
import { startBot } from './parts/bot.ts';
import { curves, savePlot } from './parts/plot.ts';
import { startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * From a reply to the agent's API: from the moment that Slack's event is sent to the moment that the platform receives
 * the call. The floor is a bare Bolt app on BullMQ between the same two requests: it adds a job, and the job makes the
 * call. Both are one process, both write to the same Redis, and the stand-ins are processes of their own. By default it
 * is more than twice what Slack delivers at most: 30,000 events of a workspace an hour
 * (https://docs.slack.dev/reference/events/app_rate_limited/).
 */
const RATIO = 2;
const BLOCK_MS = 10_000;
const WARM_UP = 1;
/** No work of a block is left after so long, beside the status of a round, which is edited every few seconds. */
const SETTLE_MS = 1500;

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '40' },
    rate: { type: 'string', default: '20' },
    blocks: { type: 'string', default: '8' },
  },
  strict: false,
});
const [count, rate, blocks] = [Number(values.threads), Number(values.rate), Number(values.blocks)];

const redis = await startTestRedis();
const slack = startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname);
const platform = startRemote<AgentProcess>(new URL('./parts/agent-process.ts', import.meta.url).pathname);
const [{ apiUrl, token, signingSecret }, { url, apiKey, projectId }] = [
  await slack.listen(),
  await platform.listen(),
];
const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
const config = join(folder, 'docket.yml');
// People reply while the agent works.
writeFileSync(config, 'whileWorking: send\nlimits: { followUpsPerHour: 10000 }\n');
const bot = await startBot({
  SLACK_BOT_TOKEN: token,
  SLACK_SIGNING_SECRET: signingSecret,
  SLACK_API_URL: apiUrl,
  DOCS_API_URL: url,
  DOCS_API_KEY: apiKey,
  DOCS_PROJECT_ID: projectId,
  DOCKET_CONFIG: config,
  REDIS_URL: redis.url,
});
const jobs = await Promise.all(
  Array.from({ length: count }, async (_, index) => {
    const ref = `agent/t${index}.`;
    return { ref, id: await platform.addJob(ref) };
  }),
);
await slack.sendTo(bot.port);
const threads = await slack.follow(jobs);

const floor = startRemote<BoltFloor>(new URL('./parts/bolt-floor-process.ts', import.meta.url).pathname, {
  REDIS_URL: redis.url,
  SIGNING_SECRET: signingSecret,
  SEND_TO: `${url}/v2/agent/${projectId}/job/${jobs[0]?.id}/message`,
  API_KEY: apiKey,
});
const floorPort = await floor.start();
await floor.work();

let written = 0;
const cpuMs = { docket: 0, floor: 0 };

/** Has people reply for one block, and returns how long each reply took. */
async function block(side: 'docket' | 'floor', port: number, pid: number): Promise<number[]> {
  await slack.sendTo(port);
  const before = usageOf(pid).cpuMs;
  const sentAtMs = await slack.reply(threads, rate, BLOCK_MS);
  written += Object.keys(sentAtMs).length;
  const untilMs = performance.now() + 60_000;
  while ((await platform.taken()) < written && performance.now() < untilMs) await pause(50);
  await pause(SETTLE_MS);
  cpuMs[side] += usageOf(pid).cpuMs - before;
  const arrived = await platform.arrivals();
  return Object.entries(sentAtMs).flatMap(([text, atMs]) => {
    const arrivedAtMs = arrived[text];
    return arrivedAtMs === undefined ? [] : [arrivedAtMs - atMs];
  });
}
const sides = await inTurns(blocks, WARM_UP, {
  docket: () => block('docket', bot.port, bot.pid),
  floor: () => block('floor', floorPort, floor.pid),
});

const taken = await platform.taken();
const perReply = (side: 'docket' | 'floor') => ((cpuMs[side] * 2) / written).toFixed(1);
printTable([
  {
    what: 'replies a second, threads, blocks',
    figure: `${rate}, ${count}, ${blocks} of ${BLOCK_MS / 1000} s`,
  },
  ratioRow(sides, '50 %', 0.5),
  ratioRow(sides, '95 %', 0.95),
  ratioRow(sides, `99 % (≤ ${RATIO} times)`, 0.99, RATIO),
  {
    what: 'processor time of a reply, what follows included',
    figure: `${perReply('docket')} / ${perReply('floor')} ms`,
  },
  { what: 'replies that arrived', figure: `${taken} of ${written}`, held: taken === written },
  { what: 'warnings in the log', figure: String(bot.complaints().length) },
]);
const series = { Docket: sides.docket.flat(), 'bare BullMQ': sides.floor.flat() };
savePlot('reply-latency', curves({ title: "From a reply to the agent's call", unit: 'ms', series }));
for (const line of bot.complaints().slice(0, 3)) console.error(line);
await bot.stop();
for (const child of [slack, platform, floor]) child.stop();
await redis.close();
rmSync(folder, { recursive: true, force: true });
