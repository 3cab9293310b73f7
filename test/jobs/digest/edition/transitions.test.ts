import { expect, test } from 'vitest';
import { planWeekly } from '../../../../src/jobs/digest/edition/new-edition.ts';
import {
  type DigestFile,
  type EditionRun,
  editionRun,
  pagesKey,
  rootKey,
} from '../../../../src/jobs/digest/edition/record.ts';
import { restart } from '../../../../src/jobs/digest/edition/transitions.ts';
import { lastCompleteWeek } from '../../../../src/jobs/digest/weeks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';

const week = lastCompleteWeek(NOW_MS);
const { edition } = planWeekly({ schedule: aSchedule(), week, dueAtMs: NOW_MS, late: false }, NOW_MS);
const ended = (
  why: NonNullable<EditionRun['ended']>['why'],
  changes: Partial<EditionRun> = {},
): EditionRun => ({
  ...edition,
  state: 'ended',
  ended: { why },
  ...changes,
});
const totals = { human: 9050, ai: 3430 };

test.each<[string, EditionRun]>([
  ['is posted', ended('done')],
  ['is on its way', edition],
  ['is being completed', { ...edition, state: 'completing' }],
])('a digest that %s is not begun again', (_, run) => {
  expect(restart(run, edition, NOW_MS)).toBeUndefined();
});

test.each(['platform', 'project', 'permission', 'broken'] as const)(
  'one that ended for %s is collected again, as the same message',
  (why) => {
    const again = restart(ended(why), edition, NOW_MS + 5);
    expect(again).toEqual({ ...edition, sinceMs: NOW_MS + 5 });
    expect(again && rootKey(again)).toBe(rootKey(edition));
  },
);

test('one that broke when it was posted goes on from there, and keeps the files that are shared', () => {
  const csv = { state: 'done' as const, fileId: 'F1', failures: 0, attempt: 1 };
  expect(restart(ended('broken', { totals, csv }), edition, NOW_MS)).toMatchObject({
    state: 'posted',
    totals,
    csv,
  });
});

test('one that Slack refused is tried again as the same messages, which may be there all the same', () => {
  const first = restart(ended('place', { totals }), edition, NOW_MS);
  const second = first && restart({ ...first, state: 'ended', ended: { why: 'place' } }, edition, NOW_MS);
  expect([first?.attempt, second?.attempt]).toEqual([2, 3]);
  const keys = [edition, first, second].flatMap((run) => (run ? [rootKey(run), pagesKey(run)] : []));
  expect(new Set(keys).size).toBe(2);
  expect(editionRun.parse(second)).toEqual(second);
});

test('one that Slack refused when it was due says that it is late, once it is posted', () => {
  expect(restart(ended('place', { totals }), edition, NOW_MS + 3 * 3_600_000)).toMatchObject({ late: true });
  expect(restart(ended('place', { totals }), edition, NOW_MS + 60_000)?.late).toBeUndefined();
});

test('what it is made of is what is planned now: other sections have other figures', () => {
  const sections = ['csv' as const];
  const now = planWeekly({ schedule: aSchedule({ sections }), week, dueAtMs: NOW_MS, late: false }, NOW_MS);
  const { figures, figuresBefore } = now.edition;
  expect(figures).not.toBe(edition.figures);
  expect(restart(ended('platform'), now.edition, NOW_MS)).toMatchObject({ figures, figuresBefore, sections });
});

const failedFile: DigestFile = {
  state: 'failed',
  failures: 6,
  attempt: 1,
  trouble: { sinceMs: 1, inARow: 9 },
};

test.each<[string, Partial<EditionRun>, Partial<EditionRun>]>([
  ['its pages', { noPages: 'failed' }, {}],
  ['its file', { csv: failedFile }, { csv: { state: 'wanted', failures: 0, attempt: 1 } }],
  [
    'a file that may be shared',
    { csv: { ...failedFile, fileId: 'F1' } },
    { csv: { state: 'uploaded', fileId: 'F1', failures: 0, attempt: 1 } },
  ],
  [
    'its picture',
    { picture: failedFile, chart: 'none' },
    { picture: { state: 'wanted', failures: 0, attempt: 1 }, chart: 'picture' },
  ],
])('one that is posted without %s is completed, as the same message', (_, missing, expected) => {
  const again = restart(ended('done', { totals, ...missing }), edition, NOW_MS);
  expect(again).toEqual({ ...edition, totals, state: 'posted', ...expected });
  expect(again && rootKey(again)).toBe(rootKey(edition));
});

test.each<[string, Partial<EditionRun>]>([
  ['has more pages than are read', { noPages: 'tooMany' }],
  ['is of a workspace that takes no files', { csv: { ...failedFile, refused: true } }],
])('one that %s is whole', (_, changes) => {
  expect(restart(ended('done', { totals, ...changes }), edition, NOW_MS)).toBeUndefined();
});
