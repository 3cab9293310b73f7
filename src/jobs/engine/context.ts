import type { DeploymentApi } from '../../deployments/deployment.ts';
import type { DocsApi } from '../../docs-api/client.ts';
import type { DocsApiError } from '../../docs-api/errors.ts';
import type { GitHost } from '../../git-hosts/git-host.ts';
import type { Policy } from '../../policy.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import type { SlackApi } from '../../slack/client.ts';
import type { Mentions, Names } from '../../slack/markdown/inline.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { postEphemeral } from '../../slack/response-url.ts';
import type { CallOnceStore } from '../../store/call-once.ts';
import type { RunRef } from '../../store/run-scripts.ts';
import type { Stores } from '../../store/stores.ts';
import type { Limits } from '../shared/limits.ts';
import type { ConversationReaders } from '../shared/origin.ts';
import type { SendEvent } from './send-event.ts';

/** The parts of the program that jobs use, by rooms. `worker.ts` creates the only one of a workspace. */
export interface JobContext {
  /** Docket's data in Redis. */
  store: Pick<
    Stores,
    'runs' | 'threads' | 'figures' | 'links' | 'responseUrls' | 'audit' | 'support' | 'rateLimiter'
  >;
  /** Calls that must not happen twice. */
  calls: CallOnceStore;
  platform: PlatformRoom;
  /** The calls to a deployment of a project; undefined if the settings do not have it. */
  deployment: (project: string, name: string) => DeploymentApi | undefined;
  /** The calls to the Git host of a project; undefined if the settings have none. */
  gitHost: (project: string) => GitHost | undefined;
  settings: JobSettings;
  slack: SlackRoom;
  outbox: Outbox;
  policy: Omit<Policy, 'contactText'>;

  /** Refreshes the Home tabs of those people who use them. */
  refreshHomes: (teamId: string, userIds: readonly string[]) => Promise<void>;
  sendEvent: SendEvent;
  /** Queues a run for a step, at once. */
  wake: (run: RunRef) => Promise<void>;
  /** Aborted when the process stops: reads end early, writes do not begin. */
  stopping: AbortSignal;

  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
  /** The revisions of runs whose messages this process has published since it connected to Redis. */
  published: Map<string, number>;
}

/** The docs platform. */
interface PlatformRoom {
  /** The API with a project's key; undefined if the settings no longer have the project. */
  docs: (project: string) => DocsApi | undefined;
  /** The platform's id of a project, if the settings have one. */
  projectId: (project: string) => string | undefined;
  /** Returns the teams of the workspaces that use a run's project, its own first. */
  teamsOf: (run: { teamId: string; project: string }) => readonly string[];
  /** Alerts the admins of a rejected key, or of a request forbidden with `error`. Returns whether there are any. */
  alertAdmins: (teamId: string, project: string, error?: DocsApiError) => Promise<boolean>;
}

interface JobSettings {
  projects: readonly Project[];
  limits: Limits;
  /** Who gets the links of exports that nobody asks for at the moment. */
  linksTo: 'thread' | 'requester';
  /** Whether authors are asked if the messages above go to the agent with their instruction. */
  backgroundMode: 'ask' | 'never';
  /** What becomes of a request to an agent that works: it waits until the agent is done, or is sent at once. */
  whileWorking: 'wait' | 'send';
}

/** Slack, without the calls that only the outbox makes. */
interface SlackRoom
  extends Omit<SlackApi, 'post' | 'edit' | 'remove'>,
    Pick<ConversationReaders, 'isPublic'> {
  postEphemeral: typeof postEphemeral;
  /** Returns names for the mentions in a message. Rejects if Slack does not answer. */
  names: (mentions: Mentions) => Promise<Names>;
  botUserId: () => string | undefined;
  /** The workspace's address, with a final slash; undefined while it is unknown. */
  workspaceUrl: () => string | undefined;
}
