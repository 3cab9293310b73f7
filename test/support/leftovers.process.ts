import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from './flows/world.ts';
import { processesWith } from './processes.ts';
import { redisForTests } from './redis.ts';

const root = join(import.meta.dirname, '../..');

/** Starts a run whose test has started a Redis, a bot, and another one that was killed and whose Redis lives on. */
async function runThatWaits() {
  const folder = temporaryFolder();
  const file = join(folder.path, 'waits');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--root', root, '--config', 'test/support/leftovers/vitest.config.ts'];
  const main = spawn(process.execPath, args, {
    // A folder of its own tells its processes from all others.
    env: {
      ...process.env,
      PATH: `${process.env.PATH}:${folder.path}`,
      TMPDIR: folder.path,
      TEST_WAITS: file,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [main.stdout, main.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(main, 'exit');
  const marks = [folder.path];
  const living = () => marks.flatMap(processesWith);
  onTestFinished(() => {
    spawnSync('kill', ['-9', ...living().map(({ pid }) => String(pid))]);
    folder.remove();
  });
  await expect
    .poll(() => existsSync(file) || (main.exitCode !== null && output), { timeout: 60_000 })
    .toBe(true);
  const { worker, data } = JSON.parse(readFileSync(file, 'utf8')) as { worker: number; data: string };
  expect(data).toMatch(/\/docket-data-\w{6}$/);
  marks.push(data);
  return { main, worker, ended, data, commands: () => living().map(({ command }) => command) };
}

describe.runIf(process.platform === 'linux')('a run that is interrupted leaves nothing behind', () => {
  const redis = redisForTests();

  test.each([
    ['main process', 'SIGINT'],
    ['worker', 'SIGKILL'],
  ] as const)('its %s gets %s', async (whose, signal) => {
    const { main, worker, ended, data, commands } = await runThatWaits();
    expect(commands()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/vitest.*forks/),
        expect.stringContaining('src/app.ts'),
        expect.stringMatching(/(?:redis|valkey)-server.*:\d/),
        expect.stringMatching(/(?:redis|valkey)-server.*(?:sock|:0)/),
      ]),
    );
    process.kill(whose === 'worker' ? worker : (main.pid ?? 0), signal);
    await ended;
    await expect.poll(commands).toEqual([]);
    await expect.poll(() => existsSync(data)).toBe(false);
    // This run goes on.
    expect(await redis.client.ping()).toBe('PONG');
  });
});
