import { noteCaused } from '../caused.ts';

/** A Block Kit block, after it was checked. */
export interface Block {
  type: string;
  block_id?: string;
  [field: string]: unknown;
}

export interface Metadata {
  event_type: string;
  event_payload: Record<string, unknown>;
}

/** What a message shows. */
export interface Content {
  text: string;
  blocks: Block[];
  metadata?: Metadata;
}

/** A message in a conversation. The object stays the same when the message is edited or deleted. */
export interface SentMessage extends Content {
  /** Conversation id. */
  channel: string;
  ts: string;
  /** Only on replies. */
  threadTs?: string;
  /** Who wrote it: `docket`, or a person's name. */
  from: string;
  user: string;
  /** Also shown in the channel, though it is a reply. */
  broadcast: boolean;
  /** Earlier contents, oldest first. */
  edits: (Content & { atMs: number })[];
  /** Ids of the people, user groups and `here` / `channel` / `everyone` that posting it notified. */
  notifies: string[];
  reactions: { name: string; users: string[] }[];
  deleted: boolean;
  /** Files that it shares; nobody has bytes for those of people. */
  files?: { id: string; name: string }[];
  /** Messages that it shares. */
  attachments?: Record<string, unknown>[];
  /** Set for messages of apps other than Docket. */
  otherBotId?: string;
  /** Set for messages of people. */
  clientMsgId?: string;
  editedTs?: string;
}

/** A message that one person sees; a real client loses it on reload. */
export interface Ephemeral extends Content {
  channel: string;
  ts: string;
  threadTs?: string;
  /** User id. */
  to: string;
  via: 'ack' | 'response_url' | 'chat.postEphemeral';
  /** Compares as a string with the `ts` of messages: its place between them. */
  tsOrder: string;
  /** Earlier contents, when it was replaced. */
  edits: (Content & { atMs: number })[];
  deleted: boolean;
}

type ChannelKind = 'public' | 'private' | 'im' | 'mpim';

export interface Channel {
  id: string;
  /** `#docs` and the like; people's names for direct messages. */
  label: string;
  /** Slack's own name of it, without `#`. */
  name: string;
  kind: ChannelKind;
  members: Set<string>;
  archived: boolean;
  /** Shared with another organization (Slack Connect). */
  shared: boolean;
  /** Another organization is invited, but has not accepted yet. */
  pendingShared?: boolean;
}

export interface User {
  id: string;
  name: string;
  realName: string;
  team: string;
  tz: string;
  tzOffset: number;
  isBot: boolean;
  isRestricted: boolean;
  isUltraRestricted: boolean;
  isStranger: boolean;
  /** Deactivated. */
  deleted: boolean;
}

export interface Team {
  id: string;
  domain: string;
  name: string;
  url: string;
}

/** The bot as the workspace knows it. */
export interface BotIdentity {
  userId: string;
  botId: string;
  appId: string;
}

interface NewMessage extends Content {
  channel: Channel;
  user: User;
  threadTs?: string | undefined;
  broadcast?: boolean;
  files?: { id: string; name: string }[];
  attachments?: Record<string, unknown>[];
}

/** Something that Slack would tell a subscribed app about. */
export type Happening =
  | { kind: 'posted' | 'deleted'; message: SentMessage }
  | { kind: 'edited'; message: SentMessage; before: Content }
  | { kind: 'reacted' | 'unreacted'; message: SentMessage; name: string; user: string };

/** Everything the workspace knows, and the moment anything of it changes. */
export interface Workspace {
  team: Team;
  bot: BotIdentity;
  users: User[];
  userGroups: Map<string, { handle: string; users: string[] }>;
  channels: Channel[];
  messages: SentMessage[];
  ephemerals: Ephemeral[];
  nowMs(): number;
  /** A fresh id of the given kind, such as `C` or `Ev`. Never random, so that runs compare. */
  newId(prefix: string): string;
  /** A fresh timestamp, larger than every one before: Slack's are unique per channel. */
  newTs(): string;
  addChannel(channel: Omit<Channel, 'id'>): Channel;
  /** The direct messages of exactly these people, opened when there are none yet. */
  direct(userIds: string[]): Channel;
  post(message: NewMessage, notifies: string[]): SentMessage;
  addEphemeral(ephemeral: Omit<Ephemeral, 'ts' | 'tsOrder' | 'edits' | 'deleted'>): Ephemeral;
  replace(target: SentMessage | Ephemeral, content: Content): void;
  remove(target: SentMessage | Ephemeral): void;
  /** Adds or takes away a reaction; false when there was nothing to do. */
  react(message: SentMessage, name: string, user: string, wanted: boolean): boolean;
  changed(): void;
  onHappening(listener: (happening: Happening) => void): void;
  onChange(listener: () => void): () => void;
}

