import type { InputBlock, KnownBlock, ModalView, PlainTextElement, RichTextBlock } from '@slack/types';
import type { Message } from './blocks.ts';
import { checkLimit, SLACK_LIMITS } from './limits.ts';

const plainText = (text: string): PlainTextElement => ({ type: 'plain_text', text });

/** A dialog that only says something, under a title of another one. */
export const noticeView = (title: string, { blocks }: Message) =>
  reportView(title.length > SLACK_LIMITS.modalTitle ? 'Docket' : title, blocks);

/** A dialog to read. */
export function reportView(title: string, blocks: KnownBlock[]): ModalView {
  return {
    type: 'modal',
    title: plainText(checkLimit('modalTitle', title)),
    close: plainText('Close'),
    blocks,
  };
}

/** Text as it is, to be copied. */
export function preformatted(text: string): RichTextBlock {
  const elements = [{ type: 'text' as const, text }];
  return { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements }] };
}

/** A dialog with fields. `callback` names its listener, `meta` comes back with what was entered. */
export function formView(form: {
  title: string;
  submit: string;
  callback: string;
  meta: object;
  fields: InputBlock[];
}): ModalView {
  const { title, submit, callback, meta, fields } = form;
  return {
    type: 'modal',
    callback_id: callback,
    private_metadata: checkLimit('modalPrivateMetadata', JSON.stringify(meta)),
    title: plainText(checkLimit('modalTitle', title)),
    submit: plainText(submit),
    close: plainText('Cancel'),
    blocks: fields,
  };
}

/** A field for one line of text. `block` names it in what was entered and in problems. */
export function textField(field: {
  block: string;
  label: string;
  hint?: string;
  placeholder?: string;
  initial?: string;
  optional?: boolean;
  multiline?: boolean;
}): InputBlock {
  const { block, label, hint, placeholder, initial, optional = false, multiline = false } = field;
  return {
    type: 'input',
    block_id: block,
    optional,
    label: plainText(label),
    ...(hint !== undefined && { hint: plainText(hint) }),
    element: {
      type: 'plain_text_input',
      action_id: 'text',
      multiline,
      ...(placeholder !== undefined && { placeholder: plainText(placeholder) }),
      ...(initial !== undefined && { initial_value: initial }),
    },
  };
}

/** Something to choose from; `value` is what comes back. Both take `SLACK_LIMITS.optionText` characters. */
export interface Choice {
  label: string;
  value: string;
}

/** A field with a choice: radio buttons up to four, a select beyond. */
export function choiceField(field: {
  block: string;
  label: string;
  hint?: string;
  choices: readonly Choice[];
  initial?: string;
  optional?: boolean;
}): InputBlock {
  const { block, label, hint, choices, initial, optional = false } = field;
  const options = choices.map((choice) => ({ text: plainText(choice.label), value: choice.value }));
  const chosen = options.find(({ value }) => value === initial);
  const common = { action_id: 'choice', options, ...(chosen && { initial_option: chosen }) };
  return {
    type: 'input',
    block_id: block,
    optional,
    label: plainText(label),
    ...(hint !== undefined && { hint: plainText(hint) }),
    element:
      choices.length <= 4 ? { type: 'radio_buttons', ...common } : { type: 'static_select', ...common },
  };
}
