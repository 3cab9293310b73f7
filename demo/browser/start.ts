import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createBot } from '../bot/bot.ts';
import { createRedis } from '../bot/redis.ts';
import { startDeployment } from '../deployment/deployment.ts';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { createStandInGitHost } from '../git-host/git-host.ts';
import { freePort } from '../ports.ts';
import { createStandInSlack } from '../slack/slack.ts';
import {
  DOMAIN,
  liveHere,
  openDirectMessages,
  PLANS,
  REPOSITORY,
  settingsFileFor,
  settingsFor,
} from './seed.ts';
import { createServer } from './server.ts';
import { createClock, type World } from './world.ts';

export interface DemoParts {
  /** The built page. */
  pageFolder: string;
  /** Where the page is served, unless that is taken. */
  port: number;
  /** Where data and logs stay; without it they go with the demo. */
  keep?: string | undefined;
  searchPath: string | undefined;
  /** How long 429s last; a minute when left out. */
  limitMs?: number;
  onError?: (error: unknown) => void;
}

export interface Demo {
  /** Of the page. */
  readonly url: string;
  readonly world: World;
  /** Stops everything, and leaves nothing but a folder that is to be kept. */
  stop(): Promise<void>;
}

/** The folder to keep things in has something in it. The message is a sentence. */
export class FolderInUse extends Error {
  override name = 'FolderInUse';
}

/** Starts the demo; rejects when a part of it does not start, and nothing is left then. */
export async function startDemo(parts: DemoParts): Promise<Demo> {
  const folder =
    parts.keep === undefined ? mkdtempSync(join(tmpdir(), 'docket-demo-')) : emptyFolder(parts.keep);
  const clock = createClock();
  const slack = createStandInSlack({ now: clock.now, transport: 'http' });
  const gitHost = createStandInGitHost({ nowMs: clock.now, repositories: [REPOSITORY] });
  const gitServer = await gitHost.listen();
  const repository = `${gitServer.url}/${REPOSITORY}`;
  const platform = createStandInPlatform({ nowMs: clock.now, domains: [DOMAIN], repository, ...PLANS });
  openDirectMessages(slack);
  liveHere(slack);
  const [slackServer, platformServer] = await Promise.all([slack.listen(), platform.listen()]);
  const [redisPort, botPort] = [await freePort(), await freePort()];
  const docketUrl = `http://127.0.0.1:${botPort}`;
  const deployment = await startDeployment({ nowMs: clock.now, docketUrl });
  const changed = () => server.changed();
  const redis = createRedis({
    folder: join(folder, 'redis'),
    port: redisPort,
    searchPath: parts.searchPath,
    onChange: changed,
  });
  const settingsFile = join(folder, 'docket.yml');
  writeFileSync(settingsFile, settingsFileFor(slack, platform, deployment, gitServer.url));
  const bot = createBot({
    env: {
      ...settingsFor(slack, platform, { slack: slackServer.url, platform: platformServer.url }),
      REDIS_URL: redis.url,
      PORT: String(botPort),
      DOCKET_CONFIG: settingsFile,
      DEPLOY_SECRET: deployment.secret,
      GIT_TOKEN: gitHost.token,
    },
    logFile: join(folder, 'docket.log'),
    onChange: changed,
  });
  slack.botUrl = `${docketUrl}/slack/events`;
  const world: World = { slack, platform, clock, docket: { bot, redis }, deployment, gitHost };
  const server = createServer(world, parts);

  async function stop() {
    slack.stop();
    await server.close();
    await bot.stop();
    await redis.close();
    await deployment.stop();
    await Promise.all([slackServer.close(), platformServer.close(), gitServer.close()]);
    if (parts.keep === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }

  try {
    await redis.start();
    await bot.start();
    return { url: await server.listen(parts.port), world, stop };
  } catch (error) {
    const log = bot.lastLines();
    await stop();
    if (log.length > 0 && error instanceof Error) error.message += `\nDocket wrote: ${log.join('\n')}`;
    throw error;
  }
}

/** The workspace begins anew each time, so data of an earlier one would speak of messages that are not there. */
function emptyFolder(wanted: string): string {
  const folder = resolve(wanted);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0)
    throw new FolderInUse(`${folder} has something in it already: --keep wants a new or an empty folder.`);
  return folder;
}
