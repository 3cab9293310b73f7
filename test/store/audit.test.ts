import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditEntry, type AuditStore, createAuditStore } from '../../src/store/audit.ts';
import { keys } from '../../src/store/keys.ts';
import { redisForTests } from '../support/redis.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 8, 14, 9);

const redis = redisForTests();
let audit: AuditStore;
beforeAll(() => {
  audit = createAuditStore(redis.client);
});

const anEntry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  atMs: NOW_MS,
  user: { id: 'U0ANA', name: 'ana' },
  channel: 'C0DOCS',
  what: '/docs-export',
  subject: 'docs.acme.com',
  result: 'accepted',
  ...more,
});
const done = async (count = 100) => (await audit.latest('T1', count)).done;
const subjects = async (count = 100) => (await done(count)).map(({ subject }) => subject);

describe('an entry', () => {
  test('comes back as it was, newest first', async () => {
    const first = anEntry({ job: 'se_1' });
    const second = anEntry({ atMs: NOW_MS + 1, result: 'ended: done' });
    await audit.add('T1', first);
    await audit.add('T1', second);
    expect(await done(10)).toEqual([second, first]);
    expect(await done(1)).toEqual([second]);
  });

  test('belongs to one workspace', async () => {
    await audit.add('T1', anEntry());
    expect(await audit.latest('T2', 10)).toEqual({ done: [], refused: [] });
  });

  test('is kept as short lines without secrets', async () => {
    const token = ['xoxb', '1234567890', 'abcdef'].join('-');
    await audit.add(
      'T1',
      anEntry({
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
    await audit.add('T1', anEntry());
    await redis.client.xadd(key, '*', 'entry', 'no JSON');
    await redis.client.xadd(key, '*', 'entry', JSON.stringify({ atMs: 1 }));
    await redis.client.xadd(key, '*', 'other', 'field');
    expect(await done(10)).toEqual([anEntry()]);
  });

  test('of a newer version is read as far as it is known', async () => {
    await redis.client.xadd(keys.audit('T1'), '1-0', 'entry', JSON.stringify({ ...anEntry(), mood: 'fine' }));
    expect(await done(10)).toEqual([anEntry()]);
  });
});

describe('the order', () => {
  test('two of one millisecond keep theirs', async () => {
    for (const subject of ['a', 'b', 'c']) await audit.add('T1', anEntry({ subject }));
    expect(await subjects()).toEqual(['c', 'b', 'a']);
  });

  test('one whose clock is behind comes after the last, with its own time', async () => {
    await audit.add('T1', anEntry({ subject: 'a' }));
    await audit.add('T1', anEntry({ subject: 'b', atMs: NOW_MS - 5000 }));
    await audit.add('T1', anEntry({ subject: 'c', atMs: NOW_MS + 1 }));
    expect(await subjects()).toEqual(['c', 'b', 'a']);
    expect((await done(2))[1]?.atMs).toBe(NOW_MS - 5000);
  });
});

describe('what is kept', () => {
  test('90 days, by the clock of Redis', async () => {
    const [seconds] = await redis.client.time();
    const addedAt = (ms: number, subject: string) =>
      redis.client.xadd(keys.audit('T1'), `${ms}-0`, 'entry', JSON.stringify(anEntry({ subject })));
    await addedAt(Number(seconds) * 1000 - 90 * DAY_MS - 60_000, 'old');
    await addedAt(Number(seconds) * 1000 - 90 * DAY_MS + 60_000, 'young');
    await audit.add('T1', anEntry({ subject: 'new' }));
    expect(await subjects()).toEqual(['new', 'young']);
  });

  test.each([
    ['ahead', 1],
    ['behind', -1],
  ])('is not up to a process whose own clock is years %s', async (_, sign) => {
    for (const subject of ['a', 'b']) await audit.add('T1', anEntry({ subject }));
    const atMs = NOW_MS + sign * 3000 * DAY_MS;
    await audit.add('T1', anEntry({ subject: 'astray', atMs }));
    await audit.add('T1', anEntry({ subject: 'c' }));
    expect(await subjects()).toEqual(['c', 'astray', 'b', 'a']);
    expect((await done(2))[1]?.atMs).toBe(atMs);
  });

  test('all of it ends 90 days after the last entry', async () => {
    await audit.add('T1', anEntry());
    const livesMs = await redis.client.pttl(keys.audit('T1'));
    expect(livesMs).toBeGreaterThan(89 * DAY_MS);
    expect(livesMs).toBeLessThanOrEqual(90 * DAY_MS);
  });

  test('not more entries than fit: the oldest go first', async () => {
    const small = createAuditStore(redis.client, { entries: 3, refusals: 3 });
    for (const subject of ['a', 'b', 'c', 'd']) await small.add('T1', anEntry({ subject }));
    expect(await subjects()).toEqual(['d', 'c', 'b']);
  });

  test('what was done, however much is refused meanwhile', async () => {
    const small = createAuditStore(redis.client, { entries: 3, refusals: 2 });
    await small.add('T1', anEntry({ subject: 'done' }));
    for (const subject of ['a', 'b', 'c', 'd'])
      await small.add('T1', anEntry({ subject, result: 'refused: not permitted' }));
    const { done, refused } = await small.latest('T1', 10);
    expect(done.map(({ subject }) => subject)).toEqual(['done']);
    expect(refused.map(({ subject }) => subject)).toEqual(['d', 'c']);
    expect(await redis.client.pttl(keys.refusals('T1'))).toBeGreaterThan(89 * DAY_MS);
  });
});
