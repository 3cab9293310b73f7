import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStandInPlatform } from '../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../demo/slack/slack.ts';
import { quantile } from './parts/figures.ts';
import { startFloor } from './parts/floor.ts';
import { printTable } from './parts/table.ts';
import { startWorld } from './parts/world.ts';

/**
 * From a reply to the agent's API: from the moment Slack's event is sent to the moment the platform receives the call.
 * Beside it bare BullMQ, from `queue.add` in one process to the start of processing in another, on the same Redis and
 * in the same minutes: both alternate in short blocks, so that both see the same noise of the machine. A third block
 * has bare BullMQ take its jobs from HTTP requests and make one for each, as a reply does.
 */
const RATIO = 1.5;
const BLOCK_MS = 5000;
/** The first block of each is not counted: code is compiled and connections are made in it. */
const WARM_UP_BLOCKS = 1;
const SEND = 'POST /v2/agent/{projectId}/job/{jobId}/message';

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '40' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '60' },
  },
});
const [threads, rate] = [Number(values.threads), Number(values.rate)];
const blocks = Math.ceil((Number(values.seconds) * 1000) / BLOCK_MS) + WARM_UP_BLOCKS;

const slack = createStandInSlack({ transport: 'http', rateLimits: false });
// An agent works for minutes: no round ends while it is measured.
const platform = createStandInPlatform({ followUpsPerHour: 10_000, agentPlan: { durationMs: 600_000 } });
const { url, close: closePlatform } = await platform.listen();
const { apiKey, projectId } = platform;
const lifted = 60_000;
const world = await startWorld(
  slack,
  { url, apiKey, projectId },
  'limits: { followUpsPerHour: 10000, exportStatusPerSecond: 100 }\n',
  {
    postsPerMinute: lifted,
    editsPerMinute: lifted,
    reactionsPerMinute: lifted,
    reactionRemovalsPerMinute: lifted,
  },
);
const { bot } = world;
const floor = await startFloor(world.redisUrl, rate);

const ana = slack.person('ana');
const roots: string[] = [];
for (let n = 1; n <= threads; n += 1) {
  const jobId = platform.agent.add({ ref: `agent/t${n}.` });
  await ana.types('#docs', `/docs-agent follow ${jobId}`);
  const card = await slack.until(() =>
    slack.messages.find((message) => slack.read(message).includes(`agent/t${n}.`)),
  );
  roots.push(card.ts);
}
await pause(2000);

const sentAtMs = new Map<string, number>();
const latencies: number[] = [];
platform.wire.onCall((call, phase) => {
  if (call.name !== SEND || phase !== 'before') return;
  const { prompt } = call.detail.body as { prompt: string };
  const atMs = sentAtMs.get(prompt);
  sentAtMs.delete(prompt);
  if (atMs !== undefined) latencies.push(performance.now() - atMs);
});

let written = 0;
function reply() {
  written += 1;
  const text = `n${written} please improve the page about errors`;
  const threadTs = roots[written % roots.length] ?? '';
  sentAtMs.set(text, performance.now());
  void ana.says('#docs', text, { threadTs });
}

console.log(`${threads} threads, ${rate} replies a second, ${values.seconds} s of each, in blocks of ${BLOCK_MS / 1000} s.
The stand-ins run in the process that measures; the bot, the producer and the worker of bare BullMQ, and Redis are
processes of their own.
`);
const replies: number[] = [];
const bare: number[] = [];
const between: number[] = [];
for (let block = 0; block < blocks; block += 1) {
  const timer = setInterval(reply, 1000 / rate);
  await pause(BLOCK_MS);
  clearInterval(timer);
  await slack.until(() => sentAtMs.size === 0, 60_000, 'the last replies');
  floor.run(true);
  await pause(BLOCK_MS);
  floor.run(false);
  await pause(200);
  const [mine, theirs] = [latencies.splice(0), await floor.latencies()];
  const overHttp = await floor.overHttp(BLOCK_MS);
  if (block < WARM_UP_BLOCKS) continue;
  between.push(...overHttp);
  replies.push(...mine);
  bare.push(...theirs);
}
floor.stop();
await bot.stop();

const ms = (number: number) => `${number.toFixed(1)} ms`;
const against = (floorOf: number[], name: string) => (what: string, q: number, bound?: number) => {
  const [mine, theirs] = [quantile(replies, q), quantile(floorOf, q)];
  const ratio = mine / theirs;
  const figure = `${ms(mine)} / ${ms(theirs)} = ${ratio.toFixed(2)}`;
  return { what: `${what}: reply / ${name}`, figure, ...(bound && { held: ratio <= bound }) };
};
const both = against(bare, 'bare BullMQ');
const same = against(between, 'BullMQ between HTTP');
printTable([
  { what: 'replies, bare jobs', figure: `${replies.length}, ${bare.length}` },
  both('50 %', 0.5),
  both('95 %', 0.95),
  both(`99 % (≤ ${RATIO} times)`, 0.99, RATIO),
  both('longest', 1),
  same('50 %', 0.5),
  same('95 %', 0.95),
  same('99 %', 0.99),
  {
    what: 'replies that arrived',
    figure: `${platform.agent.messages.length} of ${written}`,
    held: platform.agent.messages.length === written,
  },
  { what: 'warnings in the log', figure: String(bot.complaints().length) },
]);
for (const line of bot.complaints().slice(0, 3)) console.log(line);

await Promise.all([world.stop(), closePlatform()]);
