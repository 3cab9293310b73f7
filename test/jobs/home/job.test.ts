import { describe, expect, test } from 'vitest';
import { homeJob } from '../../../src/jobs/home/job.ts';
import type { Permission, Policy } from '../../../src/policy.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { SlackApiError } from '../../../src/slack/errors.ts';
import { toIndexEntry } from '../../../src/store/followed-index.ts';
import { keys } from '../../../src/store/keys.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { createThreadStore } from '../../../src/store/threads.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aProject } from '../../support/commands/builders.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';
import { keptLog } from '../../support/runtime/log.ts';

const redis = redisForTests();

const data = { teamId: 'T0ACME', userId: 'U0ANA', openedAtMs: NOW_MS };

/** A Home whose publishing is `publish`; answers what was published and what was written to the log. */
function setting(publish: () => Promise<void> = async () => {}, policy: Partial<Policy> = {}) {
  const clock = { ms: NOW_MS };
  const views: string[] = [];
  const { log, text } = keptLog();
  const runs = createRunStore(redis.client);
  const context = jobContext(redis.client, {
    runs,
    policy: { permissionsOf: async () => ['export'], check: async () => ({ kind: 'unknown' }), ...policy },
    slack: {
      async publishHome(_, view) {
        await publish();
        views.push(JSON.stringify(view));
      },
    },
    outbox: { deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '17.0001' }) },
    limits: { exportStatusPerSecond: 5 },
    projects: [aProject({ projectId: 'prj_1' })],
    now: () => clock.ms,
    log,
  });
  const keep = async (changes: Parameters<typeof aRun>[0]) =>
    runs.accept(
      aRun({ people: ['U0ANA'], rev: 1, ...changes }),
      (await runs.timeMs()) + 60_000,
      0,
      undefined,
    );
  const follow = async (changes: Parameters<typeof aThread>[0]) =>
    runs.accept(aThread(changes), (await runs.timeMs()) + 60_000, 0, undefined);
  return { clock, views, context, keep, follow, log: text };
}

const refusal = (kind: SlackApiError['kind'], code: string, retryAfterMs?: number) => () =>
  Promise.reject(
    new SlackApiError(kind, 'views.publish', code, retryAfterMs === undefined ? {} : { retryAfterMs }),
  );

