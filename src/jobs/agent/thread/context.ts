import type { DocsApi } from '../../../docs-api/client.ts';
import type { Policy } from '../../../policy.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Timing } from '../../../runtime/timing.ts';
import type { SlackApi } from '../../../slack/client.ts';
import type { Mentions } from '../../../slack/markdown/message.ts';
import type { Names } from '../../../slack/markdown/names.ts';
import type { Outbox } from '../../../slack/outbox.ts';
import type { Reactions } from '../../../slack/reactions.ts';
import type { PostEphemeral } from '../../../slack/response-url.ts';
import type { AuditStore } from '../../../store/audit.ts';
import type { HourlyLimitStore } from '../../../store/budget.ts';
import type { RateLimitStore } from '../../../store/rate-limit.ts';
import type { RunBase, RunStore } from '../../../store/runs.ts';
import type { ThreadStore } from '../../../store/threads.ts';
import type { CallOnce } from '../../call-once.ts';
import type { Watches } from '../watch/watches.ts';

/** What the looks at agent threads and at watches need of the rest of the program. */
export interface AgentContext {
  runs: RunStore;
  threads: ThreadStore;
  watches: Watches;
  budgets: HourlyLimitStore;
  /** The API with the key of a project; nothing when the settings no longer have it. */
  docs: (project: string) => DocsApi | undefined;
  /** The platform's id of a project, when the settings have one. */
  projectId: (project: string) => string | undefined;
  policy: Pick<Policy, 'check' | 'isOpen'>;
  /** Names for what a message mentions. Rejects when Slack does not tell them just now. */
  names: (mentions: Mentions) => Promise<Names>;
  botUserId: () => string | undefined;
  slack: Pick<SlackApi, 'channel' | 'postEphemeralTo'>;
  outbox: Outbox;
  reactions: Reactions;
  /** For calls to Slack that must not happen twice. */
  callOnceInSlack: CallOnce;
  postEphemeral: PostEphemeral;
  audit: AuditStore;
  /** Tells the admins that a project's key is rejected. Answers whether there are any. */
  alertAdmins: (teamId: string, project: string) => Promise<boolean>;
  /** The rates that all processes share. */
  rateLimiter: RateLimitStore;
  limits: {
    /** How often jobs are polled with one API key. */
    exportStatusPerSecond: number;
    followUpsPerHour: number;
    instructionCharacters: number;
    instructionsWaiting: number;
  };
  /** Sees to it that a run is looked at at once. */
  wake: (run: Pick<RunBase, 'id' | 'job'>) => Promise<void>;
  /** Aborted when the process is to stop: reads end early, sends never. */
  stopping: AbortSignal;
  newToken: () => string;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}
