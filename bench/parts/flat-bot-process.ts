import { subscribe } from 'node:diagnostics_channel';
import { openSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { startApp } from '../../src/app.ts';
import { allowGrowth } from '../../src/config/node.ts';
import { readSettings, secretsOf } from '../../src/config/settings.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createMovedTime } from './moved-clock.ts';
import { serve } from './remote.ts';

/** Docket in a process of its own, at a time that can be moved, which says what it holds. */
setFlagsFromString('--expose-gc');
const collect: NodeJS.GCFunction = runInNewContext('gc');
const settings = readSettings(process.env);
const time = createMovedTime();
const app = await startApp(settings, {
  log: createLog('error', secretsOf(settings)),
  timing: JSON.parse(process.env.TIMING ?? '{}'),
  now: time.now,
});
allowGrowth();

/** What is left behind for each export, so that the bench can be seen to notice. */
const kept = new Map<string, string>();
const leaks: Record<string, (n: number) => unknown> = {
  memory: (n) => kept.set(`export ${n}`, Buffer.alloc(10_000, `${n} `).toString('latin1')),
  keys: (n) => redis?.set(`{docket}:left:${n}`, n),
  files: () => openSync('/dev/null', 'r'),
};
const leak = leaks[process.env.LEAK ?? ''];
const redis = process.env.LEAK === 'keys' ? new Redis(process.env.REDIS_URL ?? '') : undefined;
let starts = 0;
if (leak)
  subscribe('undici:client:sendHeaders', (message) => {
    const { method, path } = (message as { request: { method: string; path: string } }).request;
    if (method !== 'POST' || !path.endsWith('/static-export/jobs')) return;
    starts += 1;
    leak(starts);
  });

const handlers = {
  port: () => app.port,
  move: time.move,
  /** What is left when all garbage is gone: bytes, and open files with sockets among them. */
  held() {
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    const { heapUsed, rss } = process.memoryUsage();
    return { heapUsed, rss, files: readdirSync('/proc/self/fd').length };
  },
  async end() {
    redis?.disconnect();
    await app.stop();
  },
};

export type FlatBotProcess = typeof handlers;
serve(handlers);