describe('what it shows', () => {
  test('what runs first, then what ended, latest first', async () => {
    const { views, context, keep } = setting();
    const ended = (id: string, sinceMs: number) =>
      keep({ id, domain: `${id}.acme.com`, state: 'ended', ending: anEnding.failed, sinceMs });
    await keep({ id: 'one', domain: 'one.acme.com' });
    await ended('two', NOW_MS - 10_000);
    await ended('three', NOW_MS - 5000);
    await homeJob.run(data, context);
    const order = [...(views[0] ?? '').matchAll(/(\w+)\.acme\.com/g)].map(([, name]) => name);
    expect(order).toEqual(['one', 'three', 'two']);
    expect(views[0]).toContain('https://acme.example/archives/C0DOCS/p170001');
  });

  test('threads that this person follows, with the way there, until they end', async () => {
    const { views, context, keep, follow } = setting();
    await keep({ id: 'one', domain: 'one.acme.com' });
    await follow({ id: 'thread', place: { channel: 'C0PRIVATE', rootTs: '18.0001' } });
    await follow({ id: 'new', seen: undefined, place: undefined, agentJobId: 'aj_new' });
    await follow({ id: 'over', state: 'ended', agentJobId: 'aj_over', seen: undefined });
    await homeJob.run(data, context);
    expect(views[0]).toContain('acme/docs @ agent/quickstart');
    expect(views[0]).toContain('https://acme.example/archives/C0PRIVATE/p180001');
    expect(views[0]).toContain('job aj_new');
    expect(views[0]).toContain('one.acme.com');
    expect(views[0]).not.toContain('aj_over');
  });

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

  test('ten that ended at most, and fifteen that run: the rest of those is counted', async () => {
    const { views, context, keep } = setting();
    for (let n = 0; n < 12; n += 1)
      await keep({ id: `e${n}`, state: 'ended', ending: anEnding.lost, domain: `ended${n}.acme.com` });
    for (let n = 0; n < 17; n += 1) await keep({ id: `r${n}`, domain: `runs${n}.acme.com` });
    await homeJob.run(data, context);
    expect(views[0]?.match(/ended\d+\.acme/g)).toHaveLength(10);
    expect(views[0]?.match(/runs\d+\.acme/g)).toHaveLength(15);
    expect(views[0]).toContain('and 2 more');
  });

  test('runs that are gone, of another kind or damaged are left out', async () => {
    const { views, context, keep } = setting();
    await keep({ id: 'gone', domain: 'gone.acme.com' });
    await keep({ id: 'broken', domain: 'broken.acme.com' });
    await keep({ id: 'other', domain: 'other.acme.com' });
    await keep({ id: 'good', domain: 'good.acme.com' });
    await redis.client.del(keys.run('gone'));
    await redis.client.hset(keys.run('broken'), 'json', '{}');
    await redis.client.hset(keys.run('other'), 'json', JSON.stringify({ ...aRun(), job: 'link' }));
    expect(await homeJob.run(data, context)).toEqual({ kind: 'done' });
    expect([...(views[0] ?? '').matchAll(/(\w+)\.acme\.com/g)].map(([, name]) => name)).toEqual(['good']);
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
  test('stands before all else, each with [Answer], and is nobody else’s', async () => {
    const { views, context, keep } = setting();
    await keep({ id: 'one', domain: 'one.acme.com', state: 'unknown' });
    await keep({
      id: 'two',
      domain: 'two.acme.com',
      state: 'unknown',
      requester: { id: 'U0BEN', name: 'ben' },
    });
    await homeJob.run(data, context);
    expect(views[0]).toContain('Needs you (1)');
    expect(views[0]?.match(/home\.answer/g)).toHaveLength(1);
    expect(views[0]).toContain('Did the export of one.acme.com start?');
    expect(views[0]).not.toContain('Did the export of two.acme.com start?');
  });

  test('of thousands of followed threads those records alone are read that are this person’s or need them', async () => {
    const { views, context } = setting();
    const threads = createThreadStore(redis.client);
    const ben = { id: 'U0BEN', name: 'ben' };
    const held = anInstruction({ id: '1.1', by: { id: 'U0ANA', name: 'ana' }, state: 'held' });
    const ids = Array.from({ length: 3000 }, (_, n) => `t${n}`);
    const followed = redis.client.pipeline();
    for (const [n, id] of ids.entries()) {
      const needs = n === 0 ? ['U0ANA held 1.1'] : [];
      const thread = aThread({ id, owner: ben, crowd: true, needs, instructions: n === 0 ? [held] : [] });
      followed.zadd(keys.followed('T0ACME'), n, id);
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

  test('is cut where it is very much, and says how much more there is', async () => {
    const { views, context, keep } = setting();
    for (let n = 0; n < 40; n += 1) await keep({ id: `r${n}`, state: 'unknown', domain: `r${n}.acme.com` });
    await homeJob.run(data, context);
    expect(views[0]).toContain('Needs you (40)');
    expect(views[0]).toContain('and 20 more');
    expect(JSON.parse(views[0] ?? '').blocks.length).toBeLessThan(100);
  });
});

test('no way into a channel that has become private since', async () => {
  const { views, context, keep } = setting();
  await keep({ id: 'one', requester: { id: 'U0BEN', name: 'ben' } });
  await homeJob.run(data, context);
  await homeJob.run(data, { ...context, isPublic: async () => false });
  expect(views.map((view) => view.includes('archives/'))).toEqual([true, false]);
});

test.each<[Permission[], string[]]>([
  [
    ['admin', 'status', 'digest', 'agent', 'export'],
    [
      'You may: start exports',
      'instruct the docs agent',
      'set up digests, and ask for them',
      'administer Docket: read its audit log',
      'up to 10 exports at once',
      '100 of 100 instructions left this hour',
      '100 of 100 requests for numbers left this hour',
    ],
  ],
  [['export'], ['You may: start exports', 'up to 10 exports at once']],
  [['agent'], ['You may: instruct the docs agent', '100 of 100 instructions left this hour']],
  [
    ['digest'],
    ['You may: set up digests, and ask for them', '100 of 100 requests for numbers left this hour'],
  ],
])('what somebody may do, and what is left of limits, is said in one order: %j', async (granted, said) => {
  const { views, context } = setting(undefined, { permissionsOf: async () => granted });
  await homeJob.run(data, context);
  const line = /You may: [^"\\]*/.exec(views[0] ?? '')?.[0];
  expect(line?.split(' · ')).toEqual(said);
});

describe('whom to ask, for somebody who may do nothing', () => {
  const person = { id: 'U0ANA', name: 'ana', fullMember: false, active: true };
  const refusedWith = (ask: string[], open: boolean): Partial<Policy> => ({
    permissionsOf: async () => ['status'],
    check: async () => ({ kind: 'refused', person, ask }),
    isOpen: (permission) => open && permission === 'export',
  });

  test.each<[string, Partial<Policy>, string]>([
    ['those whose names are known', refusedWith(['ben', 'docs-admins'], true), '@ben or @docs-admins'],
    ['a full member, where every one may', refusedWith([], true), 'a full member of this workspace'],
    ['whoever runs it, where no name is known', refusedWith([], false), 'the people who run Docket'],
    [
      'the same, where Slack did not tell in time',
      { permissionsOf: async () => [], isOpen: () => false },
      'the people who run Docket',
    ],
  ])('%s', async (_, policy, whom) => {
    const { views, context } = setting(undefined, policy);
    await homeJob.run(data, context);
    expect(views[0]).toContain(
      `You can't start exports, instruct the docs agent or set up digests. Ask ${whom}.`,
    );
  });
});

describe('publishing that fails', () => {
  test.each(['unclear', 'unreachable', 'token'] as const)(
    '%s: it is tried again with growing pauses, for a few minutes, then dropped with a line in the log',
    async (kind) => {
      let tries = 0;
      const { clock, context, log } = setting(() => {
        tries += 1;
        return refusal(kind, 'http_503')();
      });
      const pauses: number[] = [];
      for (;;) {
        const outcome = await homeJob.run(data, context);
        if (outcome.kind === 'done') break;
        pauses.push(outcome.inMs);
        clock.ms += outcome.inMs;
        // The pace that all share goes by Redis' own clock, which does not move here.
        await redis.client.flushall();
      }
      expect(pauses.slice(0, 4)).toEqual([1000, 1000, 2000, 4000]);
      expect(Math.max(...pauses)).toBe(defaultTiming.retryMaxMs);
      expect(clock.ms - NOW_MS).toBeGreaterThan(3 * 60_000);
      expect(clock.ms - NOW_MS).toBeLessThan(4 * 60_000);
      expect(tries).toBe(pauses.length + 1);
      expect(log()).toContain('was not brought up to date');
    },
  );

  test('too many: all Home tabs of the workspace wait as long as Slack says', async () => {
    const { context } = setting(refusal('limited', 'ratelimited', 60_000));
    expect(await homeJob.run(data, context)).toMatchObject({ kind: 'again' });
    const other = setting();
    expect(await homeJob.run({ ...data, userId: 'U0BEN' }, other.context)).toMatchObject({ kind: 'again' });
    expect(other.views).toEqual([]);
    const elsewhere = setting();
    expect(await homeJob.run({ ...data, teamId: 'T0OTHER' }, elsewhere.context)).toEqual({ kind: 'done' });
  });

  test.each([
    ['refused', 'not_enabled'],
    ['place', 'user_not_found'],
    ['blocks', 'invalid_blocks'],
  ] as const)('%s (%s): it is over, with a line in the log', async (kind, code) => {
    const { context, log } = setting(refusal(kind, code));
    expect(await homeJob.run(data, context)).toEqual({ kind: 'done' });
    expect(log()).toContain(code);
  });
});

test('a tab that was opened long ago is brought up to date: it may have been opened again since', async () => {
  const { clock, views, context } = setting();
  clock.ms += 24 * 3_600_000;
  expect(await homeJob.run(data, context)).toEqual({ kind: 'done' });
  expect(views).toHaveLength(1);
});
