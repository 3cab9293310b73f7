import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { createStandInSlack } from '../../../../demo/slack/slack.ts';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { pagesKey, rootKey } from '../../../../src/jobs/digest/edition/record.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { lastCompleteWeek } from '../../../../src/jobs/digest/weeks.ts';
import type { Message } from '../../../../src/slack/blocks.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';
import { planWeekly } from '../../../support/jobs/digest/editions.ts';
import { type DigestWorld, digestWorld } from '../../../support/jobs/digest/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const MONDAY = Date.parse('2026-09-21T07:00:00Z');
const DAYS = Array.from({ length: 14 }, (_, n) =>
  new Date(Date.parse('2026-09-07') + n * 86_400_000).toISOString().slice(0, 10),
);

const redis = redisForTests();
const slack = createStandInSlack();

/** The blocks of a message, as people read them. */
const reads = ({ text, blocks }: Message) =>
  slack.read({ text, blocks: blocks.map((block) => ({ ...block })) });

/** Has the digest of the last week posted, and returns what people see of it. */
async function post(world: DigestWorld) {
  const messages = new Map<string, Message>();
  let csv = '';
  Object.assign(world.context.outbox, {
    publish: async (_team: string, one: { key: string; message: Message }) =>
      void messages.set(one.key, one.message),
    deliveryState: async (key: string) =>
      messages.has(key) ? { kind: 'shown', channel: 'C0DOCS', ts: '1.1' } : { kind: 'waiting' },
  });
  Object.assign(world.context.slack, {
    getUploadAddress: async () => ({ fileId: 'F1', uploadUrl: 'https://files.example/F1' }),
    uploadBytes: async (_url: string, bytes: Uint8Array) => {
      csv = Buffer.from(bytes).toString();
    },
    completeUpload: async () => {},
    fileInfo: async () => ({ sharedIn: ['C0DOCS'] }),
  });
  const week = lastCompleteWeek(MONDAY);
  const planned = planWeekly(aSchedule(), week, MONDAY);
  for (const run of [...planned.figures, planned.edition]) await world.accept(run);
  for (const { id } of planned.figures) await world.drive(figuresJob, id);
  await world.drive(editionJob, planned.edition.id);
  const [root, thread] = [rootKey(planned.edition), pagesKey(planned.edition)].map((key) =>
    messages.get(key),
  );
  if (root === undefined || thread === undefined) throw new Error('a message is missing');
  return { root, thread, csv };
}

interface Row {
  path: string;
  human: number;
  ai: number;
  total: number;
  humanBefore: number;
  aiBefore: number;
  before: number;
}

/** Every page of the two weeks, added up from what the platform has of each single day. */
function rowsOf({ platform }: DigestWorld): Row[] {
  const rows = new Map<string, Row>();
  for (const [n, day] of DAYS.entries()) {
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    for (const { path, human, ai } of platform.views.between(day, next).views) {
      const row = rows.get(path) ?? {
        path,
        human: 0,
        ai: 0,
        total: 0,
        humanBefore: 0,
        aiBefore: 0,
        before: 0,
      };
      rows.set(path, row);
      if (n < 7) {
        row.humanBefore += human;
        row.aiBefore += ai;
        row.before += human + ai;
      } else {
        row.human += human;
        row.ai += ai;
        row.total += human + ai;
      }
    }
  }
  return [...rows.values()];
}

const sum = (rows: Row[], by: Exclude<keyof Row, 'path'>) => rows.reduce((all, row) => all + row[by], 0);

const spell = (value: number) => String(value).replace(/\B(?=(?:\d{3})+$)/gu, ',');

/** In whole numbers alone: halves go up, and no fraction is lost on the way. */
const wholePercent = (part: number, all: number) => Math.floor((200 * part + all) / (2 * all));

