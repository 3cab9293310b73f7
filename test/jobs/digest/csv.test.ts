import { expect, test } from 'vitest';
import { pagesCsv } from '../../../src/jobs/digest/edition/files.ts';
import type { PageCounts } from '../../../src/jobs/digest/model.ts';

const page = (path: string, human: number, ai = 0): PageCounts => ({ path, human, ai });
const HEADER = '\uFEFFpath,people,ai,total,people_before,ai_before,total_before,change';
const linesOf = (csv: Buffer) => csv.toString().split('\r\n');

test('all pages of either range, those with the most views first', () => {
  const csv = pagesCsv(
    [page('/b', 5, 5), page('/a', 10), page('/none', 0), page('/guides/sso', 400, 20)],
    [page('/a', 7, 1), page('/old', 60, 4), page('/never', 0)],
  );
  expect(linesOf(csv)).toEqual([
    HEADER,
    '"/guides/sso",400,20,420,0,0,0,420',
    '"/a",10,0,10,7,1,8,2',
    '"/b",5,5,10,0,0,0,10',
    '"/old",0,0,0,60,4,64,-64',
    '',
  ]);
});

test('what is not known of the range before is left empty', () => {
  expect(linesOf(pagesCsv([page('/a', 10, 1)]))).toEqual([HEADER, '"/a",10,1,11,,,,', '']);
  expect(linesOf(pagesCsv([]))).toEqual([HEADER, '']);
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
  [`/${'é'.repeat(2000)}`, `"/${'é'.repeat(2000)}"`],
])('%j is harmless in a spreadsheet', (path, cell) => {
  expect(linesOf(pagesCsv([page(path, 1)]))[1]).toBe(`${cell},1,0,1,,,,`);
});
