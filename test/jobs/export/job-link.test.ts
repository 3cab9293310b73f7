import { beforeEach, describe, expect, test } from 'vitest';
import { exportJob } from '../../../src/jobs/export/job.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { SlackApiError } from '../../../src/slack/errors.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, anExportJob } from '../../support/jobs/export/builders.ts';
import { createExportWorld, failing, HOUR_MS } from '../../support/jobs/export/world.ts';
import { redisForTests } from '../../support/redis.ts';

const ADDRESS = 'https://bundles.example/b?X-Signature=s3cret';

const redis = redisForTests();
let world: ReturnType<typeof createExportWorld>;
beforeEach(() => {
  world = createExportWorld(redis);
  // A link lives in Redis until it ends, by the clock of Redis.
  world.clock.nowMs = Date.now();
});

const createBundle = async () => ({ bundleUrl: ADDRESS, expiresAt: world.clock.nowMs + HOUR_MS });

const bundling = (changes: Partial<ExportRun> = {}) =>
  world.given({ state: 'bundling', sinceMs: world.clock.nowMs, nextLookAtMs: world.clock.nowMs, ...changes });

const isForOne = (run: ExportRun) => world.message(run, 'private.1.0') !== undefined;
const placeholders = (run: ExportRun, part: string) =>
  JSON.stringify(world.message(run, part)?.message).includes('docket-link:');

describe('who gets the link', () => {
  test('everybody in the thread, where nothing speaks against it', async () => {
    const run = await bundling();
    await world.step(run, world.contextWith({ createBundle }));
    expect(isForOne(run)).toBe(false);
    expect(placeholders(run, 'end.1.0')).toBe(true);
  });

  test('the requester alone, where it was asked for like that: by direct message', async () => {
    const run = await bundling({ privately: true });
    await world.step(run, world.contextWith({ createBundle }));
    expect(placeholders(run, 'end.1.0')).toBe(false);
    expect(placeholders(run, 'private.1.0')).toBe(true);
    expect(world.message(run, 'private.1.0')?.place).toEqual({ user: 'U0ANA' });
  });

  test('the requester alone, where people of other organizations read along', async () => {
    const run = await bundling();
    const asked: string[] = [];
    const channel = async (id: string) => {
      asked.push(id);
      return { shared: true, isPublic: false };
    };
    await world.step(run, world.contextWith({ createBundle }, { slack: { channel } }));
    expect(asked).toEqual(['C0DOCS']);
    expect(isForOne(run)).toBe(true);
    expect(placeholders(run, 'end.1.0')).toBe(false);
  });

  const silent = (kind: 'unreachable' | 'place') => () =>
    Promise.reject(new SlackApiError(kind, 'conversations.info', 'away'));

  test('the requester alone, where Slack refuses to say who reads along', async () => {
    const run = await bundling();
    await world.step(run, world.contextWith({ createBundle }, { slack: { channel: silent('place') } }));
    expect(isForOne(run)).toBe(true);
  });

  test('nobody yet, while Slack does not answer; the requester alone, when that lasts', async () => {
    const run = await bundling();
    const context = world.contextWith({ createBundle }, { slack: { channel: silent('unreachable') } });
    expect(await world.step(run, context)).toMatchObject({ kind: 'again' });
    expect((await world.stored(run))?.state).toBe('bundling');
    world.clock.nowMs += defaultTiming.giveUpMs;
    await world.step(run, context);
    expect(isForOne(run)).toBe(true);
  });

  test('everybody in the thread, where Slack failed to tell once', async () => {
    const run = await bundling();
    await world.step(run, world.contextWith({ createBundle }, { slack: { channel: silent('unreachable') } }));
    await world.step(run, world.contextWith({ createBundle }));
    expect(isForOne(run)).toBe(false);
    expect(placeholders(run, 'end.1.0')).toBe(true);
  });

  test('the requester alone, once more, where the link before went to nobody else', async () => {
    const run = await bundling({ privately: false, alone: true });
    await world.step(run, world.contextWith({ createBundle }));
    const sent = await world.stored(run);
    const again = sent && transitions.newLink(sent, { id: 'U0BEN', name: 'ben' }, world.clock.nowMs);
    expect(again).toMatchObject({ privately: true, alone: undefined });
  });

  test('the requester in the thread, where all of it is in direct messages', async () => {
    const run = await bundling({ privately: true, inDirectMessage: true });
    await world.step(run, world.contextWith({ createBundle }));
    expect(isForOne(run)).toBe(false);
    expect(placeholders(run, 'end.1.0')).toBe(true);
  });
});

