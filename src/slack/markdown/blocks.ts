import { disarmed, inline } from './inline.ts';
import { decoded, mrkdwn } from './mrkdwn.ts';
import { type Fields, fieldsOf, listOf, textOf, wordsIn } from './payload.ts';
import type { Reading } from './reading.ts';
import { richText } from './rich-text.ts';
import { clean } from './spans.ts';
import { table } from './table.ts';

/** Blocks of a message as Markdown, with an empty line between them. Of an unknown type, whatever text it holds. */
export function blocksMarkdown(blocks: unknown, reading: Reading): string {
  return listOf(blocks)
    .map((block) => blockMarkdown(block, reading))
    .filter((markdown) => markdown.trim() !== '')
    .join('\n\n');
}

function blockMarkdown(block: unknown, reading: Reading): string {
  const fields = fieldsOf(block);
  switch (fields.type) {
    case 'rich_text':
      return richText(fields, reading);
    case 'section':
      return [fields.text, ...listOf(fields.fields)]
        .map((text) => textObject(text, reading))
        .filter((text) => text !== '')
        .join('\n\n');
    case 'header': {
      const title = textObject(fields.text, reading).replace(/\s+/g, ' ');
      return title === '' ? '' : `## ${title}`;
    }
    case 'context':
      return listOf(fields.elements)
        .map((element) => textObject(element, reading))
        .filter((text) => text !== '')
        .join(' ');
    case 'markdown':
      return disarmed(clean(textOf(fields.text) ?? ''));
    case 'table':
    case 'data_table':
      return table(fields, reading);
    default:
      return unknownBlock(fields, reading);
  }
}

function textObject(value: unknown, reading: Reading): string {
  const { type, text } = fieldsOf(value);
  if (typeof text !== 'string') return words(value);
  return type === 'mrkdwn' ? mrkdwn(text, reading) : inline([{ text: decoded(text) }]).trim();
}

function unknownBlock(fields: Fields, reading: Reading): string {
  const { text } = fields;
  return typeof text === 'object' && text !== null ? textObject(text, reading) : words(fields);
}

function words(value: unknown): string {
  return inline([{ text: wordsIn(value).join('\n') }]).trim();
}
