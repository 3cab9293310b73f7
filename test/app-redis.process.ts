import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../demo/ports.ts';
import { OperatorError } from '../src/runtime/operator-error.ts';
import type { Timing } from '../src/runtime/timing.ts';
import { startTestApp } from './support/app.ts';
import { startRedisPair } from './support/flows/redis-pair.ts';
import { openWay, type RedisWay } from './support/flows/redis-way.ts';
import { temporaryFolder } from './support/flows/world.ts';
import { redisForTests } from './support/redis.ts';

const redis = redisForTests();
afterEach(async () => {
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  await redis.client.config('SET', 'appendonly', 'yes');
  await redis.client.flushall();
});

const quick: Partial<Timing> = {
  redisPingMs: 40,
  redisCheckMs: 200,
  redisRequestSocketMs: 500,
  redisWorkSocketMs: 1000,
  redisBlockingSocketMs: 6000,
  shutdownMs: 300,
};

/** A concurrent test passes its own `onFinished`. */
async function app(env: NodeJS.ProcessEnv, timing: Partial<Timing> = {}, onFinished = onTestFinished) {
  const docket = await startTestApp(
    { REDIS_URL: redis.url, ...env },
    { searchPath: process.env.PATH, timing: { ...quick, ...timing } },
  );
  onFinished(() => docket.stop());
  const readyz = async () => (await docket.get('/readyz')).body;
  return {
    ...docket,
    readyz,
    redisIs: async () => (await readyz()).parts.redis,
    problems: async (): Promise<string> =>
      (await readyz()).problems.map(({ text }: { text: string }) => text).join('\n'),
    alive: async () => (await docket.get('/healthz')).status,
    logged: (kind: string) => docket.lines.find(({ problem }) => problem === `redis_${kind}`),
  };
}

async function wayTo(url: string, onFinished = onTestFinished): Promise<RedisWay> {
  const way = await openWay(url);
  onFinished(() => way.close());
  return way;
}

const unfit = {
  eviction: () => redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru'),
  volatile: () => redis.client.config('SET', 'appendonly', 'no'),
};

describe.for(['eviction', 'volatile'] as const)('a Redis with the fault %s', (kind) => {
  test('is refused at the start, before anything is written', async () => {
    await unfit[kind]();
    const start = app({});
    await expect(start).rejects.toThrow(OperatorError);
    await expect(start).rejects.toThrow(`REDIS_ALLOW=${kind}`);
    expect(await redis.client.dbsize()).toBe(0);
  });

  test('is taken when it is allowed, which the log says once', async () => {
    await unfit[kind]();
    const { lines, problems, redisIs } = await app({ REDIS_ALLOW: kind });
    expect(lines).toContainEqual(
      expect.objectContaining({ problems: [kind], msg: 'REDIS_ALLOW accepts problems of this Redis' }),
    );
    expect(await redisIs()).toBe('up');
    expect(await problems()).toBe('');
  });

  test('that is found later is said until it is mended, and it goes on', async () => {
    const { problems, logged, redisIs, alive } = await app({});
    expect(await problems()).toBe('');
    await unfit[kind]();
    await expect.poll(problems, { timeout: 15_000 }).toContain(`REDIS_ALLOW=${kind}`);
    const line = { level: 50, msg: expect.stringContaining('CONFIG SET') };
    await expect.poll(() => logged(kind)).toMatchObject(line);
    expect(await redisIs()).toBe('up');
    expect(await alive()).toBe(200);
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.client.config('SET', 'appendonly', 'yes');
    await expect.poll(problems, { timeout: 15_000 }).toBe('');
  });
});

