import type { Files } from './files.ts';
import type { Manifest } from './manifest.ts';
import { Refused } from './refused.ts';
import type { Refuses } from './shown-here.ts';
import type { Tickets } from './tickets.ts';
import type { Triggers } from './triggers.ts';
import type { Views } from './views.ts';
import type { Channel, SentMessage, User, Workspace } from './workspace.ts';

/** What the parts of the stand-in share. */
export interface Inside {
  workspace: Workspace;
  manifest: Manifest;
  triggers: Triggers;
  views: Views;
  violations: string[];
  tokens: { bot: string; signingSecret: string; app: string; verification: string };
  /** What the app token may do. */
  appScopes: string[];
  tickets: Tickets;
  files: Files;
  /** May be changed at any time. */
  refuses: Refuses;
  /** Whether the app counts as distributed outside of Slack's Marketplace. */
  distributed: boolean;
  /** Where this stand-in is reached, without a slash at the end. */
  baseUrl(): string;
}

export function botUser({ workspace }: Inside): User {
  return userById(workspace, workspace.bot.userId);
}

export function userById(workspace: Workspace, id: string): User {
  const found = workspace.users.find((user) => user.id === id);
  if (!found) throw new Refused('user_not_found');
  return found;
}

export function channelById(workspace: Workspace, id: string): Channel | undefined {
  return workspace.channels.find((channel) => channel.id === id);
}

/** The conversation as far as the bot may know of it: others' private ones do not exist for it. */
export function visibleChannel({ workspace }: Inside, id: string): Channel {
  const found = channelById(workspace, id);
  const visible = found && (found.kind === 'public' || found.members.has(workspace.bot.userId));
  if (!found || !visible) throw new Refused('channel_not_found');
  return found;
}

/** A conversation that the bot is in. */
export function joinedChannel(inside: Inside, id: string): Channel {
  const channel = visibleChannel(inside, id);
  if (!channel.members.has(inside.workspace.bot.userId)) throw new Refused('not_in_channel');
  return channel;
}

export function messageAt({ messages }: Workspace, channel: string, ts: string): SentMessage | undefined {
  return messages.find((message) => message.channel === channel && message.ts === ts && !message.deleted);
}

/** Refuses a call whose token lacks all of these scopes. */
export function requireScope({ manifest }: { manifest: Pick<Manifest, 'scopes'> }, ...anyOf: string[]): void {
  if (anyOf.some((scope) => manifest.scopes.includes(scope))) return;
  throw new Refused('missing_scope', { needed: anyOf.join(','), provided: manifest.scopes.join(',') });
}

/** What reading a conversation needs, for instance `im:history`; scopes are named after Slack's older kinds. */
export function scopeOf(channel: Channel, right: 'history' | 'read' | 'write'): string {
  const kinds = { public: 'channels', private: 'groups', im: 'im', mpim: 'mpim' };
  return `${kinds[channel.kind]}:${right}`;
}