/** As people are told: small numbers by difference, none before as new, and never infinitely more. */
function change(now: number, before: number): string {
  if (now === before) return '±0';
  if (before === 0) return 'new';
  const percent = wholePercent(Math.abs(now - before), before);
  if (now < 50 || before < 50 || percent === 0)
    return `${now > before ? '+' : '−'}${spell(Math.abs(now - before))}`;
  return `${now > before ? '▲' : '▼'} ${spell(percent)}%`;
}

/** Both numbers, and a percentage where it says something. */
function both(now: number, before: number): string {
  const percent = before < 50 ? 0 : wholePercent(Math.abs(now - before), before);
  const said = percent === 0 ? '' : `, ${now > before ? '▲' : '▼'} ${spell(percent)}%`;
  return `${spell(before)} → ${spell(now)}${said}`;
}

/** None and all are said only of what is none or all. */
function share(part: number, all: number): string {
  const percent = wholePercent(part, all);
  if (percent === 0 && part > 0) return 'under 1%';
  return percent === 100 && part < all ? 'over 99%' : `${percent}%`;
}

/** The first of the rows, by a number and then by path. */
const most = (rows: Row[], by: (row: Row) => number, max: number) =>
  rows.toSorted((one, other) => by(other) - by(one) || (one.path < other.path ? -1 : 1)).slice(0, max);

const moved = (now: number, before: number) =>
  Math.max(now, before) >= 50 && Math.abs(now - before) * 4 >= before && now !== before;

/** The lists under the table, by name, as they are to read. */
function listsOf(rows: Row[]): Record<string, string[]> {
  const known = rows.filter(({ total, before }) => total > 0 && before > 0);
  const movers = (by: 'human' | 'ai', way: 1 | -1) => {
    const grown = (row: Row) => way * (row[by] - row[`${by}Before`]);
    const all = known.filter((row) => grown(row) > 0 && moved(row[by], row[`${by}Before`]));
    return most(all, grown, 3).map((row) => `${row.path} ${both(row[by], row[`${by}Before`])}`);
  };
  const by = ({ total, before }: Row) => Math.abs(total - before);
  return {
    'Rising, people': movers('human', 1),
    'Falling, people': movers('human', -1),
    'Rising, AI': movers('ai', 1),
    'Falling, AI': movers('ai', -1),
    'New this week': most(
      rows.filter(({ human, before }) => before === 0 && human >= 10),
      by,
      5,
    ).map(({ path, total }) => `${path} ${spell(total)}`),
    'Gone quiet': most(
      rows.filter(({ total, before }) => total === 0 && before >= 50),
      by,
      5,
    ).map(({ path, before }) => `${path} ${spell(before)} → 0`),
    'Read by AI, rarely by people': most(
      rows.filter(({ ai, total }) => ai >= 50 && ai >= 0.8 * total),
      ({ ai }) => ai,
      5,
    ).map(({ path, ai, total }) => `${path} ${share(ai, total)} AI`),
  };
}

const site = fc.record({
  seed: fc.string({ minLength: 1, maxLength: 8 }),
  /** Pages that the site has beside its own, and views of its own that are quite different from usual. */
  changes: fc.array(
    fc.record({
      path: fc.oneof(
        fc.integer({ min: 1, max: 30 }).map((n) => `/added/page-${n}`),
        fc.constantFrom('/introduction', '/guides/quickstart', '/api/errors'),
      ),
      day: fc.nat(13),
      human: fc.oneof(fc.constantFrom(0, 9, 10, 49, 50, 62, 63), fc.nat(100_000)),
      ai: fc.oneof(fc.constantFrom(0, 9, 10, 49, 50, 200), fc.nat(100_000)),
    }),
    { maxLength: 60 },
  ),
  /** Days of the first week without any view; with a whole week without, nothing is compared. */
  silent: fc.nat(6),
});

