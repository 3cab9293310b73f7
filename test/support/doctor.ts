import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createStandInPlatform, type StandInPlatform } from '../../demo/docs-platform/platform.ts';
import { readManifest } from '../../demo/slack/manifest.ts';
import { createStandInSlack, type StandInSlack } from '../../demo/slack/slack.ts';
import { type DiagnoseOptions, diagnose, type Finding } from '../../src/doctor/diagnose.ts';
import { freePort, redisForTests } from './redis.ts';

/** What a test changes of a set-up in which all is good. */
export interface Trouble {
  env?: NodeJS.ProcessEnv;
  options?: Partial<DiagnoseOptions>;
  before?: () => unknown;
}

/** A set-up in which all is good: stand-ins of Slack and of the platform, a Redis, and a folder with its `.env`. */
export function doctorForTests() {
  const redis = redisForTests();
  let slack: StandInSlack;
  let platform: StandInPlatform;
  let slackServer: { url: string; close(): Promise<void> };
  let platformServer: { url: string; close(): Promise<void> };
  let folder: string;

  beforeAll(async () => {
    slack = createStandInSlack({ rateLimits: false });
    platform = createStandInPlatform();
    slackServer = await slack.listen();
    platformServer = await platform.listen();
  });
  afterAll(async () => {
    slack.stop();
    await Promise.all([slackServer.close(), platformServer.close()]);
  });
  beforeEach(async () => {
    slack.wire.clear();
    platform.wire.clear();
    folder = mkdtempSync(join(tmpdir(), 'doctor-'));
    writeFileSync(join(folder, '.env'), 'LOG_LEVEL=info\n', { mode: 0o600 });
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.client.config('SET', 'appendonly', 'yes');
    return () => rmSync(folder, { recursive: true });
  });

  const rightEnv = (): NodeJS.ProcessEnv => ({
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_APP_TOKEN: slack.tokens.app,
    SLACK_API_URL: `${slackServer.url}/api/`,
    DOCS_API_URL: platformServer.url,
    DOCS_API_KEY: platform.apiKey,
    DOCS_API_KEY_PREFIX: platform.keyPrefix,
    DOCS_PROJECT_ID: platform.projectId,
    REDIS_URL: redis.url,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
  });

  async function findingsOf({ env = {}, options = {}, before }: Trouble): Promise<Record<string, Finding>> {
    await before?.();
    const findings = await diagnose({
      env: { ...rightEnv(), ...env },
      envFile: join(folder, '.env'),
      nodeVersion: process.version,
      manifestScopes: readManifest().scopes,
      searchPath: process.env.PATH ?? '',
      machineMs: Date.now,
      timeLimitMs: 5000,
      ...options,
    });
    return Object.fromEntries(findings.map((finding) => [finding.id, finding]));
  }

  const orderSlack = (method: string, body: unknown, headers?: Record<string, string>) => () =>
    slack.wire.order(method, answered(body, headers));
  const noAnswer = async () => `http://127.0.0.1:${await freePort()}`;
  return {
    redis,
    get slack() {
      return slack;
    },
    get platform() {
      return platform;
    },
    get platformUrl() {
      return platformServer.url;
    },
    get folder() {
      return folder;
    },
    findingsOf,
    orderSlack,
    noAnswer,
  };
}

export type DoctorWorld = ReturnType<typeof doctorForTests>;

/** An answer of either stand-in. */
export const answered = (body: unknown, headers: Record<string, string> = {}, status = 200) =>
  ({ kind: 'answer', status, headers, body }) as const;
