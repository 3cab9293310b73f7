import { beforeEach, expect, test } from 'vitest';
import type { JobContext } from '../../../src/jobs/context.ts';
import type { PermissionResult } from '../../../src/policy.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { createAuditStore } from '../../../src/store/audit.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
let starts: number;
beforeEach(() => {
  world = createExportWorld(redis);
  starts = 0;
});

const person = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
const contextWith = (verdict: PermissionResult): JobContext =>
  world.contextWith(
    {
      async startExport() {
        starts += 1;
        return anExportJob();
      },
      getExport: async () => anExportJob(),
    },
    { policy: { check: async () => verdict } },
  );

/** One that was asked for so long ago, and has not started. */
const waited = (ms: number) =>
  world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined, attemptAtMs: NOW_MS - ms });
const LONG = defaultTiming.permissionCacheMs + 1;
const refused: PermissionResult = { kind: 'refused', person, ask: '@docs-admins' };

test('an export that waited for long is not started for somebody who may no longer', async () => {
  const run = await waited(LONG);
  await world.step(run, contextWith(refused));
  expect(starts).toBe(0);
  expect((await world.stored(run))?.ending).toMatchObject({ kind: 'notStarted', why: 'permission' });
  expect(world.published.get(`${run.id}.card`)).toMatchObject({ retracted: true });
  expect(world.published.get(`${run.id}.refused.1`)).toMatchObject({
    place: { user: 'U0ANA' },
    message: {
      text: 'You may no longer start exports here, so the export of docs.acme.com was not started. Ask @docs-admins.',
    },
  });
  expect(await world.audited()).toEqual(['docs.acme.com: ended: notStarted']);
  expect((await createAuditStore(redis.client).latest('T0ACME', 9)).refused).toMatchObject([
    { user: { id: 'U0ANA' }, result: 'refused: not permitted' },
  ]);
});

test('it waits while Slack does not tell, and starts once it does', async () => {
  const run = await waited(LONG);
  expect(await world.step(run, contextWith({ kind: 'unknown' }))).toMatchObject({ kind: 'again' });
  expect(starts).toBe(0);
  await world.step(run, contextWith({ kind: 'allowed', person }));
  expect(starts).toBe(1);
});

test('of one that did not wait, the check of the request itself still holds', async () => {
  await world.step(await waited(1000), contextWith(refused));
  expect(starts).toBe(1);
});

test('one that was started before is found all the same', async () => {
  const run = await waited(LONG);
  const allowed = contextWith({ kind: 'allowed', person });
  // The process dies before it saves what came of the start.
  await world
    .step(run, {
      ...allowed,
      runs: { ...world.runs, saveStep: () => Promise.reject(new Error('killed')) },
    })
    .catch(() => {});
  await world.step(run, contextWith(refused));
  expect(starts).toBe(1);
  expect((await world.stored(run))?.state).toBe('watching');
});
