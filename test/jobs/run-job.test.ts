import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../src/jobs/context.ts';
import { exportJob, linkJob } from '../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../src/jobs/export/record.ts';
import { done, runAgainIn } from '../../src/jobs/job.ts';
import { outboxJob } from '../../src/jobs/outbox.ts';
import { defineRunJob, type RunJob, saveAs } from '../../src/jobs/run-job.ts';
import { message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import { keys } from '../../src/store/keys.ts';
import { aLinkRun, aRun } from '../support/jobs/export/builders.ts';
import { jobContext } from '../support/jobs/world.ts';
import { redisForTests } from '../support/redis.ts';
import { aMessage } from '../support/store/builders.ts';

const redis = redisForTests();
let context: JobContext;
let lines: { level: number; run?: string }[];
beforeEach(() => {
  context = jobContext(redis.client, {
    log: pino({}, { write: (line) => void lines.push(JSON.parse(line)) }),
  });
  lines = [];
});

const cases = [
  ['an export', exportJob, aRun({ rev: 1 })],
  ['a link', linkJob, aLinkRun()],
] as const;

/** A run whose record is stored as this instead. */
async function given(run: (typeof cases)[number][2], record: object) {
  const { runs } = context;
  await runs.accept(run, (await runs.timeMs()) + 10_000, 60_000, undefined);
  await redis.client.hset(keys.run(run.id), 'json', JSON.stringify({ ...run, ...record }));
  return run.id;
}

const claims = () => redis.client.keys(keys.claim('*'));

test.each(cases)('%s whose record is damaged is left out, and the record stays', async (_, job, run) => {
  const id = await given(run, { state: 'unheard of' });
  const before = await redis.client.hgetall(keys.run(run.id));
  expect(await job.run(id, context)).toEqual(done);
  await job.giveUp?.(id, context, 'ref1');
  expect(await redis.client.hgetall(keys.run(run.id))).toEqual(before);
  expect(await context.runs.active()).toEqual([]);
  expect(lines).toEqual(
    Array(2).fill(expect.objectContaining({ level: 50, msg: 'the record of a run is damaged' })),
  );
});

test('a message whose record is damaged is left out, and the record stays', async () => {
  await context.messages.publish('m1', aMessage(), 1);
  await redis.client.hset(keys.message('m1'), 'wanted', '{"text":"Ana was here"}');
  const before = await redis.client.hgetall(keys.message('m1'));
  const deliverMessage = async (key: string) => void (await context.messages.load(key));
  expect(await outboxJob.run('m1', { ...context, deliverMessage })).toEqual(done);
  expect(await redis.client.hgetall(keys.message('m1'))).toEqual(before);
  expect(await redis.client.zcard(keys.undelivered())).toBe(0);
  expect(lines).toEqual([expect.objectContaining({ level: 50, message: 'm1' })]);
});

test.each(cases)('%s whose record is gone is no longer listed', async (_, job, run) => {
  const id = await given(run, {});
  await redis.client.del(keys.run(run.id));
  expect(await job.run(id, context)).toEqual({ kind: 'done' });
  expect(await context.runs.active()).toEqual([]);
  expect(lines).toEqual([]);
});

/** A job of links whose step is this. */
type Definition = RunJob<ExportRun>;
const jobOf = (step: Definition['step'], changes: Partial<Definition> = {}) =>
  defineRunJob<ExportRun>({
    name: 'link',
    queue: 'docs-export',
    concurrency: 1,
    schema: exportRun,
    step,
    giveUp: async ({ run }, _context, ref) => saveAs({ ...run, domain: `${run.domain} ${ref}` }),
    ...changes,
  });
const stored = () => context.runs.load(aLinkRun().id, exportRun);

describe('steps', () => {
  let id: string;
  let domains: string[];
  beforeEach(async () => {
    id = await given(aLinkRun({ domain: 'a' }), {});
    domains = [];
  });

  test('after very many, the slot is given back, and the next execution goes on', async () => {
    const job = jobOf(async ({ run }) => {
      domains.push(run.domain);
      return saveAs({ ...run, domain: `${run.domain}+` });
    });
    expect(await job.run(id, context)).toEqual(runAgainIn(0));
    expect(domains).toHaveLength(40);
    expect(await job.run(id, context)).toEqual(runAgainIn(0));
    expect(domains).toHaveLength(80);
  });
});

describe('a step that ends with the next state', () => {
  let id: string;
  let published: string[];
  let woken: string[];
  beforeEach(async () => {
    id = await given(aLinkRun({ domain: 'a' }), {});
    published = [];
    woken = [];
    context = jobContext(redis.client, {
      outbox: {
        publish: async (_team, { key }, version) => void published.push(`${key} ${version}`),
      },
      wake: async ({ id }) => void woken.push(id),
    });
  });
  const messages = ({ domain }: ExportRun): OutboxMessage[] => [
    { key: domain, place: { user: 'U0ANA' }, kind: 'state', message: message([['']]) },
  ];
  const once: Definition['step'] = async ({ run }) =>
    run.domain === 'a' ? saveAs({ ...run, domain: 'b' }) : done;
  const audited = async () =>
    (await context.audit.latest('T0ACME', 9)).done.map(({ what, result }) => `${what} ${result}`);
  const auditLine = () => ({ user: { id: 'U0ANA', name: 'ana' }, channel: '', what: 'link', subject: '' });

  test('frees the claim of a run that has ended, and of no other', async () => {
    await jobOf(once, { hasEnded: ({ domain }) => domain !== 'b' }).run(id, context);
    expect(await claims()).toHaveLength(1);
    await jobOf(async ({ run }) => (run.domain === 'b' ? saveAs({ ...run, domain: 'c' }) : done), {
      hasEnded: ({ domain }) => domain === 'c',
    }).run(id, context);
    expect(await claims()).toEqual([]);
  });

  test('has its audit line although the process dies before it is saved', async () => {
    const job = jobOf(async ({ run }) => saveAs(run, { audit: 'sent' }), { auditLine });
    const died = {
      ...context,
      runs: { ...context.runs, saveStep: () => Promise.reject(new Error('dead')) },
    };
    await expect(job.run(id, died)).rejects.toThrow('dead');
    expect(await audited()).toEqual(['link sent']);
  });

  test('is not saved over what somebody else saved: the run is woken instead', async () => {
    const job = jobOf(
      async ({ run }) => {
        await context.runs.save({ ...run, domain: 'theirs' });
        return saveAs({ ...run, domain: 'ours' }, { inMs: 500 });
      },
      { messages },
    );
    expect(await job.run(id, context)).toEqual(done);
    expect(await stored()).toMatchObject({ domain: 'theirs' });
    expect(published).toEqual(['a 1']);
    expect(woken).toEqual([id]);
  });
});
