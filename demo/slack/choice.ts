import { type Control, controlsOf } from './controls.ts';
import { Impossible } from './impossible.ts';
import type { Block, User, Workspace } from './workspace.ts';

/** What a person fills in: text, the text of an option, or several of them. */
export type Chosen = string | string[];
export type Values = Record<string, Record<string, unknown>>;

interface Option {
  text: { text: string };
  value?: string;
}

/**
 * What a control holds once this person has used it, in the shape of a payload's `state` (undefined: it holds nothing).
 * Throws where a real client would not let them.
 */
export function choiceOf(
  workspace: Workspace,
  person: User,
  { element, label }: Control,
  chosen: Chosen,
): Record<string, unknown> {
  const one = Array.isArray(chosen) ? (chosen[0] ?? '') : chosen;
  const many = Array.isArray(chosen) ? chosen : [chosen];
  const option = (text: string) => optionOf(element, label, text);
  const user = (name: string) => userOf(workspace, label, name);
  const conversation = (name: string) => conversationOf(workspace, name, person, element, label);
  switch (element.type) {
    case 'static_select':
    case 'external_select':
    case 'radio_buttons':
    case 'overflow':
      return { selected_option: option(one) };
    case 'multi_static_select':
    case 'multi_external_select':
    case 'checkboxes':
      return { selected_options: many.map(option) };
    case 'users_select':
      return { selected_user: user(one) };
    case 'multi_users_select':
      return { selected_users: many.map(user) };
    case 'conversations_select':
      return { selected_conversation: conversation(one) };
    case 'multi_conversations_select':
      return { selected_conversations: many.map(conversation) };
    case 'channels_select':
      return { selected_channel: conversation(one) };
    case 'multi_channels_select':
      return { selected_channels: many.map(conversation) };
    case 'datepicker':
      return { selected_date: one };
    case 'timepicker':
      return { selected_time: timeOf(label, one) };
    case 'datetimepicker':
      return { selected_date_time: Number(one) };
    default:
      return { value: one === '' ? null : one };
  }
}

/** The id of a conversation that the list of a select shows to this person. */
function conversationOf(
  { channels }: Workspace,
  name: string,
  person: User,
  element: Control['element'],
  label: string,
): string {
  const channel = channels.find(({ id, label: shown }) => id === name || shown === name);
  const { include, exclude_external_shared_channels: notShared } = (element.filter ?? {}) as {
    include?: string[];
    exclude_external_shared_channels?: boolean;
  };
  const isListed = channel?.kind === 'public' || channel?.members.has(person.id);
  const isWanted = channel && (include?.includes(channel.kind) ?? true);
  if (channel && isListed && isWanted && !channel.archived && !(notShared && channel.shared))
    return channel.id;
  throw new Impossible(`${label} does not show ${name} to ${person.name}`);
}

function userOf({ users }: Workspace, label: string, name: string): string {
  const found = users.find((user) => user.id === name || user.name === name.replace(/^@/, ''));
  if (found) return found.id;
  throw new Impossible(`${label} does not show ${name}`);
}

/** A real client makes a time of what is typed; here it is typed as one. */
function timeOf(label: string, text: string): string {
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(text)) return text;
  throw new Impossible(`${label} takes a time like 09:30, not ${text}`);
}

function optionOf(element: Control['element'], label: string, text: string): Option {
  const options = optionsOf(element);
  const found = options.find((option) => option.text.text === text || option.value === text);
  if (found) return found;
  throw new Impossible(
    `${label} has no option ${text}; it has ${options.map((option) => option.text.text).join(', ')}`,
  );
}

/** What can be chosen, those of all groups one after the other. */
export function optionsOf(element: Control['element']): Option[] {
  const groups = (element.option_groups ?? []) as { options: Option[] }[];
  return [...((element.options ?? []) as Option[]), ...groups.flatMap((group) => group.options)];
}

/** What a control holds before anybody used it. */
function initialOf({ element }: Control): Record<string, unknown> | undefined {
  const { type } = element;
  if (/button$|^overflow$|^feedback/.test(type)) return undefined;
  if (/^multi_static|^multi_external|^checkboxes/.test(type)) {
    return { selected_options: element.initial_options ?? [] };
  }
  const [, many, kind] = /^(multi_)?(users|conversations|channels)_select$/.exec(type) ?? [];
  if (kind) {
    return many
      ? { [`selected_${kind}`]: element[`initial_${kind}`] ?? [] }
      : { [`selected_${kind.slice(0, -1)}`]: element[`initial_${kind.slice(0, -1)}`] ?? null };
  }
  if (/select$|^radio/.test(type)) return { selected_option: element.initial_option ?? null };
  if (type === 'datepicker') return { selected_date: element.initial_date ?? null };
  if (type === 'timepicker') return { selected_time: element.initial_time ?? null };
  if (type === 'datetimepicker') return { selected_date_time: element.initial_date_time ?? null };
  return { value: element.initial_value ?? null };
}

/** The `state.values` of a message or view: what was filled in, else what it started with. */
export function stateOf(blocks: Block[], filled: Values): Values {
  const values: Values = {};
  for (const control of controlsOf(blocks)) {
    const actionId = String(control.element.action_id);
    const held = filled[control.blockId]?.[actionId] ?? initialOf(control);
    if (held === undefined) continue;
    values[control.blockId] = {
      ...values[control.blockId],
      [actionId]: { type: control.element.type, ...(held as Record<string, unknown>) },
    };
  }
  return values;
}
