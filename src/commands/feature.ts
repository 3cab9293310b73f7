import type { z } from 'zod';
import type { Permission } from '../policy.ts';
import type { Message } from '../slack/blocks.ts';
import type { MessageText } from '../slack/markdown/message.ts';
import type { EphemeralMessage } from '../slack/response-url.ts';
import type { Caller, CommandTools } from './tools.ts';

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
