import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { GithubError } from '../../../src/deployments/github.ts';
import { DocsApiError } from '../../../src/docs-api/errors.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { type Job, runOnce } from '../../../src/jobs/engine/job.ts';
import { createSendEvent } from '../../../src/jobs/engine/send-event.ts';
import type { WorkerContext } from '../../../src/jobs/index.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { SlackApiError } from '../../../src/slack/errors.ts';
import { createCallOnce } from '../../../src/store/call-once.ts';
import { createStores } from '../../../src/store/stores.ts';
import { NOW_MS } from '../builders.ts';
import { aProject } from '../commands/builders.ts';
import { anOutbox } from '../slack/world.ts';

type Rooms = Pick<
  JobContext,
  'deployment' | 'gitHost' | 'refreshHomes' | 'wake' | 'stopping' | 'now' | 'random'
> &
  Pick<JobContext, 'timing' | 'log' | 'outbox' | 'policy' | 'slack'> &
  JobContext['platform'] &
  JobContext['settings'] &
  WorkerContext['store'] &
  Pick<WorkerContext, 'deliverMessage'>;
type Grouped = 'slack' | 'outbox' | 'policy' | 'limits';

/** Parts that replace those of `jobContext`, in whatever room; of some, single functions or numbers. */
export type JobContextParts = Partial<Omit<Rooms, Grouped>> & {
  [Name in Grouped]?: Partial<Rooms[Name]>;
} & { newToken?: () => string };

/**
 * A context with real stores, in which everybody may do everything, Slack takes everything, nothing is ever queued and
 * the platform is not known. No rate holds anything up.
 */
export function jobContext(redis: Redis, parts: JobContextParts = {}): WorkerContext {
  const { newToken = randomUUID, now = () => NOW_MS, timing = defaultTiming } = parts;
  const { stopping = new AbortController().signal, wake = async () => {} } = parts;
  const stores = createStores(redis);
  return {
    store: {
      runs: parts.runs ?? stores.runs,
      threads: parts.threads ?? stores.threads,
      figures: parts.figures ?? stores.figures,
      links: parts.links ?? stores.links,
      responseUrls: parts.responseUrls ?? stores.responseUrls,
      audit: parts.audit ?? stores.audit,
      support: parts.support ?? stores.support,
      rateLimiter: parts.rateLimiter ?? stores.rateLimiter,
    },
    calls: createCallOnce(redis, {
      marginMs: timing.callMarginMs,
      didNotHappen: (error) =>
        ((error instanceof DocsApiError || error instanceof GithubError) && error.happened === 'no') ||
        (error instanceof SlackApiError && error.kind !== 'unclear'),
      stopping,
      newToken,
      now,
    }),
    platform: {
      docs: parts.docs ?? (() => undefined),
      projectId: parts.projectId ?? (() => 'prj_1'),
      teamsOf: parts.teamsOf ?? (({ teamId }) => [teamId]),
      alertAdmins: parts.alertAdmins ?? (async () => true),
    },
    deployment: parts.deployment ?? (() => undefined),
    gitHost: parts.gitHost ?? (() => undefined),
    settings: {
      projects: parts.projects ?? [aProject({ name: 'acme', projectId: 'prj_1' })],
      limits: { ...defaultConfigFile.limits, exportStatusPerSecond: 1_000_000, ...parts.limits },
      linksTo: parts.linksTo ?? 'thread',
      backgroundMode: parts.backgroundMode ?? 'ask',
      whileWorking: parts.whileWorking ?? 'wait',
    },
    slack: {
      channel: async () => ({ shared: false, isPublic: true }),
      postEphemeralTo: async () => {},
      publishHome: async () => {},
      replies: async () => [],
      addReaction: async () => {},
      removeReaction: async () => {},
      getUploadAddress: async () => ({ fileId: 'F0FILE', uploadUrl: 'https://files.example/u' }),
      uploadBytes: async () => {},
      completeUpload: async () => {},
      fileInfo: async () => ({ sharedIn: [] }),
      postEphemeral: async () => true,
      personZone: async () => 'Europe/Berlin',
      isPublic: async () => true,
      names: async () => ({ users: new Map(), channels: new Map(), groups: new Map() }),
      botUserId: () => 'U0DOCKET',
      workspaceUrl: () => 'https://acme.example/',
      ...parts.slack,
    } as JobContext['slack'],
    outbox: { ...anOutbox(redis), ...parts.outbox },
    policy: {
      check: async (id) => ({ kind: 'allowed', person: { id, name: id, fullMember: true, active: true } }),
      permissionsOf: async () => ['export', 'agent'],
      ...parts.policy,
    },
    published: new Map(),
    deliverMessage: parts.deliverMessage ?? (async () => undefined),
    refreshHomes: parts.refreshHomes ?? (async () => {}),
    sendEvent: createSendEvent(parts.runs ?? stores.runs, wake),
    wake,
    stopping,
    now,
    random: parts.random ?? (() => 0.5),
    timing,
    log: parts.log ?? pino({ level: 'silent' }),
  };
}

/** Executes a job. Returns in how many milliseconds its next step is due; undefined if there is none. */
export const stepJob = async <Context>(job: Job<Context>, id: string, context: Context) =>
  (await runOnce(job, id, context))?.inMs;
