import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { type Message, plainText } from './blocks.ts';
import { SLACK_LIMITS } from './limits.ts';

/**
 * Returns a modal that shows a message, with the title of the previous modal unless that is too long. Charts and tables
 * are left out, since modals take none.
 */
export const noticeView = (title: string, { blocks }: Message) =>
  reportView(
    title.length > SLACK_LIMITS.modalTitle ? 'Docket' : title,
    blocks.filter((block) => block.type !== 'data_visualization' && block.type !== 'table'),
  );

/** Returns a modal without fields. */
export const reportView = (title: string, blocks: KnownBlock[]): ModalView => ({
  type: 'modal',
  title: plainText(title),
  close: plainText('Close'),
  blocks,
});

/** Returns a modal with fields, `intro` above them. `callback` names its listener. */
export const formView = (form: {
  title: string;
  submit: string;
  callback: string;
  intro?: Message<KnownBlock>;
  fields: InputBlock[];
}): ModalView => ({
  type: 'modal',
  callback_id: form.callback,
  title: plainText(form.title),
  submit: plainText(form.submit),
  close: plainText('Cancel'),
  blocks: [...(form.intro?.blocks ?? []), ...form.fields],
});

/** The common parts of all fields. `block` names the field in the submitted values and in problems. */
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
export const textField = ({
  placeholder,
  initial,
  multiline = false,
  ...field
}: FieldParts & { placeholder?: string; initial?: string | undefined; multiline?: boolean }): InputBlock =>
  inputBlock(field, {
    type: 'plain_text_input',
    action_id: 'text',
    multiline,
    ...(placeholder !== undefined && { placeholder: plainText(placeholder) }),
    ...(initial !== undefined && { initial_value: initial }),
  });

/** One option of a choice; `value` is submitted. Both take `SLACK_LIMITS.optionText` characters. */
export interface Choice {
  label: string;
  value: string;
}

/** It may contain other people's words, in which `:x:` is no picture. */
const toOption = ({ label, value }: Choice): PlainTextOption => ({
  text: { ...plainText(label), emoji: false },
  value,
});

/** Returns a field with a choice: radio buttons up to four options, else a select, which may have groups with labels. */
export function choiceField({
  choices = [],
  groups = [],
  initial,
  ...field
}: FieldParts & {
  choices?: readonly Choice[];
  groups?: readonly { label: string; values: readonly string[] }[];
  initial?: string | undefined;
}): InputBlock {
  const options = choices.map(toOption);
  const option_groups = groups.map((group) => ({
    label: plainText(group.label),
    options: group.values.map((value) => toOption({ label: value, value })),
  }));
  const all = [...options, ...option_groups.flatMap((group) => group.options)];
  const chosen = all.find(({ value }) => value === initial);
  const initially = chosen && { initial_option: chosen };
  const id = { action_id: 'choice' };
  if (groups.length > 0)
    return inputBlock(field, { type: 'static_select', ...id, option_groups, ...initially });
  const type = options.length <= 4 ? 'radio_buttons' : 'static_select';
  return inputBlock(field, { type, ...id, options, ...initially });
}

/** Returns a field in which any number of choices may be ticked, or none. */
export function checkboxField(
  field: FieldParts & { choices: readonly Choice[]; initial: readonly string[] },
): InputBlock {
  const options = field.choices.map(toOption);
  const ticked = options.filter(({ value = '' }) => field.initial.includes(value));
  // Slack refuses an empty list.
  const initial = ticked.length > 0 && { initial_options: ticked };
  return inputBlock(
    { ...field, optional: true },
    { type: 'checkboxes', action_id: 'ticked', options, ...initial },
  );
}

/** Returns a field for a time of day, 24-hour `HH:MM`. */
export const timeField = (field: FieldParts & { initial: string }): InputBlock =>
  inputBlock(field, { type: 'timepicker', action_id: 'time', initial_time: field.initial });

/** Returns a field for a public or private channel; `initial` is the id of one. */
export const channelField = (field: FieldParts & { initial?: string }): InputBlock =>
  inputBlock(field, {
    type: 'conversations_select',
    action_id: 'channel',
    filter: { include: ['public', 'private'] },
    ...(field.initial !== undefined && { initial_conversation: field.initial }),
  });