describe('a link for one person', () => {
  test('is taken from the direct message when it ends, and no placeholder stays anywhere', async () => {
    const run = await bundling({ privately: true });
    const context = world.contextWith({ createBundle });
    expect(await world.step(run, context)).toEqual({ kind: 'again', inMs: HOUR_MS });
    world.clock.nowMs += HOUR_MS;
    expect(await world.step(run, context)).toEqual({ kind: 'done' });
    expect(world.text(run, 'private.1.0')).toContain('🔒 The link ended');
    expect(JSON.stringify([...world.published.values()])).not.toContain('docket-link:');
  });

  test('and its address are in no message', async () => {
    const run = await bundling({ privately: true });
    await world.step(run, world.contextWith({ createBundle }));
    expect(JSON.stringify([...world.published.values()])).not.toContain('bundles.example');
    expect(JSON.stringify(await world.stored(run))).not.toContain('s3cret');
  });
});

test('a link that the platform refuses because of the key is reported to the admins', async () => {
  const run = await bundling();
  await world.step(run, world.contextWith({ createBundle: failing('key_rejected') }));
  expect(world.alertedProjects).toEqual(['default']);
  expect((await world.stored(run))?.ending).toEqual({ kind: 'noLink', why: 'key', adminsTold: true });
  expect(world.text(run, 'end.1.0')).toContain(
    'docs.acme.com is exported, but I could not get a download link yet: my platform key was rejected, and the admins have been told. <@U0ANA>',
  );
});

describe('a further link that cannot be had', () => {
  async function relinked(changes: Partial<ExportRun>) {
    const run = await bundling(changes);
    await world.step(run, world.contextWith({ createBundle }));
    const sent = await world.stored(run);
    const again = sent && transitions.newLink(sent, { id: 'U0BEN', name: 'ben' }, world.clock.nowMs);
    if (again) await world.runs.save(again);
    await world.step(run, world.contextWith({ createBundle: failing('not_found') }));
    return run;
  }

  test.each([
    ['in the thread', {}, 'end.1.0'],
    ['of the requester alone', { alone: true }, 'private.1.0'],
  ])('is news; the earlier one %s stays until it ends', async (_, changes, where) => {
    const run = await relinked(changes);
    expect(world.text(run, 'end.1.0.1')).toContain(
      'docs.acme.com is exported, but I could not get a new download link yet. <@U0ANA>',
    );
    expect(placeholders(run, where)).toBe(true);
    world.clock.nowMs += HOUR_MS;
    expect(await world.step(run, world.contextWith({}))).toEqual({ kind: 'done' });
    expect(world.text(run, where)).toContain('🔒 The link ended');
    expect(placeholders(run, where)).toBe(false);
  });
});

test('a direct message that Slack refuses is shown in the thread', async () => {
  const run = await bundling({ privately: true });
  const context = world.contextWith({ createBundle });
  const { deliveryState } = context.outbox;
  context.outbox.deliveryState = async (key) =>
    key.includes('.private.') ? { kind: 'refused', code: 'messages_tab_disabled' } : deliveryState(key);
  await world.step(run, context);
  expect(world.text(run, 'end.1.0')).toContain(
    "Slack doesn't let me send you direct messages (messages_tab_disabled), so nobody has the link yet.",
  );
});

