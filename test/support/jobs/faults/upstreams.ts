import type { DocsApi } from '../../../../src/docs-api/client.ts';
import { DocsApiError } from '../../../../src/docs-api/errors.ts';
import type { DocsApiOperation } from '../../../../src/docs-api/operations.ts';
import type { WorkerContext } from '../../../../src/jobs/index.ts';
import { defaultTiming } from '../../../../src/runtime/timing.ts';
import type { Message } from '../../../../src/slack/blocks.ts';
import type { Place, PostedMessage, SlackApi } from '../../../../src/slack/client.ts';
import { createDelivery } from '../../../../src/slack/delivery.ts';
import { SlackApiError, TOO_LATE } from '../../../../src/slack/errors.ts';
import { createStores } from '../../../../src/store/stores.ts';
import { jobContext } from '../world.ts';
import type { Engine, Process } from './engine.ts';
import { createGitHost } from './pull-request.ts';
import { createTargets } from './updates.ts';

/** Part of each download link, of the address for uploads, and of the address for ephemerals. */
export const SECRET = 'sig=5ecret';
export const RESPONSE_URL = `https://hooks.example/${SECRET}`;

const BUNDLE_MS = 1_800_000;
const GUIDES = ['/guides/sso', '/quickstart', '/old/setup'];

/** A message in Slack. */
interface Shown extends Place {
  key: string;
  hash: string;
  ts: string;
  content: Message;
  isRemoved: boolean;
  /** The keys of the messages that were shown when it was removed. */
  shownThen?: string[];
}

interface AgentJobState {
  prompts: string[];
  activeUntilMs: number;
  /** How many came while it was active. */
  interruptions: number;
}

