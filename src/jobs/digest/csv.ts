import Papa from 'papaparse';
import { singleLine } from '../../slack/text.ts';
import { type PageCounts, totalOf } from './model.ts';

const COLUMNS = ['path', 'people', 'ai', 'total', 'people_before', 'ai_before', 'total_before', 'change'];
/** Without it, spreadsheets misread UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
const END_OF_LINE = '\r\n';

/** Rows per chunk: one string of all rows would take many times its size while it grows. */
const CHUNK = 1000;

/** Spreadsheets run text that begins so, some also in the wide forms. Papa's own pattern stops at a line break. */
const FORMULA = /^[=+\-@＝＋－＠]/u;

/**
 * Returns all pages of either range as CSV in UTF-8, most views first. If the range before is unknown, its cells are
 * empty. Paths are text from readers: they are stripped of invisible and control characters, never start a formula, and
 * are quoted, since a spreadsheet that divides at semicolons would find cells in them.
 */
export function pagesCsv(pages: Iterable<PageCounts>, before?: Iterable<PageCounts>): Buffer {
  const earlier = new Map<string, PageCounts>();
  for (const page of before ?? []) earlier.set(page.path, page);
  const later = new Map<string, PageCounts>();
  for (const page of pages) later.set(page.path, page);
  for (const { path } of earlier.values()) if (!later.has(path)) later.set(path, { path, human: 0, ai: 0 });

  const sorted = [...later.values()]
    .filter((page) => totalOf(page) > 0 || totalOf(earlier.get(page.path) ?? NONE) > 0)
    .sort((one, other) => totalOf(other) - totalOf(one) || (one.path < other.path ? -1 : 1));
  const rowOf = (page: PageCounts) => {
    const past = earlier.get(page.path) ?? NONE;
    const [total, totalBefore] = [totalOf(page), totalOf(past)];
    const compared = [past.human, past.ai, totalBefore, total - totalBefore];
    return [
      singleLine(page.path),
      page.human,
      page.ai,
      total,
      ...(before === undefined ? compared.map(() => '') : compared),
    ];
  };
  const parts = [Buffer.from(BYTE_ORDER_MARK + COLUMNS.join(',') + END_OF_LINE)];
  for (let start = 0; start < sorted.length; start += CHUNK) {
    const rows = sorted.slice(start, start + CHUNK).map(rowOf);
    const text = Papa.unparse(rows, { escapeFormulae: FORMULA, quotes: [true], newline: END_OF_LINE });
    parts.push(Buffer.from(text + END_OF_LINE));
  }
  return Buffer.concat(parts);
}

const NONE = { human: 0, ai: 0 };
