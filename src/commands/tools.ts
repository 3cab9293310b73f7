import type { ModalView } from '@slack/types';
import type { JobContext } from '../jobs/context.ts';
import type { RunRequest } from '../jobs/request.ts';
import type { SystemState } from '../jobs/status/view.ts';
import type { Viewer } from '../jobs/visibility.ts';
import type { Permission } from '../policy.ts';
import type { ConversationReaders } from '../slack/conversation-readers.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { AuditLines } from '../store/audit.ts';
import type { createIntake } from './intake.ts';

/** Who asked, where, and by which request. */
export interface Caller extends RunRequest {
  /** Opens one modal, within 3 s. */
  triggerId: string;
  /** The modal in which this was clicked: its answer takes the place of it. */
  modalId?: string;
  /** A secret. Some requests have none: those of modals whose command is long ago. */
  responseUrl: string | undefined;
  /** On the monotonic clock, in milliseconds. */
  receivedAtMs: number;
}

export interface CommandTools
  extends Pick<JobContext, 'projects' | 'limits' | 'names' | 'now'>,
    ConversationReaders {
  intake: ReturnType<typeof createIntake>;
  outbox: Pick<Outbox, 'deliveryState'>;
  /** The domain that a request without one means, where no project says better. */
  docsDomain: string | undefined;
  /** Who gets download links: everybody in the thread, or whoever asked, by direct message. */
  links: 'thread' | 'requester';
  /** Which replies in a thread are instructions, unless people there say otherwise. */
  replyMode: 'auto' | 'all' | 'mention';
  /** A presigned link by its name; nothing once it has ended. A secret. */
  loadLink: (name: string) => Promise<string | undefined>;
  /** Opens a modal for whoever asked, in place of the one that they clicked in; `about` comes back with what is submitted. Rejects with `UserFacingError`. */
  openModal: (caller: Caller, view: ModalView, about?: string) => Promise<void>;
  /** Returns somebody's time zone, an IANA name; `undefined` where Slack shows none. */
  personZone: (userId: string) => Promise<string | undefined>;
  /** Leaves a line in the audit log about this request; never rejects. `subject` is a domain or a job id. */
  audit: (line: { subject: string; job?: string | undefined; result: string }) => Promise<void>;
  /**
   * Checks a further permission. Rejects with `UserFacingError`, after an audit line, when this person does not have it;
   * `subject` says what was wanted.
   */
  requirePermission: (permission: Permission, subject: string) => Promise<void>;
  /** Returns whether this person has a further permission, as far as Slack says in time; leaves no audit line. */
  hasPermission: (permission: Permission) => Promise<boolean>;
  /** The latest lines of the audit log, `count` of each kind. */
  auditLines: (teamId: string, count: number) => Promise<AuditLines>;
  systemSnapshot: (caller: Viewer & { teamId: string }, timeoutMs: number) => Promise<SystemState>;
  /** Slack's id of the app's user. */
  botUserId: string;
  /** The workspace's address, with a slash at its end. */
  workspaceUrl: string;
}
