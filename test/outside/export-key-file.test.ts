import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder } from '../support/flows/world.ts';

const LOOK = 'GET /v1/static-export/jobs/{jobId}';

/** A world whose bot has its key from a file, and an export that is under way. */
async function exportWithFile() {
  const folder = temporaryFolder();
  const file = join(folder.path, 'key');
  const world = await createWorld();
  onTestFinished(async () => {
    await world.close();
    folder.remove();
  });
  const scene = stageOf(() => world);
  const before = world.platform.apiKey;
  const write = (key = world.platform.apiKey) => writeFileSync(file, `${key}\n`);
  write();
  const config = 'allow:\n  admin: [U0ANA]\n';
  const bot = await world.startBot({ config, env: { DOCS_API_KEY: '', DOCS_API_KEY_FILE: file } });
  await scene.exporting();
  return { ...scene, scene, world, bot, before, file, write };
}

test('a new key in the file is taken at once: nobody is told, and nothing is started again', async () => {
  const { scene, world, bot, before, write } = await exportWithFile();
  // The file is new before the old key ends, as with any tool that renews keys.
  const { platform } = world;
  platform.renewKey();
  write();
  platform.finish('docs.acme.com');
  await scene.until([', took']);
  expect(platform.starts).toHaveLength(1);
  expect(scene.sees('@ana')).toEqual([]);
  expect(scene.sees().join()).not.toContain('rejected');
  expect(bot.output()).toContain('a new API key was read from its file');
  expect(bot.output()).not.toContain('rejects');
  expect(bot.output()).not.toContain(before);
  // A start goes out once with each key, and the platform took one.
  platform.renewKey();
  write();
  await scene.exporting('/docs-export docs.acme.com --version 2');
  expect(platform.starts).toHaveLength(2);
});

test('where the file is late, unreadable or empty, admins read that replacing it is enough; then the export goes on', async () => {
  const { scene, world, bot, file, write } = await exportWithFile();
  const { platform } = world;
  platform.renewKey();
  await scene.until(['My access to the docs platform was rejected; your Docket admins know.']);
  await scene.until(
    [
      '🔑 DOCS_API_KEY_FILE has been rejected since TIME; 1 export waits.\nPut a new one into its file; waiting work then resumes by itself, without a restart.',
    ],
    '@ana',
  );
  expect(bot.output()).toContain(
    'the docs platform rejects DOCS_API_KEY_FILE of project default (401). Put a key that it takes into its file, which Docket reads again.',
  );
  const asked = () => platform.wire.calls.filter(({ name }) => name === LOOK).length;
  const isAskedAgain = async () => {
    const count = asked();
    await vi.waitFor(async () => {
      await scene.clicks('ana', '[Check now]', 'Check now');
      expect(asked()).toBeGreaterThan(count);
    }, 10_000);
  };
  write('');
  await isAskedAgain();
  rmSync(file);
  mkdirSync(file);
  await isAskedAgain();
  rmSync(file, { recursive: true });
  write();
  await vi.waitFor(async () => {
    await scene.clicks('ana', '[Check now]', 'Check now');
    expect(scene.sees().join()).not.toContain('rejected');
  }, 10_000);
  platform.finish('docs.acme.com');
  await scene.until([', took']);
  expect(platform.starts).toHaveLength(1);
  expect(world.bots).toHaveLength(1);
});
