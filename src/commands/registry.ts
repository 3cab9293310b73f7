import type { ModalView } from '@slack/types';
import type { z } from 'zod';
import type { Permission } from '../permissions.ts';
import type { Log } from '../runtime/log.ts';
import { MENU_ACTION, type Message } from '../slack/blocks.ts';
import type { MessageText } from '../slack/markdown/message.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { BotIdentity } from '../slack/reply.ts';
import type { EphemeralMessage } from '../slack/response-url.ts';
import type { RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';
import type { ValueStores } from '../store/values.ts';
import type { SlashCommand } from './command.ts';
import type { Caller, CommandTools, IntakeParts } from './intake.ts';

/** The ways in which people reach a feature. */
export interface Registry {
  commands: readonly SlashCommand[];
  buttons: readonly ButtonAction[];
  /** Buttons that only open an address. Slack still sends a click that must be acknowledged. */
  urlActions: readonly string[];
  modals: readonly Modal[];
  shortcuts: readonly MessageShortcut[];
  events: readonly EventListener[];
}

/** Returns the entries of all features in one registry. Throws if two have the same name. */
export function mergeRegistries(features: readonly Partial<Registry>[]): Registry {
  const registry: Registry = {
    commands: features.flatMap(({ commands = [] }) => commands),
    buttons: features.flatMap(({ buttons = [] }) => buttons),
    urlActions: features.flatMap(({ urlActions = [] }) => urlActions),
    modals: features.flatMap(({ modals = [] }) => modals),
    shortcuts: features.flatMap(({ shortcuts = [] }) => shortcuts),
    events: features.flatMap(({ events = [] }) => events),
  };
  const names = [...requestNames(registry), ...registry.urlActions, MENU_ACTION];
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`Two entries of the registry are called ${duplicate}`);
  return registry;
}

/** Returns the names of all entries that do something. */
export const requestNames = ({ commands, buttons, modals, shortcuts, events }: Registry): string[] => [
  ...commands.map(({ name }) => name),
  ...buttons.map(({ action }) => action),
  ...modals.map(({ callbackId }) => callbackId),
  ...shortcuts.map(({ callbackId }) => callbackId),
  ...events.map(({ event }) => event),
];

/** A button with an action; `value` is its parsed value. Only the caller sees the message that `run` returns. */
export interface ButtonAction<Value = unknown> {
  action: string;
  may: Permission;
  value: z.ZodType<Value>;
  /**
   * A click answers a question. If that is an ephemeral, the returned message replaces it with its buttons. With
   * `remove`, the question is deleted if `run` returns nothing.
   */
  closesQuestion?: 'replace' | 'remove' | undefined;
  run(value: Value, caller: Caller, tools: CommandTools): Promise<EphemeralMessage | undefined>;
}

export const defineButton = <Value>(button: ButtonAction<Value>) => button as ButtonAction;

/** The chosen message; `threadTs` is missing if it is not a reply. */
export interface ShortcutMessage {
  ts: string;
  threadTs?: string;
  content: MessageText;
  /** When the person chose it, as a `ts`. */
  chosenTs: string;
}

/** A message shortcut: chosen from a message's menu. Only the caller sees the message that `run` returns. */
export interface MessageShortcut {
  /** The `callback_id` in the manifest. */
  callbackId: string;
  may: Permission;
  run(message: ShortcutMessage, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** The values of a modal's fields, by block id: a text, or the chosen value. Empty fields are left out. */
export type ModalValues = Record<string, string>;

/** Further data of a submitted modal. */
export interface ModalDetails<About = unknown> {
  /** The values of ticked checkboxes, by block id; an empty list if none is ticked. */
  ticked: Readonly<Record<string, readonly string[]>>;
  /** Its subject: the `about` that `openModal` got. */
  about: About;
}

/**
 * The result of a modal: closed, with the answer if there is one; kept open with a problem per field, by block id and at
 * most `SLACK_LIMITS.modalFieldError` characters long; or replaced by its next view, whose subject is `about`.
 */
export type SubmitResult =
  | { kind: 'closed'; answer?: Message | undefined }
  | { kind: 'problems'; problems: Record<string, string> }
  | { kind: 'view'; view: ModalView; about: unknown };

/** A modal with a submit button. Its caller is in the channel where it was opened. */
export interface Modal<About = unknown> {
  /** The `callback_id` of its view. */
  callbackId: string;
  may: Permission;
  /** Of its subject. A form with another one is from another version. */
  about?: z.ZodType<About>;
  submit(
    values: ModalValues,
    caller: Caller,
    tools: CommandTools,
    details: ModalDetails<About>,
  ): Promise<SubmitResult>;
}

export const defineModal = <About>(modal: Modal<About>) => modal as Modal;

/** An event of Slack's Events API. The job that handles it checks permissions. */
export interface EventListener {
  event: string;
  /** The event types in the manifest, each with the scope that Slack requires. */
  subscriptions: Readonly<Record<string, string | undefined>>;
  /** Stores the effect of an event; `envelope` is the body around it. If it rejects, Slack sends the event again. */
  handle(event: unknown, envelope: unknown, tools: EventTools): Promise<void>;
}

export interface EventTools extends Pick<CommandTools, 'projects' | 'limits' | 'replyMode' | 'now'> {
  identity: BotIdentity;
  threads: Pick<ThreadStore, 'appendToThread' | 'isClosed' | 'hasPostedIn'>;
  runs: Pick<RunStore, 'accept'>;
  wake: IntakeParts['wake'];
  publish: Outbox['publish'];
  people: Pick<ValueStores['people'], 'markHomeOpened'>;
  /** Records Slack's new id of a channel that Docket knows. */
  changeChannelId: (teamId: string, known: string, present: string) => Promise<void>;
  /** Checks whether Slack accepts the token again; until then, no other call is made. */
  checkToken: () => Promise<unknown>;
  log: Log;
}
