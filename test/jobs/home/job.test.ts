import { describe, expect, test } from 'vitest';
import { homeJob } from '../../../src/jobs/home/job.ts';
import { keys } from '../../../src/store/keys.ts';
import { createRunStore, toIndexEntry } from '../../../src/store/runs.ts';
import { createThreadStore } from '../../../src/store/threads.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aProject } from '../../support/commands/builders.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

const data = 'T0ACME:U0ANA';

/** A person's Home; returns what was published. */
function setting() {
  const views: string[] = [];
  const runs = createRunStore(redis.client);
  const context = jobContext(redis.client, {
    runs,
    policy: { permissionsOf: async () => ['export'], check: async () => ({ kind: 'unknown' }) },
    slack: {
      async publishHome(_, view) {
        views.push(JSON.stringify(view));
      },
    },
    outbox: { deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '17.0001' }) },
    limits: { exportStatusPerSecond: 5 },
    projects: [aProject({ projectId: 'prj_1' })],
    now: () => NOW_MS,
  });
  const keep = async (changes: Parameters<typeof aRun>[0]) =>
    runs.accept(aRun({ people: ['U0ANA'], rev: 1, ...changes }), {
      deadlineMs: (await runs.timeMs()) + 60_000,
    });
  const follow = async (changes: Parameters<typeof aThread>[0]) =>
    runs.accept(aThread(changes), { deadlineMs: (await runs.timeMs()) + 60_000 });
  return { views, context, keep, follow };
}

describe('what it shows', () => {
  test('threads that this person followed long ago, and nobody else’s', async () => {
    const { views, context, follow } = setting();
    const place = (rootTs: string) => ({ teamId: 'T0ACME', channel: 'C0DOCS', rootTs });
    const others = { owner: { id: 'U0BEN', name: 'ben' }, people: ['U0BEN'] };
    for (const [rootTs, changes] of [
      ['1.1', { id: 'mine', agentJobId: 'aj_mine', seen: undefined }],
      ['2.2', { id: 'others', agentJobId: 'aj_others', seen: undefined, ...others }],
    ] as const) {
      await follow(changes);
      await createThreadStore(redis.client).follow(aThread(changes), place(rootTs));
    }
    await redis.client.del(keys.runsOf('T0ACME', 'U0ANA'));
    await homeJob.run(data, context);
    expect(views[0]).toContain('job aj_mine');
    expect(views[0]).not.toContain('aj_others');
  });

  test('no way into a conversation that is not open to everybody, except for whoever asked', async () => {
    const { views, context, keep } = setting();
    const asked = { channel: 'C0PRIVATE', joinable: true, isPublic: false, atMs: NOW_MS };
    await keep({ id: 'one', asked, requester: { id: 'U0BEN', name: 'ben' } });
    await homeJob.run(data, context);
    expect(views[0]).not.toContain('archives/');
    await keep({ id: 'two', asked });
    await homeJob.run(data, context);
    expect(views[1]?.match(/archives\//g)).toHaveLength(1);
  });
});

describe('what needs somebody', () => {
  test('of thousands of followed threads those records alone are read that are this person’s or need them', async () => {
    const { views, context } = setting();
    const threads = createThreadStore(redis.client);
    const ben = { id: 'U0BEN', name: 'ben' };
    const held = anInstruction({ id: '1.1', by: { id: 'U0ANA', name: 'ana' }, state: 'held' });
    const ids = Array.from({ length: 3000 }, (_, n) => `t${n}`);
    const followed = redis.client.pipeline();
    for (const [n, id] of ids.entries()) {
      const needs = n === 0 ? ['U0ANA held 1.1'] : [];
      const thread = aThread({
        id,
        owner: ben,
        hasOtherAuthors: true,
        needs,
        instructions: n === 0 ? [held] : [],
      });
      followed.hset(keys.followedIndex('T0ACME'), id, toIndexEntry(thread));
      followed.hset(keys.run(id), 'json', JSON.stringify(thread), 'rev', thread.rev);
    }
    await followed.exec();
    const read: string[] = [];
    const runs = {
      ...context.runs,
      loadAll: (...[wanted, schema]: Parameters<typeof context.runs.loadAll>) => {
        read.push(...wanted);
        return context.runs.loadAll(wanted, schema);
      },
    } as typeof context.runs;
    await homeJob.run(data, { ...context, runs, threads });
    expect(read).toEqual(['t0']);
    expect(views[0]).toContain('Needs you (1)');
    expect(views[0]).toContain('Is this for the agent?');
  });
});
