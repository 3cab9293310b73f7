import type { InputBlock, KnownBlock, ModalView, PlainTextElement, RichTextBlock } from '@slack/types';
import type { Message } from './blocks.ts';
import { checkLimit, SLACK_LIMITS } from './limits.ts';

const plainText = (text: string): PlainTextElement => ({ type: 'plain_text', text });

/** A modal that only says something, under a title of another one. */
export const noticeView = (title: string, { blocks }: Message) =>
  reportView(title.length > SLACK_LIMITS.modalTitle ? 'Docket' : title, blocks);

/** A modal to read. */
export function reportView(title: string, blocks: KnownBlock[]): ModalView {
  return {
    type: 'modal',
    title: plainText(checkLimit('modalTitle', title)),
    close: plainText('Close'),
    blocks,
  };
}

/** Returns text as it is, to be copied. */
export function preformatted(text: string): RichTextBlock {
  const elements = [{ type: 'text' as const, text }];
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] };
}

/** A modal with fields. `callback` names its listener. */
export function formView(form: {
  title: string;
  submit: string;
  callback: string;
  fields: InputBlock[];
}): ModalView {
  const { title, submit, callback, fields } = form;
  return {
    type: 'modal',
    callback_id: callback,
    title: plainText(checkLimit('modalTitle', title)),
    submit: plainText(submit),
    close: plainText('Cancel'),
    blocks: fields,
  };
}

/** What all fields have. `block` names the field in what was entered and in problems. */
interface FieldParts {
  block: string;
  label: string;
  hint?: string;
  optional?: boolean;
}

const inputBlock = (
  { block, label, hint, optional = false }: FieldParts,
  element: InputBlock['element'],
): InputBlock => ({
  type: 'input',
  block_id: block,
  optional,
  label: plainText(label),
  ...(hint !== undefined && { hint: plainText(hint) }),
  element,
});

/** A field for text, of one line or of many. */
export function textField(
  field: FieldParts & { placeholder?: string; initial?: string; multiline?: boolean },
): InputBlock {
  const { placeholder, initial, multiline = false } = field;
  return inputBlock(field, {
    type: 'plain_text_input',
    action_id: 'text',
    multiline,
    ...(placeholder !== undefined && { placeholder: plainText(placeholder) }),
    ...(initial !== undefined && { initial_value: initial }),
  });
}

/** Something to choose from; `value` is what comes back. Both take `SLACK_LIMITS.optionText` characters. */
export interface Choice {
  label: string;
  value: string;
}

/** A field with a choice: radio buttons up to four, a select beyond. */
export function choiceField(
  field: FieldParts & { choices: readonly Choice[]; initial?: string },
): InputBlock {
  const options = field.choices.map(({ label, value }) => ({ text: plainText(label), value }));
  const chosen = options.find(({ value }) => value === field.initial);
  const type = options.length <= 4 ? 'radio_buttons' : 'static_select';
  return inputBlock(field, { type, action_id: 'choice', options, ...(chosen && { initial_option: chosen }) });
}