/** An empty workspace with the given people. */
export function createWorkspace(parts: {
  team: Team;
  bot: BotIdentity;
  users: User[];
  nowMs: () => number;
}): Workspace {
  const { team, bot, users, nowMs } = parts;
  const channels: Channel[] = [];
  const messages: SentMessage[] = [];
  const ephemerals: Ephemeral[] = [];
  const listeners = new Set<() => void>();
  const witnesses: ((happening: Happening) => void)[] = [];
  let lastId = 0;
  let lastTsMicros = 0;

  function changed() {
    for (const listener of [...listeners]) listener();
  }

  function happened(happening: Happening) {
    for (const witness of witnesses) witness(happening);
    changed();
  }

  function note(what: string, channelId: string) {
    noteCaused(`${what} in ${channels.find(({ id }) => id === channelId)?.label ?? channelId}`);
  }

  function newId(prefix: string) {
    lastId += 1;
    return `${prefix}0${lastId.toString(36).toUpperCase().padStart(8, '0')}`;
  }

  function newTs() {
    lastTsMicros = Math.max(Math.floor(nowMs() * 1000), lastTsMicros + 1);
    return `${Math.floor(lastTsMicros / 1e6)}.${String(lastTsMicros % 1e6).padStart(6, '0')}`;
  }

  function addChannel(channel: Omit<Channel, 'id'>) {
    const added = { ...channel, id: newId(channel.kind === 'im' ? 'D' : 'C') };
    channels.push(added);
    changed();
    return added;
  }

  return {
    team,
    bot,
    users,
    userGroups: new Map(),
    channels,
    messages,
    ephemerals,
    nowMs,
    newId,
    newTs,
    addChannel,
    changed,
    direct(userIds) {
      const wanted = new Set(userIds);
      const found = channels.find(
        ({ kind, members }) => (kind === 'im' || kind === 'mpim') && sameSet(members, wanted),
      );
      if (found) return found;
      const names = userIds.map((id) => users.find((user) => user.id === id)?.name ?? id);
      const kind = wanted.size > 2 ? 'mpim' : 'im';
      const name = kind === 'mpim' ? `mpdm-${names.join('--')}-1` : '';
      return addChannel({
        label: names.join('+'),
        name,
        kind,
        members: wanted,
        archived: false,
        shared: false,
      });
    },
    post(message, notifies) {
      const { channel, user, text, blocks, metadata, threadTs, files = [], attachments = [] } = message;
      const sent: SentMessage = {
        channel: channel.id,
        ts: newTs(),
        ...(threadTs !== undefined && { threadTs }),
        from: user.name,
        user: user.id,
        text,
        blocks,
        ...(metadata && { metadata }),
        broadcast: message.broadcast ?? false,
        edits: [],
        notifies,
        reactions: [],
        deleted: false,
        ...(files.length > 0 && { files }),
        ...(attachments.length > 0 && { attachments }),
        ...(!user.isBot && { clientMsgId: crypto.randomUUID() }),
      };
      messages.push(sent);
      const [file] = files;
      note(file ? `file ${file.name}` : threadTs === undefined ? 'message' : 'reply', channel.id);
      happened({ kind: 'posted', message: sent });
      return sent;
    },
    addEphemeral(ephemeral) {
      const ts = newTs();
      const added = { ...ephemeral, ts, tsOrder: ts, edits: [], deleted: false };
      ephemerals.push(added);
      note(
        `message only for ${users.find(({ id }) => id === ephemeral.to)?.name ?? ephemeral.to}`,
        ephemeral.channel,
      );
      changed();
      return added;
    },
    replace(target, { text, blocks, metadata }) {
      const before = contentOf(target);
      target.edits.push({ ...before, atMs: nowMs() });
      Object.assign(target, { text, blocks });
      if (metadata) target.metadata = metadata;
      note('edit', target.channel);
      if (!isMessage(target)) return changed();
      target.editedTs = newTs();
      happened({ kind: 'edited', message: target, before });
    },
    remove(target) {
      target.deleted = true;
      note('deletion', target.channel);
      if (isMessage(target)) happened({ kind: 'deleted', message: target });
      else changed();
    },
    react(message, name, user, wanted) {
      let reaction = message.reactions.find((candidate) => candidate.name === name);
      if ((reaction?.users.includes(user) ?? false) === wanted) return false;
      if (!reaction) {
        reaction = { name, users: [] };
        message.reactions.push(reaction);
      }
      reaction.users = wanted ? [...reaction.users, user] : reaction.users.filter((other) => other !== user);
      message.reactions = message.reactions.filter(({ users }) => users.length > 0);
      note(`${wanted ? '' : 'no more '}:${name}:`, message.channel);
      happened({ kind: wanted ? 'reacted' : 'unreacted', message, name, user });
      return true;
    },
    onHappening: (listener) => void witnesses.push(listener),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function sameSet(a: Set<string>, b: Set<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

/** Returns whether it is a message and no ephemeral one. */
export function isMessage(target: SentMessage | Ephemeral): target is SentMessage {
  return 'reactions' in target;
}

function contentOf({ text, blocks, metadata }: Content): Content {
  return { text, blocks, ...(metadata && { metadata }) };
}

/** A timestamp in a form that sorts as text; as numbers they would lose digits. */
export function tsKey(ts: string): string {
  const [seconds = '', micros = ''] = ts.split('.');
  return `${seconds.padStart(12, '0')}.${micros.padEnd(6, '0')}`;
}
