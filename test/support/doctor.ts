import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { endsWithTests } from './processes.ts';
import { redisForTests } from './redis.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Returns the doctor of a test file, with a Redis, a Slack and a platform of its own. They start before the first of the
 * tests around the call, and end after the last.
 */
export function doctorForTests() {
  const redis = redisForTests();
  const slack = createStandInSlack({ rateLimits: false });
  const platform = createStandInPlatform();
  let servers: { url: string; close(): Promise<void> }[];
  /** A folder with what the image has of the repository, and no `.env` of a developer's. */
  let root: string;
  const file = (name: string) => join(root, name);

  beforeAll(async () => {
    servers = [await slack.listen(), await platform.listen()];
    root = mkdtempSync(join(tmpdir(), 'doctor-'));
    chmodSync(root, 0o755);
    for (const name of ['src', 'package.json', 'manifest.yml'])
      cpSync(join(repository, name), file(name), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), file('node_modules'));
  });
  afterAll(async () => {
    slack.stop();
    await Promise.all(servers.map(({ close }) => close()));
    rmSync(root, { recursive: true });
  });
  beforeEach(async () => {
    for (const name of ['.env', 'data']) rmSync(file(name), { force: true, recursive: true });
    slack.wire.clear();
    platform.wire.clear();
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.client.config('SET', 'appendonly', 'yes');
  });

  /** Settings with which all is good. */
  const rightEnv = () => ({
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_APP_TOKEN: slack.tokens.app,
    SLACK_API_URL: `${servers[0]?.url}/api/`,
    DOCS_API_URL: servers[1]?.url ?? '',
    DOCS_API_KEY: platform.apiKey,
    DOCS_API_KEY_PREFIX: platform.keyPrefix,
    DOCS_PROJECT_ID: platform.projectId,
    PORT: '0',
    REDIS_URL: redis.url,
    DATA_DIR: file('data'),
  });

  const secrets = [slack.tokens.bot, slack.tokens.app, platform.apiKey, 'another1', 'the-password'];

  /** Runs the doctor with these settings alone. Whatever it prints holds no secret. */
  async function doctor(
    env: NodeJS.ProcessEnv,
    { args = [], ...options }: { uid?: number; gid?: number; args?: string[] } = {},
  ) {
    const child = endsWithTests(
      spawn(process.execPath, ['src/doctor/main.ts', ...args], {
        cwd: root,
        env: { PATH: process.env.PATH, ...env },
        ...options,
      }),
    );
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect(stderr).toBe('');
    for (const secret of secrets) expect(stdout).not.toContain(secret);
    return { code, stdout, lines: stdout.trimEnd().split('\n') };
  }

  return { redis, slack, platform, file, rightEnv, doctor };
}

/** An answer that is ordered of a stand-in. */
export const answered = (body: unknown, headers: Record<string, string> = {}, status = 200) =>
  ({ kind: 'answer', status, headers, body }) as const;
