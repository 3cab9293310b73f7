import { describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { updateJob } from '../../../src/jobs/deployment/job.ts';
import { updateRun } from '../../../src/jobs/deployment/record.ts';
import { updateMessages } from '../../../src/jobs/deployment/view.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/record.ts';
import { exportScheduleJob } from '../../../src/jobs/export-schedule/job.ts';
import {
  type ExportSchedule,
  exportNow,
  exportSchedule,
  scheduledExport,
} from '../../../src/jobs/export-schedule/record.ts';
import { changeSchedule, changeTimetable } from '../../../src/jobs/schedule/record.ts';
import { siteJob } from '../../../src/jobs/site/job.ts';
import type { OutboxMessage } from '../../../src/slack/outbox.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';
import { anExportSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { aSiteUpdate } from '../../support/jobs/site/builders.ts';
import { type JobContextParts, jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const BEN = { id: 'U0BEN', name: 'ben' };

/** A schedule in a world where everything may be posted; `step` steps it and returns it with what it posted. */
async function given(changes: Partial<ExportSchedule> = {}, parts: JobContextParts = {}) {
  const published = new Map<string, OutboxMessage>();
  const context = jobContext(redis.client, {
    ...parts,
    outbox: {
      publish: async (_team, one) => void published.set(one.key.replace(/^\w+\./, ''), one),
      deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
    },
  });
  const { id } = anExportSchedule(changes);
  await context.store.runs.accept(anExportSchedule(changes));
  const stored = () => context.store.runs.load(id, exportSchedule);
  return {
    context,
    published,
    stored,
    exports: () => context.store.runs.activeOf(exportRun, 'export', 'T0ACME'),
    async step() {
      await stepJob(exportScheduleJob, id, context);
      return stored();
    },
  };
}

test('an update makes the schedules of its project due, once if its last step is repeated', async () => {
  const timetable = { time: '06:00', zone: 'UTC', afterUpdates: true } as const;
  const done = { status: 'success', rawStatus: 'success', log: [] };
  const docs = { keyId: 'k1', getSiteStatus: async () => done } as unknown as DocsApi;
  const { context, stored, exports, step } = await given({ timetable }, { docs: () => docs });
  const others = {
    other: { project: 'beta', timetable },
    elsewhere: { teamId: 'T0BETA', timetable },
    daily: {},
  };
  for (const [id, changes] of Object.entries(others))
    await context.store.runs.accept(anExportSchedule({ id, ...changes }));
  const update = aSiteUpdate({ state: 'watching', statusId: 'st_1' });
  await context.store.runs.accept(update);
  const killed = () => Promise.reject(new Error('killed'));
  const failing = { ...context.store.runs, saveStep: killed };
  const stores = { ...context, store: { ...context.store, runs: failing } };
  await expect(stepJob(siteJob, update.id, stores)).rejects.toThrow('killed');
  await expect(stepJob(siteJob, update.id, { ...context, sendEvent: killed })).rejects.toThrow('killed');
  // The end is saved, and its event is sent by the next step, and by each process that does not know of it.
  for (let times = 0; times < 2; times += 1) {
    context.published.clear();
    await stepJob(siteJob, update.id, context);
    await step();
  }
  expect(await exports()).toHaveLength(1);
  expect((await stored())?.nextAtMs).toBeGreaterThan(NOW_MS);
  for (const id of Object.keys(others))
    expect((await context.store.runs.loadWithInbox(id, exportSchedule))?.inbox).toEqual([]);
});

test('a change of the time loses no update that waits for the export before it', () => {
  const timetable = { time: '06:00', zone: 'UTC', afterUpdates: true } as const;
  const due = anExportSchedule({ timetable, nextAtMs: NOW_MS - 1000 });
  const nextAtMs = (changed: ExportSchedule['timetable']) => changeTimetable(due, changed, NOW_MS).nextAtMs;
  expect(nextAtMs({ ...timetable, time: '07:00' })).toBe(NOW_MS - 1000);
  expect(nextAtMs({ time: '06:00', zone: 'UTC' })).toBeGreaterThan(NOW_MS);
});

describe('at the due time', () => {
  const person = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
  const refused = (active: boolean): JobContextParts => ({
    policy: { check: async () => ({ kind: 'refused', person: { ...person, active }, contacts: 'ana' }) },
  });

  test('only an owner who may no longer export gets a message, and the schedule pauses', async () => {
    const { step, published, exports } = await given({}, refused(true));
    expect(await step()).toMatchObject({ state: 'paused', pausedBy: 'permission' });
    expect(published.get(`not-permitted.${NOW_MS}`)?.place).toEqual({ user: 'U0ANA' });
    expect(await exports()).toEqual([]);
  });

  test('an owner who has left is named in the channel, until somebody takes over', async () => {
    const { step, published, exports, context } = await given({}, refused(false));
    const paused = await step();
    expect(paused).toMatchObject({ state: 'paused', ownerLeft: true });
    expect(published.get('left.U0ANA')).toMatchObject({ place: { channel: 'C0DOCS' } });
    expect(await exports()).toEqual([]);
    const taken = paused && changeSchedule(paused, 'takeOver', BEN, NOW_MS);
    if (taken === undefined) throw new Error('nobody can take over');
    await context.store.runs.resume(taken);
    expect(await step()).toMatchObject({ state: 'active', owner: BEN, nextAtMs: expect.any(Number) });
    expect(published.get('left.U0ANA')?.message.text).toContain('ben took over');
  });
});

test('a process that dies after it accepted an export accepts no second one', async () => {
  let nowMs = NOW_MS;
  let dies = true;
  const wake = async () => {
    if (dies) throw new Error('it died');
  };
  const { step, exports, context } = await given({}, { now: () => nowMs, wake });
  await expect(step()).rejects.toThrow('it died');
  dies = false;
  const [run] = await exports();
  if (run === undefined) throw new Error('no export');
  await context.store.runs.saveStep({ ...run, state: 'ended', ending: anEnding.done }, { release: true });
  nowMs += 60_000;
  expect(await step()).toMatchObject({ latest: { dueAtMs: NOW_MS, run: run.id, ending: 'done' } });
  expect(await exports()).toHaveLength(1);
});

test('each export notifies each deployment once, also if the process dies in between', async () => {
  const woken: string[] = [];
  const wake: JobContextParts['wake'] = async ({ job }) => {
    woken.push(job);
    if (woken.filter((one) => one === 'deployment').length === 1) throw new Error('it died');
  };
  const { step, exports, context } = await given({ deployments: ['production', 'staging'] }, { wake });
  await step();
  const [run] = await exports();
  if (run === undefined) throw new Error('no export');
  await context.store.runs.saveStep({ ...run, jobId: 'se_1', state: 'ended', ending: anEnding.done });
  await expect(step()).rejects.toThrow('it died');
  expect((await step())?.exported?.updates).toMatchObject([
    { deployment: 'production', state: 'accepted' },
    { deployment: 'staging', state: 'accepted' },
  ]);
  const updates = await context.store.runs.activeOf(updateRun, 'deployment', 'T0ACME');
  // Those of the same millisecond are in any order.
  expect(updates.map(({ deployment, by, jobId }) => [deployment, by.id, jobId]).toSorted()).toEqual([
    ['production', 'U0ANA', 'se_1'],
    ['staging', 'U0ANA', 'se_1'],
  ]);
  // The message follows each of them.
  for (const update of updates)
    await context.store.runs.saveStep({ ...update, state: 'notified', notifiedAtMs: NOW_MS });
  expect((await step())?.exported?.updates.map(({ state }) => state)).toEqual(['notified', 'notified']);
});

test.each([
  ['may deploy no more', 'deploy', 'line.1.private'],
  ['has a deployment that left the settings', 'nothing', 'trouble.1'],
])('an owner who %s reads it on the first day only', async (_, refused, key) => {
  const person = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
  const check: JobContext['policy']['check'] = async (id, permission) =>
    permission === refused
      ? { kind: 'refused', person, contacts: '@docs' }
      : { kind: 'allowed', person: { ...person, id } };
  let nowMs = NOW_MS;
  const { step, exports, context } = await given(
    { deployments: ['production'] },
    { now: () => nowMs, policy: { check } },
  );
  const posted: string[][] = [];
  for (const day of [1, 2, 3]) {
    for (let steps = 0; steps < 2; steps += 1) await step();
    const run = (await exports()).find(({ state }) => state !== 'ended');
    if (run === undefined) throw new Error('no export');
    const done = { jobId: `se_${day}`, state: 'ended', sinceMs: nowMs, ending: anEnding.done } as const;
    await context.store.runs.saveStep({ ...run, ...done }, { release: true });
    const { id = '' } = (await step())?.exported?.updates[0] ?? {};
    await stepJob(updateJob, id, context);
    const update = await context.store.runs.load(id, updateRun);
    posted.push(update ? updateMessages(update).map((one) => one.key.slice(id.length + 1)) : []);
    nowMs = (await step())?.nextAtMs ?? 0;
  }
  expect(posted).toEqual([[key], [], []]);
});

test('links go to the owner alone since the settings say so, also for a schedule from before', async () => {
  const { step, exports } = await given({ privately: false }, { linksTo: 'requester' });
  await step();
  expect(await exports()).toMatchObject([{ privately: true, by: { id: 'U0ANA' } }]);
});

test.each<[string, Partial<ExportRun>, boolean]>([
  ['in this channel', { asked: { channel: 'C0DOCS', joinable: true, isPublic: false } }, true],
  ['for its requester alone', { privately: true }, false],
  ["in the owner's direct messages", { inDirectMessage: true }, false],
  ['in a private channel', { asked: { channel: 'G0SECRET', joinable: true, isPublic: false } }, false],
])('an export that runs %s serves only if everybody here gets its link', async (_, where, serves) => {
  const { step, published, exports, context } = await given();
  const other = scheduledExport(anExportSchedule(), NOW_MS, { links: 'thread', now: () => NOW_MS });
  await context.store.runs.accept(
    { ...other, id: 'e0ther', schedule: undefined, ...where },
    { claimMs: 60_000 },
  );
  const { latest } = (await step()) ?? {};
  expect(latest).toMatchObject({ joined: serves, run: serves ? 'e0ther' : other.id });
  expect(await exports()).toHaveLength(serves ? 1 : 2);
  const { message } = published.get(`joined.${NOW_MS}`) ?? {};
  expect(JSON.stringify(message)?.includes('Open thread') ?? false).toBe(serves);
});

test.each([
  ['an update runs beside one', true, undefined],
  ['a person joins one', false, true],
])('an export after %s that began before', async (_, byUpdate, joined) => {
  const timetable = { time: '06:00', zone: 'UTC', afterUpdates: true } as const;
  const schedule = anExportSchedule({ timetable, nextAtMs: 8.64e15 });
  const begun = scheduledExport(schedule, 0, { links: 'thread', now: () => NOW_MS - 1000 });
  const { step, context } = await given(byUpdate ? { timetable } : exportNow(schedule, NOW_MS));
  await context.store.runs.accept(begun, { claimMs: 60_000 });
  expect((await step())?.latest?.joined || undefined).toBe(joined);
});

test.each([
  ['of its own waits for the answer', false, 0],
  ['of other people starts the next one', true, 1],
])('a schedule with an open question about an export %s', async (_, joined, started) => {
  const latest = { dueAtMs: NOW_MS - 86_400_000, run: 'other', joined, state: 'unclear' } as const;
  const { step, exports, context } = await given({ latest });
  await context.store.runs.accept(aRun({ id: 'other', state: 'unknown' }));
  await step();
  expect((await exports()).filter(({ id }) => id !== 'other')).toHaveLength(started);
});

test('a channel that takes no message any more is named to the owner, and counts as a failure', async () => {
  const { step, published, exports, context } = await given();
  await step();
  const [run] = await exports();
  if (run === undefined) throw new Error('no export');
  await context.store.runs.saveStep({ ...run, state: 'ended', ending: anEnding.noPlace });
  expect(await step()).toMatchObject({ failures: 1, latest: { ending: 'noPlace' } });
  expect([...published].find(([key]) => key.startsWith('no-place'))?.[1].place).toEqual({ user: 'U0ANA' });
});

test.each<[string, Partial<ExportSchedule>, number]>([
  ['a due time', { latest: { dueAtMs: NOW_MS, state: 'running' } }, 1],
  ['nothing in particular', {}, 1],
])('after an error of our own during %s, the next export comes on schedule', async (_, changes, failures) => {
  const { context, published, stored } = await given(changes);
  await exportScheduleJob.giveUp?.(anExportSchedule().id, context, '7f3c1d');
  const after = await stored();
  expect(after).toMatchObject({ state: 'active', failures });
  expect(after?.nextAtMs).toBeGreaterThan(NOW_MS);
  expect(published.get('broken.7f3c1d')?.message.text).toContain('7f3c1d');
});
