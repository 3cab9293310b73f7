import fc from 'fast-check';
import Papa from 'papaparse';
import { expect, test } from 'vitest';
import { pagesCsv } from '../../../src/jobs/digest/edition/files.ts';
import type { PageCounts } from '../../../src/jobs/digest/model.ts';
import { singleLine } from '../../../src/slack/text.ts';
import { hostileText } from '../../support/arbitraries.ts';

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

test('reads as the same pages again, whatever readers wrote, also beyond one chunk', () => {
  const site = (maxLength: number) =>
    fc.uniqueArray(
      fc.record({ path: hostileText, human: fc.integer({ min: 1, max: 999 }), ai: fc.nat(999) }),
      {
        selector: (one) => one.path,
        maxLength,
      },
    );
  fc.assert(
    fc.property(site(20), fc.constantFrom(0, 999, 2500), (pages, more) => {
      const all = [...pages, ...Array.from({ length: more }, (_, index) => page(`/p/${index}`, index + 1))];
      const { data, errors } = Papa.parse<string[]>(pagesCsv(all, pages).toString(), {
        skipEmptyLines: true,
      });
      expect(errors).toEqual([]);
      expect(data).toHaveLength(all.length + 1);
      for (const row of data) expect(row).toHaveLength(8);
      for (const [path] of data) expect(path).not.toMatch(/^\s*[=+\-@]|[\p{Cc}\u202E]/u);
      const sum = (column: number) => data.slice(1).reduce((total, row) => total + Number(row[column]), 0);
      expect(sum(3)).toBe(all.reduce((total, { human, ai }) => total + human + ai, 0));
      expect(sum(4)).toBe(pages.reduce((total, { human }) => total + human, 0));
      const written = new Set(data.map(([path]) => path));
      for (const { path } of pages) {
        const shown = singleLine(path).toWellFormed();
        expect(written.has(shown) || written.has(`'${shown}`)).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});
