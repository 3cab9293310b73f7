import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { checkRedis } from '../../../src/store/redis/check.ts';
import { until } from '../../support/flows/reading.ts';
import { tellStory } from '../../support/flows/trouble.ts';
import { createWorld } from '../../support/flows/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/scaling.md'), 'utf8');
const rule = (/^ACL SETUSER docket (.+)$/m.exec(page)?.[1] ?? '').split(' ');
const granted = rule.flatMap((word) => (word.startsWith('+') ? [word.slice(1)] : []));
const at = (url: string) => url.replace('redis://', 'redis://docket:password@');

afterEach(() => redis.client.acl('DELUSER', 'docket'));
const setUser = (client: Redis, ...rules: string[]) => client.acl('SETUSER', 'docket', 'reset', ...rules);

function sources(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(ts|js)$/.test(file) && !file.endsWith('.d.ts') && !/relay/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
}

test('the line in docs/scaling.md grants the commands of all scripts', () => {
  const text = sources(join(root, 'src')) + sources(join(root, 'node_modules/bullmq/dist/cjs/scripts'));
  const called = [...text.matchAll(/(?:rcall|redis\.p?call)\(\\?["'](\w+)/g)].map(([, name = '']) =>
    name.toLowerCase(),
  );
  expect(called.length).toBeGreaterThan(500);
  // Asked of sentinels alone.
  const made = new Set(called.filter((name) => name !== 'sentinel'));
  expect([...made].filter((name) => !granted.includes(name))).toEqual([]);
  expect(granted).toEqual(granted.toSorted());
});

/** Docket can do without the first, and a cluster is asked for the other two before anything else. */
const UNTRIED = ['hello', 'cluster|info', 'cluster|slots'];
const textOf = async () => (await checkRedis({ url: at(redis.url) })).problems.map(({ text }) => text).join();

test('a user without any one of these rights lacks it by name, and nothing is written', async () => {
  for (const name of granted.filter((one) => !UNTRIED.includes(one))) {
    await setUser(redis.client, ...rule.filter((word) => word !== `+${name}`));
    expect(await textOf()).toContain(`lacks rights (${name.replace('|', ' ')}):`);
  }
  for (const pattern of ['~other:*', '%R~{docket}:*']) {
    await setUser(redis.client, ...rule.map((word) => (word.startsWith('~') ? pattern : word)));
    expect(await textOf()).toContain("lacks rights (Docket's keys):");
  }
  await setUser(redis.client, 'on', '>password', '~*', '+info', '+multi');
  expect(await textOf()).toMatch(/lacks rights \(ping, time and \d+ more\):/);
  expect(await redis.client.keys('*')).toEqual([]);
});

test('with a user of that line nothing is wrong, and an export comes to its end', async () => {
  const world = await createWorld();
  onTestFinished(() => world.close());
  const { client, url } = world.redis;
  await setUser(client, ...rule);
  expect((await checkRedis({ url: at(url) })).problems).toEqual([]);
  await world.startBot({ env: { REDIS_URL: at(url) } });
  expect((await tellStory(world)).ending).toBe('done');
  const denied = (await client.call('ACL', 'LOG')) as unknown[];
  expect(denied).toEqual([]);
});

test.each(['bzpopmin', 'evalsha', 'xadd'])(
  'without the right to %s, Docket does not start; if it runs already, work goes on once the right is back',
  async (name) => {
    const world = await createWorld();
    const { client, url } = world.redis;
    const env = { REDIS_URL: at(url) };
    await setUser(client, ...rule);
    const bot = await world.startBot({ env, timing: { redisPingMs: 50, redisCheckMs: 200 } });
    await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);

    await client.acl('SETUSER', 'docket', `-${name}`);
    const lacks = `lacks rights (${name})`;
    await expect.poll(bot.output).toContain(lacks);
    await expect(world.startBot({ env })).rejects.toThrow(lacks);
    world.platform.finish('docs.acme.com');
    await client.acl('SETUSER', 'docket', `+${name}`);
    await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
    await world.close();
  },
);
