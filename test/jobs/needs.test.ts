import { beforeEach, describe, expect, test } from 'vitest';
import { threadNeeds } from '../../src/jobs/agent/thread/needs.ts';
import type { ThreadRun } from '../../src/jobs/agent/thread/record.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { scheduleNeeds } from '../../src/jobs/digest/schedule/needs.ts';
import { scheduleTransitions } from '../../src/jobs/digest/schedule/transitions.ts';
import { exportJob } from '../../src/jobs/export/job.ts';
import { exportNeeds } from '../../src/jobs/export/needs.ts';
import { exportRun } from '../../src/jobs/export/record.ts';
import { transitions } from '../../src/jobs/export/transitions.ts';
import { NOW_MS } from '../support/builders.ts';
import { anInstruction, aThread, aTrouble } from '../support/jobs/agent/builders.ts';
import { aSchedule } from '../support/jobs/digest/builders.ts';
import { aRun } from '../support/jobs/export/builders.ts';
import { jobContext } from '../support/jobs/world.ts';
import { redisForTests } from '../support/redis.ts';
import { reads } from '../support/slack/rendering.ts';

const ana = { id: 'U0ANA', name: 'ana' };
const ben = { id: 'U0BEN', name: 'ben' };

describe('an export', () => {
  const unclear = aRun({ state: 'unknown', attempt: 2 });

  test('needs whoever asked for it, while nobody knows whether it started', () => {
    expect(exportNeeds.of(unclear)).toEqual([{ user: 'U0ANA', id: 'start 2' }]);
    expect(exportNeeds.of(aRun())).toEqual([]);
  });

  test('asks what its thread asks, and then tells what came of it', () => {
    const [need] = exportNeeds.of(unclear);
    if (need === undefined) throw new Error('nothing is asked');
    expect(reads(exportNeeds.question(unclear, need))).toContain(
      "[It's there: watch it] [Start again] [Leave it]",
    );
    const left = transitions.leave(unclear, ben, NOW_MS);
    expect(left && reads(exportNeeds.answered(left, need))).toBe(
      "It's unclear whether the export of docs.acme.com started. ben chose not to start it again.",
    );
    const later = { ...aRun({ state: 'unknown', attempt: 3 }) };
    expect(reads(exportNeeds.answered(later, need))).toContain('was already answered');
  });
});

describe('a thread', () => {
  const held = (id: string, by = ben) => anInstruction({ id, by, state: 'held' });
  const ids = (changes: Partial<ThreadRun>) =>
    threadNeeds.of(aThread(changes)).map(({ user, id }) => `${user}: ${id}`);

  test('needs each person whose replies are held, once for all of them', () => {
    const instructions = [held('1.1'), held('1.2', ana), held('1.3')];
    expect(ids({ crowd: true, instructions })).toEqual(['U0BEN: held 1.1', 'U0ANA: held 1.2']);
  });

  test('needs an owner who alone writes here for each held reply by itself', () => {
    expect(ids({ instructions: [held('1.1', ana), held('1.2', ana)] })).toEqual([
      'U0ANA: held 1.1',
      'U0ANA: held 1.2',
    ]);
  });

  test('needs the author of a send that nobody knows of, until that is answered', () => {
    const open = aTrouble({ id: '1.1', attempt: 2, by: ben });
    const answered = aTrouble({ id: '1.2', answer: { by: ben, action: 'leave', atMs: NOW_MS } });
    const refused = aTrouble({ id: '1.3', why: 'refused' });
    expect(ids({ troubles: [open, answered, refused] })).toEqual(['U0BEN: send 1.1 2']);
    expect(ids({ troubles: [open], state: 'ended' })).toEqual([]);
  });

  test('asks about the first held reply, and counts the others', () => {
    const thread = aThread({ crowd: true, instructions: [held('1.1'), held('1.2')] });
    const [need] = threadNeeds.of(thread);
    if (need === undefined) throw new Error('nothing is asked');
    const question = threadNeeds.question(thread, need);
    expect(reads(question)).toContain('[Send] [Not for the agent] [Always in this thread]');
    expect(JSON.stringify(question)).toContain('1.1');
    const line = threadNeeds.line(thread, need, { workspaceUrl: () => undefined });
    expect(JSON.stringify(line)).toContain('and 1 more');
  });

  test.each([
    ['notForAgent', 'Not sent, because you said it\'s not for the agent: "Fix the links."'],
    ['withdrawn', 'Not sent, because its message was deleted: "Fix the links."'],
  ] as const)('says why a held reply was not sent, with no second full stop: %s', (outcome, text) => {
    const one = anInstruction({ id: '1.1', state: 'over', outcome, excerpt: 'Fix the links.' });
    const need = { user: one.by.id, id: 'held 1.1' };
    expect(reads(threadNeeds.answered(aThread({ instructions: [one] }), need))).toBe(text);
  });

  test('tells nobody of somebody else’s reply', () => {
    const thread = aThread({ instructions: [anInstruction({ id: '1.1', by: ana, excerpt: 'secret' })] });
    expect(reads(threadNeeds.answered(thread, { user: 'U0BEN', id: 'held 1.1' }))).not.toContain('secret');
    const trouble = aTrouble({
      id: '1.2',
      by: ana,
      excerpt: 'secret',
      answer: { by: ana, action: 'leave', atMs: NOW_MS },
    });
    const need = { user: 'U0BEN', id: `send 1.2 ${trouble.attempt}` };
    expect(reads(threadNeeds.answered(aThread({ troubles: [trouble] }), need))).not.toContain('secret');
  });
});

