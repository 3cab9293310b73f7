import { describe, expect, test } from 'vitest';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { planAsked } from '../../../../src/jobs/digest/edition/new-edition.ts';
import { type EditionRun, rootKey } from '../../../../src/jobs/digest/edition/record.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { analyticsLimit } from '../../../../src/jobs/digest/figures/limits.ts';
import { accept, load, MONDAY, post, setUp, textOf, weekly } from '../../../support/jobs/digest/editions.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();

describe('dates that somebody asked for', () => {
  const request = {
    teamId: 'T0ACME',
    user: { id: 'U0ANA', name: 'ana', fullMember: true },
    channel: { id: 'C0DOCS', name: 'docs' },
    requestId: 'r1',
  };
  const asked = (
    range: { from: string; to: string },
    kind: 'asked' | 'preview' = 'asked',
    inDirectMessage = false,
  ) =>
    planAsked(
      {
        request,
        project: 'acme',
        site: 'docs.acme.com',
        channel: 'C0DOCS',
        range,
        kind,
        inDirectMessage,
        sections: ['pages', 'readers', 'csv'],
      },
      MONDAY,
    );

  test.each([
    ['two weeks', { from: '2026-09-07', to: '2026-09-21' }],
    ['92 days', { from: '2026-06-20', to: '2026-09-20' }],
  ])('%s take twenty requests at most', async (_, range) => {
    const { world } = await setUp(redis.client, {}, { platform: { pages: 300 } });
    const run = await post(world, asked(range));
    expect(run).toMatchObject({ state: 'ended', ended: { why: 'done' } });
    expect(run.spans.length).toBeLessThanOrEqual(14);
    const requests = Object.values(world.platform.analyticsRequests()).reduce((all, count) => all + count, 0);
    expect(requests).toBeLessThanOrEqual(20);
    const { totals } = world.platform.views.between(range.from, range.to);
    expect(run.totals).toEqual({ human: totals.human, ai: totals.ai });
  });

  test('of a large site are told as totals, with a word', async () => {
    const { shown, world } = await setUp(redis.client, {}, { platform: { pages: 25_000 } });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run).toMatchObject({ noPages: 'tooMany', ended: { why: 'done' } });
    expect(textOf(shown, rootKey(run))).toContain('more pages than I can read at once');
    expect(shown.files).toEqual([]);
  });

  test('a preview goes to the person alone, without files', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }, 'preview'));
    expect(shown.messages.get(rootKey(run))?.place).toEqual({ user: 'U0ANA' });
    expect(shown.files).toEqual([]);
    expect(textOf(shown, `${run.id}.pages`)).not.toContain('Ask the agent');
  });

  test('leave no pages for longer than two days, and those of the weekly digest of these dates as they are', async () => {
    const { world } = await setUp(redis.client);
    await post(world, weekly());
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run.pages?.count).toBeGreaterThan(0);
    const kept = await redis.client.keys('*:figures:*pages:*');
    const days = await Promise.all(
      kept.map(async (key) => Math.ceil((await redis.client.pttl(key)) / 86_400_000)),
    );
    expect(days.toSorted((one, other) => one - other)).toEqual([2, 2, 2, 2, 17, 17, 17, 17]);
  });

  test('that were asked for in direct messages come there, with the title of their dates', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-20' }, 'asked', true));
    const root = shown.messages.get(rootKey(run));
    expect(root?.place).toEqual({ user: 'U0ANA' });
    expect(root?.message.text).toMatch(/^Digest of docs\.acme\.com, 14–19 Sep 2026: /);
    expect(textOf(shown, rootKey(run))).not.toMatch(/preview/i);
    expect(textOf(shown, rootKey(run))).toContain('requested by ana');
    expect(shown.files).toEqual([]);
    expect(textOf(shown, `${run.id}.pages`)).not.toContain('Ask the agent');
  });

  describe('held up by limits', () => {
    const privately: { url: string; text: string }[] = [];
    /** The hour's requests are used up; `responseUrl` is that of the command. */
    async function heldUp(kind: EditionRun['kind'], responseUrl: string | undefined, minutes = 40) {
      privately.length = 0;
      const { shown, world } = await setUp(
        redis.client,
        {},
        {
          context: {
            postEphemeral: async (url, { text }) => privately.push({ url, text }) > 0,
          },
        },
      );
      const limit = analyticsLimit(world.context.docs('acme')?.keyId ?? '', 10_000);
      await world.context.rateLimiter.hold(limit, minutes * 60_000);
      const planned = kind === 'weekly' ? weekly() : asked({ from: '2026-09-14', to: '2026-09-21' }, kind);
      for (const run of planned.figures) await world.accept(run);
      await world.context.runs.accept(planned.edition, Number.MAX_SAFE_INTEGER, 0, responseUrl);
      for (const { id } of planned.figures) await world.drive(figuresJob, id, 1000);
      for (let times = 0; times < 3; times += 1) await world.drive(editionJob, planned.edition.id, 60_000);
      return { shown, waits: shown.messages.get(`${planned.edition.id}.wait`) };
    }
    const WAITS = /^Waiting · the digest of docs\.acme\.com\nIt should arrive by about <!date\^(\d+)\^/;

    test.each(['asked', 'preview', 'weekly'] as const)(
      '%s: says once, where they asked, by when',
      async (kind) => {
        const { shown } = await heldUp(kind, 'https://hooks.example/1');
        expect(privately).toEqual([{ url: 'https://hooks.example/1', text: expect.stringMatching(WAITS) }]);
        const byMs = 1000 * Number(WAITS.exec(privately[0]?.text ?? '')?.[1]);
        expect(byMs - MONDAY).toBeGreaterThanOrEqual(40 * 60_000);
        expect(byMs - MONDAY).toBeLessThanOrEqual(45 * 60_000);
        expect(shown.messages.size).toBe(0);
      },
    );

    test('says it by direct message where that is gone', async () => {
      const { waits } = await heldUp('asked', undefined);
      expect(waits).toMatchObject({ place: { user: 'U0ANA' } });
      expect(waits?.message.text).toMatch(WAITS);
    });

    test('says nothing of a weekly one that nobody asked for', async () => {
      expect((await heldUp('weekly', undefined)).shown.messages.size).toBe(0);
    });

    test('says nothing of a short wait', async () => {
      const { waits } = await heldUp('asked', 'https://hooks.example/1', 0.4);
      expect([privately, waits]).toEqual([[], undefined]);
    });
  });

  test('that the platform does not give are told to whoever asked', async () => {
    const { shown, world } = await setUp(redis.client);
    Object.assign(world.context, { docs: () => undefined });
    const run = await post(world, asked({ from: '2026-09-14', to: '2026-09-21' }));
    expect(run).toMatchObject({ ended: { why: 'project' } });
    expect(shown.messages.get(`${run.id}.failed`)).toMatchObject({ place: { user: 'U0ANA' } });
    expect(textOf(shown, `${run.id}.failed`)).toContain('could not be sent');
  });

  test('of a project that is gone from the settings end a weekly digest when it is due', async () => {
    const { shown, world } = await setUp(redis.client);
    Object.assign(world.context, { projectId: () => undefined });
    const planned = weekly();
    await accept(world, planned);
    for (const { id } of planned.figures) await figuresJob.run({ runId: id }, world.context);
    await world.drive(editionJob, planned.edition.id, 60_000);
    expect(await load(world, planned)).toMatchObject({ ended: { why: 'project' } });
    expect(shown.messages.size).toBe(0);
  });
});
