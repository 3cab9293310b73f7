import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditStore, createAuditStore } from '../../src/store/audit.ts';
import { keys } from '../../src/store/keys.ts';
import { NOW_MS } from '../support/builders.ts';
import { redisForTests } from '../support/redis.ts';
import { anAuditEntry } from '../support/store/builders.ts';

const DAY_MS = 86_400_000;

const redis = redisForTests();
let audit: AuditStore;
beforeAll(() => {
  audit = createAuditStore(redis.client);
});

const done = async (count = 100) => (await audit.latest('T1', count)).done;
const subjects = async (count = 100) => (await done(count)).map(({ subject }) => subject);

describe('an entry', () => {
  test('comes back as it was, newest first', async () => {
    const first = anAuditEntry({ job: 'se_1' });
    const second = anAuditEntry({ atMs: NOW_MS + 1, result: 'ended: done' });
    await audit.add('T1', first);
    await audit.add('T1', second);
    expect(await done(10)).toEqual([second, first]);
    expect(await done(1)).toEqual([second]);
  });

  test('belongs to one workspace', async () => {
    await audit.add('T1', anAuditEntry());
    expect(await audit.latest('T2', 10)).toEqual({ done: [], refused: [] });
  });

  test('is kept as short lines without secrets', async () => {
    const token = ['xoxb', '1234567890', 'abcdef'].join('-');
    await audit.add(
      'T1',
      anAuditEntry({
        user: { id: 'U0ANA', name: `ana\n\u202E${'a'.repeat(300)}` },
        what: 'a\tb\r\nc',
        subject: 'see https://bundles.example/b.zip?X-Signature=s3cret',
        job: '😀'.repeat(201),
        result: `${' '.repeat(300)}${token}`,
      }),
    );
    const [entry] = await done(1);
    expect(entry).toMatchObject({
      user: { name: `ana ${'a'.repeat(195)}…` },
      what: 'a b c',
      subject: 'see https://bundles.example/…',
      job: `${'😀'.repeat(199)}…`,
      result: 'xox…',
    });
    const raw = JSON.stringify(await redis.client.xrange(keys.audit('T1'), '-', '+'));
    expect(raw).not.toMatch(/s3cret|1234567890/);
  });

  test('that cannot be read is left out', async () => {
    const key = keys.audit('T1');
    await audit.add('T1', anAuditEntry());
    await redis.client.xadd(key, '*', 'entry', 'no JSON');
    await redis.client.xadd(key, '*', 'entry', JSON.stringify({ atMs: 1 }));
    await redis.client.xadd(key, '*', 'other', 'field');
    expect(await done(10)).toEqual([anAuditEntry()]);
  });

  test('of a newer version is read as far as it is known', async () => {
    await redis.client.xadd(
      keys.audit('T1'),
      '1-0',
      'entry',
      JSON.stringify({ ...anAuditEntry(), mood: 'fine' }),
    );
    expect(await done(10)).toEqual([anAuditEntry()]);
  });
});

describe('the order', () => {
  test('two of one millisecond keep theirs', async () => {
    for (const subject of ['a', 'b', 'c']) await audit.add('T1', anAuditEntry({ subject }));
    expect(await subjects()).toEqual(['c', 'b', 'a']);
  });

  test('one whose clock is behind comes after the last, with its own time', async () => {
    await audit.add('T1', anAuditEntry({ subject: 'a' }));
    await audit.add('T1', anAuditEntry({ subject: 'b', atMs: NOW_MS - 5000 }));
    await audit.add('T1', anAuditEntry({ subject: 'c', atMs: NOW_MS + 1 }));
    expect(await subjects()).toEqual(['c', 'b', 'a']);
    expect((await done(2))[1]?.atMs).toBe(NOW_MS - 5000);
  });
});

describe('what is kept', () => {
  test('90 days, by the clock of Redis', async () => {
    const [seconds] = await redis.client.time();
    const addedAt = (ms: number, subject: string) =>
      redis.client.xadd(keys.audit('T1'), `${ms}-0`, 'entry', JSON.stringify(anAuditEntry({ subject })));
    await addedAt(Number(seconds) * 1000 - 90 * DAY_MS - 60_000, 'old');
    await addedAt(Number(seconds) * 1000 - 90 * DAY_MS + 60_000, 'young');
    await audit.add('T1', anAuditEntry({ subject: 'new' }));
    expect(await subjects()).toEqual(['new', 'young']);
  });

  test.each([
    ['ahead', 1],
    ['behind', -1],
  ])('is not up to a process whose own clock is years %s', async (_, sign) => {
    for (const subject of ['a', 'b']) await audit.add('T1', anAuditEntry({ subject }));
    const atMs = NOW_MS + sign * 3000 * DAY_MS;
    await audit.add('T1', anAuditEntry({ subject: 'astray', atMs }));
    await audit.add('T1', anAuditEntry({ subject: 'c' }));
    expect(await subjects()).toEqual(['c', 'astray', 'b', 'a']);
    expect((await done(2))[1]?.atMs).toBe(atMs);
  });

  test('all of it ends 90 days after the last entry', async () => {
    await audit.add('T1', anAuditEntry());
    const livesMs = await redis.client.pttl(keys.audit('T1'));
    expect(livesMs).toBeGreaterThan(89 * DAY_MS);
    expect(livesMs).toBeLessThanOrEqual(90 * DAY_MS);
  });

  test('not more entries than fit: the oldest go first', async () => {
    const small = createAuditStore(redis.client, { entries: 3, refusals: 3 });
    for (const subject of ['a', 'b', 'c', 'd']) await small.add('T1', anAuditEntry({ subject }));
    expect(await subjects()).toEqual(['d', 'c', 'b']);
  });

  test('what was done, however much is refused meanwhile', async () => {
    const small = createAuditStore(redis.client, { entries: 3, refusals: 2 });
    await small.add('T1', anAuditEntry({ subject: 'done' }));
    for (const subject of ['a', 'b', 'c', 'd'])
      await small.add('T1', anAuditEntry({ subject, result: 'refused: not permitted' }));
    const { done, refused } = await small.latest('T1', 10);
    expect(done.map(({ subject }) => subject)).toEqual(['done']);
    expect(refused.map(({ subject }) => subject)).toEqual(['d', 'c']);
    expect(await redis.client.pttl(keys.refusals('T1'))).toBeGreaterThan(89 * DAY_MS);
  });
});
