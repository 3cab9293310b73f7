import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { forgetHours, wakeRuns } from '../../../demo/bot/wake.ts';
import {
  createStandInPlatform,
  type StandInPlatform,
  type StandInPlatformOptions,
} from '../../../demo/docs-platform/platform.ts';
import {
  createStandInSlack,
  type StandInSlack,
  type StandInSlackOptions,
} from '../../../demo/slack/slack.ts';
import type { Call } from '../../../demo/wire.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { withTimeout } from '../../../src/runtime/with-timeout.ts';
import { startTestRedis, type TestRedis } from '../redis.ts';
import { type EarlyEnd, type RunningBot, spawnAndStop, spawnBot, startBotHere } from './bots.ts';

/** Short enough that recovery is seen within a second, long enough for two loaded cores. */
const quick: Partial<Timing> = {
  permissionMs: 900,
  slackCallMs: 1500,
  docsCallMs: 1000,
  deploymentCallMs: 1000,
  callMarginMs: 150,
  // Ten times what Slack allows; its stand-in here counts as many, and holds the bot to them as strictly.
  postsPerMinute: 600,
  editsPerMinute: 400,
  digestsPerMinute: 600,
  readsPerMinute: 400,
  digestWaitMs: 1000,
  editGapMs: 50,
  lockMs: 1500,
  stalledMs: 300,
  sweepMs: 250,
  problemCheckMs: 250,
  retryMinMs: 50,
  retryMaxMs: 300,
  pollMinMs: 25,
  pollMaxMs: 100,
  graceMs: 400,
  shutdownMs: 3000,
};

export interface Bot extends RunningBot {
  /** Whether it made this call to a stand-in. */
  made(call: Call): boolean;
}

/** A whole world on this machine: Slack, the docs platform, a real Redis, and bots. */
export interface World {
  slack: StandInSlack;
  platform: StandInPlatform;
  redis: TestRedis;
  bots: Bot[];
  /** Starts one more bot. Slack talks to the newest that takes requests. */
  startBot(options?: BotOptions): Promise<Bot>;
  /** Starts a process of a bot that Slack does not know of, sends it SIGTERM as `spawnAndStop` does, and waits for its end. */
  startAndStop(options: BotOptions, afterMs: number): Promise<EarlyEnd>;
  /**
   * Forgets what happened so far: messages, dialogs, exports, agent jobs, work, orders on the wires, calls and limits.
   * What the bots remember by themselves, such as who people are, stays.
   */
  forget(): Promise<void>;
  /** The time, as the stand-ins and the bots have it where `startMs` says when it begins. */
  now(): number;
  /** Goes on at another time, with everything woken that waited for it. Only with `startMs`, and without processes. */
  jumpTo(ms: number): Promise<void>;
  /** What no log may hold: tokens, keys, response addresses, bundle links, and what people wrote. */
  secrets(): string[];
  /** What neither logs nor people nor operators may be shown: secrets of deployments, and what a test adds. */
  readonly hidden: Set<string>;
  /** Stops everything and checks what must hold in every test. */
  close(): Promise<void>;
}

export interface BotOptions {
  /** A process of its own, which can be killed and take any `env`; otherwise it runs in the test's. */
  process?: boolean;
  timing?: Partial<Timing>;
  env?: Record<string, string>;
  /** The text of the file that DOCKET_CONFIG names. */
  config?: string;
  /** Uses the bot's own Redis, in this folder. */
  dataDir?: string;
}

export interface WorldOptions {
  /** Whether every bot is a process: only those can be killed. */
  processes?: boolean;
  /** When the world's own time begins, which `jumpTo` moves; without it, time is that of this machine. */
  startMs?: number;
  /** How Slack reaches the bots; over HTTP when left out. */
  transport?: 'http' | 'socket';
  slack?: Pick<StandInSlackOptions, 'rateLimits' | 'distributed' | 'eventRetryDelaysMs'>;
  platform?: StandInPlatformOptions;
  /** Added to the environment of Redis, such as a clock of its own. */
  redisEnv?: NodeJS.ProcessEnv;
  /** Rules of Slack that the test breaks on purpose. */
  mayViolate?: RegExp;
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { startMs } = options;
  let aheadMs = startMs === undefined ? 0 : startMs - Date.now();
  const now = () => Date.now() + aheadMs;
  const slack = createStandInSlack({
    now,
    rateLimits: 10,
    ...options.slack,
    transport: options.transport ?? 'http',
  });
  const platform = createStandInPlatform({
    nowMs: now,
    exportPlan: { holdAt: 0.42, durationMs: 40 },
    ...options.platform,
  });
  const redis = await startTestRedis(options.redisEnv);
  const servers: { close(): Promise<void> }[] = [];
  const bots: Bot[] = [];
  const folder = temporaryFolder();
  const channels = slack.workspace.channels.map((channel) => ({
    channel,
    before: { ...channel, members: [...channel.members] },
  }));
  const forgotten = new Set<string>();
  const hidden = new Set<string>();
  /** What Slack was sent before it was forgotten, the metrics and the audit log. */
  let shown = '';
  let hasProcesses = false;

