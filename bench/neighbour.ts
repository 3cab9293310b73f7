import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listenLocally } from '../demo/wire.ts';
import { startTestRedis } from '../test/support/redis.ts';
import type { AgentProcess } from './parts/agent-process.ts';
import { inTurns, ratioRow } from './parts/blocks.ts';
import { startBot } from './parts/bot.ts';
import { startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * How long Slack waits for the acknowledgement of a command of one workspace while people of another one flood the same
 * Docket, which has hundreds of their exports already; against the same without them. Then the flood goes to a server
 * that only answers, so that sending it costs the machine as much. Docket is a `web` process. With `--running` it works
 * on the exports as well. With `--split`, each workspace has a `web` process of its own.
 */
const RATIO = 1.2;
const WARM_UP = 1;

const { values } = parseArgs({
  options: {
    ...{ rate: { type: 'string' }, flood: { type: 'string' }, waiting: { type: 'string' } },
    ...{ blocks: { type: 'string' }, seconds: { type: 'string' } },
    ...{ running: { type: 'boolean' }, split: { type: 'boolean' } },
  },
  strict: false,
});
const rate = Number(values.rate ?? 50);
const flood = Number(values.flood ?? 200);
const waiting = Number(values.waiting ?? 500);
const blocks = Number(values.blocks ?? 6);
const blockMs = Number(values.seconds ?? 10) * 1000;
const [isRunning, isSplit] = [values.running === true, values.split === true];

const redis = await startTestRedis();
const startSlack = (TEAM: string) =>
  startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname, { TEAM });
const [slackOfAcme, slackOfGlobex] = [startSlack('T0ACME'), startSlack('T0GLOBEX')];
/** Types in acme, and does nothing else: answering Docket's calls would delay what it measures. */
const typist = startSlack('T0ACME');
const platform = startRemote<AgentProcess>(new URL('./parts/agent-process.ts', import.meta.url).pathname);
const { url, apiKey } = await platform.listen();
const [acme, globex] = [await slackOfAcme.listen(), await slackOfGlobex.listen()];
await typist.listen();

/** Slack has one address for all workspaces: the token says whose a call is. */
const router = await listenLocally(
  createServer((request, response) => {
    const { method = 'POST', headers } = request;
    const { apiUrl } = headers.authorization === `Bearer ${globex.token}` ? globex : acme;
    const address = new URL((request.url ?? '').replace('/api/', ''), apiUrl);
    const passed = ask(address, { method, headers }, (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)),
    );
    request.pipe(passed);
  }),
);
/** Takes the flood in Docket's place. */
const sink = await listenLocally(
  createServer((request, response) => void request.resume().on('end', () => response.end())),
);

const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
const config = join(folder, 'docket.yml');
const domains = Array.from({ length: 5000 }, (_, n) => `site-${n}.acme.com`).join();
writeFileSync(
  config,
  `workspaces:
  acme: { botToken: { env: ACME_TOKEN }, signingSecret: { env: ACME_SECRET } }
  globex: { botToken: { env: GLOBEX_TOKEN }, signingSecret: { env: GLOBEX_SECRET } }
projects:
  docs: { workspaces: [acme], domains: [${domains}] }
  shop: { workspaces: [globex], domains: [${domains}] }
limits: { exportsPerPerson: 1000, exportsPerChannel: 1000 }
`,
);
const settings = {
  ...{ DOCKET_CONFIG: config, SLACK_API_URL: `${router.url}/api/`, REDIS_URL: redis.url },
  ...{ DOCS_API_URL: url, DOCS_API_KEY: apiKey, DOCKET_ROLE: isRunning ? 'all' : 'web' },
  ...{ ACME_TOKEN: acme.token, ACME_SECRET: acme.signingSecret },
  ...{ GLOBEX_TOKEN: globex.token, GLOBEX_SECRET: globex.signingSecret },
};
const bot = await startBot(settings);
const otherBot = isSplit ? await startBot({ ...settings, DOCKET_ROLE: 'web' }) : bot;
await typist.sendTo(bot.port, 'acme');

let refused = 0;
const cpuMs = { docket: 0, floor: 0 };
async function block(side: 'docket' | 'floor'): Promise<number[]> {
  // What was accepted before makes Redis' file longer.
  await redis.client.flushall();
  const target = side === 'docket' ? otherBot.port : Number(new URL(sink.url).port);
  await slackOfGlobex.sendTo(target, 'globex');
  const before = await slackOfGlobex.typeCommands(flood, (waiting * 1000) / flood);
  const usedMs = usageOf(bot.pid).cpuMs;
  const [own, other] = await Promise.all([
    typist.typeCommands(rate, blockMs),
    slackOfGlobex.typeCommands(flood, blockMs),
  ]);
  cpuMs[side] += usageOf(bot.pid).cpuMs - usedMs;
  refused += before.refused + own.refused + other.refused;
  return own.tookMs;
}
const sides = await inTurns(blocks, WARM_UP, {
  docket: () => block('docket'),
  floor: () => block('floor'),
});

const core = (side: 'docket' | 'floor') =>
  `${Math.round((cpuMs[side] * 100) / ((blocks + WARM_UP) * blockMs))} %`;
printTable([
  { what: 'commands a second: own, of the other', figure: `${rate}, ${flood}` },
  { what: 'blocks', figure: `${blocks} of ${blockMs / 1000} s` },
  ratioRow(sides, '50 %', 0.5),
  ratioRow(sides, '95 %', 0.95),
  ratioRow(sides, `99 % (≤ ${RATIO} times)`, 0.99, RATIO),
  { what: 'of a core', figure: `${core('docket')} / ${core('floor')}` },
  { what: 'refused (0)', figure: String(refused), held: refused === 0 },
]);
for (const line of bot.complaints().slice(0, 3)) console.error(line);
await bot.stop();
if (isSplit) await otherBot.stop();
for (const child of [slackOfAcme, slackOfGlobex, typist, platform]) child.stop();
await Promise.all([router.close(), sink.close(), redis.close()]);
rmSync(folder, { recursive: true });
