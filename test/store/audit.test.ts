import { beforeAll, expect, test } from 'vitest';
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

test('entries of a workspace come back as they were, newest first', async () => {
  const first = anAuditEntry({ job: 'se_1' });
  const second = anAuditEntry({ atMs: NOW_MS + 1, result: 'ended: done' });
  await audit.add('T1', first);
  await audit.add('T1', second);
  expect(await done(10)).toEqual([second, first]);
  expect(await done(1)).toEqual([second]);
  expect(await audit.latest('T2', 10)).toEqual({ done: [], refused: [] });
});

test('an entry is kept as short lines without secrets', async () => {
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
  expect((await done(1))[0]).toMatchObject({
    user: { name: `ana ${'a'.repeat(195)}…` },
    what: 'a b c',
    subject: 'see https://bundles.example/…',
    job: `${'😀'.repeat(199)}…`,
    result: 'xox…',
  });
  const raw = JSON.stringify(await redis.client.xrange(keys.audit('T1'), '-', '+'));
  expect(raw).not.toMatch(/s3cret|1234567890/);
});

test('entries are kept for 90 days by the clock of Redis, whatever the clock of a process shows', async () => {
  const [seconds] = await redis.client.time();
  const addedAt = (ms: number, subject: string) =>
    redis.client.xadd(keys.audit('T1'), `${ms}-0`, 'entry', JSON.stringify(anAuditEntry({ subject })));
  await addedAt(Number(seconds) * 1000 - 90 * DAY_MS - 60_000, 'old');
  await addedAt(Number(seconds) * 1000 - 90 * DAY_MS + 60_000, 'young');
  for (const sign of [1, -1])
    await audit.add('T1', anAuditEntry({ subject: `${sign}`, atMs: NOW_MS + sign * 3000 * DAY_MS }));
  expect(await subjects()).toEqual(['-1', '1', 'young']);
  const livesMs = await redis.client.pttl(keys.audit('T1'));
  expect(livesMs).toBeGreaterThan(89 * DAY_MS);
  expect(livesMs).toBeLessThanOrEqual(90 * DAY_MS);
});

test('not more entries than fit are kept, and refusals drop nothing that was done', async () => {
  const small = createAuditStore(redis.client, { entries: 3, refusals: 2 });
  for (const subject of ['a', 'b', 'c', 'd']) await small.add('T1', anAuditEntry({ subject }));
  for (const subject of ['a', 'b', 'c', 'd'])
    await small.add('T1', anAuditEntry({ subject, result: 'refused: not permitted' }));
  expect(await subjects()).toEqual(['d', 'c', 'b']);
  const { refused } = await small.latest('T1', 10);
  expect(refused.map(({ subject }) => subject)).toEqual(['d', 'c']);
});
