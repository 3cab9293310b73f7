import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { onDataDirs } from '../../support/store/embedded/world.ts';

const world = onDataDirs();
const FILES = 'appendonlydir';
const MANIFEST = 'appendonly.aof.manifest';
const LAST = 'appendonly.aof.1.incr.aof';
const BASE = 'appendonly.aof.1.base.rdb';

/** Fifty writes, the last of them long. */
async function written() {
  const client = await world.start();
  for (let n = 0; n < 50; n++) await client.set(`key${n}`, `value of ${n}`);
  await client.set('half', 'x'.repeat(100));
  await world.stop();
}

function spoil(file: string, at: number) {
  const bytes = world.read(FILES, file);
  writeFileSync(world.file(FILES, file), bytes.fill('XXXXXXXX', at, at + 8));
}

describe('a damaged append-only file', () => {
  test('is said with its place, and with commands that copy, read and repair as they are printed', async () => {
    await written();
    const sound = world.read(FILES, LAST);
    const at = sound.indexOf('value of 25');
    spoil(LAST, at - 6);
    const said = await world.refusal();
    expect(said).toMatch(
      /^RedisStartFailed: The data in …\/data\/redis is damaged: \S+\.incr\.aof, at byte \d+/,
    );
    expect(said).toContain('Nothing was changed.');
    expect(said).toContain('Its last log lines, in …/data/redis/redis.log:');

    const command = (pattern: RegExp) => (pattern.exec(said)?.[0] ?? '').replaceAll('…', world.base);
    const copy = command(/cp -a .*/);
    const read = command(/tail -c .*(?= \| more)/);
    const repair = command(/\S*(?:redis|valkey)-check-aof --fix .*/);
    expect(repair).toMatch(/^\//);
    execFileSync('sh', ['-c', copy]);
    const dropped = execFileSync('sh', ['-c', read], { encoding: 'utf8' });
    expect(dropped).toContain('value of 26');
    expect(dropped).not.toContain('value of 24');
    execFileSync('sh', ['-c', repair], { input: 'y\n' });
    const client = await world.start();
    expect(await client.mget('key24', 'key25', 'half')).toEqual(['value of 24', null, null]);
  });

  test.each([
    ['the beginning', BASE, () => spoil(BASE, 2)],
    ['its list of files', MANIFEST, () => writeFileSync(world.file(FILES, MANIFEST), 'nonsense\n')],
  ])('in %s cannot be repaired, and that is said', async (_, file, damage) => {
    await written();
    damage();
    const said = await world.refusal();
    expect(said).toContain(
      `…/data/redis/${FILES}/${file} is damaged, or a newer Redis wrote it. Nothing was changed.`,
    );
    expect(said).toContain('cp -a …/data/redis …/data/redis.damaged');
    expect(said).toContain('mv …/data/redis …/data/redis.lost');
  });
});

test('an end that Redis cut off by itself is in the log, with how much it was', async () => {
  await written();
  truncateSync(world.file(FILES, LAST), world.read(FILES, LAST).length - 20);
  const { length } = world.read(FILES, LAST);
  const client = await world.start();
  expect(await client.mget('key49', 'half')).toEqual(['value of 49', null]);
  const [entry] = world.logged.filter(({ level }) => level === 'warn');
  expect(entry?.text).toMatch(/^Redis cut an unfinished end off its file/);
  const file = world.file(FILES, LAST);
  const keptBytes = world.read(FILES, LAST).length;
  expect(entry?.facts).toEqual({ file, keptBytes, cutBytes: length - keptBytes });

  // It is said of this start alone.
  await world.stop();
  world.logged.length = 0;
  await world.start();
  expect(world.logged.map(({ level }) => level)).toEqual(['info']);
});

describe('where there was data and its files are gone', () => {
  const losses: [string, string, () => void][] = [
    ['all of them', MANIFEST, () => rmSync(world.file(FILES), { recursive: true })],
    ['the list of files', MANIFEST, () => rmSync(world.file(FILES, MANIFEST))],
    ['one of them', LAST, () => rmSync(world.file(FILES, LAST))],
    [
      'one of them, in a list as Redis 8 writes it',
      LAST,
      () => {
        const list = world.file(FILES, MANIFEST);
        writeFileSync(list, readFileSync(list, 'utf8').replace(/ type i$/m, ' type i startoffset 0'));
        rmSync(world.file(FILES, LAST));
      },
    ],
    [
      'the list of files, as an earlier Docket left it',
      MANIFEST,
      () => {
        rmSync(world.file('has-data'));
        rmSync(world.file(FILES, MANIFEST));
      },
    ],
  ];
  test.each(losses)('Redis is not started empty: %s', async (_, file, lose) => {
    await written();
    const kept = join(world.base, 'kept');
    cpSync(world.file(FILES), kept, { recursive: true });
    lose();
    const said = await world.refusal();
    expect(said).toContain(`Redis kept data in …/data/redis, but …/data/redis/${FILES}/${file} is gone.`);
    expect(said).toContain('mv …/data/redis …/data/redis.lost');

    rmSync(world.file(FILES), { recursive: true, force: true });
    cpSync(kept, world.file(FILES), { recursive: true });
    expect(await (await world.start()).get('key49')).toBe('value of 49');
  });

  test('it is, once somebody moved the folder away as they were told', async () => {
    await written();
    rmSync(world.file(FILES), { recursive: true });
    const said = await world.refusal();
    execFileSync('sh', ['-c', /mv .*/.exec(said)?.[0].replaceAll('…', world.base) ?? 'false']);
    expect(await (await world.start()).dbsize()).toBe(0);
  });

  test('and while Docket runs, a Redis that died is not started empty either', async () => {
    const client = await world.start();
    await client.set('run', 'accepted');
    renameSync(world.file(FILES), world.file('elsewhere'));
    process.kill(Number(world.read('redis.pid')), 'SIGKILL');
    await expect.poll(() => world.logged.map(({ facts }) => String(facts.err)).join()).toContain('is gone');
    renameSync(world.file('elsewhere'), world.file(FILES));
    expect(await client.get('run')).toBe('accepted');
  });

  test('the first start of all may find an unfinished one, without any data', async () => {
    mkdirSync(world.file(FILES), { recursive: true });
    writeFileSync(world.file(FILES, BASE), '');
    writeFileSync(world.file(FILES, LAST), '');
    expect(await (await world.start()).dbsize()).toBe(0);
  });
});

test('a Redis that is too old to see the files is not started: it would be empty', async () => {
  await written();
  const bin = join(world.base, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=6.2.14 sha=0"\n', {
    mode: 0o755,
  });
  const said = await world.refusal({ searchPath: bin });
  expect(said).toContain(
    '…/bin/redis-server is version 6.2.14, but Redis 7 or newer wrote the data in …/data/redis',
  );
  expect(await (await world.start()).get('key49')).toBe('value of 49');
});

