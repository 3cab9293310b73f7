import { describe, expect, test } from 'vitest';
import { editionJob } from '../../../src/jobs/digest/edition/job.ts';
import { editionRun } from '../../../src/jobs/digest/edition/record.ts';
import type { RowRun } from '../../../src/jobs/digest/row/record.ts';
import { awaitsRows, loadSince } from '../../../src/jobs/digest/row/since.ts';
import { anEdition, aRow } from '../../support/jobs/digest/builders.ts';
import { digestWorld } from '../../support/jobs/digest/world.ts';
import { stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** That of a built row. */
const LINK = 'https://github.com/acme/docs/pull/131';

describe('a digest', () => {
  /** Merged on 3 November; 23 in each of the weeks before, and as many as that in those since. */
  const mergedAtMs = Date.parse('2026-11-03T12:00:00Z');
  const monday = (place: number) => new Date(Date.UTC(2026, 10, 2 + 7 * place)).toISOString().slice(0, 10);
  const row = (id: string, since: number, changes: Partial<RowRun> = {}) => {
    const week = (place: number, count: number) => ({
      from: monday(place),
      numbers: { unclicked: { count, of: 400 } },
    });
    const before = [-4, -3, -2, -1].map((place) => week(place, 23));
    const weeks = [...[1, 2, 3, 4, 5, 6, 7, 8].map((place) => week(place, since)), ...before];
    return aRow({ id, mergedAtMs, state: 'merged', weeks, ...changes });
  };
  const named = (name: string) => ({ kind: 'search', name }) as const;

  const weekly = (place: number) => {
    const range = { from: monday(place), to: monday(place + 1) };
    return anEdition({ range, dueAtMs: Date.parse(range.to) + 8 * HOUR_MS });
  };
  const november = anEdition({ range: { from: '2026-11-01', to: '2026-12-01' } });

  let teams = 0;
  async function says(edition: ReturnType<typeof anEdition>, rows: RowRun[]) {
    const world = await digestWorld(redis.client, mergedAtMs, { platform: { pages: 0 } });
    const run = { ...edition, teamId: `T${++teams}` };
    for (const { id, ...one } of rows)
      await world.accept({ ...one, id: `${id} ${teams}`, teamId: run.teamId });
    world.nowMs = run.dueAtMs;
    return {
      ...(await loadSince(run, world.context)),
      waits: await awaitsRows(run, world.context),
      run,
      world,
    };
  }

  test('has a line two and six weeks after the merge; one of a month has all until 13', async () => {
    const rows = [row('r1', 2)];
    const places = Array.from({ length: 16 }, (_, place) => place - 1);
    const has = async (run: (place: number) => ReturnType<typeof anEdition>) => {
      const all = await Promise.all(
        places.map(async (place) => [place, (await says(run(place), rows)).since]),
      );
      return all.flatMap(([place, since]) => (since ? [place] : []));
    };
    expect(await has(weekly)).toEqual([2, 6]);
    const month = (place: number) => anEdition({ range: { from: '2026-08-01', to: monday(place + 1) } });
    expect(await has(month)).toEqual(Array.from({ length: 12 }, (_, n) => n + 2));
    expect((await says({ ...weekly(2), kind: 'asked' }, rows)).since).toBeUndefined();
    expect((await says(weekly(2), [row('r1', 2, { channel: 'C0OTHER' })])).since).toBeUndefined();
    expect((await says(weekly(2), [row('r1', 2, { project: 'beta' })])).since).toBeUndefined();
  });

  test('says first what got worse, and each subject of a pull request once', async () => {
    const { since } = await says(november, [
      row('r1', 2, { subject: named('better') }),
      row('r2', 2, { subject: named('better') }),
      row('r3', 22, { subject: named('unclear') }),
      row('r4', 90, { subject: named('worse') }),
      row('r5', 2, { subject: named('unknown'), weeks: [] }),
    ]);
    expect(since?.map(({ subject, verdict }) => `${subject.name} ${verdict}`)).toEqual(
      ['worse', 'unclear', 'better', 'unknown'].map((verdict) => `${verdict} ${verdict}`),
    );
    expect(since?.[2]).toMatchObject({ before: 23, after: 2, link: LINK, mergedAtMs });
  });

  test('says how many it leaves out', async () => {
    const rows = Array.from({ length: 14 }, (_, n) => row(`r${n}`, 2, { subject: named(`${n}`) }));
    const { since, sinceMore } = await says(november, rows);
    expect([since?.length, sinceMore]).toEqual([10, 4]);
    expect((await says(november, rows.slice(4))).sinceMore).toBeUndefined();
  });

  test('waits for the numbers of its last week, for 20 minutes', async () => {
    const unread = row('r1', 2, { weeks: row('r1', 2).weeks.filter(({ from }) => from !== monday(2)) });
    const { waits, run, world } = await says(weekly(2), [unread]);
    expect(waits).toBe(true);
    world.nowMs += HOUR_MS / 3;
    expect(await awaitsRows(run, world.context)).toBe(false);
    expect((await says(weekly(2), [row('r1', 2)])).waits).toBe(false);
    const retryMs = weekly(2).dueAtMs + 2 * HOUR_MS;
    const reading = { from: monday(2), left: [], numbers: {}, requests: 1, failures: 1, count: 0, of: 0 };
    expect((await says(weekly(2), [{ ...unread, reading }])).waits).toBe(true);
    expect((await says(weekly(2), [{ ...unread, reading: { ...reading, retryMs } }])).waits).toBe(false);
    expect((await says({ ...weekly(2), kind: 'preview' }, [unread])).waits).toBe(false);
    expect((await says(weekly(3), [unread])).waits).toBe(false);
  });

  test('has its line once that week is read', async () => {
    const shown = { kind: 'shown' as const, channel: 'C0DOCS', ts: '1789914659.000100' };
    const world = await digestWorld(redis.client, mergedAtMs, {
      context: { outbox: { deliveryState: async () => shown } },
    });
    const full = row('r1', 2);
    const unread = { ...full, weeks: full.weeks.filter(({ from }) => from !== monday(2)) };
    const run = { ...weekly(2), figures: [], sections: [], state: 'posted' as const, ended: undefined };
    await world.accept(run);
    await world.accept(unread);
    world.nowMs = run.dueAtMs;
    const steps = async () => {
      await stepJob(editionJob, run.id, world.context);
      return world.context.store.runs.load(run.id, editionRun);
    };
    expect(await steps()).toMatchObject({ state: 'posted' });
    await world.context.store.runs.resume(full);
    expect(await steps()).toMatchObject({ state: 'ended', since: [{ link: LINK, verdict: 'better' }] });
  });

  test('leaves out the weeks after another pull request about the same', async () => {
    const other = { run: 'pull2', link: 'https://github.com/acme/docs/pull/140' };
    const later = row('r2', 2, { pull: other, mergedAtMs: mergedAtMs + 7 * DAY_MS });
    const { since } = await says(weekly(2), [row('r1', 2), later]);
    expect(since?.map(({ link, verdict }) => [link, verdict])).toEqual([[LINK, 'unknown']]);
  });

  test('takes views and thumbs of a page for one subject', async () => {
    const other = { run: 'pull2', link: 'https://github.com/acme/docs/pull/140' };
    const weeks = row('', 2).weeks.map(({ from, numbers }) => ({
      from,
      numbers: { down: numbers.unclicked ?? { count: 0, of: 0 } },
    }));
    const thumbs = row('r1', 2, { weeks, subject: { kind: 'thumbs', name: '/a' } });
    const views = (name: string) =>
      row('r2', 2, { pull: other, mergedAtMs: mergedAtMs + 7 * DAY_MS, subject: { kind: 'page', name } });
    const verdict = async (name: string) =>
      (await says(weekly(2), [thumbs, views(name)])).since?.map((one) => one.verdict);
    expect(await verdict('/a/')).toEqual(['unknown']);
    expect(await verdict('/b')).not.toEqual(['unknown']);
  });
});
