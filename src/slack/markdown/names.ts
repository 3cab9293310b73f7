import { cut, singleLine } from '../text.ts';

type Lookup = Pick<ReadonlyMap<string, string>, 'get'>;

/** Longer names are cut, so that none can carry a text. */
const MAX_NAME_LENGTH = 40;

/** The mentions of a message, by id. */
export interface Mentions {
  users: string[];
  channels: string[];
  groups: string[];
  /** `@here`, `@channel` or `@everyone`. */
  everybody: boolean;
}

/** Names by id, without `@` or `#`: people's, channels' and the handles of user groups. */
export interface Names {
  users: Lookup;
  channels: Lookup;
  groups: Lookup;
}

/** Options for reading a message: the names, and the user whose mention is left out. */
export interface MarkdownOptions {
  names: Names;
  withoutMention?: string | undefined;
  /** Called for each mention of everybody. */
  onEverybody?: (() => void) | undefined;
}

/** For messages whose mentions were not looked up. */
export const noNames: Names = { users: new Map(), channels: new Map(), groups: new Map() };

/** Returns `@ana` or `@"Ana Silva"`. If the id has no name, uses the message's label, or else `@someone`. */
export function userName(names: Names, id: string, label?: string): string {
  return `@${nameOf(names.users.get(id), label) ?? 'someone'}`;
}

/**
 * Returns `#docs`, or `#some-channel` if the id has no name. The message's label is not used: not everybody may know
 * the name of a private channel.
 */
export function channelName(names: Names, id: string): string {
  return `#${nameOf(names.channels.get(id)) ?? 'some-channel'}`;
}

/** Returns `@docs-admins`. If the id has no name, uses the message's label, or else `@some-group`. */
export function groupName(names: Names, id: string, label?: string): string {
  return `@${nameOf(names.groups.get(id), label) ?? 'some-group'}`;
}

/** Returns the name of a quoted message's author. */
export const authorName = (name: string | undefined) => nameOf(name) ?? 'someone';

function nameOf(...candidates: (string | undefined)[]): string | undefined {
  return candidates.map(formatName).find((name) => name !== '');
}

/**
 * Returns a name that cannot look like an instruction: letters, numbers and a few signs, cut, and in quotes unless it
 * is one word. People choose their names themselves, and the agent reads them.
 */
function formatName(chosen = ''): string {
  const cleaned = singleLine(cut(chosen, 4 * MAX_NAME_LENGTH))
    .replace(/(?!\u200C|\u200D)[^\p{L}\p{M}\p{N} .,'’&()/_-]/gu, ' ')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, ' ');
  const name = cut(singleLine(cleaned), MAX_NAME_LENGTH);
  return /^[^ ,&()/]*$/.test(name) ? name : `"${name}"`;
}
