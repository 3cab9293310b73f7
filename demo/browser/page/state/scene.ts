import type {
  AgentJob,
  BotState,
  ClockState,
  Conversation,
  DeployedSite,
  Entity,
  ExportJob,
  GitHost,
  Limits,
  Message,
  OpenView,
  PersonHere,
  RedisState,
  Switches,
  TimelineEntry,
  Workspace,
} from '../../protocol.ts';
import type { World } from './reducer.ts';

/** The world, sorted for those who draw it. */
export interface Scene {
  workspace: Workspace | undefined;
  people: ReadonlyMap<string, PersonHere>;
  conversations: Conversation[];
  /** Of each conversation, oldest first, replies included. */
  messages: ReadonlyMap<string, Message[]>;
  modal: OpenView | undefined;
  home: OpenView | undefined;
  bot: BotState | undefined;
  redis: RedisState | undefined;
  clock: ClockState | undefined;
  exports: ExportJob[];
  agentJobs: AgentJob[];
  deployment: DeployedSite | undefined;
  gitHost: GitHost | undefined;
  limits: Limits | undefined;
  switches: Switches | undefined;
  /** Newest first. */
  timeline: TimelineEntry[];
}

const TYPES: Conversation['type'][] = ['public', 'private', 'im', 'mpim'];

/** Returns the world, sorted. */
export function sceneOf(world: World): Scene {
  const all = [...world.values()];
  const every = <K extends Entity['kind']>(kind: K) =>
    all.filter((entity): entity is Extract<Entity, { kind: K }> => entity.kind === kind);
  const messages = new Map<string, Message[]>();
  for (const message of every('message')) {
    const there = messages.get(message.channel);
    if (there) there.push(message);
    else messages.set(message.channel, [message]);
  }
  for (const there of messages.values()) there.sort((one, other) => Number(one.ts) - Number(other.ts));
  const views = every('view');
  return {
    workspace: every('workspace')[0],
    people: new Map(every('person').map((person) => [person.id, person])),
    conversations: every('conversation').sort(
      (one, other) =>
        TYPES.indexOf(one.type) - TYPES.indexOf(other.type) || one.label.localeCompare(other.label),
    ),
    messages,
    modal: views.find(({ place }) => place === 'modal'),
    home: views.find(({ place }) => place === 'home'),
    bot: every('bot')[0],
    redis: every('redis')[0],
    clock: every('clock')[0],
    exports: every('export').sort((one, other) => other.startedAtMs - one.startedAtMs),
    agentJobs: every('agent-job').reverse(),
    deployment: every('deployment')[0],
    gitHost: every('git-host')[0],
    limits: every('limits')[0],
    switches: every('switches')[0],
    timeline: every('request').sort((one, other) => other.n - one.n),
  };
}

/** Returns whether it is an answer to another message. */
export const isReply = ({ threadTs, ts }: Message): boolean => threadTs !== undefined && threadTs !== ts;

/** Returns what stands in the conversation itself: no replies but those that were also sent there. */
export const inChannel = (messages: Message[]): Message[] =>
  messages.filter((message) => !isReply(message) || message.broadcast);

/** Returns the root of a thread and all its replies, oldest first. */
export const inThread = (messages: Message[], root: string): Message[] =>
  messages.filter(({ ts, threadTs, ephemeral }) => (ts === root && !ephemeral) || threadTs === root);

/** The replies that everybody sees, by their root. */
export function repliesByRoot(messages: Message[]): Map<string, Message[]> {
  const replies = new Map<string, Message[]>();
  for (const message of messages) {
    if (!isReply(message) || message.ephemeral || message.deleted) continue;
    const root = message.threadTs ?? '';
    const there = replies.get(root);
    if (there) there.push(message);
    else replies.set(root, [message]);
  }
  return replies;
}

/** Returns when something was last written there by somebody else; '0' when never. */
export function newestTs(messages: Message[], me: string): string {
  return inChannel(messages).findLast(({ user }) => user !== me)?.ts ?? '0';
}

/** Returns the name under which somebody is shown. */
export function nameOf({ people }: Pick<Scene, 'people'>, id: string): string {
  const person = people.get(id);
  return person?.realName ?? id;
}
