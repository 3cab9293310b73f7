import { z } from 'zod';
import { isSafeId, toPagePath } from './paths.ts';
import {
  agentJobResponse,
  assistantConversationsResponse,
  bundleResponse,
  createAgentJobResponse,
  exportResponse,
  feedbackByPageResponse,
  followUpResponse,
  MAX_CURSOR_LENGTH,
  pageViewsResponse,
  type ResponseReader,
  searchesResponse,
  startExportResponse,
  visitorsResponse,
} from './schemas.ts';

/** One operation of the docs platform: its request, the reader of its response, and how often it may be sent. */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Body = unknown, Answer = unknown> {
  method: 'GET' | 'POST';
  /** Path template, such as `/v1/static-export/jobs/{jobId}`. */
  path: string;
  /** Fields in the template go into the path; the others are the query of a GET, else the JSON body. */
  input: Input;
  response: ResponseReader<Body, Answer, z.output<Input>>;
  /** Whether a call of unknown effect may be repeated. Default: only a GET. */
  repeatable?: boolean;
  /** How often the client sends a repeatable call by itself, including the first time. Default 3. */
  attempts?: number;
  /** Largest response that is read. Default 1 MB. */
  maxBytes?: number;
}

const operation = <Input extends z.ZodObject, Body, Answer>(row: Operation<Input, Body, Answer>) => row;

const id = z.string().refine(isSafeId, 'cannot be an id');
const nonEmpty = z.string().min(1);
const limitTo = (max: number) => z.int().min(1).max(max).optional();
/** The `nextCursor` of the previous response. */
const cursor = nonEmpty.max(MAX_CURSOR_LENGTH).optional();
const dates = z.object({
  projectId: id,
  /** Date (YYYY-MM-DD or ISO 8601), included. */
  dateFrom: z.string().optional(),
  /** Date (YYYY-MM-DD or ISO 8601), excluded. */
  dateTo: z.string().optional(),
});

/**
 * Page views are in the platform's contract. The other analytics are not: they reject with `not_found` or `unsupported`
 * if the platform lacks them.
 */
const analytics = {
  method: 'GET',
  // Each request takes one of the hour's, which the jobs count; they retry by themselves, for longer.
  attempts: 1,
  maxBytes: 10_000_000,
} as const;

/** Every operation that Docket calls. A new one is a row here and the reader of its response. */
export const OPERATIONS = {
  startExport: operation({
    method: 'POST',
    path: '/v1/static-export/jobs',
    input: z.object({
      /** Host name only. */
      domain: nonEmpty,
      /** Label of this export. Not in the platform's contract; sent only when given. */
      version: z.string().optional(),
      /** Pages to export; missing means every page. Not in the platform's contract; sent only when given. */
      paths: z.array(z.string().transform(toPagePath)).readonly().optional(),
    }),
    response: startExportResponse,
  }),

  getExport: operation({
    method: 'GET',
    path: '/v1/static-export/jobs/{jobId}',
    input: z.object({ jobId: id }),
    response: exportResponse,
  }),

  /** The platform returns a new link each time. Rejects with `conflict` before the job has completed. */
  createBundle: operation({
    method: 'POST',
    path: '/v1/static-export/jobs/{jobId}/bundle',
    input: z.object({ jobId: id }),
    response: bundleResponse,
    repeatable: true,
    // The jobs that need a link retry by themselves, for longer.
    attempts: 1,
  }),

  /** Sends an instruction to an existing agent job; the response is the job after the send. */
  sendFollowUp: operation({
    method: 'POST',
    path: '/v2/agent/{projectId}/job/{jobId}/message',
    input: z.object({ projectId: id, jobId: id, prompt: nonEmpty }),
    response: followUpResponse,
  }),

  /** The contract names the operation without its path. */
  getAgentJob: operation({
    method: 'GET',
    path: '/v2/agent/{projectId}/job/{jobId}',
    input: z.object({ projectId: id, jobId: id }),
    response: agentJobResponse,
  }),

  /** Not in the platform's contract: rejects with `not_found` or `unsupported` if the platform lacks it. */
  createAgentJob: operation({
    method: 'POST',
    path: '/v2/agent/{projectId}/job',
    input: z.object({ projectId: id, prompt: nonEmpty }),
    response: createAgentJobResponse,
  }),

  getPageViews: operation({
    ...analytics,
    path: '/v1/analytics/{projectId}/views',
    input: dates.extend({ limit: limitTo(250), offset: z.int().min(0).optional() }),
    response: pageViewsResponse,
  }),

  /** A range has fewer visitors than the sum of its days. */
  getVisitors: operation({
    ...analytics,
    path: '/v1/analytics/{projectId}/visitors',
    /** `limit` counts the pages in the response, whose visitors are not read. */
    input: dates.extend({ limit: limitTo(250) }),
    response: visitorsResponse,
  }),

  /** Search terms, the most frequent first. */
  getSearches: operation({
    ...analytics,
    path: '/v1/analytics/{projectId}/searches',
    input: dates.extend({ limit: limitTo(100), cursor }),
    response: searchesResponse,
  }),

  /** It has neither cursor nor offset: only the first `limit` pages are available. */
  getFeedbackByPage: operation({
    ...analytics,
    path: '/v1/analytics/{projectId}/feedback/by-page',
    /** The platform's default limit is 10. */
    input: dates.extend({ limit: limitTo(100) }),
    response: feedbackByPageResponse,
  }),

  getAssistantConversations: operation({
    ...analytics,
    path: '/v1/analytics/{projectId}/assistant',
    /** The platform's default limit is 100. */
    input: dates.extend({ limit: limitTo(1000), cursor }),
    response: assistantConversationsResponse,
  }),
};

/** The operations by name, which is also the label of their metrics. */
export type DocsApiOperation = keyof typeof OPERATIONS;

/** Returns whether an operation may be repeated: other methods than GET only if the row says so. */
export const isRepeatable = ({ method, repeatable = method === 'GET' }: Operation): boolean => repeatable;

/** Returns how often the client sends an operation by itself, including the first time. */
export const attemptsOf = (row: Operation): number => (isRepeatable(row) ? (row.attempts ?? 3) : 1);
