// What the demo's server and its page say to each other. Types only: both sides import this file, and neither the other.

/** Those the visitor can speak as: who set things up, a colleague, and a guest. */
export const VISITORS = ['ana', 'ben', 'gus'] as const;
export type Visitor = (typeof VISITORS)[number];

/**
 * `GET /live?as=ana` is a stream of server-sent events, each with one `Change` as JSON: the first holds all that this
 * person sees, the later ones what has become different. A page that reconnects begins anew.
 */
export interface Change {
  /** The first of a connection: forget what was shown before. */
  fresh: boolean;
  /** New ones, and those that are different now, whole. */
  put: Entity[];
  /** Keys (`keyOf`) of those that are gone. */
  gone: string[];
}

export type Entity =
  | Workspace
  | PersonHere
  | Conversation
  | Message
  | OpenView
  | BotState
  | RedisState
  | ClockState
  | ExportJob
  | AgentJob
  | DeployedSite
  | GitHost
  | Limits
  | Switches
  | TimelineEntry;

/** Comes once: what the manifest lets people do, and who the page speaks as. */
export interface Workspace {
  kind: 'workspace';
  name: string;
  me: { id: string; name: Visitor };
  /** The bot's user id. */
  bot: string;
  commands: { command: string; description: string; usageHint: string }[];
  messageShortcuts: string[];
  globalShortcuts: string[];
}

export interface PersonHere {
  kind: 'person';
  id: string;
  /** As in a mention, without `@`. */
  name: string;
  realName: string;
  isBot: boolean;
  isGuest: boolean;
}

/** One that this person is in. */
export interface Conversation {
  kind: 'conversation';
  id: string;
  /** `#docs`; the names of the others in direct messages. */
  label: string;
  type: 'public' | 'private' | 'im' | 'mpim';
  archived: boolean;
  /** Whether Docket is in it. */
  hasBot: boolean;
}

/** A Block Kit block as the bot sent it. */
export interface Block {
  type: string;
  block_id?: string;
  [field: string]: unknown;
}

export interface Message {
  kind: 'message';
  channel: string;
  ts: string;
  threadTs?: string;
  /** User id. */
  user: string;
  /** mrkdwn; what is shown when there are no blocks. */
  text: string;
  blocks: Block[];
  /** "Only visible to you"; it has no reactions, and nobody can reply to it. */
  ephemeral: boolean;
  /** A reply that is shown in the channel, too. */
  broadcast: boolean;
  edited: boolean;
  /** It stays as "This message was deleted." while it has replies; otherwise it is gone. */
  deleted: boolean;
  reactions: { name: string; users: string[] }[];
  files: {
    id: string;
    name: string;
    mimetype?: string;
    /** `/files/<id>?as=ana`; an image block that names a `slack_file.id` is shown by the same. Missing for files of people. */
    url?: string;
  }[];
}

/** The visible modal of this person, or their Home tab. */
export interface OpenView {
  kind: 'view';
  place: 'modal' | 'home';
  /** Changes when another modal lies on top. */
  id: string;
  /** Changes whenever the app updates it; what was typed stays by block id. */
  hash: string;
  title: string;
  submit?: string;
  close?: string;
  blocks: Block[];
  /** Beside the inputs, by block id. */
  errors: Record<string, string>;
}

/** It, `RedisState` and some of the trouble are missing where the stand-ins run alone. */
export interface BotState {
  kind: 'bot';
  state: 'starting' | 'up' | 'down';
  pid?: number;
  /** How often it was started again. */
  restarts: number;
}

export interface RedisState {
  kind: 'redis';
  up: boolean;
}

export interface ClockState {
  kind: 'clock';
  /** The demo's time is that of this machine plus so much. */
  aheadMs: number;
}

export interface ExportJob {
  kind: 'export';
  id: string;
  domain: string;
  status: 'queued' | 'running' | 'completed' | 'failed';
  /** 0 to 1. */
  fraction: number;
  startedAtMs: number;
}

export interface AgentJob {
  kind: 'agent-job';
  id: string;
  status: 'active' | 'completed' | 'archived' | 'failed';
  prompts: string[];
  prLink?: string;
}

/** The self-hosted docs site. It is missing where the stand-ins run alone. */
export interface DeployedSite {
  kind: 'deployment';
  url: string;
  /** The export that it serves; missing before the first one. */
  serves?: { jobId: string; version?: string };
}

