import { disarm, renderInline } from './inline.ts';
import { decodeEntities, mrkdwnToMarkdown } from './mrkdwn.ts';
import type { MarkdownOptions } from './names.ts';
import { type Fields, fieldsOf, listOf, textOf, textsIn } from './payload.ts';
import { richTextLines, richTextToMarkdown } from './rich-text.ts';
import { cleanText } from './spans.ts';

/** Returns the blocks of a message as Markdown, separated by empty lines; of unknown types, all texts. */
export function blocksToMarkdown(blocks: unknown, reading: MarkdownOptions): string {
  return listOf(blocks)
    .map((block) => blockToMarkdown(block, reading))
    .filter((markdown) => markdown.trim() !== '')
    .join('\n\n');
}

function blockToMarkdown(block: unknown, reading: MarkdownOptions): string {
  const fields = fieldsOf(block);
  switch (fields.type) {
    case 'rich_text':
      return richTextToMarkdown(fields, reading);
    case 'section':
      return [fields.text, ...listOf(fields.fields)]
        .map((text) => textObjectToMarkdown(text, reading))
        .filter((text) => text !== '')
        .join('\n\n');
    case 'header': {
      const title = textObjectToMarkdown(fields.text, reading).replace(/\s+/g, ' ');
      return title === '' ? '' : `## ${title}`;
    }
    case 'context':
      return listOf(fields.elements)
        .map((element) => textObjectToMarkdown(element, reading))
        .filter((text) => text !== '')
        .join(' ');
    case 'markdown':
      return disarm(cleanText(textOf(fields.text) ?? ''));
    case 'table':
    case 'data_table':
      return tableToMarkdown(fields, reading);
    default:
      return typeof fields.text === 'object' && fields.text !== null
        ? textObjectToMarkdown(fields.text, reading)
        : unknownToMarkdown(fields);
  }
}

function textObjectToMarkdown(value: unknown, reading: MarkdownOptions): string {
  const { type, text } = fieldsOf(value);
  if (typeof text !== 'string') return unknownToMarkdown(value);
  return type === 'mrkdwn' ? mrkdwnToMarkdown(text, reading) : plainToMarkdown(decodeEntities(text));
}

const plainToMarkdown = (text: string) => renderInline([{ text }]).trim();

const unknownToMarkdown = (value: unknown) => plainToMarkdown(textsIn(value).join('\n'));

/** Slack allows 20 columns. Rows are padded to the longest one, so one endless row would lengthen all. */
const MAX_COLUMNS = 100;

/** Returns a `table` or `data_table` block as a Markdown table. The first row is the head, since Markdown needs one. */
function tableToMarkdown(block: Fields, reading: MarkdownOptions): string {
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
  const caption = plainToMarkdown(textOf(block.caption) ?? '');
  return [...(caption === '' ? [] : [caption, '']), ...lines].join('\n');
}

function ruleOf(align: unknown): string {
  if (align === 'right') return '--:';
  return align === 'center' ? ':-:' : '---';
}

function cellText(cell: unknown, reading: MarkdownOptions): string {
  const fields = fieldsOf(cell);
  const isRichText = fields.type === 'rich_text';
  const text = isRichText ? richTextLines(fields, reading) : plainToMarkdown(textsIn(cell).join(' '));
  return text.trim().replaceAll('|', '\\|').replaceAll('\n', '<br>');
}
