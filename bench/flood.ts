import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startTestRedis } from '../test/support/redis.ts';
import { signatureOf } from '../test/support/sign.ts';
import { startBot } from './parts/bot.ts';
import { quantile } from './parts/figures.ts';
import type { FloodProcess } from './parts/flood-process.ts';
import { startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable, type Row } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * How long Slack waits for the acknowledgement of a command, and how much memory Docket takes, while somebody without a
 * secret sends bodies in chunks of a byte on many connections at once; and the same bytes with a length. `--pieces=64,256`
 * are other sizes of chunks, and `--heap=256` limits Docket's memory.
 */
const ACKNOWLEDGE_MS = 250;
const MEMORY_MB = 60;

const { values } = parseArgs({
  options: {
    ...{ connections: { type: 'string' }, bytes: { type: 'string' } },
    ...{ pieces: { type: 'string' }, heap: { type: 'string' } },
  },
  strict: false,
});
const connections = Number(values.connections ?? 300);
const bytes = Number(values.bytes ?? 130_000);
/** Bytes of a chunk; 0 is a body with a length. */
const pieces = String(values.pieces ?? '0,1')
  .split(',')
  .map(Number);
const rate = 50;

const redis = await startTestRedis();
const slack = startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname);
const flooder = startRemote<FloodProcess>(new URL('./parts/flood-process.ts', import.meta.url).pathname);
const { apiUrl, token, signingSecret } = await slack.listen();
if (values.heap) process.env.BOT_NODE_OPTIONS = `--max-old-space-size=${values.heap}`;
const settings = {
  SLACK_BOT_TOKEN: token,
  SLACK_SIGNING_SECRET: signingSecret,
  SLACK_API_URL: apiUrl,
  DOCS_API_URL: 'http://127.0.0.1:9/',
  DOCS_API_KEY: 'adm_0123456789',
  REDIS_URL: redis.url,
};

const paths: [name: string, path: string, headers: Record<string, string>][] = [
  ['/none', '/none', {}],
  ['/slack/events', '/slack/events', {}],
  ['/slack/events, wrongly signed', '/slack/events', signatureOf('', 'another')],
  [
    '/deployments/x',
    '/deployments/msg_0123456789abcdef01234567_1_1',
    { 'webhook-id': 'msg_0123456789abcdef01234567_1_1' },
  ],
  ['/healthz', '/healthz', {}],
];
const rows: Row[] = [];
for (const [name, path, headers] of paths)
  for (const pieceBytes of pieces) {
    const bot = await startBot({ ...settings, DOCKET_ROLE: 'web' });
    await slack.sendTo(bot.port);
    await slack.typeCommands(rate, 2000);
    const before = usageOf(bot.pid);
    let most = before.residentMb;
    const sampler = setInterval(() => {
      most = Math.max(most, usageOf(bot.pid).residentMb);
    }, 10);
    const sent = { port: bot.port, path, headers, connections, bytes, pieceBytes };
    const typing = slack.typeCommands(rate, 4000);
    await pause(300);
    await flooder.flood(sent, 3000);
    const p99 = quantile((await typing).tookMs, 0.99);
    clearInterval(sampler);
    const grown = most - before.residentMb;
    const cpuMs = usageOf(bot.pid).cpuMs - before.cpuMs;
    rows.push({
      what: `${name}, ${pieceBytes === 0 ? 'a length' : `chunks of ${pieceBytes} B`}`,
      figure: `99 %: ${p99.toFixed(0)} ms, ${cpuMs} ms of processor time, +${grown.toFixed(0)} MB`,
      held: p99 <= ACKNOWLEDGE_MS && grown <= MEMORY_MB,
    });
    await bot.stop();
  }
printTable(rows);
for (const child of [slack, flooder]) child.stop();
await redis.close();
