import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { settingNames } from '../support/deploy/settings.ts';
import { standIns } from '../support/deploy/stand-ins.ts';
import { BASE, standInBase } from '../support/image/base.ts';
import { type Container, type Engine, missingHere, startEngine } from '../support/image/engine.ts';
import { startTestRedis } from '../support/redis.ts';

const IMAGE = 'docket';
const missing = missingHere();
if (missing !== undefined) console.warn(`The image is not tested here. ${missing}`);

let engine: Engine;
beforeAll(async () => {
  if (missing !== undefined) return;
  engine = await startEngine();
  const base = standInBase(process.versions.node);
  await engine.importBase(base.tar, `docker.io/library/${BASE}`, process.versions.node);
  await engine.build(IMAGE, { BASE, VERSION: '1.2.3', REVISION: 'abcdef' });
});
afterAll(() => engine?.close());

/** Nobody is there. */
const settings = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  SLACK_API_URL: 'http://127.0.0.1:9/api/',
  DOCS_API_URL: 'http://127.0.0.1:9/',
  DOCS_API_KEY: 'adm_0123456789',
};

let volumes = 0;
/** A new volume for the data, which the engine makes as the image has it. */
function newVolume(): string[] {
  volumes += 1;
  return ['--volume', `data-${volumes}:/data`];
}

const isUp = (container: Container) => expect.poll(container.output).toContain('"msg":"Docket is up"');

describe.skipIf(missing !== undefined)('the image', () => {
  test('is not larger than 1.2 times its base', async () => {
    const [{ Size: base }, { Size: own }] = [await engine.inspect(BASE), await engine.inspect(IMAGE)];
    const megabytes = [base, own].map((bytes) => Math.round(bytes / 1e6));
    console.log(`The base has ${megabytes[0]} MB, the image ${megabytes[1]} (${(own / base).toFixed(2)}).`);
    expect(own / base).toBeLessThanOrEqual(1.2);
  });

  test('says what it is, and is nobody with rights', async () => {
    const { User, Config } = await engine.inspect(IMAGE);
    expect(User).toBe('node');
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Docket',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.revision': 'abcdef',
      'org.opencontainers.image.base.name': BASE,
    });
  });

  test('has no npm, no headers and the license', async () => {
    const files = ['/usr/local/bin/npm', '/usr/local/lib/node_modules', '/usr/local/include', '/app/LICENSE'];
    const { stdout } = await engine.run(IMAGE, ['ls', '-d', ...files]);
    expect(stdout).toBe('/app/LICENSE\n');
  });

  test('uses compiled code for every module that it loads', async () => {
    const env = { ...settings, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const container = await engine.start(IMAGE, { env, options: newVolume() });
    await isUp(container);
    const output = await container.output();
    expect(output).toContain('"revision":"abcdef"');
    expect(output.match(/ was accepted/g)?.length).toBeGreaterThan(300);
    expect(output).not.toContain(' was not initialized');
    await container.signal('KILL');
  });

  test.each([
    ['all', { DOCKET_ROLE: 'all', PORT: '3111' }],
    ['all, where PORT is empty', { PORT: '' }],
  ])('gets healthy with the role %s', async (_, env) => {
    const container = await engine.start(IMAGE, { env: { ...settings, ...env }, options: newVolume() });
    await expect.poll(container.isHealthy).toBe(true);
    await container.signal('KILL');
  });

  test('gets healthy with the roles web and worker, each on its port', async () => {
    const redis = await startTestRedis();
    onTestFinished(() => redis.close());
    const common = { ...settings, REDIS_URL: redis.url };
    const ports = [await freePort(), await freePort(), await freePort()].map(String);
    const roles = [
      { DOCKET_ROLE: 'web', PORT: ports[0] ?? '' },
      { DOCKET_ROLE: 'worker', PORT: ports[0] ?? '', HEALTH_PORT: ports[1] ?? '' },
      { DOCKET_ROLE: 'worker', PORT: ports[2] ?? '', HEALTH_PORT: '' },
    ];
    for (const role of roles) {
      const container = await engine.start(IMAGE, { env: { ...common, ...role }, network: 'host' });
      await expect.poll(container.isHealthy).toBe(true);
      await container.signal('TERM');
      expect(await container.ended()).toBe(0);
      expect(await container.isHealthy()).toBe(false);
    }
  });

  test('has the doctor, who finds nothing wrong with right settings', async () => {
    const { env } = await standIns();
    const options = newVolume();
    const { code, stdout } = await engine.run(IMAGE, ['doctor'], { env, options, network: 'host' });
    expect(stdout).toContain('Docket starts its own');
    expect(code).toBe(0);
    expect((await engine.run(IMAGE, ['doctor'], { options })).code).toBe(1);
  });

  test('brings an export to its end once, through kill -9 and SIGTERM', async () => {
    const { env, asks, ends, quiet } = await standIns();
    const container = await engine.start(IMAGE, { env, options: newVolume(), network: 'host' });
    await isUp(container);
    await asks();
    await quiet();
    await container.signal('KILL');
    expect(await container.ended()).toBe(137);
    await container.start();
    await expect.poll(container.isHealthy).toBe(true);
    await container.signal('TERM');
    expect(await container.ended()).toBe(0);
    await container.start();
    await ends();
    await container.signal('TERM');
    expect(await container.ended()).toBe(0);
  });

  test.each([0, 150, 300, 450])('SIGTERM %i ms after its start ends it at once', async (ms) => {
    const container = await engine.start(IMAGE, { env: settings, options: newVolume() });
    // The moment is what is tested.
    await new Promise((resolve) => setTimeout(resolve, ms));
    await container.signal('TERM');
    // 143: the signal itself; 0: Docket's own way to stop. 137 would be the engine's kill.
    expect([0, 143]).toContain(await container.ended());
  });

  test('is refused on the data of one that runs', async () => {
    const options = newVolume();
    const first = await engine.start(IMAGE, { env: settings, options });
    await isUp(first);
    const { code, stderr } = await engine.run(IMAGE, ['node', 'src/app.ts'], { env: settings, options });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'Another Docket is running on the data folder /data. Stop it first, or give this one its own DATA_DIR.\n',
    });
    await first.signal('KILL');
  });

  test.each([
    [0, 0o755],
    [4321, 0o700],
  ])('names the user that a data folder must belong to, in place of uid %i', async (uid, mode) => {
    const folder = join(engine.folder, `data-of-${uid}-${mode}`);
    mkdirSync(folder);
    chownSync(folder, uid, uid);
    chmodSync(folder, mode);
    const options = ['--volume', `${folder}:/data`];
    const { code, stdout, stderr } = await engine.run(IMAGE, ['node', 'src/app.ts'], {
      env: settings,
      options,
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "DATA_DIR /data cannot be used (EACCES at /data/redis). Set it to a folder on a disk of this machine that Docket's user " +
        '(uid 1000) owns; docs/troubleshooting.md says what the code means.\n',
    });
  });

  test('names every setting that an env file has in quotes', async () => {
    const file = join(engine.folder, 'quoted.env');
    writeFileSync(file, settingNames.map((name) => `${name}="value"\n`).join(''));
    const options = ['--env-file', file];
    const { code, stderr } = await engine.run(IMAGE, ['node', 'src/app.ts'], { options });
    expect(code).toBe(1);
    expect(
      settingNames.filter((name) => !stderr.includes(`  - ${name} has quotes around it. Remove them`)),
    ).toEqual([]);
    expect(settingNames).toContain('DATA_DIR');
  });
});
