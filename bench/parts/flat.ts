import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keys } from '../../src/store/keys.ts';
import { movedClock } from '../../test/support/faketime.ts';
import { startTestRedis } from '../../test/support/redis.ts';
import type { FlatBotProcess } from './flat-bot-process.ts';
import type { FlatPlatformProcess } from './flat-platform-process.ts';
import type { FlatSlackProcess } from './flat-slack-process.ts';
import { type Held, keyFamilies } from './key-families.ts';
import { startRemote } from './remote.ts';

export interface FlatPlan {
  /** In all batches. */
  exports: number;
  threads: number;
  batches: number;
  daysOfBatch: number;
  /** What Docket is made to leave behind for each export: `memory`, `keys` or `files`. */
  leak?: string | undefined;
}

/** What is held after one batch. */
export interface Sample {
  heapMb: number;
  processMb: number;
  files: number;
  redisMb: number;
  families: Map<string, Held>;
  seconds: number;
}

const MB = 1024 * 1024;
const DAY_MS = 86_400_000;
const IDLE_WITHIN_MS = 120_000;

/** Without the limits of Slack and the platform, and as fast as two cores allow. */
const timing = {
  editGapMs: 100,
  sweepMs: 500,
  pollMinMs: 100,
  pollMaxMs: 1000,
  graceMs: 400,
  postsPerMinute: 60_000,
  editsPerMinute: 60_000,
  readsPerMinute: 60_000,
};
const CONFIG =
  'limits: { exportsPerPerson: 1000, exportsPerChannel: 1000, followUpsPerHour: 10000, exportStatusPerSecond: 100 }\n';

const file = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;

/**
 * Has exports and threads come and go in batches, with days between them on the clocks of Redis, the bot and the stand-ins.
 * Returns what is held after each, before the next begins.
 */
export async function runFlat(
  plan: FlatPlan,
  onSample: (sample: Sample) => void = () => {},
): Promise<Sample[]> {
  const closers: (() => unknown)[] = [];
  try {
    return await run(plan, onSample, (close) => void closers.unshift(close));
  } finally {
    for (const close of closers) await close();
  }
}

async function run(
  { exports, threads, batches, daysOfBatch, leak }: FlatPlan,
  onSample: (sample: Sample) => void,
  onEnd: (close: () => unknown) => void,
): Promise<Sample[]> {
  const clock = movedClock(0, onEnd);
  const redis = await startTestRedis(clock.redisEnv);
  onEnd(() => redis.close());
  const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'docket.yml');
  writeFileSync(config, CONFIG);
  const slack = startRemote<FlatSlackProcess>(file('flat-slack-process'));
  onEnd(() => slack.stop());
  const platform = startRemote<FlatPlatformProcess>(file('flat-platform-process'));
  onEnd(() => platform.stop());
  const { apiUrl, token, signingSecret } = await slack.listen();
  const { url, apiKey, projectId } = await platform.listen();
  const bot = startRemote<FlatBotProcess>(file('flat-bot-process'), {
    SLACK_BOT_TOKEN: token,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: apiUrl,
    DOCS_API_URL: url,
    DOCS_API_KEY: apiKey,
    DOCS_PROJECT_ID: projectId,
    DOCKET_CONFIG: config,
    REDIS_URL: redis.url,
    PORT: '0',
    TIMING: JSON.stringify(timing),
    LEAK: leak ?? '',
  });
  onEnd(() => bot.stop());
  await slack.sendTo(await bot.port());

  /** Has all go on so many days after the beginning; returns when Redis does. */
  async function moveTo(days: number): Promise<void> {
    const ms = days * DAY_MS;
    clock.move(ms);
    await until(async () => Number((await redis.client.time())[0]) * 1000 > Date.now() + ms - DAY_MS / 4);
    await Promise.all([bot, slack, platform].map((one) => one.move(ms)));
  }

  /** Returns when nothing is left to do by now, and no message is to be delivered. */
  async function untilIdle(days: number): Promise<void> {
    const { client } = redis;
    await until(async () => {
      const now = Date.now() + days * DAY_MS;
      const due = await client.zcount(keys.activeRuns(), '-inf', now + 60_000);
      return due + (await client.zcard(keys.undelivered())) === 0;
    });
  }

  /** Returns when nothing moves: what is at work while clocks are moved would have parts of both times. */
  async function untilQuiet(): Promise<void> {
    const { client } = redis;
    let calm = 0;
    await until(async () => {
      const active = await Promise.all(
        (await client.keys('{docket}:*:active')).map((key) => client.type(key)),
      );
      const waiting = await client.zcard(keys.undelivered());
      const isQuiet = !active.includes('list') && waiting === 0 && (await slack.isQuiet());
      calm = isQuiet ? calm + 1 : 0;
      return calm === 3;
    });
  }

  const samples: Sample[] = [];
  for (let number = 0; number < batches; number += 1) {
    const beganMs = performance.now();
    const share = (all: number) =>
      Math.floor((all * (number + 1)) / batches) - Math.floor((all * number) / batches);
    const sites = Array.from({ length: share(exports) }, (_, at) => `b${number}s${at}.acme.com`);
    const refs = Array.from({ length: share(threads) }, (_, at) => `agent/b${number}t${at}.`);
    const ids = await platform.renew(sites, refs);
    const jobs = ids.map((id, at) => ({ id, ref: refs[at] ?? '' }));
    const [followed] = await Promise.all([
      slack.followAll(jobs).then((f) => {
        return f;
      }),
      slack.exportAll(sites),
    ]);
    await until(async () => (await platform.taken()) >= jobs.length);
    await slack.stopAll(followed);
    // Links end in the first half of the time to the next batch; what then gets old does so in the second.
    const [half, next] = [(number + 0.5) * daysOfBatch, (number + 1) * daysOfBatch];
    await untilQuiet();
    await moveTo(half);
    await untilIdle(half);
    await moveTo(next);
    await untilIdle(next);
    await slack.forget();
    const { heapUsed, rss, files } = await bot.held();
    const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1]);
    const sample = {
      heapMb: heapUsed / MB,
      processMb: rss / MB,
      files,
      redisMb: used / MB,
      families: await keyFamilies(redis.client),
      seconds: (performance.now() - beganMs) / 1000,
    };
    samples.push(sample);
    onSample(sample);
  }
  await bot.end();
  const violations = await slack.violations();
  if (violations.length > 0) throw new Error(violations.join('\n'));
  return samples;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + IDLE_WITHIN_MS;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`waited in vain for: ${isSo}`);
    await pause(50);
  }
}
