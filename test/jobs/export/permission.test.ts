import { beforeEach, expect, test } from 'vitest';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { linkJob } from '../../../src/jobs/export/job.ts';
import type { PermissionResult } from '../../../src/policy.ts';
import { createAuditStore } from '../../../src/store/audit.ts';
import { aLinkRun, anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, HOUR_MS } from '../../support/jobs/export/world.ts';
import { stepJob } from '../../support/jobs/world.ts';
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
      async createBundle() {
        starts += 1;
        return { bundleUrl: 'https://bundles.example/b?X-Signature=s3cret' };
      },
    },
    { policy: { check: async () => verdict } },
  );

/** One that was accepted, and has not started. */
const waited = () => world.given({ state: 'starting', jobId: undefined, startedAtMs: undefined });
const refused: PermissionResult = { kind: 'refused', person, contacts: '@docs-admins' };

test('an export is not started for somebody who may no longer', async () => {
  const run = await waited();
  await world.step(run, contextWith(refused));
  expect(starts).toBe(0);
  expect((await world.stored(run))?.ending).toMatchObject({ kind: 'notStarted', why: 'permission' });
  expect(world.published.get(`${run.id}.card`)).toMatchObject({ retracted: true });
  expect(world.published.get(`${run.id}.refused.1`)).toMatchObject({
    place: { user: 'U0ANA' },
    message: {
      text: "You can't start exports here any more, so the export of docs.acme.com didn't start. Ask @docs-admins.",
    },
  });
  expect((await createAuditStore(redis.client).latest('T0ACME', 9)).refused).toMatchObject([
    { user: { id: 'U0ANA' }, result: 'refused: not permitted' },
  ]);
});

test('it waits while Slack does not tell, and starts once it does', async () => {
  const run = await waited();
  expect(await world.step(run, contextWith({ kind: 'unknown' }))).toBeGreaterThan(0);
  expect(starts).toBe(0);
  await world.step(run, contextWith({ kind: 'allowed', person }));
  expect(starts).toBe(1);
});

test.each<[string, PermissionResult, number, string | undefined]>([
  ['is sent while they may', { kind: 'allowed', person }, 1, 'Your own link · docs.acme.com 1.2'],
  ['is not made', refused, 0, 'No link yet · docs.acme.com 1.2'],
  ['waits while Slack does not tell', { kind: 'unknown' }, 0, undefined],
])("a person's own link %s", async (_, verdict, made, text) => {
  const run = aLinkRun();
  await world.runs.accept(run, { deadlineMs: (await world.runs.timeMs()) + 10_000, claimMs: HOUR_MS });
  await stepJob(linkJob, run.id, contextWith(verdict));
  expect(starts).toBe(made);
  expect(world.text(run, 'link')?.split('\n')[0]).toBe(text);
});