describe("Docket's own Redis", () => {
  function folder() {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    return path;
  }

  async function embedded(folder: string) {
    const docket = await app({ REDIS_URL: '', DATA_DIR: folder }, {});
    const pid = () => Number(readFileSync(join(folder, 'redis/redis.pid'), 'utf8'));
    await expect.poll(docket.redisIs).toBe('up');
    return { ...docket, pid };
  }

  test('that is frozen is named; one that ended is started again', async () => {
    const { problems, pid, redisIs } = await embedded(folder());
    const frozen = pid();
    process.kill(frozen, 'SIGSTOP');
    await expect.poll(problems, { timeout: 15_000 }).toContain("Docket's own Redis isn't answering.");
    process.kill(frozen, 'SIGCONT');
    await expect.poll(problems, { timeout: 15_000 }).toBe('');
    process.kill(frozen, 'SIGKILL');
    await expect.poll(redisIs, { timeout: 15_000 }).toBe('up');
    expect(pid()).not.toBe(frozen);
  });

  test('has its full disk named, until there is room', async ({ skip }) => {
    const disk = folder();
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
    if (status !== 0) return skip('no disk may be mounted here');
    onTestFinished(() => void execFileSync('umount', [disk]));
    const { problems } = await embedded(disk);
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize));
    await expect.poll(problems).toContain('the disk of DATA_DIR is full');
    rmSync(join(disk, 'ballast'));
    await expect.poll(problems, { timeout: 15_000 }).toBe('');
  });
});

test.each(['all', 'web', 'worker'])(
  'with the role %s, a database that Redis does not have ends the start, and nothing is written',
  async (role) => {
    await expect(app({ DOCKET_ROLE: role, REDIS_URL: `${redis.url}/99` })).rejects.toThrow(
      'Use one that exists',
    );
    expect(await redis.client.info('keyspace')).not.toContain('db0');
  },
);

test('a database that a Redis turns out not to have once it is there is never replaced by another', async () => {
  const way = await wayTo(`redis://127.0.0.1:${await freePort()}`);
  const { problems, redisIs } = await app({ REDIS_URL: `${way.url}/99` });
  expect(await redisIs()).toBe('down');
  way.leadTo(redis.url);
  await expect.poll(problems, { timeout: 15_000 }).toContain('Use one that exists');
  expect(await redisIs()).toBe('down');
  expect(await redis.client.info('keyspace')).not.toContain('db0');
});

test('a Redis that is away is waited for', async () => {
  const port = await freePort();
  const way = await wayTo(`redis://127.0.0.1:${port}`);
  const { problems, redisIs } = await app({ REDIS_URL: way.url });
  expect(await redisIs()).toBe('down');
  expect(await problems()).toContain("Redis isn't answering");
  way.leadTo(redis.url);
  await expect.poll(redisIs, { timeout: 15_000 }).toBe('up');
  await expect.poll(problems, { timeout: 15_000 }).toBe('');
});

test('a Redis that becomes a read-only replica is named, until its address leads to a primary', async () => {
  const { primary, replica, swap } = await startRedisPair();
  const way = await wayTo(primary.url);
  const { problems, redisIs } = await app({ REDIS_URL: way.url });
  await expect.poll(redisIs).toBe('up');
  await swap();
  await expect.poll(problems, { timeout: 15_000 }).toContain('read-only replica');
  way.leadTo(replica.url);
  await expect.poll(redisIs, { timeout: 15_000 }).toBe('up');
  await expect.poll(problems, { timeout: 15_000 }).not.toContain('read-only replica');
});

describe.concurrent.for(['all', 'web', 'worker'])('with the role %s', (role) => {
  test('connections that went silent are reported, and back by themselves', async ({
    expect,
    onTestFinished,
  }) => {
    const way = await wayTo(redis.url, onTestFinished);
    const { redisIs, alive } = await app({ DOCKET_ROLE: role, REDIS_URL: way.url }, {}, onTestFinished);
    await expect.poll(redisIs).toBe('up');
    way.goSilent();
    expect(await redisIs()).toBe('down');
    await expect.poll(redisIs, { timeout: 12_000 }).toBe('up');
    expect(await alive()).toBe(200);
  });

  test('a process whose Redis is away is alive, however long', async ({ expect, onTestFinished }) => {
    const way = await wayTo(redis.url, onTestFinished);
    const { alive, redisIs, logged } = await app(
      { DOCKET_ROLE: role, REDIS_URL: way.url },
      {},
      onTestFinished,
    );
    way.leadTo(`redis://127.0.0.1:${await freePort()}`);
    way.cut();
    await expect.poll(redisIs).toBe('down');
    await expect.poll(() => logged('unreachable')).toBeDefined();
    const checks = way.connections();
    await expect.poll(() => way.connections()).toBeGreaterThan(checks + 10);
    expect(await alive()).toBe(200);
  });
});
