import { expect, test } from 'vitest';
import { closeOpenWork } from '../../src/after-restore/main.ts';
import { updateRun } from '../../src/jobs/deployment/record.ts';
import { editionRun, rootKey, scheduledId } from '../../src/jobs/digest/edition/record.ts';
import { scheduleRun } from '../../src/jobs/digest/schedule/record.ts';
import { lastPeriod } from '../../src/jobs/digest/weeks.ts';
import { standingKey } from '../../src/jobs/export/view.ts';
import { exportSchedule } from '../../src/jobs/export-schedule/record.ts';
import { restores } from '../../src/jobs/index.ts';
import { startStep } from '../../src/jobs/operation/record.ts';
import { afterUpdate } from '../../src/jobs/site/job.ts';
import type { SiteRun } from '../../src/jobs/site/record.ts';
import { keys } from '../../src/store/keys.ts';
import { createMessageStore } from '../../src/store/messages.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import { shownRuns } from '../gallery/state.ts';
import { states } from '../gallery/states.ts';
import { NOW_MS } from '../support/builders.ts';
import { aThread } from '../support/jobs/agent/builders.ts';
import { anUpdate } from '../support/jobs/deployment/builders.ts';
import { anEdition, aSchedule } from '../support/jobs/digest/builders.ts';
import { anExportSchedule } from '../support/jobs/export-schedule/builders.ts';
import { aPreview, aSiteUpdate } from '../support/jobs/site/builders.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage, noteDelivery } from '../support/store/builders.ts';

const redis = redisForTests();
const runs = () => createRunStore(redis.client);
const keep = (run: RunBase) => runs().accept(run);
const isSearched = async (key: string) =>
  (await redis.client.hget(keys.message(key), 'json'))?.includes('postedAtMs') ?? false;

test('digests that were collected or due are skipped; a posted one gets no further file', async () => {
  const collecting = anEdition({
    id: 'collecting',
    state: 'collecting',
    totals: undefined,
    ended: undefined,
  });
  const posted = anEdition({ id: 'posted', state: 'completing', ended: undefined });
  const monthly = aSchedule({ id: 'monthly', timetable: { monthly: true, time: '09:00', zone: 'UTC' } });
  await Promise.all([collecting, posted, aSchedule(), monthly].map(keep));
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 3 });
  expect(await runs().load('collecting', editionRun)).toBeUndefined();
  expect((await runs().load('posted', editionRun))?.sections).toEqual(['pages', 'readers']);
  const schedules = await runs().loadAll([aSchedule().id, 'monthly'], scheduleRun);
  expect(schedules).toHaveLength(2);
  for (const schedule of schedules) {
    expect(schedule.nextAtMs).toBeGreaterThan(await runs().timeMs());
    // A person may have sent the next one by hand, and may send the last one now.
    for (const atMs of [await runs().timeMs(), schedule.nextAtMs]) {
      const id = scheduledId(schedule, lastPeriod(schedule.timetable, atMs).name);
      expect(await isSearched(rootKey({ id }))).toBe(true);
    }
  }
  expect(await isSearched(rootKey(posted))).toBe(true);
});

test('a scheduled export that is due, or that the backup does not know, is left out', async () => {
  const due = anExportSchedule();
  const begun = anExportSchedule({ id: 'begun', latest: { dueAtMs: NOW_MS, state: 'running' } });
  const known = anExportSchedule({ id: 'known', latest: { dueAtMs: NOW_MS, state: 'running', run: 'r1' } });
  await Promise.all([due, begun, known].map(keep));
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 3 });
  const after = await runs().loadAll([due.id, 'begun', 'known'], exportSchedule);
  expect(after.map(({ latest }) => latest?.run)).toEqual([undefined, undefined, 'r1']);
  expect(after.map(({ latest }) => latest?.state)).toEqual([undefined, undefined, 'running']);
  for (const { id, nextAtMs } of after) {
    expect(nextAtMs).toBeGreaterThan(await runs().timeMs());
    expect(await isSearched(standingKey(id))).toBe(true);
  }
});

