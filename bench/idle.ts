import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startTestRedis } from '../test/support/redis.ts';
import type { AgentProcess } from './parts/agent-process.ts';
import { endsWithBench } from './parts/children.ts';
import { median } from './parts/figures.ts';
import { bars, savePlot } from './parts/plot.ts';
import { startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * What Docket takes while nobody asks for anything, as `npm start` starts it: from the start of its process to /readyz,
 * its memory, and its share of a processor. With a Redis of its own, which is a process of its own and told apart.
 */
const READY_MS = 1000;
const MEMORY_MB = 125;
const CORE = 0.005;
const STARTS = 5;
/** By then V8 has collected what the start left behind. */
const SETTLED_MS = 45_000;
const WATCHED_MS = 30_000;

const START = fileURLToPath(new URL('../scripts/start.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
const slack = startRemote<SlackProcess>(new URL('./parts/slack-process.ts', import.meta.url).pathname);
const platform = startRemote<AgentProcess>(new URL('./parts/agent-process.ts', import.meta.url).pathname);
const { apiUrl, token, signingSecret } = await slack.listen();
const { url, apiKey, projectId } = await platform.listen();

interface Started {
  child: ChildProcess;
  readyMs: number;
  usage(): ReturnType<typeof usageOf>;
  stop(): Promise<void>;
}

/** Starts Docket as operators do, and waits for /readyz. */
async function start(settings: Record<string, string>): Promise<Started> {
  const atMs = performance.now();
  const child = spawn(process.execPath, [START], {
    env: {
      PATH: process.env.PATH ?? '',
      SLACK_BOT_TOKEN: token,
      SLACK_SIGNING_SECRET: signingSecret,
      SLACK_API_URL: apiUrl,
      DOCS_API_URL: url,
      DOCS_API_KEY: apiKey,
      DOCS_PROJECT_ID: projectId,
      PORT: '0',
      HEALTH_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endsWithBench(child);
  let output = '';
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const up = /"(?:port|healthPort)":(\d+),[^\n]*"Docket is up"/.exec(output);
      if (up) resolve(up[1] ?? '');
    });
    child.once('exit', (code) => reject(new Error(`Docket ended with ${code}:\n${output}`)));
  });
  while (!(await fetch(`http://127.0.0.1:${port}/readyz`)).ok) await pause(5);
  return {
    child,
    readyMs: performance.now() - atMs,
    usage: () => usageOf(child.pid ?? 0),
    async stop() {
      child.removeAllListeners('exit');
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Of a role on a Redis elsewhere, at rest. */
async function memoryOf(role: string, redisUrl: string): Promise<number> {
  const docket = await start({ DOCKET_ROLE: role, REDIS_URL: redisUrl });
  await pause(SETTLED_MS);
  const { residentMb } = docket.usage();
  await docket.stop();
  return residentMb;
}

const own = { DATA_DIR: join(folder, 'data') };
// The first one compiles, for those after it.
await (await start(own)).stop();
const readyMs: number[] = [];
for (let count = 0; count < STARTS; count += 1) {
  const docket = await start(own);
  readyMs.push(docket.readyMs);
  await docket.stop();
}
const docket = await start(own);
await pause(SETTLED_MS);
const before = docket.usage();
await pause(WATCHED_MS);
const after = docket.usage();
const core = (after.cpuMs - before.cpuMs) / WATCHED_MS;
const redisPid = Number(readFileSync(join(own.DATA_DIR, 'redis', 'redis.pid'), 'utf8'));
const redisMb = usageOf(redisPid).residentMb;
await docket.stop();
const redis = await startTestRedis();
const [web, worker] = [await memoryOf('web', redis.url), await memoryOf('worker', redis.url)];

const mb = (number: number) => `${number.toFixed(0)} MB`;
printTable([
  {
    what: `start to ready, of ${STARTS} (≤ ${READY_MS} ms)`,
    figure: `${median(readyMs).toFixed(0)} ms`,
    held: median(readyMs) <= READY_MS,
  },
  {
    what: `memory at rest (≤ ${MEMORY_MB} MB)`,
    figure: mb(after.residentMb),
    held: after.residentMb <= MEMORY_MB,
  },
  { what: 'of a web process, of a worker process', figure: `${mb(web)}, ${mb(worker)}` },
  { what: "of Docket's own Redis", figure: mb(redisMb) },
  {
    what: `of a core at rest (< ${CORE * 100} %)`,
    figure: `${(core * 100).toFixed(2)} %`,
    held: core < CORE,
  },
]);
const values = { 'all in one': after.residentMb, web, worker, 'its own Redis': redisMb };
savePlot('idle', bars({ title: 'Memory at rest', unit: 'MB', values, bound: MEMORY_MB }));
await redis.close();
slack.stop();
platform.stop();
rmSync(folder, { recursive: true, force: true });
