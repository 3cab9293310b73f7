import { expect, test } from 'vitest';
import { pagesCsv } from '../../../src/jobs/digest/edition/files.ts';
import { comparePages, type PageCounts } from '../../../src/jobs/digest/model.ts';
import { SlackApiError } from '../../../src/slack/errors.ts';
import { post, setUp, textOf, weekly } from '../../support/jobs/digest/editions.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

const page = (path: string, human: number, ai = 0): PageCounts => ({ path, human, ai });
const HEADER = '\uFEFFpath,people,ai,total,people_before,ai_before,total_before,change';
const linesOf = async (pages: PageCounts[], before?: PageCounts[]) =>
  pagesCsv(await comparePages([pages], before && [before]), before !== undefined)
    .toString()
    .split('\r\n');

test('all pages of either range, those with the most views first', async () => {
  const pages = [page('/b', 5, 5), page('/a', 10), page('/none', 0), page('/guides/sso', 400, 20)];
  expect(await linesOf(pages, [page('/a', 7, 1), page('/old', 60, 4), page('/never', 0)])).toEqual([
    HEADER,
    '"/guides/sso",400,20,420,0,0,0,420',
    '"/a",10,0,10,7,1,8,2',
    '"/b",5,5,10,0,0,0,10',
    '"/old",0,0,0,60,4,64,-64',
    '',
  ]);
  expect(await linesOf([page('/a', 10, 1)])).toEqual([HEADER, '"/a",10,1,11,,,,', '']);
  expect(await linesOf([])).toEqual([HEADER, '']);
});

test.each([
  ['=1+1', `"'=1+1"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1+1', `"'=1+1"`],
  [' \u200B\u202E=1+1', `"'=1+1"`],
  ['=1+1\n=2', `"'=1+1 =2"`],
  ['＝1+1', `"'＝1+1"`],
  ['/a;=1+1', '"/a;=1+1"'],
  ['/say "hi", all', '"/say ""hi"", all"'],
  ['/a\r\n/b,1,2', '"/a /b,1,2"'],
  ['/\u202Egpj.exe', '"/gpj.exe"'],
  ['', '""'],
])('%j is harmless in a spreadsheet', async (path, cell) => {
  expect((await linesOf([page(path, 1)]))[1]).toBe(`${cell},1,0,1,,,,`);
});

test('a completion without an answer is looked up, and made again only where it did not happen', async () => {
  for (const happened of [true, false]) {
    await redis.client.flushall();
    const { shown, world } = await setUp(redis.client);
    const { completeUpload } = world.context.slack;
    let failures = 1;
    Object.assign(world.context.slack, {
      async completeUpload(file: Parameters<typeof completeUpload>[0]) {
        if (happened || failures === 0) await completeUpload(file);
        if (failures === 0) return;
        failures -= 1;
        throw new SlackApiError('unclear', 'files.completeUploadExternal', 'timeout');
      },
    });
    const run = await post(world, weekly());
    expect(run.csv).toMatchObject({ state: 'done' });
    expect(shown.files.flatMap(({ completed }) => completed)).toHaveLength(1);
  }
});

test('a digest says when the list of pages does not add up to the totals', async () => {
  const { shown, world } = await setUp(redis.client);
  const { context } = world;
  const docs = context.docs('acme');
  if (docs === undefined) throw new Error('no client');
  const short = {
    ...docs,
    async getPageViews(...args: Parameters<typeof docs.getPageViews>) {
      const answer = await docs.getPageViews(...args);
      return { ...answer, views: answer.views.slice(1) };
    },
  };
  Object.assign(context, { docs: () => short });
  const run = await post(world, weekly());
  expect(textOf(shown, `${run.id}.pages`)).toMatch(
    /The list of pages adds up to [\d,]+ of [\d,]+ views.*The list of pages of the days before adds up to [\d,]+ of [\d,]+ views, so changes of pages may be wrong/,
  );
});
