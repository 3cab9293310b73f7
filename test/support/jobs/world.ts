import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { GithubError } from '../../../src/deployments/github.ts';
import { DocsApiError } from '../../../src/docs-api/errors.ts';
import type { JobContext } from '../../../src/jobs/engine/context.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import { SlackApiError } from '../../../src/slack/errors.ts';
import { createCallOnce } from '../../../src/store/call-once.ts';
import { createStores } from '../../../src/store/stores.ts';
import { NOW_MS } from '../builders.ts';
import { aProject } from '../commands/builders.ts';
import { anOutbox } from '../slack/world.ts';

type Grouped = 'slack' | 'outbox' | 'policy' | 'limits';

/** Parts that replace those of `jobContext`; of some, single functions or numbers. */
export type JobContextParts = Partial<Omit<JobContext, Grouped>> & {
  [Name in Grouped]?: Partial<JobContext[Name]>;
} & { newToken?: () => string };

/**
 * A context with real stores, in which everybody may do everything, Slack takes everything, nothing is ever queued and
 * the platform is not known. No rate holds anything up.
 */
export function jobContext(redis: Redis, parts: JobContextParts = {}): JobContext {
  const { slack, outbox, policy, limits, newToken = randomUUID, ...rest } = parts;
  const { now = () => NOW_MS, timing = defaultTiming } = parts;
  const stopping = parts.stopping ?? new AbortController().signal;
  const wake = parts.wake ?? (async () => {});
  return {
    ...createStores(redis),
    docs: () => undefined,
    deployment: () => undefined,
    projects: [aProject({ name: 'acme', projectId: 'prj_1' })],
    projectId: () => 'prj_1',
    teamsOf: ({ teamId }) => [teamId],
    limits: { ...defaultConfigFile.limits, exportStatusPerSecond: 1_000_000, ...limits },
    linksTo: 'thread',
    backgroundMode: 'ask',
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
      ...slack,
    } as JobContext['slack'],
    outbox: { ...anOutbox(redis), ...outbox },
    published: new Map(),
    deliverMessage: async () => undefined,
    postEphemeral: async () => true,
    policy: {
      check: async (id) => ({ kind: 'allowed', person: { id, name: id, fullMember: true, active: true } }),
      permissionsOf: async () => ['export', 'agent'],
      ...policy,
    },
    isPublic: async () => true,
    names: async () => ({ users: new Map(), channels: new Map(), groups: new Map() }),
    botUserId: () => 'U0DOCKET',
    workspaceUrl: () => 'https://acme.example/',
    alertAdmins: async () => true,
    ...createCallOnce(redis, {
      marginMs: timing.callMarginMs,
      didNotHappen: (error) =>
        ((error instanceof DocsApiError || error instanceof GithubError) && error.happened === 'no') ||
        (error instanceof SlackApiError && error.kind !== 'unclear'),
      stopping,
      newToken,
      now,
    }),
    refreshHomes: async () => {},
    random: () => 0.5,
    log: pino({ level: 'silent' }),
    ...rest,
    wake,
    stopping,
    now,
    timing,
  };
}
