import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { Limits } from '../jobs/limits.ts';
import type { Permission, Policy } from '../policy.ts';
import type { Project } from '../projects.ts';
import type { Log } from '../runtime/log.ts';
import { MENU_ACTION, type Message } from '../slack/blocks.ts';
import type { Identity } from '../slack/client.ts';
import type { MessageText } from '../slack/markdown/message.ts';
import type { EphemeralMessage } from '../slack/response-url.ts';
import type { ChannelIdStore } from '../store/channel-ids.ts';
import type { RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';
import type { SlashCommand } from './command.ts';
import type { Caller, CommandTools } from './tools.ts';
import type { Waker } from './waker.ts';

/** The ways in which people reach a feature. */
export interface Registry {
  commands: readonly SlashCommand[];
  buttons: readonly ButtonAction[];
  /** Buttons that only open an address. Slack sends a click all the same and wants it acknowledged. */
  urlActions: readonly string[];
  modals: readonly Modal[];
  shortcuts: readonly MessageShortcut[];
  events: readonly EventListener[];
}

/** Returns the entries of all features in one registry. Throws when two have the same name. */
export function mergeRegistries(features: readonly Partial<Registry>[]): Registry {
  const registry: Registry = {
    commands: features.flatMap(({ commands = [] }) => commands),
    buttons: features.flatMap(({ buttons = [] }) => buttons),
    urlActions: features.flatMap(({ urlActions = [] }) => urlActions),
    modals: features.flatMap(({ modals = [] }) => modals),
    shortcuts: features.flatMap(({ shortcuts = [] }) => shortcuts),
    events: features.flatMap(({ events = [] }) => events),
  };
  const names = [
    ...registry.commands.map(({ name }) => name),
    ...actionsOf(registry),
    MENU_ACTION,
    ...registry.modals.map(({ callbackId }) => callbackId),
    ...registry.shortcuts.map(({ callbackId }) => callbackId),
    ...registry.events.map(({ event }) => event),
  ];
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`Two entries of the registry are called ${duplicate}`);
  return registry;
}

/** Returns the `action_id` of every button that has a listener. */
export const actionsOf = ({ buttons, urlActions }: Pick<Registry, 'buttons' | 'urlActions'>) => [
  ...buttons.map(({ action }) => action),
  ...urlActions,
];

/** A button whose click does something; `value` is what it carries. What `run` returns only the caller sees. */
export interface ButtonAction<Value = unknown> {
  action: string;
  may: Permission;
  value: z.ZodType<Value>;
  /**
   * It answers a question: in an ephemeral, what `run` returns takes the place of the question with its buttons. With
   * `remove` the question goes where nothing is returned.
   */
  settles?: 'replace' | 'remove' | undefined;
  run(value: Value, caller: Caller, tools: CommandTools): Promise<EphemeralMessage | undefined>;
}

export const defineButton = <Value>(button: ButtonAction<Value>) => button as ButtonAction;

/** A message that somebody chose; `threadTs` is missing on one that answers no other. */
export interface ShortcutMessage {
  ts: string;
  threadTs?: string;
  content: MessageText;
}

/** A message shortcut: what a person chose from the menu of a message. What `run` returns only the caller sees. */
export interface MessageShortcut {
  /** The `callback_id` in the manifest. */
  callbackId: string;
  may: Permission;
  run(message: ShortcutMessage, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** What was entered in a modal, by block id: a text, or the value of what was chosen. Empty fields are left out. */
export type ModalValues = Record<string, string>;

/** What a submitted modal says besides. */
export interface ModalDetails {
  /** The values of checkboxes that are ticked, by block id; an empty list where none is. */
  ticked: Readonly<Record<string, readonly string[]>>;
  /** What it was opened about: the `about` that `openModal` got. */
  about: string | undefined;
}

/**
 * What became of a modal: `closed`; kept open with a problem at each field, by block id and at most
 * `SLACK_LIMITS.modalFieldError` characters long; replaced by a message, or by its next view, which is about `about`.
 */
export type SubmitResult =
  | { kind: 'closed' }
  | { kind: 'problems'; problems: Record<string, string> }
  | { kind: 'message'; message: Message }
  | { kind: 'view'; view: ModalView; about: string };

/** A modal that can be submitted. Its caller is in the channel where it was opened. */
export interface Modal {
  /** The `callback_id` of its view. */
  callbackId: string;
  may: Permission;
  submit(
    values: ModalValues,
    caller: Caller,
    tools: CommandTools,
    details: ModalDetails,
  ): Promise<SubmitResult>;
}

/** Where a modal was opened, by which request, and about what: its `private_metadata`. */
export const modalOrigin = z.object({
  channel: z.object({ id: z.string(), name: z.string() }),
  request: z.string(),
  about: z.string().optional(),
});
export type ModalOrigin = z.infer<typeof modalOrigin>;

/** An event of Slack's Events API. Who may cause what is asked by the job that works on it. */
export interface EventListener {
  event: string;
  /** The names under which the manifest subscribes to it, each with the scope that Slack wants for it. */
  subscriptions: Readonly<Record<string, string | undefined>>;
  /**
   * Keeps what comes of an event of our workspace; `envelope` is the request's body around it. Rejects when it could
   * not, and Slack sends the event again.
   */
  handle(event: unknown, envelope: unknown, tools: EventTools): Promise<void>;
}

export interface EventTools {
  identity: Identity;
  threads: Pick<ThreadStore, 'appendToThread' | 'followedIndex' | 'isClosed'>;
  runs: Pick<RunStore, 'accept'>;
  wake: Waker['wake'];
  /** Has the Home tab of somebody brought up to date. */
  updateHome: (teamId: string, userId: string) => Promise<void>;
  /** Slack has another id from now on for a channel that Docket knows. */
  changeChannelId: ChannelIdStore['change'];
  /** Finds out whether Slack still takes the token; while it does not, no other call is made. */
  checkToken: () => Promise<void>;
  projects: readonly Project[];
  policy: Pick<Policy, 'check'>;
  limits: Limits;
  /** Which replies in a thread are instructions, unless people there say otherwise. */
  replyMode: 'auto' | 'all' | 'mention';
  now: () => number;
  log: Log;
}