test('whatever was read, a digest says what its pages and days add up to', async () => {
  await fc.assert(
    fc.asyncProperty(site, async ({ seed, changes, silent }) => {
      await redis.client.flushall();
      const world = await digestWorld(redis.client, MONDAY, { platform: { seed } });
      const { views } = world.platform;
      for (const { path, day, human, ai } of changes) views.set(path, DAYS[day] ?? '', { human, ai });
      if (silent > 0) views.silence(DAYS[0] ?? '', DAYS[silent] ?? '');
      const { root, thread, csv } = await post(world);
      const rows = rowsOf(world);

      const [total, before] = [sum(rows, 'total'), sum(rows, 'before')];
      const [human, ai] = [sum(rows, 'human'), sum(rows, 'ai')];
      const [humanBefore, aiBefore] = [sum(rows, 'humanBefore'), sum(rows, 'aiBefore')];
      const text = reads(root);
      expect(text).toContain(
        `${spell(total)} views ${change(total, before)} (${spell(before)} the week before)`,
      );
      expect(text).toContain(
        `People ${spell(human)} ${change(human, humanBefore)}  ·  AI ${spell(ai)} ${change(ai, aiBefore)}`,
      );
      const was = before > 0 ? ` (was ${share(aiBefore, before)})` : '';
      expect(text).toContain(`AI share ${share(ai, total)}${was}`);
      const [biggest] = most(
        rows.filter((row) => moved(row.human, row.humanBefore)),
        (row) => Math.abs(row.human - row.humanBefore),
        1,
      );
      const [biggestAi] = most(
        rows.filter((row) => moved(row.ai, row.aiBefore)),
        (row) => Math.abs(row.ai - row.aiBefore),
        1,
      );
      const changed = {
        human: biggest ? biggest.human - biggest.humanBefore : 0,
        ai: biggestAi ? biggestAi.ai - biggestAi.aiBefore : 0,
      };
      const isHuman = Math.abs(changed.human) >= Math.abs(changed.ai);
      const mover = isHuman ? biggest : biggestAi;
      if (mover !== undefined)
        expect(text).toContain(
          `Biggest change: ${mover.path}, ${isHuman ? `views by people ${both(mover.human, mover.humanBefore)}` : `AI views ${both(mover.ai, mover.aiBefore)}`}`,
        );

      const chart = root.blocks.find(({ type }) => type === 'data_visualization');
      const ofDays = (by: 'human' | 'ai') =>
        DAYS.slice(7).map((day, n) => views.between(day, DAYS[8 + n] ?? '2026-09-21').totals[by]);
      expect(chart).toMatchObject({
        chart: {
          series: (['human', 'ai'] as const).map((by) => ({
            data: ofDays(by).map((value) => expect.objectContaining({ value })),
          })),
        },
      });

      const table = thread.blocks.find((block) => block.type === 'table');
      const cells = table?.rows.map((row) =>
        row.map((cell) => JSON.stringify(cell).match(/"text":"([^"]*)"/)?.[1]),
      );
      expect(cells?.slice(1)).toEqual(
        most(
          rows.filter((row) => row.total > 0),
          (row) => row.total,
          10,
        ).map((row) => [
          row.path,
          ...[row.human, row.ai, row.total].map(spell),
          change(row.total, row.before),
        ]),
      );
      const lines = reads(thread).split('\n');
      for (const [name, entries] of Object.entries(listsOf(rows))) {
        const line = lines.find((one) => one.includes(`${name}: `));
        expect(line?.slice(line.indexOf(': ') + 2)).toBe(
          entries.length > 0 ? entries.join(' · ') : undefined,
        );
      }

      const listed = rows.filter((row) => row.total > 0 || row.before > 0);
      const { data } = Papa.parse<string[]>(csv.trim());
      expect(data.slice(1)).toEqual(
        most(listed, (row) => row.total, listed.length).map((row) =>
          [
            ...[row.path, row.human, row.ai, row.total, row.humanBefore, row.aiBefore],
            ...[row.before, row.total - row.before],
          ].map(String),
        ),
      );
    }),
    { numRuns: 12 },
  );
});
