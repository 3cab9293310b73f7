import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import { type Call, createCaller, type DocsApiRequest } from './caller.ts';
import type { DocsApiOperation } from './errors.ts';
import { createError } from './failures.ts';
import { isSafeId } from './paths.ts';
import { createTextCleaner } from './platform-text.ts';
import {
  type AgentJob,
  agentJobResponse,
  type BundleLink,
  bundleResponse,
  createAgentJobResponse,
  type ExportJob,
  exportResponse,
  followUpResponse,
  type PageViews,
  pageViewsResponse,
  startExportResponse,
} from './schemas.ts';
import { checkAtLeast, checkKey, parseBaseUrl } from './settings.ts';

export interface DocsApiOptions {
  /** Base address, https unless the host is loopback; may have a path. `/v1` or `/v2` at its end counts for nothing. */
  baseUrl: string;
  apiKey: string;
  /** Limit for a whole call, retries of reads included. Default 20 000. */
  timeoutMs?: number;
  /** Largest answer read, for every operation. Default 10 MB for page views, 1 MB else. */
  maxAnswerBytes?: number;
  /** Replaces our own connections. The caller closes it. */
  dispatcher?: Dispatcher;
  /** Epoch milliseconds; only a `Retry-After` given as a date needs it. */
  now?: () => number;
  /** 0 to 1, for the jitter of retries. */
  random?: () => number;
  log?: (request: DocsApiRequest) => void;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface StartExport {
  /** Host name only. */
  domain: string;
  /** Label of this export. Not in the platform's contract; sent only when given. */
  version?: string | undefined;
  /** Pages to export; missing means every page. Not in the platform's contract; sent only when given. */
  paths?: readonly string[] | undefined;
}

export interface PageViewsQuery {
  projectId: string;
  /** Date (YYYY-MM-DD or ISO 8601), included. */
  dateFrom?: string | undefined;
  /** Date (YYYY-MM-DD or ISO 8601), excluded. */
  dateTo?: string | undefined;
  /** 1 to 250; the platform's default is 50. */
  limit?: number | undefined;
  /** Rows to skip, at least 0. */
  offset?: number | undefined;
}

/**
 * The docs platform's API. Every operation rejects with `DocsApiError` only. Reads are tried up to three times
 * within `timeoutMs`; starts and sends are sent once, whatever happens.
 */
export interface DocsApi {
  /** Limit for a whole call, in milliseconds: an attempt older than this has ended. */
  readonly timeoutMs: number;
  /** Names the API key without giving it away: the same for all clients that share one. */
  readonly keyId: string;
  startExport(input: StartExport, options?: CallOptions): Promise<ExportJob>;
  getExport(jobId: string, options?: CallOptions): Promise<ExportJob>;
  /** May be repeated freely: the platform gives a fresh link each time. `conflict` before the job has completed. */
  createBundle(jobId: string, options?: CallOptions): Promise<BundleLink>;
  /** Sends an instruction to an existing agent job; the answer shows the job as it is after the send. */
  sendFollowUp(
    input: { projectId: string; jobId: string; prompt: string },
    options?: CallOptions,
  ): Promise<AgentJob>;
  getAgentJob(input: { projectId: string; jobId: string }, options?: CallOptions): Promise<AgentJob>;
  /** Not in the platform's contract: `not_found` or `unsupported` where the platform lacks it. */
  createAgentJob(input: { projectId: string; prompt: string }, options?: CallOptions): Promise<AgentJob>;
  getPageViews(query: PageViewsQuery, options?: CallOptions): Promise<PageViews>;
  /** Closes the connections; running calls end first. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 20_000;
const MAX_BYTES = 1_000_000;
const MAX_PAGE_VIEW_BYTES = 10_000_000;

/** Throws `DocsApiSettingsError` when an option cannot work. Opens no connection. */
export function createDocsApi(options: DocsApiOptions): DocsApi {
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxAnswerBytes } = options;
  const base = parseBaseUrl(options.baseUrl);
  checkKey(apiKey);
  checkAtLeast('timeoutMs', timeoutMs, 1);
  if (maxAnswerBytes !== undefined) checkAtLeast('maxAnswerBytes', maxAnswerBytes, 1);

  const clean = createTextCleaner(apiKey);
  const caller = createCaller({
    base,
    apiKey,
    clean,
    timeoutMs,
    dispatcher: options.dispatcher,
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    log: options.log ?? (() => {}),
  });
  const maxBytes = maxAnswerBytes ?? MAX_BYTES;

  async function call<T>(
    call: Omit<Call<T>, 'maxBytes' | 'signal'> & { maxBytes?: number },
    callOptions: CallOptions | undefined,
  ): Promise<T> {
    for (const [name, id] of Object.entries(call.ids ?? {})) {
      if (!isSafeId(id)) throw createNotSentError(call.operation, `the ${name} cannot be an id`);
    }
    return caller.call({ maxBytes, ...call, signal: callOptions?.signal });
  }

  return {
    timeoutMs,
    keyId: createHash('sha256').update(apiKey).digest('base64url').slice(0, 16),

    async startExport({ domain, version, paths }, callOptions) {
      if (domain === '') throw createNotSentError('startExport', 'the domain is empty');
      const body = { domain, version, paths };
      return call(
        { operation: 'startExport', body, responseSchema: startExportResponse(clean) },
        callOptions,
      );
    },

    async getExport(jobId, callOptions) {
      return call(
        { operation: 'getExport', ids: { jobId }, responseSchema: exportResponse(jobId, clean) },
        callOptions,
      );
    },

    async createBundle(jobId, callOptions) {
      return call({ operation: 'createBundle', ids: { jobId }, responseSchema: bundleResponse }, callOptions);
    },

    async sendFollowUp({ projectId, jobId, prompt }, callOptions) {
      if (prompt === '') throw createNotSentError('sendFollowUp', 'the prompt is empty');
      const ids = { projectId, jobId };
      const responseSchema = followUpResponse(jobId, clean);
      return call({ operation: 'sendFollowUp', ids, body: { prompt }, responseSchema }, callOptions);
    },

    async getAgentJob({ projectId, jobId }, callOptions) {
      const ids = { projectId, jobId };
      return call(
        { operation: 'getAgentJob', ids, responseSchema: agentJobResponse(jobId, clean) },
        callOptions,
      );
    },

    async createAgentJob({ projectId, prompt }, callOptions) {
      if (prompt === '') throw createNotSentError('createAgentJob', 'the prompt is empty');
      const responseSchema = createAgentJobResponse(clean);
      return call(
        { operation: 'createAgentJob', ids: { projectId }, body: { prompt }, responseSchema },
        callOptions,
      );
    },

    async getPageViews({ projectId, ...query }, callOptions) {
      const { limit, offset } = query;
      if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 250)) {
        throw createNotSentError('getPageViews', 'limit is not 1 to 250');
      }
      if (offset !== undefined && !(Number.isSafeInteger(offset) && offset >= 0)) {
        throw createNotSentError('getPageViews', 'offset is not 0 or more');
      }
      return call(
        {
          operation: 'getPageViews',
          ids: { projectId },
          query,
          responseSchema: pageViewsResponse,
          maxBytes: maxAnswerBytes ?? MAX_PAGE_VIEW_BYTES,
        },
        callOptions,
      );
    },

    close: caller.close,
  };
}

/** Input that the platform could only refuse. */
function createNotSentError(operation: DocsApiOperation, problem: string) {
  return createError(operation, 'bad_request', { happened: 'no', what: `not sent: ${problem}` });
}
