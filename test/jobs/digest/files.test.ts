import { expect, test } from 'vitest';
import { pagesCsv } from '../../../src/jobs/digest/edition/files.ts';
import { comparePages, type PageCounts } from '../../../src/jobs/digest/model.ts';

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