describe('a weekly digest', () => {
  const failure = { why: 'place' as const, code: 'not_in_channel', week: '2026-W38' };
  const ids = (changes: Parameters<typeof aSchedule>[0]) =>
    scheduleNeeds.of(aSchedule(changes)).map(({ user, id }) => `${user}: ${id}`);

  test('needs its owner when it failed, until one is on its way, it goes on, or is removed', () => {
    expect(ids({})).toEqual([]);
    expect(ids({ failures: 1, failure })).toEqual(['U0ANA: failed 2026-W38']);
    expect(ids({ failures: 1, failure, posting: { run: 'r', week: '2026-W38', sinceMs: 0 } })).toEqual([]);
    const paused = aSchedule({ failures: 3, failure, state: 'paused', pausedByFailures: true });
    expect(scheduleNeeds.of(paused)).toHaveLength(1);
    const resumed = scheduleTransitions.resume(paused, ana, NOW_MS);
    expect(resumed && scheduleNeeds.of(resumed)).toEqual([]);
    expect(ids({ failures: 1, failure, state: 'removed' })).toEqual([]);
    expect(ids({ failures: 1, failure, ownerLeft: true })).toEqual([]);
  });

  test('needs its owner when it is paused since the owner may not', () => {
    expect(ids({ state: 'paused', pausedByPermission: true })).toEqual(['U0ANA: permission']);
  });
});

describe('the Home of whom a run needs', () => {
  const redis = redisForTests();
  let refreshed: string[];
  let context: JobContext;
  beforeEach(() => {
    refreshed = [];
    context = jobContext(redis.client, {
      refreshHomes: async (_team, ids) => void refreshed.push(...ids),
    });
  });
  const unclear = aRun({ rev: 1, state: 'unknown' });
  const run = () => exportJob.run({ runId: unclear.id }, context);
  const keep = async () => context.runs.accept(unclear, (await context.runs.timeMs()) + 60_000, 0, undefined);

  test('is brought up to date once when that begins, and once when somebody has answered', async () => {
    await keep();
    await run();
    await run();
    expect(refreshed).toEqual(['U0ANA']);
    const known = await context.runs.load(unclear.id, exportRun);
    const left = known && transitions.leave(known, ben, NOW_MS);
    if (left === undefined) throw new Error('not answered');
    await context.runs.resume(left, (await context.runs.timeMs()) + 60_000, 0);
    await run();
    await run();
    expect(refreshed).toEqual(['U0ANA', 'U0ANA']);
    expect((await context.runs.load(unclear.id, exportRun))?.needs).toEqual([]);
  });

  test('is not, for runs that need nobody', async () => {
    await context.runs.accept(
      aRun({ rev: 1, state: 'ended', ending: { kind: 'left' } }),
      (await context.runs.timeMs()) + 60_000,
      0,
      undefined,
    );
    await run();
    expect(refreshed).toEqual([]);
  });
});
