import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../src/jobs/context.ts';
import { exportJob } from '../../src/jobs/export/job.ts';
import { done, runAgainIn } from '../../src/jobs/job.ts';
import { linkJob } from '../../src/jobs/link/job.ts';
import { type LinkRun, linkRun } from '../../src/jobs/link/record.ts';
import { defineRunJob, type RunJob, saveAs } from '../../src/jobs/run-job.ts';
import { message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import { keys } from '../../src/store/keys.ts';
import { aRun } from '../support/jobs/export/builders.ts';
import { aLinkRun } from '../support/jobs/link/builders.ts';
import { jobContext } from '../support/jobs/world.ts';
import { redisForTests } from '../support/redis.ts';

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
  return { runId: run.id };
}

const claims = () => redis.client.keys(keys.claim('*'));

test.each(cases)('%s whose record is damaged is left out, and the record stays', async (_, job, run) => {
  const data = await given(run, { state: 'unheard of' });
  const before = await redis.client.hgetall(keys.run(run.id));
  expect(await job.run(data, context)).toEqual(done);
  await job.giveUp?.(data, context, 'ref1');
  expect(await redis.client.hgetall(keys.run(run.id))).toEqual(before);
  expect(await context.runs.active()).toEqual([]);
  expect(lines).toEqual(
    Array(2).fill(expect.objectContaining({ level: 50, msg: 'the record of a run is damaged' })),
  );
});

test.each(cases)('%s whose record is gone is no longer listed', async (_, job, run) => {
  const data = await given(run, {});
  await redis.client.del(keys.run(run.id));
  expect(await job.run(data, context)).toEqual({ kind: 'done' });
  expect(await context.runs.active()).toEqual([]);
  expect(lines).toEqual([]);
});

/** A job of links whose step is this. */
type Definition = RunJob<LinkRun>;
const jobOf = (step: Definition['step'], changes: Partial<Definition> = {}) =>
  defineRunJob<LinkRun>({
    name: 'link',
    queue: 'docs-export',
    concurrency: 1,
    schema: linkRun,
    step,
    giveUp: async ({ run }, _context, ref) => saveAs({ ...run, site: `${run.site} ${ref}` }),
    ...changes,
  });
const stored = () => context.runs.load(aLinkRun().id, linkRun);

describe('steps', () => {
  let data: { runId: string };
  let sites: string[];
  beforeEach(async () => {
    data = await given(aLinkRun({ site: 'a' }), {});
    sites = [];
  });

  test('after very many, the slot is given back, and the next execution goes on', async () => {
    const job = jobOf(async ({ run }) => {
      sites.push(run.site);
      return saveAs({ ...run, site: `${run.site}+` });
    });
    expect(await job.run(data, context)).toEqual(runAgainIn(0));
    expect(sites).toHaveLength(40);
    expect(await job.run(data, context)).toEqual(runAgainIn(0));
    expect(sites).toHaveLength(80);
  });
});

describe('a step that ends with the next state', () => {
  let data: { runId: string };
  let published: string[];
  let woken: string[];
  beforeEach(async () => {
    data = await given(aLinkRun({ site: 'a' }), {});
    published = [];
    woken = [];
    context = jobContext(redis.client, {
      outbox: {
        publish: async (_team, { key }, version) => void published.push(`${key} ${version}`),
      },
      wake: async ({ id }) => void woken.push(id),
    });
  });
  const messages = ({ site }: LinkRun): OutboxMessage[] => [
    { key: site, place: { user: 'U0ANA' }, kind: 'state', message: message([['']]) },
  ];
  const once: Definition['step'] = async ({ run }) =>
    run.site === 'a' ? saveAs({ ...run, site: 'b' }) : done;
  const audited = async () =>
    (await context.audit.latest('T0ACME', 9)).done.map(({ what, result }) => `${what} ${result}`);
  const auditLine = () => ({ user: { id: 'U0ANA', name: 'ana' }, channel: '', what: 'link', subject: '' });

  test('frees the claim of a run that has ended, and of no other', async () => {
    await jobOf(once, { hasEnded: ({ site }) => site !== 'b' }).run(data, context);
    expect(await claims()).toHaveLength(1);
    await jobOf(async ({ run }) => (run.site === 'b' ? saveAs({ ...run, site: 'c' }) : done), {
      hasEnded: ({ site }) => site === 'c',
    }).run(data, context);
    expect(await claims()).toEqual([]);
  });

  test('has its audit line although the process dies before it is saved', async () => {
    const job = jobOf(async ({ run }) => saveAs(run, { audit: 'sent' }), { auditLine });
    const died = {
      ...context,
      runs: { ...context.runs, saveStep: () => Promise.reject(new Error('dead')) },
    };
    await expect(job.run(data, died)).rejects.toThrow('dead');
    expect(await audited()).toEqual(['link sent']);
  });

  test('is not saved over what somebody else saved: the run is woken instead', async () => {
    const job = jobOf(
      async ({ run }) => {
        await context.runs.save({ ...run, site: 'theirs' });
        return saveAs({ ...run, site: 'ours' }, { inMs: 500 });
      },
      { messages },
    );
    expect(await job.run(data, context)).toEqual(done);
    expect(await stored()).toMatchObject({ site: 'theirs' });
    expect(published).toEqual(['a 1']);
    expect(woken).toEqual([data.runId]);
  });
});
