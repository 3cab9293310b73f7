import { renderInline } from './inline.ts';
import { type Fields, fieldsOf, listOf, textOf, textsIn } from './payload.ts';
import type { Reading } from './reading.ts';
import { richTextLines } from './rich-text.ts';
import { cleanText } from './spans.ts';

/** Slack takes 20 columns. A short row is filled up, so that without a limit one long row would lengthen them all. */
const MAX_COLUMNS = 100;

/** A `table` or `data_table` block as a Markdown table. The first row is the head, since Markdown needs one. */
export function tableToMarkdown(block: Fields, reading: Reading): string {
  const rows = listOf(block.rows).map((row) =>
    listOf(row)
      .slice(0, MAX_COLUMNS)
      .map((cell) => cellText(cell, reading)),
  );
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const [head, ...body] = rows;
  if (!head || columns === 0) return cleanText(textsIn(block).join('\n'));
  const aligns = listOf(block.column_settings).map((column) => fieldsOf(column).align);
  const rule = Array.from({ length: columns }, (_, index) => ruleOf(aligns[index]));
  const lines = [head, rule, ...body].map((cells) => {
    const padded = Array.from({ length: columns }, (_, index) => cells[index] ?? '');
    return `| ${padded.join(' | ')} |`;
  });
  const caption = renderInline([{ text: textOf(block.caption) ?? '' }]).trim();
  return [...(caption === '' ? [] : [caption, '']), ...lines].join('\n');
}

function ruleOf(align: unknown): string {
  if (align === 'right') return '--:';
  return align === 'center' ? ':-:' : '---';
}

function cellText(cell: unknown, reading: Reading): string {
  const fields = fieldsOf(cell);
  const text =
    fields.type === 'rich_text'
      ? richTextLines(fields, reading)
      : renderInline([{ text: textsIn(cell).join(' ') }]);
  return text.trim().replaceAll('|', '\\|').replaceAll('\n', '<br>');
}
