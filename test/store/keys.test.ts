import { expect, onTestFinished, test } from 'vitest';
import { createQueues } from '../../src/jobs/engine/queue.ts';
import { createAuditStore } from '../../src/store/audit.ts';
import { writeIntent } from '../../src/store/call-once.ts';
import { keys, setTagName } from '../../src/store/keys.ts';
import { createMessageStore } from '../../src/store/messages.ts';
import { createRateLimitStore } from '../../src/store/rate-limit.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../src/store/threads.ts';
import { createValueStores } from '../../src/store/values.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage, anAuditEntry, aThread, noteDelivery, place } from '../support/store/builders.ts';

const redis = redisForTests();

test('every key begins with the one hash tag, and no two things share a key', () => {
  const built = Object.values(keys).map((build) => (build as (...parts: string[]) => string)('a', 'b'));
  for (const key of built) expect(key.startsWith('{docket}:')).toBe(true);
  expect(new Set(built).size).toBe(built.length);
});

/** Writes something of every kind. */
async function writeAll() {
  const { client } = redis;
  const [runs, threads, messages] = [
    createRunStore(client),
    createThreadStore(client),
    createMessageStore(client),
  ];
  const values = createValueStores(client);
  const limits = createRateLimitStore(client);
  const run: RunBase = { id: 'r1', teamId: 'T1', job: 'export', rev: 1, claim: 'c1', people: ['U1'] };
  const deadlineMs = (await runs.timeMs()) + 60_000;
  const event = { event: {}, dedupeKey: 'ts' };
  const elsewhere = { ...place, rootTs: '2.2' };
  await runs.accept(run, {
    deadlineMs,
    claimMs: 60_000,
    responseUrl: 'https://hooks.example/1',
    quotas: [{ name: 'exports', max: 1 }],
  });
  const saved = await runs.saveStep(run);
  await runs.resume(saved?.run ?? run, { deadlineMs, claimMs: 60_000 });
  await runs.alias('export T1 acme se_1', 'r1');
  await writeIntent(client, { ...run, rev: 3 }, 'start', { token: 'token', sinceMs: 1000 });
  await messages.publish('m1', aMessage(), 1);
  await noteDelivery(messages, 'm1', { channel: 'C1', ts: '1.1', failures: 2 });
  await values.links.put('l1', 'https://bundles.example/1', deadlineMs);
  await values.people.setDirectMessage('T1', 'U1', 'D1');
  await values.health.save('docs', { answered: true, atMs: 1000 });
  await values.alerts.begin('key:T1:acme', 1000);
  const limit = { name: 'edits', count: 2, windowMs: 3_600_000, interactiveShare: 0.5 };
  for (const id of ['a', 'b', 'c']) await limits.takeSlot(limit, { id });
  await limits.hold(limit, 1000);
  await createAuditStore(client).add('T1', anAuditEntry());
  await runs.accept(aThread(), { deadlineMs, claimMs: 60_000 });
  await threads.follow(aThread(), place);
  await threads.close(elsewhere);
  await threads.appendToThread(place, event, false);
  await threads.appendToThread(elsewhere, event, true);
  await runs.appendToInbox('agent-thread', 't1', event, deadlineMs);
  await threads.markPosted('T1', 'C1', 'm1', '1.1');
  await threads.markPosting('T1', 'C1', 'm2');
  await runs.saveStep(aThread());
  const queues = createQueues(client, () => {});
  onTestFinished(() => queues.close());
  await queues.enqueue('docs-export', 'export', 'r1');
}

test('all that is written with a name of its own begins with that name, and ends some day, except for settings and lists', async () => {
  setTagName('staging');
  onTestFinished(() => setTagName(undefined));
  await writeAll();
  const written = await redis.client.keys('*');
  expect(written.filter((key) => !key.startsWith('{docket-staging}:'))).toEqual([]);
  const ours = written.filter((key) => !/:(?:docs|slack)-\w+:/.test(key));
  expect(ours.length).toBeGreaterThan(25);
  const lives = await Promise.all(ours.map((key) => redis.client.pttl(key)));
  expect(ours.filter((_, index) => (lives[index] ?? 0) < 0).sort()).toEqual(
    [
      ...[keys.activeRuns(), keys.undelivered(), keys.activeLists()],
      ...[keys.activeRunsOf('export', 'T1'), keys.activeRunsOf('agent-thread', 'T0ACME')],
      ...[keys.run('t1'), keys.inbox('t1'), keys.claim(threadClaim(place))],
      ...[keys.index('agent-thread', 'T0ACME'), keys.closedThreads('T0ACME', place.channel)],
    ].sort(),
  );
});
