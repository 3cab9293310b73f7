import { oneLine } from '../text.ts';

type Lookup = Pick<ReadonlyMap<string, string>, 'get'>;

/** Names by id, without `@` or `#`: people's, channels' and the handles of user groups. */
export interface Names {
  users: Lookup;
  channels: Lookup;
  groups: Lookup;
}

/** Where nobody was looked up. */
export const noNames: Names = { users: new Map(), channels: new Map(), groups: new Map() };

/** `@ana`. Whom nobody knows is called as the message does, else `@someone`; the same goes for the others. */
export function userName(names: Names, id: string, label?: string): string {
  return `@${nameOf(names.users.get(id), label) ?? 'someone'}`;
}

/** `#docs` */
export function channelName(names: Names, id: string, label?: string): string {
  return `#${nameOf(names.channels.get(id), label) ?? 'some-channel'}`;
}

/** `@docs-admins` */
export function groupName(names: Names, id: string, label?: string): string {
  return `@${nameOf(names.groups.get(id), label) ?? 'some-group'}`;
}

function nameOf(...candidates: (string | undefined)[]): string | undefined {
  return candidates.map((name) => oneLine(name ?? '').replace(/^[@#]+/, '')).find((name) => name !== '');
}
