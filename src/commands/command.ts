import type { ModalView } from '@slack/types';
import type { z } from 'zod';
import type { SystemState } from '../jobs/status/view.ts';
import type { IsPublic } from '../jobs/visibility.ts';
import type { Permission } from '../policy.ts';
import type { Project } from '../projects.ts';
import type { Message } from '../slack/blocks.ts';
import type { Mentions, MessageText } from '../slack/markdown/message.ts';
import type { Names } from '../slack/markdown/names.ts';
import type { EphemeralMessage } from '../slack/response-url.ts';
import type { AuditLines } from '../store/audit.ts';
import type { DeliveryState } from '../store/messages.ts';
import type { Intake } from './intake.ts';

/** Who asked, where, and by which request. */
export interface Caller {
  teamId: string;
  user: { id: string; name: string; fullMember: boolean };
  /** `name` is Slack's: the channel's own, or `directmessage` and `privategroup` for those it does not name. */
  channel: { id: string; name: string };
  /** The same for a repeat of the same request. */
  requestId: string;
  /** Opens one dialog, within 3 s. */
  triggerId: string;
  /** A secret. Some requests have none: those of dialogs whose command is long ago. */
  responseUrl: string | undefined;
  /** On the monotonic clock, in milliseconds. */
  receivedAtMs: number;
}

export interface CommandTools {
  intake: Intake;
  /** How far a message of a run has got. */
  deliveryState: (messageKey: string) => Promise<DeliveryState>;
  projects: readonly Project[];
  /** The domain that a request without one means, where no project says better. */
  docsDomain: string | undefined;
  /** Who gets download links: everybody in the thread, or whoever asked, by direct message. */
  links: 'thread' | 'requester';
  /** Exports that may run at once, how long an instruction may be, and how many of a thread may wait. */
  limits: {
    exportsPerPerson: number;
    exportsPerChannel: number;
    instructionCharacters: number;
    instructionsWaiting: number;
  };
  /** Which replies in a thread are instructions, unless people there say otherwise. */
  replyMode: 'auto' | 'all' | 'mention';
  /** Names for what a message mentions. Rejects when Slack does not tell them just now. */
  names: (mentions: Mentions) => Promise<Names>;
  /** Whether every full member may read a conversation now; not, when Slack does not tell. */
  isPublic: IsPublic;
  /** A presigned link by its name; nothing once it has ended. A secret. */
  loadLink: (name: string) => Promise<string | undefined>;
  /** Opens a dialog for whoever asked. Rejects with `TellUser`. */
  openModal: (caller: Caller, view: ModalView) => Promise<void>;
  /** Leaves a line in the audit log about this request; never rejects. `subject` is a domain or a job id. */
  audit: (line: { subject: string; job?: string | undefined; result: string }) => Promise<void>;
  /**
   * Checks a further permission. Rejects with `TellUser`, after an audit line, when this person does not have it;
   * `subject` says what was wanted.
   */
  requirePermission: (permission: Permission, subject: string) => Promise<void>;
  /** The latest lines of the audit log, `count` of each kind. */
  auditLines: (teamId: string, count: number) => Promise<AuditLines>;
  /** How things are, as far as this person may see it. Never rejects: what is not known by then is missing. */
  systemSnapshot: (
    caller: Pick<Caller, 'teamId' | 'user' | 'channel'>,
    timeoutMs: number,
  ) => Promise<SystemState>;
  /** Slack's id of the app's user. */
  botUserId: string;
  /** The workspace's address, with a slash at its end. */
  workspaceUrl: string;
  now: () => number;
}

/** A slash command as data: help, usage and the permission check are derived from it. What `run` returns is told privately. */
export interface SlashCommand {
  name: `/${string}`;
  usage: string;
  summary: string;
  examples: string[];
  may: Permission;
  run(text: string, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** A button whose click does something; `value` is what it carries. What `run` returns is told privately. */
export interface ButtonAction<Value = unknown> {
  action: string;
  may: Permission;
  value: z.ZodType<Value>;
  run(value: Value, caller: Caller, tools: CommandTools): Promise<EphemeralMessage | undefined>;
}

export const defineButton = <Value>(button: ButtonAction<Value>) => button as ButtonAction;

/** A message that somebody chose; `threadTs` is missing on one that answers no other. */
export interface ShortcutMessage {
  ts: string;
  threadTs?: string;
  content: MessageText;
}

/** A message shortcut: what a person chose from the menu of a message. What `run` returns is told privately. */
export interface MessageShortcut {
  /** The `callback_id` in the manifest. */
  callbackId: string;
  may: Permission;
  run(message: ShortcutMessage, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** What was entered in a dialog, by block id: a text, or the value of what was chosen. Empty fields are left out. */
export type ModalValues = Record<string, string>;

/**
 * What became of a dialog: `closed`, kept open with a problem at each field (by block id, `SLACK_LIMITS.modalFieldError` characters), or
 * replaced by a message.
 */
export type SubmitResult =
  | { kind: 'closed' }
  | { kind: 'problems'; problems: Record<string, string> }
  | { kind: 'told'; message: Message };

/** A dialog that can be submitted; `meta` is what its `private_metadata` carries. */
export interface Modal<Meta extends ModalOrigin = ModalOrigin> {
  /** The `callback_id` of its view. */
  callbackId: string;
  may: Permission;
  meta: z.ZodType<Meta>;
  submit(values: ModalValues, meta: Meta, caller: Caller, tools: CommandTools): Promise<SubmitResult>;
}

/** Where a dialog was opened, and by which request: what is asked in it belongs there. */
export interface ModalOrigin {
  channel: { id: string; name: string };
  request: string;
}

export const defineModal = <Meta extends ModalOrigin>(modal: Modal<Meta>) => modal as unknown as Modal;
