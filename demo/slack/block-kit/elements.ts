import { z } from 'zod';
import { richTextBlock } from './rich-text.ts';
import {
  actionId,
  confirm,
  imageElement,
  markOption,
  menuOption,
  option,
  optionGroup,
  plain,
  webUrl,
} from './text.ts';

const base = { action_id: actionId };
const focus = { focus_on_load: z.boolean().optional() };
const placeholder = { placeholder: plain(150).optional() };
const accessibility = { accessibility_label: z.string().max(75).optional() };
const style = { style: z.enum(['primary', 'danger']).optional() };

/** A button: also one with a url is an action with an id. */
const button = z.strictObject({
  type: z.literal('button'),
  text: plain(75),
  value: z.string().max(2000).optional(),
  url: webUrl.optional(),
  ...base,
  ...style,
  ...accessibility,
  confirm,
});

const workflowButton = z.strictObject({
  type: z.literal('workflow_button'),
  text: plain(75),
  workflow: z.strictObject({
    trigger: z.strictObject({
      url: webUrl,
      customizable_input_parameters: z
        .array(z.strictObject({ name: z.string(), value: z.string() }))
        .optional(),
    }),
  }),
  ...base,
  ...style,
  ...accessibility,
});

const overflow = z.strictObject({
  type: z.literal('overflow'),
  options: z.array(menuOption).min(1).max(5),
  ...base,
  confirm,
});

/** "An array of option objects that exactly matches one or more of the options". */
function initialAmongOptions(element: {
  options?: unknown[] | undefined;
  option_groups?: { options: unknown[] }[] | undefined;
  initial_option?: unknown;
  initial_options?: unknown[] | undefined;
}): boolean {
  const {
    options = [],
    option_groups: groups = [],
    initial_option: one,
    initial_options: many = [],
  } = element;
  const known = new Set([...options, ...groups.flatMap((group) => group.options)].map(asKey));
  return [...many, ...(one === undefined ? [] : [one])].every((initial) => known.has(asKey(initial)));
}
const asKey = (value: unknown): string =>
  JSON.stringify(value, (_, node) =>
    node !== null && typeof node === 'object' && !Array.isArray(node)
      ? Object.fromEntries(Object.entries(node).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : node,
  );
const INITIAL = 'initial options must be among the options';

const checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    options: z.array(markOption).min(1).max(10),
    initial_options: z.array(markOption).min(1).optional(),
    ...base,
    ...focus,
    confirm,
  })
  .refine(initialAmongOptions, INITIAL);

const radioButtons = z
  .strictObject({
    type: z.literal('radio_buttons'),
    options: z.array(markOption).min(1).max(10),
    initial_option: markOption.optional(),
    ...base,
    ...focus,
    confirm,
  })
  .refine(initialAmongOptions, INITIAL);

const select = { ...base, ...focus, ...placeholder, confirm };
const multi = { ...select, max_selected_items: z.number().int().min(1).optional() };
const responseUrl = { response_url_enabled: z.boolean().optional() };
const statics = {
  options: z.array(option).min(1).max(100).optional(),
  option_groups: z.array(optionGroup).min(1).max(100).optional(),
};
const conversations = {
  default_to_current_conversation: z.boolean().optional(),
  filter: z
    .strictObject({
      include: z
        .array(z.enum(['im', 'mpim', 'private', 'public']))
        .min(1)
        .optional(),
      exclude_external_shared_channels: z.boolean().optional(),
      exclude_bot_users: z.boolean().optional(),
    })
    .optional(),
};
const external = { min_query_length: z.number().int().min(0).optional() };
const eitherOptions = ({ options, option_groups }: { options?: unknown; option_groups?: unknown }) =>
  (options === undefined) !== (option_groups === undefined);
const EITHER = 'must have either options or option_groups';

const staticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    ...statics,
    initial_option: option.optional(),
    ...select,
  })
  .refine(eitherOptions, EITHER)
  .refine(initialAmongOptions, INITIAL);
const multiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    ...statics,
    initial_options: z.array(option).min(1).optional(),
    ...multi,
  })
  .refine(eitherOptions, EITHER)
  .refine(initialAmongOptions, INITIAL);

const selects = [
  staticSelect,
  multiStaticSelect,
  z.strictObject({
    type: z.literal('external_select'),
    ...external,
    initial_option: option.optional(),
    ...select,
  }),
  z.strictObject({
    type: z.literal('multi_external_select'),
    ...external,
    initial_options: z.array(option).min(1).optional(),
    ...multi,
  }),
  z.strictObject({ type: z.literal('users_select'), initial_user: z.string().optional(), ...select }),
  z.strictObject({
    type: z.literal('multi_users_select'),
    initial_users: z.array(z.string()).optional(),
    ...multi,
  }),
  z.strictObject({
    type: z.literal('conversations_select'),
    initial_conversation: z.string().optional(),
    ...conversations,
    ...responseUrl,
    ...select,
  }),
  z.strictObject({
    type: z.literal('multi_conversations_select'),
    initial_conversations: z.array(z.string()).optional(),
    ...conversations,
    ...multi,
  }),
  z.strictObject({
    type: z.literal('channels_select'),
    initial_channel: z.string().optional(),
    ...responseUrl,
    ...select,
  }),
  z.strictObject({
    type: z.literal('multi_channels_select'),
    initial_channels: z.array(z.string()).optional(),
    ...multi,
  }),
] as const;

const pickers = [
  z.strictObject({
    type: z.literal('datepicker'),
    initial_date: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/)
      .optional(),
    ...select,
  }),
  z.strictObject({
    type: z.literal('timepicker'),
    initial_time: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .optional(),
    timezone: z.string().optional(),
    ...select,
  }),
  z.strictObject({
    type: z.literal('datetimepicker'),
    // "in the format of 10 digits"
    initial_date_time: z.number().int().min(1_000_000_000).max(9_999_999_999).optional(),
    ...base,
    ...focus,
    confirm,
  }),
] as const;

const typed = {
  ...base,
  ...focus,
  ...placeholder,
  dispatch_action_config: z
    .strictObject({
      trigger_actions_on: z.array(z.enum(['on_enter_pressed', 'on_character_entered'])).min(1),
    })
    .optional(),
};
const initial = { initial_value: z.string().optional() };

const inputs = [
  z.strictObject({
    type: z.literal('plain_text_input'),
    ...typed,
    initial_value: z.string().max(3000).optional(),
    multiline: z.boolean().optional(),
    min_length: z.number().int().min(0).max(3000).optional(),
    max_length: z.number().int().min(1).max(3000).optional(),
  }),
  z.strictObject({
    type: z.literal('number_input'),
    ...typed,
    ...initial,
    is_decimal_allowed: z.boolean(),
    min_value: z.string().optional(),
    max_value: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('email_text_input'), ...typed, ...initial }),
  z.strictObject({ type: z.literal('url_text_input'), ...typed, ...initial }),
  z.strictObject({
    type: z.literal('rich_text_input'),
    ...typed,
    initial_value: richTextBlock.optional(),
    min_lines: z.number().int().min(1).max(100).optional(),
    max_lines: z.number().int().min(1).max(100).optional(),
  }),
  z.strictObject({
    type: z.literal('file_input'),
    ...base,
    filetypes: z.array(z.string()).optional(),
    max_files: z.number().int().min(1).max(10).optional(),
  }),
] as const;

/** What an actions block may hold. */
export const actionElement = z.discriminatedUnion('type', [
  button,
  workflowButton,
  overflow,
  checkboxes,
  radioButtons,
  ...selects,
  ...pickers,
]);

/** What may stand beside the text of a section. */
export const accessory = z.discriminatedUnion('type', [...actionElement.options, imageElement]);

/** What an input block may hold. */
export const inputElement = z.discriminatedUnion('type', [
  checkboxes,
  radioButtons,
  ...selects,
  ...pickers,
  ...inputs,
]);
