import { expect, onTestFinished, test } from 'vitest';
import { createQueues } from '../../src/jobs/queue.ts';
import { createAuditStore } from '../../src/store/audit.ts';
import { writeIntent } from '../../src/store/call-once.ts';
import { createDueStore } from '../../src/store/due.ts';
import { keys, PREFIX, setTagName } from '../../src/store/keys.ts';
import { createMessageStore } from '../../src/store/messages.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import { createOwnPostStore, createThreadStore, threadClaim } from '../../src/store/threads.ts';
import { createValueStores } from '../../src/store/values.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage, aThread, noteDelivery, place } from '../support/store/builders.ts';

const redis = redisForTests();

test('every key begins with the one hash tag', () => {
  const built = Object.values(keys).map((build) => (build as (...parts: string[]) => string)('a', 'b'));
  expect(built.length).toBeGreaterThan(5);
  for (const key of built) expect(key.startsWith(`${PREFIX}:`)).toBe(true);
  expect(PREFIX).toBe('{docket}');
});

test('no two things share a key', () => {
  const built = Object.values(keys).map((build) => (build as (...parts: string[]) => string)('a', 'b'));
  expect(new Set(built).size).toBe(built.length);
});

test('all that is written with a name of its own begins with that name', async () => {
  setTagName('staging');
  onTestFinished(() => setTagName(undefined));
  const { client } = redis;
  const runs = createRunStore(client);
  const deadlineMs = (await runs.timeMs()) + 60_000;
  const run: RunBase = { id: 'r1', teamId: 'T1', job: 'export', rev: 1, claim: 'c1', people: ['U1'] };
  await runs.accept(run, deadlineMs, 60_000, 'https://hooks.example/1', [{ name: 'exports', max: 1 }]);
  await runs.save(run);
  await runs.accept(aThread(), deadlineMs, 60_000, undefined);
  const threads = createThreadStore(client);
  await threads.follow(aThread(), place);
  await threads.appendToThread(place, { event: {}, dedupeKey: 'ts' }, false);
  await createMessageStore(client).publish('m1', aMessage(), 1);
  await writeIntent(client, 'r1', 'start', { token: 'token', sinceMs: 1000 });
  await createRateLimitStore(client).takeSlot({ name: 'post:C1', count: 2, windowMs: 2000 }, { id: 'a' });
  const queues = createQueues(client, () => {});
  onTestFinished(() => queues.close());
  await queues.enqueue('docs-export', 'export', 'r1');

  const written = await client.keys('*');
  expect(written).toContain('{docket-staging}:run:r1');
  expect(written).toContain('{docket-staging}:docs-export:wait');
  expect(written.filter((key) => !key.startsWith('{docket-staging}:'))).toEqual([]);
});

async function everyKey(): Promise<{ key: string; lives: number }[]> {
  const all = await redis.client.keys('*');
  return Promise.all(all.map(async (key) => ({ key, lives: await redis.client.pttl(key) })));
}

