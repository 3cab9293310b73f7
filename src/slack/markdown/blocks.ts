import { disarm, renderInline } from './inline.ts';
import { decodeEntities, mrkdwnToMarkdown } from './mrkdwn.ts';
import { type Fields, fieldsOf, listOf, textOf, textsIn } from './payload.ts';
import type { Reading } from './reading.ts';
import { richTextToMarkdown } from './rich-text.ts';
import { cleanText } from './spans.ts';
import { tableToMarkdown } from './table.ts';

/** Blocks of a message as Markdown, with an empty line between them. Of an unknown type, whatever text it holds. */
export function blocksToMarkdown(blocks: unknown, reading: Reading): string {
  return listOf(blocks)
    .map((block) => blockToMarkdown(block, reading))
    .filter((markdown) => markdown.trim() !== '')
    .join('\n\n');
}

function blockToMarkdown(block: unknown, reading: Reading): string {
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
      return unknownBlock(fields, reading);
  }
}

function textObjectToMarkdown(value: unknown, reading: Reading): string {
  const { type, text } = fieldsOf(value);
  if (typeof text !== 'string') return unknownText(value);
  return type === 'mrkdwn'
    ? mrkdwnToMarkdown(text, reading)
    : renderInline([{ text: decodeEntities(text) }]).trim();
}

function unknownBlock(fields: Fields, reading: Reading): string {
  const { text } = fields;
  return typeof text === 'object' && text !== null
    ? textObjectToMarkdown(text, reading)
    : unknownText(fields);
}

function unknownText(value: unknown): string {
  return renderInline([{ text: textsIn(value).join('\n') }]).trim();
}
