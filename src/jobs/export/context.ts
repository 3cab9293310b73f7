import type { DocsApi } from '../../docs-api/client.ts';
import type { Policy } from '../../policy.ts';
import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import type { SlackApi } from '../../slack/client.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { PostEphemeral } from '../../slack/response-url.ts';
import type { AuditStore } from '../../store/audit.ts';
import type { CallOnceStore } from '../../store/calls.ts';
import type { LinkStore } from '../../store/links.ts';
import type { RateLimitStore } from '../../store/rate-limit.ts';
import type { RunStore } from '../../store/runs.ts';
import type { CallOnce } from '../call-once.ts';
import type { ExportRun } from './record.ts';

/** What the looks at an export need of the rest of the program. */
export interface ExportContext {
  runs: RunStore;
  /** The API with the key of a project; nothing when the settings no longer have it. */
  docs: (project: string) => DocsApi | undefined;
  slack: Pick<SlackApi, 'channel'>;
  policy: Pick<Policy, 'check' | 'isOpen'>;
  /** Tells the admins that a project's key is rejected. Answers whether there are any. */
  alertAdmins: (teamId: string, project: string) => Promise<boolean>;
  audit: AuditStore;
  links: LinkStore;
  outbox: Outbox;
  callOnce: CallOnce;
  steps: CallOnceStore;
  rateLimiter: RateLimitStore;
  /** What we allow ourselves, for each API key. */
  limits: { exportStatusPerSecond: number };
  /** Sees to it that the run is looked at soon. */
  wake: (run: ExportRun) => Promise<void>;
  postEphemeral: PostEphemeral;
  /** Aborted when the process is to stop: reads end early, starts never. */
  stopping: AbortSignal;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}