  /** Returns the environment of a bot, its durations, and the ports of the stand-ins that are its own. */
  async function prepareBot({ timing, config: wanted, dataDir, env: more }: BotOptions) {
    // Each bot gets addresses of its own, so that a call tells whose it is.
    const [slackServer, platformServer] = await Promise.all([slack.listen(), platform.listen()]);
    servers.push(slackServer, platformServer);
    const addresses = [slackServer.url, platformServer.url].map((url) => new URL(url).port);
    const config = more?.DOCKET_CONFIG === undefined ? withPolls(wanted) : wanted;
    const configFile = join(folder.path, `${addresses[0]}.yml`);
    if (config !== undefined) writeFileSync(configFile, config);
    const env: Record<string, string> = {
      SLACK_BOT_TOKEN: slack.tokens.bot,
      ...(options.transport === 'socket'
        ? { SLACK_APP_TOKEN: slack.tokens.app }
        : { SLACK_SIGNING_SECRET: slack.tokens.signingSecret }),
      SLACK_API_URL: `${slackServer.url}/api/`,
      DOCS_API_URL: platformServer.url,
      DOCS_API_KEY: platform.apiKey,
      // With projects of its own, the file has their ids.
      ...(!config?.includes('projects:') && { DOCS_PROJECT_ID: platform.projectId }),
      LOG_LEVEL: 'debug',
      ...(dataDir === undefined ? { REDIS_URL: redis.url } : { DATA_DIR: dataDir }),
      ...(config !== undefined && { DOCKET_CONFIG: configFile }),
      ...more,
    };
    for (const secret of secretsOfDeployments(config, env)) hidden.add(secret);
    const times = { ...quick, ...timing };
    return { env, times, addresses };
  }

  async function startBot(bot: BotOptions = {}): Promise<Bot> {
    const { env, times, addresses } = await prepareBot(bot);
    const isProcess = bot.process ?? options.processes ?? false;
    if (isProcess && startMs !== undefined) env.TEST_AHEAD_MS = String(aheadMs);
    hasProcesses ||= isProcess;
    const running = await (isProcess
      ? spawnBot(env, times)
      : startBotHere(env, times, startMs === undefined ? undefined : now));
    const started = { ...running, made: (call: Call) => addresses.includes(call.port) };
    bots.push(started);
    if (started.port > 0) slack.botUrl = `http://127.0.0.1:${started.port}/slack/events`;
    return started;
  }