test('a deployment gets no webhook and no fresh link, because that could bring an earlier export back', async () => {
  const notified = { notifiedAtMs: NOW_MS, sinceMs: NOW_MS };
  const updates = [
    anUpdate({ id: 'renewed', state: 'notified', ...notified, renewAtMs: NOW_MS }),
    anUpdate({ id: 'renewing', state: 'notifying', ...notified, renewal: 1 }),
    anUpdate({ id: 'without', state: 'notified', ...notified }),
    // A webhook may have been sent since; of a workflow, a person is asked.
    anUpdate({ id: 'webhook', state: 'notifying', notifyUntilMs: NOW_MS }),
    anUpdate({ id: 'accepted' }),
    anUpdate({ id: 'scheduled', schedule: 's1' }),
    anUpdate({ id: 'workflow', state: 'notifying' }),
    anUpdate({ id: 'again', state: 'notifying', attempt: 2, earlier: anUpdate(notified) }),
  ];
  await Promise.all(updates.map(keep));
  await closeOpenWork(redis.client);
  const ids = updates.map(({ id }) => id);
  const states = (await runs().loadAll(ids, updateRun)).map(({ state, ending }) => ending?.kind ?? state);
  expect(states).toEqual([
    'restored',
    'restored',
    'notified',
    'restored',
    'restored',
    'restored',
    'notifying',
    'notifying',
  ]);
  const intents = ['workflow', 'again'].map((id, at) =>
    redis.client.hget(keys.run(id), `call:start.${at + 1}`),
  );
  expect(await Promise.all(intents)).not.toContain(null);
  // Each of its messages may have been posted since, also of those that a schedule is mostly quiet about.
  for (const name of ['line', 'question', 'end', 'trouble'])
    expect([name, await isSearched(`scheduled.${name}.1`)]).toEqual([name, true]);
});

test('events that no run has read are skipped, and a damaged record is passed over', async () => {
  const thread = aThread();
  await keep(thread);
  const entry = { event: { kind: 'reply' }, dedupeKey: '1.1' };
  await runs().appendToInbox('agent-thread', thread.id, entry, Number.MAX_SAFE_INTEGER);
  await keep(aThread({ id: 'damaged', claim: undefined }));
  await redis.client.hset(keys.run('damaged'), 'json', '{}');
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 1 });
  expect(await redis.client.exists(keys.inbox(thread.id))).toBe(0);
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 0 });
});

test('a message that is not known to be posted is searched', async () => {
  const messages = createMessageStore(redis.client);
  await messages.publish('new', aMessage(), 1);
  await messages.publish('there', aMessage(), 1);
  await noteDelivery(messages, 'there', { channel: 'C0DOCS', ts: '1.1' });
  await closeOpenWork(redis.client);
  expect(await messages.load('new')).toMatchObject({ postedAtMs: expect.any(Number) });
  expect(await isSearched('there')).toBe(false);
});

test('people are asked about a preview that may have been started since, and not about one that was', async () => {
  const [open, started] = [aPreview({ id: 'open' }), aPreview({ id: 'started', state: 'watching' })];
  await Promise.all([open, started].map((run) => keep({ ...run, claim: undefined })));
  await closeOpenWork(redis.client);
  const fields = await Promise.all([open, started].map(({ id }) => redis.client.hkeys(keys.run(id))));
  expect(fields.map((names) => names.includes(`call:${startStep(open)}`))).toEqual([true, false]);
  expect(await isSearched(`${open.id}.end`)).toBe(true);
});

test('no export follows an update that was under way or has just ended: it may have been started since', async () => {
  const timetable = { time: '06:00', zone: 'UTC', afterUpdates: true as const };
  const schedule = anExportSchedule({ timetable, nextAtMs: 8.64e15 });
  const update = aSiteUpdate({ state: 'watching', project: schedule.project });
  await keep(schedule);
  await keep({ ...update, claim: undefined });
  const ended = (id: string) => ({ event: { kind: 'siteUpdated' }, dedupeKey: `update ${id}` });
  await runs().appendToInbox(schedule.job, schedule.id, ended('before'));
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 2 });
  expect(await closeOpenWork(redis.client)).toMatchObject({ skipped: 0 });
  const entries = () => redis.client.llen(keys.inbox(schedule.id));
  expect(await entries()).toBe(0);
  // The update ends after the restore.
  const context = { store: { runs: runs() }, platform: { teamsOf: () => [update.teamId] } };
  const send = async (run: SiteRun) => {
    for (const { job, id, event, dedupeKey } of await afterUpdate(run, context))
      await runs().appendToInbox(job, id, { event, dedupeKey });
  };
  await send(update);
  expect(await entries()).toBe(0);
  await send({ ...update, id: 'later' });
  expect(await entries()).toBe(1);
});

test('each message of the gallery is searched for before it is posted again', async () => {
  expect(states.length).toBeGreaterThan(700);
  // What a schedule of digests and a pull request say is published by their steps.
  const bySteps = ['digest-schedule', 'pull-request'];
  const jobs = restores.map(({ job }) => job).filter((job) => !bySteps.includes(job));
  expect(new Set(shownRuns.map(({ run }) => run.job))).toEqual(new Set(jobs));
  for (const [at, { run, keys: shown }] of shownRuns.entries()) {
    const id = `run${at}`;
    const renamed: RunBase = JSON.parse(JSON.stringify(run).replaceAll(run.id, id));
    // A claim is that of one run alone.
    const own = { ...renamed, claim: undefined };
    await keep(own);
    await closeOpenWork(redis.client);
    const known = shown.map((key) => key.replace(run.id, id));
    const searched = await Promise.all(known.map(isSearched));
    expect(
      known.filter((_, index) => !searched[index]),
      `${run.job} ${at}`,
    ).toEqual([]);
    await redis.client.flushdb();
  }
});