/** The host of the agent's pull requests. It is missing where the stand-ins run alone. */
export interface GitHost {
  kind: 'git-host';
  /** The latest one that is open: `acme/docs#101`. */
  open?: string;
}

/** Uses of the past hour at the platform, and calls that Slack refused as too many. */
export interface Limits {
  kind: 'limits';
  instructions: { used: number; of: number };
  analytics: { used: number; of: number };
  slackRefused: number;
}

export const SWITCHES = [
  'fail-next-export',
  'slow-answers',
  'platform-429',
  'platform-500',
  'lose-next-answer',
  'slack-429',
  'fail-next-deployment',
  'fail-next-preview',
  'fail-next-agent',
] as const;
export type Switch = (typeof SWITCHES)[number];

export interface Switches {
  kind: 'switches';
  /** Those that are on; with a time, they end by themselves then (epoch ms of this machine: the demo's clock may be moved). */
  on: Partial<Record<Switch, { untilMs?: number }>>;
}

/** One request, numbered over all of them in the order in which they began. */
export interface TimelineEntry {
  kind: 'request';
  n: number;
  /** Epoch ms of the demo's clock. */
  atMs: number;
  /** What Slack sent to Docket, what Docket asked the others for, or what the visitor did to them. */
  way:
    | 'slack → docket'
    | 'docket → slack'
    | 'docket → platform'
    | 'docket → deployment'
    | 'docket → git host'
    | 'visitor';
  /** `/docs-export`, `chat.postMessage`, `POST /v1/…`, `kill -9`. */
  name: string;
  /** An HTTP status, `reset`, `hang`, …; missing while it is under way. */
  outcome?: string;
  tookMs?: number;
  /** What it changed there, in words: `message in #docs`, `export se_…  started`. */
  caused: string[];
}

/** Returns the name by which the page and the server know an entity. */
export function keyOf(entity: Entity): string {
  switch (entity.kind) {
    case 'person':
    case 'conversation':
    case 'export':
    case 'agent-job':
      return `${entity.kind} ${entity.id}`;
    case 'message':
      return `message ${entity.channel} ${entity.ts}${entity.ephemeral ? ' ephemeral' : ''}`;
    case 'view':
      return `view ${entity.place}`;
    case 'request':
      return `request ${entity.n}`;
    default:
      return entity.kind;
  }
}

/** Where a control stands: in a message or in a view. */
export type Target = { channel: string; ts: string; ephemeral?: boolean } | { view: string };

/** `POST /act` takes one as JSON, of a page of this origin only. Answers with an `Outcome`. */
export type Action = { as: Visitor } & (
  | {
      do: 'write';
      channel: string;
      /** A slash command when it begins with `/`, and is not in a thread. Names are typed as `@ben` and `#docs`. */
      text: string;
      threadTs?: string;
      alsoToChannel?: boolean;
    }
  | { do: 'edit'; channel: string; ts: string; text: string }
  | { do: 'delete'; channel: string; ts: string }
  | { do: 'react'; channel: string; ts: string; name: string; wanted: boolean }
  /**
   * A button, a menu or a select. `chosen` is the text of an option, or several; of people and conversations the id; of
   * a date and a time what the payload has. Confirmations were asked before.
   */
  | { do: 'use'; target: Target; blockId: string; actionId: string; chosen?: string | string[] }
  /** The visible modal, with all inputs by block id, as `chosen` above. */
  | { do: 'submit'; values: Record<string, string | string[]> }
  | { do: 'close' }
  | { do: 'open-home' }
  /** On a message, or a global one. */
  | { do: 'shortcut'; name: string; message?: { channel: string; ts: string } }
);

export const PULL_REQUEST_CHANGES = ['merge', 'request-changes', 'fail-checks'] as const;
export type PullRequestChange = (typeof PULL_REQUEST_CHANGES)[number];

/** `POST /trouble`: what the visitor does to the world. Answers with an `Outcome`. */
export type Trouble =
  | { do: 'switch'; name: Switch; on: boolean }
  | { do: 'end-links' }
  | { do: 'kill-bot' }
  | { do: 'redis'; up: boolean }
  /** To the latest open one. The clock moves on until Docket reads it. */
  | { do: 'pull-request'; change: PullRequestChange }
  /** Moves the demo's clock on, and wakes what is due then. */
  | { do: 'move-clock'; byMs: number };

export interface Outcome {
  ok: boolean;
  /** What Slack's client would say, as a sentence: "Docket did not answer in time." Errors of fields are in the view. */
  problem?: string;
}
