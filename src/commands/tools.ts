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

/** The person, conversation and request of a call. */
export interface Caller extends RunRequest {
  /** Opens one modal, within 3 s. */
  triggerId: string;
  /** The modal of the click: its answer replaces the modal. */
  modalId?: string;
  /** A secret. Missing for modals whose command was long ago. */
  responseUrl: string | undefined;
  /** On the monotonic clock, in milliseconds. */
  receivedAtMs: number;
}

export interface CommandTools
  extends Pick<JobContext, 'projects' | 'limits' | 'names' | 'now'>,
    ConversationReaders {
  intake: ReturnType<typeof createIntake>;
  outbox: Pick<Outbox, 'deliveryState'>;
  /** The default domain of a request, if no project has a better one. */
  docsDomain: string | undefined;
  /** Who gets download links: everybody in the thread, or only the requester, by direct message. */
  links: 'thread' | 'requester';
  /** The default for which replies in a thread are instructions; people there can change it. */
  replyMode: 'auto' | 'all' | 'mention';
  /** Returns a presigned link by its name; undefined after it has expired. A secret. */
  loadLink: (name: string) => Promise<string | undefined>;
  /** Opens a modal or replaces the clicked one; its submission has `about`. Rejects with `UserFacingError`. */
  openModal: (caller: Caller, view: ModalView, about?: string) => Promise<void>;
  /** Returns a person's time zone, an IANA name; undefined if Slack shows none. */
  personZone: (userId: string) => Promise<string | undefined>;
  /** Adds an audit line about this request; never rejects. `subject` is a domain or a job id. */
  audit: (line: { subject: string; job?: string | undefined; result: string }) => Promise<void>;
  /**
   * Checks a further permission. Rejects with `UserFacingError`, after an audit line, if this person lacks it;
   * `subject` is the subject of the request.
   */
  requirePermission: (permission: Permission, subject: string) => Promise<void>;
  /** Returns whether this person has a further permission, if Slack answers in time; adds no audit line. */
  hasPermission: (permission: Permission) => Promise<boolean>;
  /** Returns the latest lines of the audit log, `count` of each kind. */
  auditLines: (teamId: string, count: number) => Promise<AuditLines>;
  systemSnapshot: (caller: Viewer & { teamId: string }, timeoutMs: number) => Promise<SystemState>;
  /** Slack's user id of the app. */
  botUserId: string;
  /** The workspace's address, with a slash at its end. */
  workspaceUrl: string;
}
