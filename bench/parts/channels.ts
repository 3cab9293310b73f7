import type { StandInSlack } from '../../demo/slack/slack.ts';

/** The name of a bench's channel; `index` goes on from the first one after the last. */
export const channelOf = (index: number, count: number) => `#bench-${(index % count) + 1}`;

/** Adds so many public channels, in which ana, ben and the app are. */
export function addChannels({ workspace }: StandInSlack, count: number): void {
  const members = workspace.users.filter(({ name }) => ['docket', 'ana', 'ben'].includes(name));
  for (let index = 0; index < count; index += 1) {
    const label = channelOf(index, count);
    const kind = { kind: 'public', archived: false, shared: false } as const;
    workspace.addChannel({
      label,
      name: label.slice(1),
      members: new Set(members.map(({ id }) => id)),
      ...kind,
    });
  }
}
