import type { Conversation, PersonHere, Workspace } from '../../protocol.ts';

/** Something that takes the place of what is typed from `from` on to the cursor. */
export interface Suggestion {
  text: string;
  from: number;
  label: string;
  about: string;
}

const MOST = 8;

/** Returns the commands that begin like what is typed, with what can follow; the one that is typed stays, as a reminder. */
export function commandHints(typed: string, commands: Workspace['commands']): Suggestion[] {
  if (!typed.startsWith('/') || typed.includes('\n')) return [];
  const [word = ''] = typed.split(' ');
  const hasMore = typed.includes(' ');
  return commands
    .filter(({ command }) => (hasMore ? command === word : command.startsWith(word)))
    .map(({ command, usageHint, description }) => ({
      text: hasMore ? typed : `${command} `,
      from: 0,
      label: `${command} ${usageHint}`.trim(),
      about: description,
    }));
}

/** Returns the people or channels whose name begins like the word before the cursor. */
export function nameHints(
  typed: string,
  cursor: number,
  people: Iterable<PersonHere>,
  conversations: Conversation[],
): Suggestion[] {
  const match = /(?:^|\s)([@#])([\w.-]*)$/.exec(typed.slice(0, cursor));
  if (!match) return [];
  const [, mark, begun = ''] = match;
  const from = cursor - begun.length - 1;
  const begins = (name: string) => name.toLowerCase().startsWith(begun.toLowerCase());
  if (mark === '@') {
    return [...people]
      .filter(({ name, realName }) => [name, ...realName.split(' ')].some(begins))
      .slice(0, MOST)
      .map(({ name, realName }) => ({ text: `@${name} `, from, label: `@${name}`, about: realName }));
  }
  return conversations
    .filter(({ label }) => label.startsWith('#') && begins(label.slice(1)))
    .slice(0, MOST)
    .map(({ label }) => ({ text: `${label} `, from, label, about: '' }));
}

/** Returns the text with a suggestion taken. */
export const taken = (typed: string, cursor: number, { text, from }: Suggestion): string =>
  typed.slice(0, from) + text + typed.slice(cursor);

/** Returns a message's mrkdwn as a person types it. */
export function asTyped(
  mrkdwn: string,
  people: ReadonlyMap<string, PersonHere>,
  conversations: Conversation[],
): string {
  return mrkdwn
    .replace(/<@(\w+)(?:\|[^>]*)?>/g, (_, id: string) => `@${people.get(id)?.name ?? id}`)
    .replace(
      /<#(\w+)(?:\|([^>]*))?>/g,
      (_, id: string, name?: string) => conversations.find((one) => one.id === id)?.label ?? `#${name ?? id}`,
    )
    .replace(/<(https?:[^|>]+)(?:\|[^>]*)?>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
