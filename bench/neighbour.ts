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

/**
 * How long a workspace waits for the acknowledgement of a command while people of another one flood the same Docket,
 * against the same without them. The flood is several times what Slack sends an app.
 */
const RATIO = 1.2;
const WARM_UP = 1;
const BLOCK_MS = 5000;

const { values } = parseArgs({
  options: { rate: { type: 'string' }, flood: { type: 'string' }, blocks: { type: 'string' } },
  strict: false,
});
const rate = Number(values.rate ?? 30);
const flood = Number(values.flood ?? 60);
const blocks = Number(values.blocks ?? 6);

const redis = await startTestRedis();
const place = new URL('./parts/slack-process.ts', import.meta.url).pathname;
const workspaces = ['acme', 'globex'].map((name) => ({
  name,
  slack: startRemote<SlackProcess>(place, { TEAM: `T0${name.toUpperCase()}` }),
}));
const platform = startRemote<AgentProcess>(new URL('./parts/agent-process.ts', import.meta.url).pathname);
const { url, apiKey } = await platform.listen();
const listening = await Promise.all(workspaces.map(({ slack }) => slack.listen()));

/** Slack has one address for all workspaces: the token tells whose a call is. */
const router = await listenLocally(
  createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '');
    const { apiUrl = '' } = listening.find((one) => one.token === token) ?? {};
    const { method = 'POST', headers } = request;
    const passed = ask(
      new URL((request.url ?? '').replace('/api/', ''), apiUrl),
      { method, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers)),
    );
    request.pipe(passed);
  }),
);

const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
const config = join(folder, 'docket.yml');
const apps = workspaces.map(
  ({ name }) =>
    `  ${name}: { botToken: { env: TOKEN_${name.toUpperCase()} }, signingSecret: { env: SECRET } }\n`,
);
// Any domain can be typed.
const projects = workspaces.map(
  ({ name }) =>
    `  ${name}: { workspaces: [${name}], domains: [${Array.from({ length: 6000 }, (_, n) => `site-${n}.acme.com`).join()}] }\n`,
);
writeFileSync(config, `workspaces:\n${apps.join('')}projects:\n${projects.join('')}`);
const bot = await startBot({
  ...{ DOCKET_CONFIG: config, DOCKET_ROLE: 'web', SLACK_API_URL: `${router.url}/api/`, REDIS_URL: redis.url },
  ...{ DOCS_API_URL: url, DOCS_API_KEY: apiKey, SECRET: listening[0]?.signingSecret ?? '' },
  ...{ TOKEN_ACME: listening[0]?.token ?? '', TOKEN_GLOBEX: listening[1]?.token ?? '' },
});
for (const { name, slack } of workspaces) await slack.sendTo(bot.port, name);
const [acme, globex] = workspaces.map(({ slack }) => slack);

let refused = 0;
async function block(isFlooded: boolean): Promise<number[]> {
  await redis.client.flushall();
  const flooding = isFlooded ? globex?.typeCommands(flood, BLOCK_MS) : undefined;
  const result = await acme?.typeCommands(rate, BLOCK_MS);
  refused += (result?.refused ?? 0) + ((await flooding)?.refused ?? 0);
  return result?.tookMs ?? [];
}
const sides = await inTurns(blocks, WARM_UP, { docket: () => block(true), floor: () => block(false) });

printTable([
  { what: 'commands a second: own, of the other', figure: `${rate}, ${flood}` },
  ratioRow(sides, '50 %', 0.5),
  ratioRow(sides, `99 % (≤ ${RATIO} times)`, 0.99, RATIO),
  { what: 'refused (0)', figure: String(refused), held: refused === 0 },
]);
await bot.stop();
for (const child of [...workspaces.map(({ slack }) => slack), platform]) child.stop();
await Promise.all([router.close(), redis.close()]);
rmSync(folder, { recursive: true });