test('a platform that calls a completed job incomplete is asked again, for a while', async () => {
  const run = await bundling();
  const startedMs = world.clock.nowMs;
  const context = world.contextWith({ createBundle: failing('conflict') });
  for (;;) {
    const outcome = await world.step(run, context);
    if (outcome.kind === 'done') break;
    world.clock.nowMs += outcome.inMs;
  }
  const waitedMs = world.clock.nowMs - startedMs;
  expect(waitedMs).toBeLessThanOrEqual(defaultTiming.giveUpMs);
  expect(waitedMs).toBeGreaterThan(defaultTiming.giveUpMs / 2);
  expect(world.text(run, 'end.1.0')).toContain(
    'docs.acme.com is exported, but I could not get a download link yet. <@U0ANA>',
  );
});

describe('the audit log', () => {
  test('has who asked, and how it ended', async () => {
    const run = await world.given({
      state: 'accepted',
      version: '1.2',
      jobId: undefined,
      startedAtMs: undefined,
    });
    const context = world.contextWith({
      startExport: async () => anExportJob(),
      getExport: async () => anExportJob({ status: 'completed' }),
      createBundle,
    });
    const outcome = await world.step(run, context);
    if (outcome.kind === 'again') world.clock.nowMs += outcome.inMs;
    await world.step(run, context);
    expect(await world.audited()).toEqual([
      'docs.acme.com (1.2): accepted',
      'docs.acme.com (1.2): ended: done',
    ]);
  });

  test.each(Object.values(anEnding).filter(({ kind }) => kind !== 'broken'))(
    'has a line for an ending: $kind',
    async (ending) => {
      world.clock.nowMs = NOW_MS;
      const run = await world.given({ state: 'ended', ending });
      await world.step(run, world.contextWith({}));
      expect(await world.audited()).toEqual([`docs.acme.com: ended: ${ending.kind}`]);
      await world.step(run, world.contextWith({}));
      expect(await world.audited()).toHaveLength(1);
    },
  );

  test('has a line for a job that was given up, also when the process died before it', async () => {
    const run = await world.given({});
    await exportJob.giveUp?.({ runId: run.id }, world.contextWith({}), '7f3c1d');
    expect(await world.audited()).toEqual(['docs.acme.com: ended: broken']);
    const other = await world.given({
      id: 'b0b0b0b0b0b0b0b0b0b0b0b0',
      claim: 'other',
      domain: 'docs.beta.io',
    });
    const dies = world.contextWith({}, { outbox: { ...world.contextWith({}).outbox, publish: dead } });
    await expect(exportJob.giveUp?.({ runId: other.id }, dies, '7f3c1d')).rejects.toThrow('dead');
    await world.step(other, world.contextWith({}));
    expect(await world.audited()).toContain('docs.beta.io: ended: broken');
  });

  test('has a line for an ending although the process died before it was saved', async () => {
    const run = await world.given({ state: 'ended', ending: anEnding.lost });
    const died = { ...world.runs, saveWithWakes: dead };
    await expect(world.step(run, world.contextWith({}, { runs: died }))).rejects.toThrow('dead');
    await world.step(run, world.contextWith({}));
    expect((await world.audited()).length).toBeGreaterThanOrEqual(1);
    expect((await world.stored(run))?.audited).toBe(true);
  });

  test('has a line for each further ending of the same run', async () => {
    const run = await world.given({ state: 'ended', ending: anEnding.noLink, relinked: 1 });
    await world.step(run, world.contextWith({}));
    const saved = (await world.stored(run)) as ExportRun;
    await world.runs.save({ ...saved, audited: undefined, ending: anEnding.lost });
    await world.step(run, world.contextWith({}));
    expect(await world.audited()).toEqual(['docs.acme.com: ended: noLink', 'docs.acme.com: ended: lost']);
  });
});

async function dead(): Promise<never> {
  throw new Error('dead');
}
