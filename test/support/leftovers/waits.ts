import { renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../flows/world.ts';
import { startDocket } from '../processes.ts';
import { startTestRedis } from '../redis.ts';

/** Waits for somebody who interrupts it, with all that a test can have started. */
test('it waits', async () => {
  const up = async (env: NodeJS.ProcessEnv) => {
    const docket = startDocket({ PORT: '0', ...env });
    await expect.poll(docket.output).toContain('Docket is up');
    return docket;
  };
  const redis = await startTestRedis();
  const [killed] = await Promise.all([
    up({ DATA_DIR: temporaryFolder().path }),
    up({ REDIS_URL: redis.url }),
  ]);
  // Its Redis lives on, as the child of nobody.
  killed.child.kill('SIGKILL');
  await killed.ended;
  const file = process.env.TEST_WAITS ?? '';
  writeFileSync(`${file}.part`, JSON.stringify({ worker: process.pid, data: process.env.TEST_DATA }));
  renameSync(`${file}.part`, file);
  await new Promise(() => {});
});
