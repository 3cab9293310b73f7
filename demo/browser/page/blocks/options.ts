import type { Conversation, PersonHere } from '../../protocol.ts';
import { type Node, nodeOf, nodesOf, stringOf, textOf } from './block.ts';
import type { Around } from './context.ts';

export interface Choice {
  /** What is sent. */
  value: string;
  label: string;
}
export interface ChoiceGroup {
  label?: string;
  choices: Choice[];
}

const asChoice = (option: Node): Choice => ({ value: textOf(option.text), label: textOf(option.text) });
const asConversation = ({ id, label }: Conversation): Choice => ({ value: id, label });
const asPerson = ({ id, realName }: PersonHere): Choice => ({ value: id, label: realName });

function isListed(element: Node, conversation: Conversation): boolean {
  if (String(element.type).endsWith('channels_select')) return conversation.type === 'public';
  const include = nodeOf(element.filter)?.include;
  return !conversation.archived && (!Array.isArray(include) || include.includes(conversation.type));
}

/** Returns what a select or a list lets choose, in its groups. */
export function choicesOf(element: Node, { scene }: Pick<Around, 'scene'>): ChoiceGroup[] {
  const type = String(element.type);
  if (/(conversations|channels)_select$/.test(type)) {
    const listed = scene.conversations.filter((one) => isListed(element, one));
    return [{ choices: listed.map(asConversation) }];
  }
  if (type.endsWith('users_select'))
    return [{ choices: [...scene.people.values()].filter(({ isBot }) => !isBot).map(asPerson) }];
  const groups = nodesOf(element.option_groups).map((group) => ({
    label: textOf(group.label),
    choices: nodesOf(group.options).map(asChoice),
  }));
  const alone = nodesOf(element.options).map(asChoice);
  return alone.length > 0 ? [{ choices: alone }, ...groups] : groups;
}

const MANY = /^multi_|^checkboxes$/;
export const takesMany = (element: Node): boolean => MANY.test(String(element.type));

/** Returns what an input holds before anybody used it. */
export function initialOf(element: Node, around: Pick<Around, 'scene' | 'current'>): string | string[] {
  const { scene, current } = around;
  const conversation = (id: unknown) => scene.conversations.find((one) => one.id === id)?.id;
  const person = (id: unknown) => scene.people.get(String(id))?.id;
  const all = (ids: unknown, find: (id: unknown) => string | undefined) =>
    (Array.isArray(ids) ? ids : []).flatMap((id) => find(id) ?? []);
  switch (element.type) {
    case 'conversations_select':
    case 'channels_select': {
      const asked = element.default_to_current_conversation === true ? current : undefined;
      return conversation(element.initial_conversation ?? element.initial_channel ?? asked) ?? '';
    }
    case 'multi_conversations_select':
    case 'multi_channels_select':
      return all(element.initial_conversations ?? element.initial_channels, conversation);
    case 'users_select':
      return person(element.initial_user) ?? '';
    case 'multi_users_select':
      return all(element.initial_users, person);
    case 'datepicker':
      return stringOf(element.initial_date) ?? '';
    case 'timepicker':
      return stringOf(element.initial_time) ?? '';
    case 'datetimepicker':
      return element.initial_date_time === undefined ? '' : String(element.initial_date_time);
    default:
      if (takesMany(element)) return nodesOf(element.initial_options).map(({ text }) => textOf(text));
      return textOf(nodeOf(element.initial_option)?.text) || (stringOf(element.initial_value) ?? '');
  }
}