  function secrets() {
    const asked = slack.wire.calls.map(({ detail }) => JSON.stringify(detail));
    const links = asked.flatMap((call) => call.match(/https?:[^"\\\s]*X-Signature=[^"\\\s]*/g) ?? []);
    const signatures = links.flatMap((link) => /X-Signature=([^&"\\]+)/.exec(link)?.[1] ?? []);
    const { bot, signingSecret, app } = slack.tokens;
    const addresses = ['/response/', '?ticket='];
    const keys = [platform.apiKey, ...(options.platform?.others ?? []).map(({ apiKey }) => apiKey)];
    const people = slack.messages.filter(({ from }) => from !== 'docket').map(({ text }) => text);
    const prompts = platform.agent.messages.map(({ prompt }) => prompt);
    // A single word may well be one of the log's own.
    const words = [...people, ...prompts].filter((text) => text.length >= 12);
    const deployments = [...hidden, 'X-Signature='];
    return [
      ...[bot, signingSecret, app, ...keys, ...addresses, ...links, ...signatures, ...words, ...forgotten],
      ...deployments,
    ];
  }

  /** Keeps what people and operators were shown, to look for the secrets of deployments. */
  async function keepShown() {
    if (hidden.size === 0) return;
    shown += JSON.stringify(slack.wire.calls);
    const metrics = bots
      .filter(({ port, running }) => port > 0 && running())
      .map(({ port }) => fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text()));
    const readAudit = async () => {
      const names = await redis.client.keys('{docket}:audit*');
      return JSON.stringify(await Promise.all(names.map((name) => redis.client.xrange(name, '-', '+'))));
    };
    // A test may have ended a bot or Redis, or frozen it.
    for (const part of await Promise.allSettled(
      [...metrics, readAudit()].map((read) => withTimeout(1000, read)),
    ))
      if (part.status === 'fulfilled') shown += part.value;
  }

  async function forget() {
    await keepShown();
    slack.wire.clear();
    platform.wire.clear();
    for (const secret of secrets()) forgotten.add(secret);
    await dropWork(redis);
    for (const list of [slack.messages, slack.ephemerals, slack.files, slack.wire.calls]) list.splice(0);
    for (const list of [platform.starts, platform.wire.calls]) list.splice(0);
    for (const jobId of [...platform.exports.keys()]) platform.forget(jobId);
    platform.agent.clear();
    platform.site.clear();
    platform.linkLifeMs = 3_600_000;
    for (const name of ['ana', 'ben', 'gus', 'sue', 'eve'] as const)
      while (slack.person(name).modal()) await slack.person(name).closes();
    for (const { channel, before } of channels)
      Object.assign(channel, before, { members: new Set(before.members) });
    slack.forgetCalls();
  }

  return {
    slack,
    platform,
    redis,
    bots,
    startBot,
    async startAndStop(bot, afterMs) {
      const { env, times } = await prepareBot(bot);
      return spawnAndStop(env, times, afterMs);
    },
    forget,
    secrets,
    hidden,
    now,
    async jumpTo(ms) {
      if (startMs === undefined) throw new Error('createWorld({ startMs }) has a time that can be moved');
      if (hasProcesses) throw new Error("Only bots in the test's process go along to another time");
      // What was signed before must not arrive after it.
      await slack.until(() => slack.events.every(({ attempts }) => attempts.length > 0));
      aheadMs = ms - Date.now();
      await forgetHours(redis.client);
      await wakeRuns(redis.client);
    },
    async close() {
      slack.stop();
      await keepShown();
      await Promise.all(bots.map((bot) => bot.end()));
      await Promise.all([...servers.map((server) => server.close()), redis.close()]);
      folder.remove();
      const output = bots.map((bot) => bot.output()).join('\n');
      expect(output).toContain('Docket is up');
      for (const secret of secrets()) expect(output).not.toContain(secret);
      for (const secret of hidden) expect(shown).not.toContain(secret);
      expect(slack.violations.filter((rule) => !options.mayViolate?.test(rule))).toEqual([]);
      expect(slack.limited).toEqual([]);
    },
  };
}

/**
 * Work whose record is gone is dropped by whoever comes to it; this waits until everybody has. Rate limits go
 * last: a post that is still on its way must not find Slack's limits open.
 */
async function dropWork({ client }: TestRedis) {
  const rateLimits = '{docket}:limit:';
  const queues = ['docs-export', 'docs-agent', 'docs-analytics', 'slack-outbox'].map(
    (queue) => `{docket}:${queue}:`,
  );
  const records = async () =>
    (await client.keys('{docket}:*')).filter(
      (key) => ![rateLimits, '{docket}:schema', ...queues].some((kept) => key.startsWith(kept)),
    );
  // Jobs go from waiting to active: read in this order, none is seen in neither.
  const lists = queues.flatMap((queue) => [`${queue}wait`, `${queue}active`]);
  const busy = async () => {
    for (const list of lists) if ((await client.llen(list)) > 0) return true;
    return false;
  };
  for (;;) {
    const left = await records();
    if (left.length > 0) await client.del(...left);
    if (!(await busy()) && (await records()).length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const left = await client.keys(`${rateLimits}*`);
  if (left.length > 0) await client.del(...left);
}

/** Unless its limits are empty, or say how often, a world has more polls a second than Docket usually makes. */
function withPolls(config = ''): string {
  if (config.includes('exportStatusPerSecond') || config.includes('limits: {}')) return config;
  const limits = 'limits: { exportStatusPerSecond: 100';
  if (/^limits: \{/m.test(config)) return config.replace(/^limits: \{/m, `${limits},`);
  return `${config}\n${limits} }\n`;
}

/** Returns the secrets and tokens of deployments that a settings file names, as they are and without their prefix. */
function secretsOfDeployments(config = '', env: Record<string, string>): string[] {
  const named = config.matchAll(/\b(?:secret|token): *\{ *(env|file): *([^\s},]+) *\}/g);
  return [...named].flatMap(([, kind, name = '']) => {
    const secret = kind === 'env' ? (env[name] ?? '') : readFileSync(name, 'utf8').trim();
    return [secret, secret.replace(/^whsec_/, '')].filter((text) => text !== '');
  });
}

/** A folder that goes when the test ends. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(process.env.TEST_DATA ?? tmpdir(), 'docket-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
