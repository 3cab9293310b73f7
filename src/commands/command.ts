import type { z } from 'zod';
import type { Permission } from '../policy.ts';
import type { Message } from '../slack/blocks.ts';
import type { DeliveryState } from '../store/messages.ts';
import type { Intake } from './intake.ts';

/** Who asked, where, and by which request. */
export interface Caller {
  teamId: string;
  user: { id: string; name: string };
  /** `name` is Slack's: the channel's own, or `directmessage` and `privategroup` for those it does not name. */
  channel: { id: string; name: string };
  /** The same for a repeat of the same request. */
  requestId: string;
  /** A secret. */
  responseUrl: string;
  /** On the monotonic clock, in milliseconds. */
  receivedAtMs: number;
}

export interface CommandTools {
  intake: Intake;
  /** How far a message of a run has got. */
  delivery: (messageKey: string) => Promise<DeliveryState>;
  defaultDomain: string | undefined;
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

/** A button whose click does something; `value` is what it carries. */
export interface ButtonAction<Value = unknown> {
  action: string;
  may: Permission;
  value: z.ZodType<Value>;
  run(value: Value, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

export const defineButton = <Value>(button: ButtonAction<Value>) => button as ButtonAction;
