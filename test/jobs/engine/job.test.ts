import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { defineRunJob, type RunJob, save } from '../../../src/jobs/engine/job.ts';
import { exportJob, linkJob } from '../../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/record.ts';
import { outboxJob } from '../../../src/jobs/index.ts';
import { wait } from '../../../src/runtime/later.ts';
import { message } from '../../../src/slack/blocks.ts';
import { keys } from '../../../src/store/keys.ts';
import { createMessageStore } from '../../../src/store/messages.ts';
import { aLinkRun, aRun } from '../../support/jobs/export/builders.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';
import { aMessage } from '../../support/store/builders.ts';

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
  const { runs } = context.store;
  await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000, claimMs: 60_000 });
  await redis.client.hset(keys.run(run.id), 'json', JSON.stringify({ ...run, ...record }));
  return run.id;
}

test.each(cases)(
  '%s whose record is damaged or gone is no longer listed; a damaged record stays',
  async (_, job, run) => {
    const id = await given(run, { state: 'unheard of' });
    const before = await redis.client.hgetall(keys.run(id));
    expect(await stepJob(job, id, context)).toBeUndefined();
    await job.giveUp?.(id, context, 'ref1');
    expect(await redis.client.hgetall(keys.run(id))).toEqual(before);
    expect(await context.store.runs.active()).toEqual([]);
    const damaged = expect.objectContaining({ level: 50, msg: 'the record of a run is damaged' });
    expect(lines).toEqual([damaged, damaged]);
    await context.store.runs.markDue(run.job, id);
    await redis.client.del(keys.run(id));
    expect(await stepJob(job, id, context)).toBeUndefined();
    expect(await context.store.runs.active()).toEqual([]);
    expect(lines).toHaveLength(2);
  },
);

test('a message whose record is damaged is no longer listed, and the record stays', async () => {
  const messages = createMessageStore(redis.client);
  await messages.publish('m1', aMessage(), 1);
  await redis.client.hset(keys.message('m1'), 'wanted', '{"text":"Ana was here"}');
  const before = await redis.client.hgetall(keys.message('m1'));
  const deliverMessage = async (key: string) => void (await messages.load(key));
  expect(await stepJob(outboxJob, 'm1', { ...context, deliverMessage })).toBeUndefined();
  expect(await redis.client.hgetall(keys.message('m1'))).toEqual(before);
  expect(await redis.client.zcard(keys.undelivered())).toBe(0);
  expect(lines).toEqual([expect.objectContaining({ level: 50, message: 'm1' })]);
});

describe('a step that ends with the next state', () => {
  type Definition = RunJob<ExportRun>;
  const jobOf = (step: Definition['step'], changes: Partial<Definition> = {}) =>
    defineRunJob<ExportRun>({
      ...{ name: 'link', queue: 'docs-export', concurrency: 1, schema: exportRun, step },
      giveUp: async (run) => save(run),
      ...changes,
    });
  let id: string;
  let published: string[];
  let woken: string[];
  beforeEach(async () => {
    id = await given(aLinkRun({ domain: 'a' }), {});
    [published, woken] = [[], []];
    context = jobContext(redis.client, {
      outbox: { publish: async (_, { key }, version) => void published.push(`${key} ${version}`) },
      wake: async ({ id }) => void woken.push(id),
    });
  });

  test('is followed by the next one; after very many, the slot is given back', async () => {
    let steps = 0;
    const job = jobOf(async (run) => {
      steps += 1;
      return save({ ...run, domain: `${run.domain}+` });
    });
    expect(await stepJob(job, id, context)).toBe(0);
    expect(await stepJob(job, id, context)).toBe(0);
    expect(steps).toBe(80);
  });

  test('is not saved over what somebody else saved: the run is woken instead', async () => {
    const job = jobOf(
      async (run) => {
        await context.store.runs.saveStep({ ...run, domain: 'theirs' });
        return save({ ...run, domain: 'ours' }, { inMs: 500 });
      },
      {
        messages: ({ domain }) => [
          { key: domain, place: { user: 'U0ANA' }, kind: 'state', message: message([['']]) },
        ],
      },
    );
    expect(await stepJob(job, id, context)).toBeUndefined();
    expect(await context.store.runs.load(id, exportRun)).toMatchObject({ domain: 'theirs' });
    expect([published, woken]).toEqual([['a 1'], [id]]);
  });

  test('publishes a revision once, and again when writes may have been lost', async () => {
    const messages: Definition['messages'] = () => [
      { key: 'card', place: { user: 'U0ANA' }, kind: 'state', message: message([['']]) },
    ];
    const job = jobOf(async (run) => (run.rev < 2 ? save(run) : wait(500)), { messages });
    await stepJob(job, id, context);
    await stepJob(job, id, context);
    expect(published).toEqual(['card 1', 'card 2']);
    context.published.clear();
    await stepJob(job, id, context);
    expect(published).toEqual(['card 1', 'card 2', 'card 2']);
  });
});
