import type { DeploymentApi } from '../../deployments/deployment.ts';
import type { DocsApi } from '../../docs-api/client.ts';
import type { DocsApiError } from '../../docs-api/errors.ts';
import type { Policy } from '../../policy.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import type { SlackApi } from '../../slack/client.ts';
import type { createDelivery } from '../../slack/delivery.ts';
import type { Mentions, Names } from '../../slack/markdown/inline.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { postEphemeral } from '../../slack/response-url.ts';
import type { CallOnceStore } from '../../store/call-once.ts';
import type { RunBase } from '../../store/runs.ts';
import type { Stores } from '../../store/stores.ts';
import type { Limits } from '../shared/limits.ts';
import type { ConversationReaders } from '../shared/origin.ts';

/** The parts of the program that jobs use. `worker.ts` creates the only one. */
export interface JobContext extends Stores, CallOnceStore, Pick<ConversationReaders, 'isPublic'> {
  /** The API with a project's key; undefined if the settings no longer have the project. */
  docs: (project: string) => DocsApi | undefined;
  /** The calls to a deployment of a project; undefined if the settings do not have it. */
  deployment: (project: string, name: string) => DeploymentApi | undefined;
  projects: readonly Project[];
  /** Returns the teams of the workspaces that use a run's project, its own first. */
  teamsOf: (run: { teamId: string; project: string }) => readonly string[];
  /** The platform's id of a project, if the settings have one. */
  projectId: (project: string) => string | undefined;
  limits: Limits;
  /** Who gets the links of exports that nobody asks for at the moment. */
  linksTo: 'thread' | 'requester';
  /** Whether authors are asked if the conversation above goes to the agent with their instruction. */
  backgroundMode: 'ask' | 'never';

  /** Without the calls that only the outbox makes. */
  slack: Omit<SlackApi, 'post' | 'edit' | 'remove'>;
  outbox: Outbox;
  /** The revisions of runs whose messages this process has published since it connected to Redis. */
  published: Map<string, number>;
  deliverMessage: ReturnType<typeof createDelivery>;
  postEphemeral: typeof postEphemeral;
  policy: Omit<Policy, 'contactText'>;
  /** Returns names for the mentions in a message. Rejects if Slack does not answer. */
  names: (mentions: Mentions) => Promise<Names>;
  botUserId: () => string | undefined;
  /** The workspace's address, with a final slash; undefined while it is unknown. */
  workspaceUrl: () => string | undefined;
  /** Alerts the admins of a rejected key, or of a request forbidden with `error`. Returns whether there are any. */
  alertAdmins: (teamId: string, project: string, error?: DocsApiError) => Promise<boolean>;

  /** Refreshes the Home tabs of those people who use them. */
  refreshHomes: (teamId: string, userIds: readonly string[]) => Promise<void>;
  /** Queues a run for a step, at once. */
  wake: (run: Pick<RunBase, 'id' | 'job'>) => Promise<void>;
  /** Aborted when the process stops: reads end early, writes do not begin. */
  stopping: AbortSignal;

  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}