test('whatever the stores write ends some day, except for settings, threads that are closed and the lists of open work', async () => {
  const { client } = redis;
  const runs = createRunStore(client);
  const messages = createMessageStore(client);
  const pace = createRateLimitStore(client);
  const run: RunBase = { id: 'r1', teamId: 'T1', job: 'export', rev: 1, claim: 'c1', people: ['U1'] };
  const deadlineMs = (await runs.timeMs()) + 60_000;

  await runs.accept(run, deadlineMs, 60_000, 'https://hooks.example/1', [{ name: 'exports', max: 1 }]);
  const saved = await runs.save(run);
  await runs.resume(saved ?? run, deadlineMs, 60_000);
  await messages.publish('m1', aMessage(), 1);
  await noteDelivery(messages, 'm1', { channel: 'C1', ts: '1.1', deliveredHash: 'h', failures: 2 });
  await writeIntent(client, 'r1', 'start', { token: 'token', sinceMs: 1000 });
  await createValueStores(client).links.put('l1', 'https://bundles.example/1', deadlineMs);
  // The third gets a reservation.
  for (const of of ['a', 'b', 'c'])
    await pace.takeSlot({ name: 'post:C1', count: 2, windowMs: 2000 }, { id: of });
  await pace.hold({ name: 'edit:T1', count: 2, windowMs: 2000 }, 1000);
  await createDueStore(client).addError('export:1');
  await createValueStores(client).health.save('docs', { answered: true, atMs: 1000 });
  await createValueStores(client).people.setDirectMessage('T1', 'U1', 'D1');
  await runs.alias('export T1 acme se_1', 'r1');
  await createValueStores(client).alerts.begin('key:T1:acme', 1000);
  const user = { id: 'U1', name: 'ana' };
  const line = { user, channel: 'C1', what: 'export', subject: 'docs.acme.com', result: 'accepted' };
  await createAuditStore(client).add('T1', { ...line, atMs: deadlineMs });

  const threads = createThreadStore(client);
  const limit = { name: 'acme', count: 1, windowMs: 3_600_000 };
  const happened = { event: {}, dedupeKey: 'ts' };
  const elsewhere = { ...place, rootTs: '2.2' };
  await runs.accept(aThread(), deadlineMs, 60_000, undefined);
  await threads.follow(aThread(), place);
  await threads.close(elsewhere);
  await threads.appendToThread(place, happened, false);
  await threads.appendToThread(elsewhere, happened, true);
  await runs.appendToInbox('agent-thread', 't1', happened, deadlineMs);
  await createOwnPostStore(client).markPosted('T1', 'C1', 'm1', '1.1');
  await createOwnPostStore(client).markPosting('T1', 'C1', 'm2');
  await runs.saveStep(aThread());
  for (const id of ['a', 'b']) await pace.takeSlot(limit, { id });
  await pace.hold(limit, 1000);

  const found = await everyKey();
  expect(found.map(({ key }) => key).sort()).toEqual(
    [
      keys.run('r1'),
      keys.activeRuns(),
      keys.activeRunsOf('export'),
      keys.activeRunsOf('agent-thread'),
      keys.runsOf('T1', 'U1'),
      keys.alias('export T1 acme se_1'),
      keys.claim('c1'),
      keys.responseUrl('r1'),
      keys.alert('key:T1:acme'),
      keys.audit('T1'),
      keys.message('m1'),
      keys.undelivered(),
      keys.link('l1'),
      keys.rateLimit('post:C1'),
      keys.quota('exports'),
      keys.rateLimit('edit:T1:hold'),
      keys.jobErrors('export:1'),
      keys.health('docs'),
      keys.directMessage('T1', 'U1'),
      keys.run('t1'),
      keys.inbox('t1'),
      keys.claim(threadClaim(place)),
      keys.closedThreads('T0ACME', place.channel),
      keys.followedIndex('T0ACME'),
      keys.seenEvents(threadClaim(place)),
      keys.seenEvents(threadClaim(elsewhere)),
      keys.seenEvents('t1'),
      keys.early(threadClaim(elsewhere)),
      keys.posting('T1', 'C1'),
      keys.posted('T1', 'C1'),
      keys.rateLimit('acme'),
      keys.rateLimit('acme:hold'),
    ].sort(),
  );
  const endless = found.filter(({ lives }) => lives < 0).map(({ key }) => key);
  const lasting = [keys.run('t1'), keys.inbox('t1'), keys.claim(threadClaim(place))];
  lasting.push(keys.followedIndex('T0ACME'));
  lasting.push(keys.closedThreads('T0ACME', place.channel));
  lasting.push(keys.activeRunsOf('export'), keys.activeRunsOf('agent-thread'));
  expect(endless.sort()).toEqual([keys.undelivered(), keys.activeRuns(), ...lasting].sort());
});