/** What the effect of a call gets: its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: each method has its own arguments
type Effects = Record<string, (...args: any[]) => unknown>;

const SLACK_METHODS: Record<string, string> = {
  post: 'chat.postMessage',
  edit: 'chat.update',
  remove: 'chat.delete',
  findMessage: 'conversations.history',
  uploadBytes: 'files.upload',
};

export type Upstreams = ReturnType<typeof createUpstreams>;

/** Slack and the docs platform: their state, and contexts of processes that call them. */
export function createUpstreams(engine: Engine) {
  const { now, random, setContext } = engine;
  const targets = createTargets(engine);
  const gitHost = createGitHost(engine);
  const messages: Shown[] = [];
  const ephemerals: string[] = [];
  const files = new Map<string, { sharedIn: string[]; completions: number }>();
  const exports = new Map<string, { endsAtMs: number }>();
  const agentJobs = new Map<string, AgentJobState>();
  const builds = new Map<string, { what: string; endsAtMs: number }>();
  const whileWorking = random() < 0.8 ? ('wait' as const) : ('send' as const);
  const platform = {
    exportEnds: 'completed',
    refusesStarts: false,
    starts: 0,
    links: 0,
    linkMs: BUNDLE_MS,
    refusalOfLinks: (): DocsApiError | undefined => undefined,
    uploads: 0,
    tokens: 0,
  };

  const shown = (ts: string, method: string): Shown => {
    const found = messages.find((message) => message.ts === ts && !message.isRemoved);
    if (found === undefined) throw new SlackApiError('missing', method, 'message_not_found');
    return found;
  };

  const slackEffects: Effects = {
    post({ channel, threadTs }: Place, content: Message, metadata: { key: string; hash: string }) {
      const ts = `${(now() / 1000).toFixed(3)}${String(messages.length).padStart(3, '0')}`;
      const place = { channel, ...(threadTs !== undefined && { threadTs }) };
      messages.push({ ...place, ...metadata, ts, content, isRemoved: false });
      return { channel, ts };
    },
    edit({ ts }: PostedMessage, content: Message) {
      shown(ts, 'chat.update').content = content;
    },
    remove({ ts }: PostedMessage) {
      const shownThen = messages.flatMap(({ key, isRemoved }) => (isRemoved ? [] : [key]));
      Object.assign(shown(ts, 'chat.delete'), { isRemoved: true, shownThen });
    },
    findMessage(key: string, { channel, threadTs }: Place, sinceMs: number) {
      const found = messages.find(
        (one) =>
          one.key === key &&
          one.channel === channel &&
          one.threadTs === threadTs &&
          Number(one.ts) * 1000 >= sinceMs - 3_600_000 &&
          !one.isRemoved,
      );
      return { found, nextCursor: undefined };
    },
    replies: () => [{ ts: '2051856000.000100', user: 'U0BEN', text: 'The quickstart is old' }],
    openDirectMessage: (userId: string) => `D${userId}`,
    channel: () => ({ shared: false, isPublic: true }),
    postEphemeralTo({ user }: { user: string }, { text }: Message) {
      ephemerals.push(`${user}: ${text}`);
    },
    addReaction() {},
    removeReaction() {},
    getUploadAddress() {
      platform.uploads += 1;
      const fileId = `F${platform.uploads}`;
      files.set(fileId, { sharedIn: [], completions: 0 });
      return { fileId, uploadUrl: `https://files.example/${fileId}?${SECRET}` };
    },
    uploadBytes() {},
    completeUpload({ fileId, channel }: { fileId: string; channel: string }) {
      const file = files.get(fileId);
      if (file === undefined) throw new SlackApiError('missing', 'files.info', 'file_not_found');
      file.completions += 1;
      file.sharedIn.push(channel);
    },
    fileInfo: (fileId: string) => ({ sharedIn: files.get(fileId)?.sharedIn ?? [] }),
  };

  function exportJob(jobId: string) {
    const job = exports.get(jobId);
    if (job === undefined)
      throw new DocsApiError('getExport', 'not_found', { happened: 'no', what: 'status 404' });
    const status = now() < job.endsAtMs ? 'running' : platform.exportEnds;
    return { jobId, status, rawStatus: status };
  }

  function agentJob(jobId: string) {
    const job = agentJobs.get(jobId);
    const isActive = now() < (job?.activeUntilMs ?? 0);
    const status = isActive ? 'active' : 'completed';
    const prLink = `https://git.example/pull/${job?.prompts.length}`;
    return { id: jobId, status, rawStatus: status, ...(!isActive && job?.prompts.length && { prLink }) };
  }

  function instruct(jobId: string, prompt: string) {
    const job = agentJobs.get(jobId) ?? { prompts: [], activeUntilMs: 0, interruptions: 0 };
    job.prompts.push(prompt);
    if (now() < job.activeUntilMs) job.interruptions += 1;
    job.activeUntilMs = now() + 5000 + Math.round(random() * 20_000);
    agentJobs.set(jobId, job);
    return agentJob(jobId);
  }

  function buildSite(what: string) {
    const statusId = `st_${builds.size + 1}`;
    builds.set(statusId, { what, endsAtMs: now() + Math.round(random() * 20_000) });
    return { statusId };
  }

  const docsEffects: Effects = {
    startExport() {
      if (platform.refusesStarts)
        throw new DocsApiError('startExport', 'bad_request', { happened: 'no', what: 'status 400' });
      platform.starts += 1;
      const jobId = `se_${platform.starts}`;
      exports.set(jobId, { endsAtMs: now() + Math.round(random() * 20_000) });
      return exportJob(jobId);
    },
    getExport: ({ jobId }: { jobId: string }) => exportJob(jobId),
    createBundle({ jobId }: { jobId: string }) {
      const refusal = platform.refusalOfLinks();
      if (refusal) throw refusal;
      platform.links += 1;
      const bundleUrl = `https://bundles.example/${jobId}/${platform.links}?${SECRET}`;
      return { bundleUrl, expiresAt: now() + platform.linkMs, sizeBytes: 1000 };
    },
    getAgentJob: ({ jobId }: { jobId: string }) => agentJob(jobId),
    sendFollowUp: ({ jobId, prompt }: { jobId: string; prompt: string }) => instruct(jobId, prompt),
    createAgentJob: ({ prompt }: { prompt: string }) => instruct(`aj_${agentJobs.size + 1}`, prompt),
    previewBranch: ({ branch }: { branch: string }) => ({
      ...buildSite(branch),
      previewUrl: 'https://preview.example/x',
    }),
    updateSite: () => buildSite('the site'),
    getSiteStatus({ statusId }: { statusId: string }) {
      const isDone = now() >= (builds.get(statusId)?.endsAtMs ?? 0);
      return { status: isDone ? 'success' : 'in_progress', rawStatus: '', log: [] };
    },
    getPageViews({ limit, offset = 0 }: { limit: number; offset?: number }) {
      const rows = GUIDES.slice(offset, offset + limit);
      const views = rows.map((path) => ({ path, human: 70, ai: 30, total: 100 }));
      const hasMore = offset + rows.length < GUIDES.length;
      return { totals: { human: 210, ai: 90, total: 300 }, views, hasMore };
    },
    getVisitors: () => ({ totals: { total: 40 } }),
    getSearches: () => ({ searches: [{ searchQuery: 'sso', hits: 30, ctr: 0 }], totalSearches: 90 }),
    getFeedbackByPage: () => ({
      feedback: [{ path: '/quickstart', thumbsUp: 1, thumbsDown: 4 }],
      hasMore: false,
    }),
    getAssistantConversations: () => ({
      conversations: [{ resolutionStatus: 'unanswered' }],
      hasMore: false,
    }),
  };

  /** Returns the methods: each call of one crosses the border of the process. */
  function methodsOf(
    { cross }: Process,
    api: 'slack' | 'docs',
    effects: Effects,
    errorsOf: (method: string) => Record<'failed' | 'unclear' | 'tooLate', () => Error>,
  ) {
    const limitMs = api === 'slack' ? defaultTiming.slackCallMs : defaultTiming.docsCallMs;
    const methods = Object.entries(effects).map(([method, effect]) => {
      const callIt = (...args: unknown[]) => {
        const options = args.at(-1);
        const isTooLate =
          typeof options === 'function'
            ? options
            : (options as { isTooLate?: unknown } | undefined)?.isTooLate;
        return cross({
          name: `${api}.${method}`,
          call: () => effect(...args),
          ...errorsOf(method),
          isTooLate: isTooLate as (() => boolean) | undefined,
          limitMs,
        });
      };
      return [method, callIt] as const;
    });
    return Object.fromEntries(methods);
  }

  const slackErrors = (name: string) => {
    const method = SLACK_METHODS[name] ?? name;
    return {
      failed: () =>
        random() < 0.5
          ? new SlackApiError('unreachable', method, 'ECONNREFUSED')
          : new SlackApiError('limited', method, 'ratelimited', { retryAfterMs: 5000 }),
      unclear: () => new SlackApiError('unclear', method, 'ECONNRESET'),
      tooLate: () => new SlackApiError('unreachable', method, TOO_LATE),
    };
  };

  const docsErrors = (name: string) => {
    const operation = name as DocsApiOperation;
    return {
      failed: () =>
        random() < 0.5
          ? new DocsApiError(operation, 'refused', { happened: 'no', what: 'no connection' })
          : new DocsApiError(operation, 'rate_limited', { happened: 'no', what: '429', retryAfterMs: 5000 }),
      unclear: () => new DocsApiError(operation, 'connection', { happened: 'unknown', what: 'no answer' }),
      tooLate: () => new DocsApiError(operation, 'aborted', { happened: 'no', what: 'too late' }),
    };
  };

  function contextOf(process: Process): WorkerContext {
    const stores = createStores(process.redis);
    const slack = {
      ...methodsOf(process, 'slack', slackEffects, slackErrors),
      refusedForMs: () => 0,
    } as unknown as SlackApi;
    const docs = {
      ...methodsOf(process, 'docs', docsEffects, docsErrors),
      keyId: 'k1',
    } as unknown as DocsApi;
    const context = jobContext(process.redis, {
      slack: {
        ...slack,
        async postEphemeral(_url, { text }) {
          const post = () => void ephemerals.push(text);
          const failed = () => new SlackApiError('unclear', 'response_url', 'failed');
          const crossing = { name: 'slack.respond', call: post, failed, unclear: failed };
          return process.cross({ ...crossing, limitMs: defaultTiming.slackCallMs }).then(
            () => true,
            () => false,
          );
        },
      },
      docs: () => docs,
      whileWorking,
      deployment: (_project, name) => targets.of(process, name),
      gitHost: () => gitHost.of(process),
      now,
      random,
      timing: defaultTiming,
      newToken: () => {
        platform.tokens += 1;
        return `token-${platform.tokens}`;
      },
    });
    const deliverMessage = createDelivery({ ...context, ...stores, slack });
    return Object.assign(context, { deliverMessage });
  }

  setContext(contextOf);
  return {
    messages,
    ephemerals,
    files,
    exports,
    agentJobs,
    builds,
    platform,
    targets,
    gitHost,
    contextOf,
    whileWorking,
  };
}
