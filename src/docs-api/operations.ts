import { z } from 'zod';
import {
  agentJob,
  assistantConversations,
  bundleLink,
  createdAgentJob,
  exportJob,
  feedbackByPage,
  instructedAgentJob,
  isSafeId,
  MAX_CURSOR_LENGTH,
  pageViews,
  searches,
  startedExport,
  visitors,
} from './schemas.ts';

/** One operation of the docs platform: its request, and the schema of a 2xx response. */
export interface Operation {
  method: 'GET' | 'POST';
  /** Path template, such as `/v1/static-export/jobs/{jobId}`. */
  path: string;
  /** Fields in the template go into the path; the others are the query of a GET, else the JSON body. */
  input: z.ZodObject;
  response: z.ZodType;
  /** Whether a call of unknown effect may be repeated. Default: only a GET. */
  repeatable?: boolean;
}

const operation =
  <Method extends 'GET' | 'POST'>(method: Method) =>
  <Input extends z.ZodRawShape, Response extends z.ZodType>(
    path: string,
    input: Input,
    response: Response,
  ) => ({
    method,
    path,
    input: z.object(input),
    response,
  });
const get = operation('GET');
const post = operation('POST');

/** Returns a page's path in the platform's form: without slashes at its ends, the home page as `index`. */
const toPagePath = (path: string) => path.replace(/^\/+|(?<!\/)\/+$/gu, '') || 'index';

const id = z.string().refine(isSafeId, 'cannot be an id');
const nonEmpty = z.string().min(1);
const limitTo = (max: number) => z.int().min(1).max(max).optional();
/** The `nextCursor` of the previous response. */
const cursor = nonEmpty.max(MAX_CURSOR_LENGTH).optional();
/** Dates are YYYY-MM-DD or ISO 8601; the first is included, the last excluded. */
const range = { projectId: id, dateFrom: z.string().optional(), dateTo: z.string().optional() };

/**
 * Every operation that Docket calls. The platform's contract names neither `createAgentJob` nor the analytics other
 * than page views: they reject with `not_found` or `unsupported` if the platform lacks them.
 */
export const OPERATIONS = {
  /** `domain` is a host name. Outside the contract: `version` labels the export, without `paths` it has every page. */
  startExport: post(
    '/v1/static-export/jobs',
    {
      domain: nonEmpty,
      version: z.string().optional(),
      paths: z.array(z.string().transform(toPagePath)).readonly().optional(),
    },
    startedExport,
  ),
  getExport: get('/v1/static-export/jobs/{jobId}', { jobId: id }, exportJob),
  /** The platform returns a new link each time. Rejects with `conflict` before the job has completed. */
  createBundle: {
    ...post('/v1/static-export/jobs/{jobId}/bundle', { jobId: id }, bundleLink),
    repeatable: true,
  },

  /** Sends an instruction to an existing agent job; the response is the job after the send. */
  sendFollowUp: post(
    '/v2/agent/{projectId}/job/{jobId}/message',
    { projectId: id, jobId: id, prompt: nonEmpty },
    instructedAgentJob,
  ),
  getAgentJob: get('/v2/agent/{projectId}/job/{jobId}', { projectId: id, jobId: id }, agentJob),
  createAgentJob: post('/v2/agent/{projectId}/job', { projectId: id, prompt: nonEmpty }, createdAgentJob),

  getPageViews: get(
    '/v1/analytics/{projectId}/views',
    { ...range, limit: limitTo(250), offset: z.int().min(0).optional() },
    pageViews,
  ),
  /** A range has fewer visitors than the sum of its days. `limit` counts pages, whose visitors are not read. */
  getVisitors: get('/v1/analytics/{projectId}/visitors', { ...range, limit: limitTo(250) }, visitors),
  /** Search terms, the most frequent first. */
  getSearches: get('/v1/analytics/{projectId}/searches', { ...range, limit: limitTo(100), cursor }, searches),
  /** It has neither cursor nor offset: only the first `limit` pages are available. */
  getFeedbackByPage: get(
    '/v1/analytics/{projectId}/feedback/by-page',
    { ...range, limit: limitTo(100) },
    feedbackByPage,
  ),
  getAssistantConversations: get(
    '/v1/analytics/{projectId}/assistant',
    { ...range, limit: limitTo(1000), cursor },
    assistantConversations,
  ),
} satisfies Record<string, Operation>;

/** The operations by name, which is also the label of their metrics. */
export type DocsApiOperation = keyof typeof OPERATIONS;

/** Returns whether an operation may be repeated: other methods than GET only if the row says so. */
export const isRepeatable = ({ method, repeatable = method === 'GET' }: Operation): boolean => repeatable;
