import type { InputBlock, KnownBlock, ModalView, PlainTextElement, RichTextBlock } from '@slack/types';
import type { Message } from './blocks.ts';
import { checkLimit, SLACK_LIMITS } from './limits.ts';

const plainText = (text: string): PlainTextElement => ({ type: 'plain_text', text });

/** Returns a modal that shows a message, titled as the modal before it unless that title is too long. */
export const noticeView = (title: string, { blocks }: Message) =>
  reportView(title.length > SLACK_LIMITS.modalTitle ? 'Docket' : title, blocks);

/** Returns a modal that is only read. */
export function reportView(title: string, blocks: KnownBlock[]): ModalView {
  return {
    type: 'modal',
    title: plainText(checkLimit('modalTitle', title)),
    close: plainText('Close'),
    blocks,
  };
}

/** Returns a block of preformatted text, easy to copy. */
export function preformatted(text: string): RichTextBlock {
  const elements = [{ type: 'text' as const, text }];
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] };
}

/** Returns a modal with fields. `callback` names its listener. */
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

/** What all fields have. `block` names the field in the submitted values and in problems. */
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

/** Returns a field for text, of one line or of many. */
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

/** One option of a choice; `value` is what is submitted. Both take `SLACK_LIMITS.optionText` characters. */
export interface Choice {
  label: string;
  value: string;
}

/** Returns a field with a choice: radio buttons up to four options, else a select. */
export function choiceField(
  field: FieldParts & { choices: readonly Choice[]; initial?: string },
): InputBlock {
  const options = field.choices.map(({ label, value }) => ({ text: plainText(label), value }));
  const chosen = options.find(({ value }) => value === field.initial);
  const type = options.length <= 4 ? 'radio_buttons' : 'static_select';
  return inputBlock(field, { type, action_id: 'choice', options, ...(chosen && { initial_option: chosen }) });
}
