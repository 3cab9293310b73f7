import type { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { closeOpenWork } from '../../../src/after-restore/main.ts';
import type { DeploymentApi } from '../../../src/deployments/deployment.ts';
import { GithubError } from '../../../src/deployments/github.ts';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import { updateJob } from '../../../src/jobs/deployment/job.ts';
import {
  attemptName,
  followsOf,
  latestAlias,
  takenAlias,
  type UpdateRun,
  updateRun,
  updateTransitions,
  withMessage,
} from '../../../src/jobs/deployment/record.ts';
import { updateMessages } from '../../../src/jobs/deployment/view.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { startStep } from '../../../src/jobs/operation/record.ts';
import { keys } from '../../../src/store/keys.ts';
import { anUpdate } from '../../support/jobs/deployment/builders.ts';
import { anExportSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { onTestClock } from '../../support/jobs/faults/redis.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const MINUTE_MS = 60_000;
/** Later than the real time, by which Redis lets keys expire. */
const NOW_MS = Date.UTC(2035, 0, 8, 6);
const clock = { ms: NOW_MS };
const now = () => clock.ms;

/** The receiver: what it was sent, and what it answers. */
function receiver(answer: () => 'delivered' | 'retry', includeLink = true) {
  const webhooks: { id: string; body: string }[] = [];
  const target = {
    kind: 'webhook',
    includeLink,
    async send(webhook: (typeof webhooks)[number]) {
      webhooks.push(webhook);
      return { kind: answer(), reason: 'status 500' };
    },
  } as unknown as DeploymentApi;
  return { webhooks, target };
}

/** The platform: each link is another one. */
function platform(lifeMs = 60 * MINUTE_MS) {
  let links = 0;
  const docs = {
    async createBundle() {
      links += 1;
      return { bundleUrl: `https://bundles.example/${links}`, expiresAt: now() + lifeMs + links };
    },
  } as unknown as DocsApi;
  return docs;
}

/** A process; `gate` is passed before each of its commands to Redis. */
function processOf(target: DeploymentApi, docs: DocsApi, gate: (command: string) => unknown = () => {}) {
  const client = new Proxy(onTestClock(redis.client, clock), {
    get(real: Redis, name) {
      const value = Reflect.get(real, name);
      if (typeof value !== 'function' || name === 'on') return value;
      return async (...args: unknown[]) => {
        await gate(String(name));
        return value.apply(real, args);
      };
    },
  });
  return jobContext(client, { now, deployment: () => target, docs: () => docs, random: () => 0.5 });
}

async function stepAll(context: JobContext, ...updates: UpdateRun[]) {
  for (const { id } of updates) await stepJob(updateJob, id, context);
}

const at = (ms: number) => ({ attemptAtMs: ms, sinceMs: ms, nextTryAtMs: NOW_MS });
const first = anUpdate({ id: 'a'.repeat(24), jobId: 'se_1', ...at(NOW_MS - 2000) });
const second = anUpdate({ id: 'b'.repeat(24), jobId: 'se_2', ...at(NOW_MS - 1000) });
const third = anUpdate({ id: 'c'.repeat(24), jobId: 'se_3', ...at(NOW_MS) });

/** More commands than an undisturbed update sends. */
const moments = Array.from({ length: 30 }, (_, at) => at + 1);

describe('updates of one deployment', () => {
  test('the one that was asked for last is current, also after a clock was set back', async () => {
    const { target } = receiver(() => 'delivered', false);
    const context = processOf(target, platform());
    for (const update of [first, second]) await context.store.runs.accept(update);
    await stepAll(context, first, second, first);
    clock.ms -= 5 * MINUTE_MS;
    const later = { ...third, ...at(now()) };
    await context.store.runs.accept(later);
    await stepAll(context, later, second);
    clock.ms = NOW_MS;
    expect(await statesOf(context)).toEqual(['superseded', 'superseded', 'notified']);
  });

  test('the one that was asked for last is current, also if another workspace asked for it', async () => {
    const { target, webhooks } = receiver(() => 'delivered');
    const context = processOf(target, platform());
    const elsewhere = { ...second, teamId: 'T0GLOBEX' };
    for (const update of [first, elsewhere]) await context.store.runs.accept(update);
    await stepAll(context, first, first, elsewhere, elsewhere);
    clock.ms += 55 * MINUTE_MS;
    await stepAll(context, first, elsewhere);
    clock.ms = NOW_MS;
    expect((await statesOf(context))[0]).toBe('superseded');
    expect(webhooks.map(({ id }) => id.slice(4, 5))).toEqual(['a', 'b', 'b']);
  });

  /** The updates before the strike, the update that is struck, and the updates after it. */
  const orders = [
    [[], first, [second, third]],
    [[], second, [first, third]],
    [[], third, [first, second]],
    [[], second, [third, first]],
    [[first], second, [third]],
    [[first], third, [second]],
    [[first, second], third, []],
  ] as const;
  const nameOf = ([before, struck, then]: (typeof orders)[number]) =>
    [...before, { jobId: `${struck.jobId}!` }, ...then].map(({ jobId }) => jobId).join(', ');

  describe.each(['dies', 'freezes'] as const)('one process %s at any command', (trouble) => {
    test.each(orders.map((order) => [nameOf(order), order] as const))(
      'in the order %s: only the one that was asked for last is current',
      async (_, [before, struck, [next, last]]) => {
        let wasStruck = 0;
        for (const moment of moments) {
          await redis.client.flushall();
          const { target, webhooks } = receiver(() => 'delivered', trouble === 'freezes');
          const docs = platform();
          const healthy = processOf(target, docs);
          for (const update of [first, second, third]) await healthy.store.runs.accept(update);
          await stepAll(healthy, ...before);
          let commands = 0;
          const stopped = Promise.withResolvers<void>();
          const thawed = Promise.withResolvers<void>();
          const bad = processOf(target, docs, () => {
            commands += 1;
            if (commands !== moment) return undefined;
            wasStruck += 1;
            stopped.resolve();
            return trouble === 'dies' ? new Promise(() => {}) : thawed.promise;
          });
          const stepping = stepJob(updateJob, struck.id, bad);
          await Promise.race([stepping, stopped.promise]);
          await stepAll(healthy, ...before, ...(next ? [next] : []));
          if (moment % 2 === 0) await stepAll(healthy, struck);
          if (last) await stepAll(healthy, last);
          thawed.resolve();
          if (trouble === 'freezes' || commands < moment) await stepping;
          // What waits for nothing is idle: only those that were woken are due.
          // A call that was interrupted may be under way for its limit.
          for (let round = 0; round < 6; round += 1, clock.ms += 5000)
            for (const { id } of await healthy.store.runs.active()) await stepJob(updateJob, id, healthy);
          clock.ms = NOW_MS;
          expect([moment, ...(await statesOf(healthy))]).toEqual([
            moment,
            'superseded',
            'superseded',
            'notified',
          ]);
          expect(await healthy.store.runs.byAlias(latestAlias(third))).toBe(attemptName(third));
          expect([moment, webhooks.at(-1)?.body]).toEqual([moment, expect.stringContaining('se_3')]);
        }
        expect(wasStruck).toBeGreaterThan(9);
      },
    );
  });
});

async function statesOf({ store: { runs } }: JobContext) {
  const all = await runs.loadAll([first.id, second.id, third.id], updateRun);
  return all.map(({ state, ending, newer }) => ending?.kind ?? (newer ? 'superseded' : state));
}

describe('a callback about a message whose answer was lost', () => {
  const callback = { state: 'live', attemptAtMs: first.attemptAtMs, renewal: 0, atMs: NOW_MS };

  /** Updates a deployment that does not answer; `until` it gave up, or has failed once. */
  async function unanswered(until: 'retry' | 'gaveUp') {
    const { target, webhooks } = receiver(() => 'retry', false);
    const context = processOf(target, platform());
    await context.store.runs.accept(first);
    await stepJob(updateJob, first.id, context);
    if (until === 'gaveUp') {
      clock.ms += 61 * MINUTE_MS;
      for (let step = 0; step < 2; step += 1) await stepJob(updateJob, first.id, context);
    }
    return {
      context,
      webhooks,
      async called(event: object) {
        await context.store.runs.appendToInbox('deployment', first.id, { event });
        await stepJob(updateJob, first.id, context);
        clock.ms = NOW_MS;
        return context.store.runs.load(first.id, updateRun);
      },
    };
  }

  test.each(['retry', 'gaveUp'] as const)('proves that it arrived: %s', async (until) => {
    const { called, webhooks } = await unanswered(until);
    const sent = webhooks.length;
    expect(await called(callback)).toMatchObject({ state: 'notified', outcome: { state: 'live' } });
    expect((await called({ ...callback, state: 'failed' }))?.ending).toBeUndefined();
    expect(webhooks).toHaveLength(sent);
  });

  test('proves nothing about what came after a restore', async () => {
    const { called, context } = await unanswered('retry');
    await closeOpenWork(redis.client);
    expect(await called(callback)).toMatchObject({ state: 'ended', ending: { kind: 'restored' } });
    expect(await context.store.runs.byAlias(takenAlias(first))).toBeUndefined();
  });

  test.each(['attemptAtMs', 'renewal'] as const)('of another %s proves nothing', async (which) => {
    const { called } = await unanswered('retry');
    expect(await called({ ...callback, [which]: 7 })).toMatchObject({ state: 'notifying' });
  });
});

test('a version that was rejected twice is not what the site has once an older one works', async () => {
  const context = processOf(receiver(() => 'delivered').target, platform());
  for (const update of [first, second]) await context.store.runs.accept(update);
  const load = async (update: UpdateRun) =>
    (await context.store.runs.load(update.id, updateRun)) ?? expect.fail('no update');
  async function reports(update: UpdateRun, state: 'live' | 'failed') {
    const { id, attemptAtMs } = await load(update);
    const event = { state, attemptAtMs, renewal: 0, atMs: NOW_MS };
    await context.store.runs.appendToInbox('deployment', id, { event });
    await stepAll(context, update, first, second);
  }
  await stepAll(context, first);
  await reports(first, 'failed');
  await stepAll(context, second, first);
  await reports(second, 'failed');
  const again = updateTransitions.again(await load(second), second.by, NOW_MS) ?? expect.fail('no change');
  await context.store.runs.resume(again);
  await stepAll(context, second, first);
  await reports(second, 'failed');
  await reports(first, 'live');
  expect(await context.store.runs.byAlias(takenAlias(first))).toBe(attemptName(first));
  expect((await load(first)).newer).toBeUndefined();
});

test.each([
  ['has no link any more', () => receiver(() => 'delivered', false).target],
  ['starts a workflow', () => ({ kind: 'github', dispatch: expect.unreachable }) as unknown as DeploymentApi],
])('a link is renewed no more once the settings say that the deployment %s', async (_, changed) => {
  const docs = platform();
  const { target, webhooks } = receiver(() => 'delivered');
  const context = processOf(target, docs);
  await context.store.runs.accept(first);
  await stepJob(updateJob, first.id, context);
  clock.ms += 55 * MINUTE_MS;
  expect(await stepJob(updateJob, first.id, processOf(changed(), docs))).toBeUndefined();
  clock.ms = NOW_MS;
  expect(await context.store.runs.load(first.id, updateRun)).toMatchObject({ state: 'notified', renewal: 0 });
  expect(webhooks).toHaveLength(1);
});

/** What a person did before the answer came. */
const clicks = {
  'nothing yet': undefined,
  'Start anyway': updateTransitions.again,
  "Don't start again": updateTransitions.leave,
  'Start anyway, and then lost the permission': updateTransitions.again,
};

test.each(Object.entries(clicks))(
  'a late answer to a start counts. Its person clicked: %s',
  async (label, click) => {
    let dispatches = 0;
    const dispatch = async () => {
      dispatches += 1;
      throw new Error('no answer');
    };
    const getRun = async () => ({ id: 7, url: 'https://github.test/7', conclusion: 'success' });
    const target = { kind: 'github', dispatch, getRun } as unknown as DeploymentApi;
    const context = processOf(target, platform());
    await context.store.runs.accept(first);
    await stepJob(updateJob, first.id, context);
    const stored = async () =>
      (await context.store.runs.load(first.id, updateRun)) ?? expect.fail('no update');
    const text = async () => updateMessages(await stored())[0]?.message.text;
    const open = await stored();
    expect(open.state).toBe('unknown');
    const clicked = click?.(open, open.by, NOW_MS);
    if (clicked) await context.store.runs.resume(clicked);
    if (label.endsWith('permission')) {
      const person = { ...open.by, fullMember: true, active: true };
      const check = async () => ({ kind: 'refused', person, contacts: '@docs-admins' }) as const;
      await stepJob(updateJob, first.id, { ...context, policy: { ...context.policy, check } });
      expect(await text()).toMatch(
        /^Not started again · it's unclear whether the workflow for production started/,
      );
    }
    const result = JSON.stringify({ result: { run: { id: 7, url: 'https://github.test/7' } } });
    await redis.client.hset(keys.run(first.id), `call:${startStep({ attempt: 1 })}`, result);
    // The first start may arrive late, so the second waits for the limit of a call.
    clock.ms += 13_000;
    for (let step = 0; step < 2; step += 1) await stepJob(updateJob, first.id, context);
    clock.ms = NOW_MS;
    const saved = await stored();
    expect(saved).toMatchObject({
      state: 'notified',
      workflow: { id: 7 },
      answer: { attempt: 1, action: 'late' },
    });
    const isAgain = saved.attempt === 2;
    const replacedBy = `${first.id}.${isAgain ? 'line.2' : 'end.1'}`;
    expect(updateMessages(isAgain ? (clicked ?? saved) : saved)).toContainEqual(
      expect.objectContaining({ key: `${first.id}.question.1`, retracted: true, replacedBy }),
    );
    expect(updateMessages(saved)[0]?.key).toContain('.end.');
    expect(await text()).toMatch(/^Sent to production · its workflow succeeded/);
    expect(dispatches).toBe(1);
  },
);

test('a question ends once a newer export was sent, whenever the process dies that sends it', async () => {
  let wasStruck = 0;
  for (const moment of moments) {
    await redis.client.flushall();
    let dispatches = 0;
    const dispatch = async () => {
      dispatches += 1;
      if (dispatches === 1) throw new Error('no answer');
      return { run: undefined };
    };
    const target = { kind: 'github', dispatch } as unknown as DeploymentApi;
    const healthy = processOf(target, platform());
    for (const update of [first, second]) await healthy.store.runs.accept(update);
    await stepAll(healthy, first);
    clock.ms += 13_000;
    const stopped = Promise.withResolvers<void>();
    let commands = 0;
    const dying = processOf(target, platform(), () => {
      commands += 1;
      if (commands !== moment || dispatches > 1) return undefined;
      wasStruck += 1;
      stopped.resolve();
      return new Promise(() => {});
    });
    await Promise.race([stepJob(updateJob, second.id, dying), stopped.promise]);
    for (let round = 0; round < 6; round += 1, clock.ms += 5000)
      for (const { id } of await healthy.store.runs.active()) await stepJob(updateJob, id, healthy);
    clock.ms = NOW_MS;
    expect([moment, ...(await statesOf(healthy))]).toEqual([moment, 'superseded', 'notified']);
  }
  expect(wasStruck).toBeGreaterThan(5);
});

test('a start that may have left stays a question if a later export is refused', async () => {
  const dispatch = async () => expect.fail('it starts twice');
  const target = { kind: 'github', dispatch } as unknown as DeploymentApi;
  const context = processOf(target, platform());
  const begun: UpdateRun = { ...first, state: 'notifying' };
  for (const update of [begun, second]) await context.store.runs.accept(update);
  const intent = JSON.stringify({ token: 'of a process that died', sinceMs: NOW_MS });
  await redis.client.hset(keys.run(first.id), `call:${startStep(begun)}`, intent);
  const refusing = { kind: 'webhook', includeLink: true, send: async () => ({ kind: 'refused', text: '' }) };
  await stepAll(processOf(refusing as unknown as DeploymentApi, platform()), second);
  clock.ms += 13_000;
  await stepAll(context, first);
  clock.ms = NOW_MS;
  expect(await statesOf(context)).toEqual(['unknown', 'refused']);
});

test('an update that was superseded before it was sent again is not replaced by one that is refused', async () => {
  const taking = processOf(receiver(() => 'delivered').target, platform());
  for (const update of [first, second]) await taking.store.runs.accept(update);
  await stepJob(updateJob, first.id, taking);
  const load = async () => (await taking.store.runs.load(first.id, updateRun)) ?? expect.fail('no update');
  const again = updateTransitions.again(await load(), first.by, first.attemptAtMs + 500);
  await taking.store.runs.resume(again ?? expect.fail('no change'));
  const refusing = { kind: 'webhook', includeLink: true, send: async () => ({ kind: 'refused', text: '' }) };
  const context = processOf(refusing as unknown as DeploymentApi, platform());
  await stepAll(context, second, first, first);
  const run = await load();
  expect(run.ending).toEqual({ kind: 'superseded' });
  expect(updateMessages(run)[0]?.message.text).toMatch(/^Sent to production/);
});

test('an attempt that was not sent does not hide which version took the place of its export', async () => {
  const context = processOf(receiver(() => 'delivered').target, platform());
  for (const update of [first, second]) {
    const versioned: UpdateRun = { ...update, version: update.jobId };
    await context.store.runs.accept(versioned);
  }
  await stepAll(context, first, second, first);
  const load = async () => (await context.store.runs.load(first.id, updateRun)) ?? expect.fail('no update');
  const replaced = /^Replaced on production by se_2/;
  expect(updateMessages(await load())[0]?.message.text).toMatch(replaced);
  const again = updateTransitions.again(await load(), first.by, second.attemptAtMs + 500);
  await context.store.runs.resume(again ?? expect.fail('no change'));
  // The third was asked for later, and the deployment refuses it.
  await context.store.runs.accept(third);
  const refusing = { kind: 'webhook', includeLink: true, send: async () => ({ kind: 'refused', text: '' }) };
  await stepAll(processOf(refusing as unknown as DeploymentApi, platform()), third, first, first);
  expect((await load()).ending).toEqual({ kind: 'superseded' });
  expect(updateMessages(await load())[0]?.message.text).toMatch(replaced);
});

test('trouble on our side is shown by the schedule, and its message goes with it', async () => {
  const { target } = receiver(() => 'delivered');
  const context = processOf(target, platform());
  const schedule = anExportSchedule();
  await context.store.runs.accept(schedule);
  const scheduled: UpdateRun = { ...first, schedule: schedule.id };
  await context.store.runs.accept(scheduled);
  await updateJob.giveUp?.(first.id, context, 'a1b2c3');
  await stepJob(updateJob, first.id, context);
  expect(await redis.client.hget(keys.run(schedule.id), 'wakes')).not.toBeNull();
  const load = () => context.store.runs.load(first.id, updateRun);
  const broken = (await load()) ?? expect.fail('no update');
  await context.store.runs.resume(
    updateTransitions.again(broken, broken.by, NOW_MS) ?? expect.fail('no change'),
  );
  await stepJob(updateJob, first.id, context);
  const messages = updateMessages((await load()) ?? expect.fail('no update'));
  const trouble = messages.find(({ key }) => key === `${first.id}.trouble.1`);
  expect(trouble).toMatchObject({ retracted: true, replacedBy: `${first.id}.line.2` });
  expect(messages[0]?.message.text).toMatch(/^Sent to production/);
});

test('a workflow that GitHub did not take for an hour was not refused', async () => {
  const failed = { outcome: 'failed', isSent: false, reason: 'ECONNREFUSED', headers: {}, text: '' } as const;
  const error = new GithubError('dispatch', false, { ...failed, retryAfterMs: undefined });
  const target = { kind: 'github', dispatch: () => Promise.reject(error) } as unknown as DeploymentApi;
  const context = processOf(target, platform());
  await context.store.runs.accept(first);
  await stepJob(updateJob, first.id, context);
  clock.ms += 61 * MINUTE_MS;
  for (let step = 0; step < 2; step += 1) await stepJob(updateJob, first.id, context);
  clock.ms = NOW_MS;
  const run = await context.store.runs.load(first.id, updateRun);
  expect(run?.ending).toEqual({ kind: 'gaveUp', reason: 'ECONNREFUSED' });
});

const bodiesById = (webhooks: { id: string; body: string }[]) =>
  [...Map.groupBy(webhooks, ({ id }) => id).values()].map(
    (same) => new Set(same.map(({ body }) => body)).size,
  );

test('a repeated webhook has the same body, whenever a process froze that goes on later', async () => {
  for (const moment of moments) {
    await redis.client.flushall();
    const { target, webhooks } = receiver(() => (webhooks.length === 1 ? 'retry' : 'delivered'));
    const docs = platform();
    const healthy = processOf(target, docs);
    await healthy.store.runs.accept(first);
    let commands = 0;
    const [stopped, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const frozen = processOf(target, docs, () => {
      commands += 1;
      if (commands === moment) stopped.resolve();
      return commands === moment ? thawed.promise : undefined;
    });
    const stepping = stepJob(updateJob, first.id, frozen);
    await Promise.race([stepping, stopped.promise]);
    await stepJob(updateJob, first.id, healthy);
    thawed.resolve();
    await stepping;
    clock.ms += MINUTE_MS;
    await stepJob(updateJob, first.id, healthy);
    clock.ms = NOW_MS;
    expect((await healthy.store.runs.load(first.id, updateRun))?.state).toBe('notified');
    expect([moment, ...bodiesById(webhooks)]).toEqual([moment, 1]);
  }
});

test.each([
  ['end after minutes', 5 * MINUTE_MS, 'status 500'],
  ['have ended already', -1e7 * MINUTE_MS, 'its link ended'],
])('a deployment that fails is notified again for an hour, also if links %s', async (_, lifeMs, reason) => {
  const { target, webhooks } = receiver(() => 'retry');
  const docs = platform(lifeMs);
  const context = processOf(target, docs);
  await context.store.runs.accept(first);
  for (let steps = 0, waitMs: number | undefined = 0; waitMs !== undefined && steps < 400; steps += 1) {
    waitMs = await stepJob(updateJob, first.id, context);
    clock.ms += waitMs ?? 0;
    // Redis goes by its own time.
    if (waitMs && clock.ms > (await ends(context))) await dropLinks();
  }
  const run = await context.store.runs.load(first.id, updateRun);
  expect(run?.ending).toEqual({ kind: 'gaveUp', reason });
  expect(clock.ms - NOW_MS).toBeGreaterThan(58 * MINUTE_MS);
  expect(bodiesById(webhooks).every((bodies) => bodies === 1)).toBe(true);
  expect(bodiesById(webhooks).length).toBe(lifeMs > 0 ? 11 : 0);
  clock.ms = NOW_MS;
});

const ends = async ({ store: { runs } }: JobContext) =>
  (await runs.load(first.id, updateRun))?.linkEndsAtMs ?? Infinity;
const dropLinks = async () => {
  for (const key of await redis.client.keys('{docket}:link:*')) await redis.client.del(key);
};

test('a schedule is due if its message changes, not at each step of a month of fresh links', async () => {
  const { target } = receiver(() => 'delivered');
  const context = processOf(target, platform());
  const schedule = anExportSchedule();
  await context.store.runs.accept(schedule);
  const scheduled: UpdateRun = { ...first, schedule: schedule.id };
  await context.store.runs.accept(scheduled);
  const wakes = async () => Number((await redis.client.hget(keys.run(schedule.id), 'wakes')) ?? 0);
  await stepJob(updateJob, first.id, context);
  const shown = await wakes();
  expect(shown).toBeGreaterThan(0);
  for (let hour = 0; hour < 3; hour += 1, clock.ms += 55 * MINUTE_MS)
    await stepJob(updateJob, first.id, context);
  clock.ms = NOW_MS;
  expect((await context.store.runs.load(first.id, updateRun))?.renewal).toBe(2);
  expect(await wakes()).toBe(shown);
});

describe('on a schedule, after a failure', () => {
  const link = 'https://github.example/acme/infra/actions/runs/1';
  const sent: Partial<UpdateRun> = { state: 'notified', notifiedAtMs: NOW_MS, schedule: 's1' };
  const ran = (conclusion: string) => anUpdate({ ...sent, workflow: { id: 1, url: link, conclusion } });
  const refused = { state: 'ended', ending: { kind: 'refused', status: 422, text: '' } } as const;
  const notPermitted = { state: 'ended', ending: { kind: 'permission', contacts: '@docs' } } as const;
  const failed = { outcome: { state: 'failed' as const, atMs: NOW_MS } };
  const shownOf = (run: UpdateRun) => {
    const shown = withMessage(run, NOW_MS + 24 * 60 * MINUTE_MS);
    return { shown, keys: updateMessages(shown).map(({ key }) => key.slice(run.id.length + 1)) };
  };

  test.each<[string, UpdateRun['follows'], UpdateRun]>([
    ['a workflow that failed', 'failure', ran('failure')],
    ['a refusal', 'failure', anUpdate({ ...sent, notifiedAtMs: undefined, ...refused })],
    ['a link that could not be renewed', undefined, anUpdate({ ...sent, ...refused })],
    ['a report of a failure', 'reported', anUpdate({ ...sent, ...failed })],
    [
      'a report, and a link that could not be renewed',
      'reported',
      anUpdate({ ...sent, ...refused, ...failed }),
    ],
    ['no report after one of a failure', 'reported', anUpdate({ ...sent, follows: 'reported' })],
    ['a lost permission', 'failure', anUpdate({ schedule: 's1', ...notPermitted })],
    ['a refusal after a report', 'reported', anUpdate({ schedule: 's1', ...refused, follows: 'reported' })],
    ['a stop after a failure', 'failure', { ...ran('cancelled'), follows: 'failure' }],
    ['a wait after a failure', 'failure', anUpdate({ schedule: 's1', follows: 'failure' })],
    ['a stop', undefined, ran('cancelled')],
    ['a success', undefined, ran('success')],
    ['a success after a failure', undefined, { ...ran('success'), follows: 'recovered' }],
    ['a failure of another schedule', undefined, { ...ran('failure'), schedule: 's2' }],
    ['a failure of a person', undefined, { ...ran('failure'), schedule: undefined }],
    ['what nobody knows any more', undefined, undefined as never],
  ])('%s is followed by %s', (_, follows, before) => {
    expect(followsOf(anUpdate({ schedule: 's1' }), before)).toBe(follows);
    expect(followsOf(anUpdate(), before)).toBeUndefined();
  });

  test('a further one posts nothing; a run that succeeds then, in a second attempt on GitHub, is posted', () => {
    const quiet = shownOf({ ...ran('failure'), follows: 'failure' });
    expect(quiet).toMatchObject({ keys: [], shown: { shows: 'trouble', follows: 'failure' } });
    const { workflow } = ran('success');
    const again = shownOf({ ...quiet.shown, workflow });
    expect(again).toMatchObject({ keys: ['trouble.1'], shown: { follows: 'recovered' } });
    expect(updateMessages(again.shown)[0]?.message.text).toContain('works again');
  });

  test('a report of a failure after the success is the first one again', () => {
    const live = shownOf(anUpdate({ ...sent, follows: 'failure' }));
    expect(live).toMatchObject({ keys: ['end.1'], shown: { follows: 'recovered' } });
    expect(shownOf({ ...live.shown, ...failed }).keys).toEqual(['trouble.1', 'end.1']);
  });

  test.each(['success', 'failure'])(
    'its workflow waits: the line is there until the %s',
    async (conclusion) => {
      const url = 'https://github.test/7';
      let found: object = { waits: true };
      const dispatch = async () => ({ run: { id: 7, url } });
      const getRun = async () => ({ id: 7, url, ...found });
      const context = processOf({ kind: 'github', dispatch, getRun } as unknown as DeploymentApi, platform());
      const scheduled: UpdateRun = { ...first, schedule: 's1' };
      await context.store.runs.accept(scheduled);
      async function shows() {
        for (let steps = 0; steps < 4; steps += 1, clock.ms += 15 * MINUTE_MS)
          await stepJob(updateJob, first.id, context);
        const messages = updateMessages(
          (await context.store.runs.load(first.id, updateRun)) ?? expect.fail('no'),
        );
        return messages.map(({ key, kind, retracted, replacedBy, message }) => ({
          ...{ key: key.slice(first.id.length + 1), kind, text: message.text },
          ...(retracted && { retracted, replacedBy: replacedBy?.slice(first.id.length + 1) }),
        }));
      }
      const line = { key: 'line.1', kind: 'state' };
      expect(await shows()).toEqual([{ ...line, text: expect.stringContaining('waits for an approval') }]);
      found = {};
      expect(await shows()).toEqual([{ ...line, text: expect.stringContaining('its workflow runs') }]);
      found = { conclusion };
      const end = conclusion === 'failure' ? ['trouble.1'] : [];
      const ended = await shows();
      clock.ms = NOW_MS;
      expect(ended.map(({ key }) => key)).toEqual([...end, 'line.1']);
      expect(ended.at(-1)).toEqual({
        ...line,
        retracted: true,
        replacedBy: end[0],
        text: expect.any(String),
      });
    },
  );

  test('the private message of a lost permission is sent once', () => {
    const lost = anUpdate({ schedule: 's1', ...notPermitted });
    expect(shownOf(lost).keys).toEqual(['line.1.private']);
    expect(shownOf({ ...lost, follows: 'failure' }).keys).toEqual([]);
  });

  test('a deployment that reported it has to report that it is live', () => {
    const quiet = shownOf(anUpdate({ ...sent, follows: 'reported' }));
    expect(quiet).toMatchObject({ keys: [], shown: { shows: 'end', follows: 'reported' } });
    expect(shownOf({ ...quiet.shown, ...failed }).keys).toEqual([]);
    const outcome = { state: 'live' as const, atMs: NOW_MS };
    expect(shownOf({ ...quiet.shown, outcome })).toMatchObject({ keys: ['end.1'] });
  });

  test.each(['cancelled', 'skipped'])('a run that was %s is no success', (conclusion) => {
    expect(shownOf({ ...ran(conclusion), follows: 'failure' })).toMatchObject({ keys: [] });
  });

  test('a question is asked, and what came of it is posted', () => {
    const asked = shownOf(anUpdate({ schedule: 's1', state: 'unknown', follows: 'failure' }));
    expect(asked.keys).toEqual(['question.1']);
    expect(shownOf({ ...asked.shown, ...ran('failure') }).keys).toContain('trouble.1');
  });
});