test('what killed rewrites left behind is removed, and nothing else', async () => {
  await written();
  const left = [
    'temp-rewriteaof-77.aof',
    'temp-rewriteaof-bg-77.aof',
    'temp-77.rdb',
    join(FILES, 'temp-appendonly.aof.manifest'),
  ];
  const others = ['temp-notes.txt', join(FILES, 'appendonly.aof.9.base.rdb')];
  for (const name of [...left, ...others]) writeFileSync(world.file(name), 'x');
  world.logged.length = 0;
  expect(await (await world.start()).get('key49')).toBe('value of 49');
  expect(left.filter((name) => existsSync(world.file(name)))).toEqual([]);
  expect(others.filter((name) => !existsSync(world.file(name)))).toEqual([]);
  expect(world.logged[0]?.text).toBe('removed what killed rewrites of Redis left behind');
});

test('what was deleted leaves the disk with the next rewrite', async () => {
  const client = await world.start({ timing: { rewriteFirstMs: 500, rewriteEveryMs: 300, pingMs: 5000 } });
  const onDisk = () => readdirSync(world.file(FILES)).map((name) => String(world.read(FILES, name)));
  const isOnDisk = (text: string) => () => onDisk().some((content) => content.includes(text));
  await client.rpush('inbox', 'aside: between us');
  expect(isOnDisk('between us')()).toBe(true);
  await client.del('inbox');
  await client.set('kept', 'a word to keep');
  await expect.poll(isOnDisk('between us'), { timeout: 20_000 }).toBe(false);
  // The next one is made as well.
  await client.set('link', 'https://files.example/later');
  await client.del('link');
  await expect.poll(isOnDisk('files.example/later'), { timeout: 20_000 }).toBe(false);
  expect(await client.get('kept')).toBe('a word to keep');
});
