import { z } from 'zod';
import {
  assistantConversations,
  feedbackByPage,
  MAX_CURSOR_LENGTH,
  pageViews,
  searches,
  visitors,
} from './analytics.ts';
import {
  agentJob,
  bundleLink,
  createdAgentJob,
  exportJob,
  instructedAgentJob,
  isSafeId,
  startedExport,
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

/** Returns a page's path in the platform's form: without slashes at its ends, the home page as `index`. */
const toPagePath = (path: string) => path.replace(/^\/+|(?<!\/)\/+$/gu, '') || 'index';

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

/** Every operation that Docket calls. A new one is a row here and the schema of its response. */
export const OPERATIONS = {
  startExport: {
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
    response: startedExport,
  },

  getExport: {
    method: 'GET',
    path: '/v1/static-export/jobs/{jobId}',
    input: z.object({ jobId: id }),
    response: exportJob,
  },

  /** The platform returns a new link each time. Rejects with `conflict` before the job has completed. */
  createBundle: {
    method: 'POST',
    path: '/v1/static-export/jobs/{jobId}/bundle',
    input: z.object({ jobId: id }),
    response: bundleLink,
    repeatable: true,
  },

  /** Sends an instruction to an existing agent job; the response is the job after the send. */
  sendFollowUp: {
    method: 'POST',
    path: '/v2/agent/{projectId}/job/{jobId}/message',
    input: z.object({ projectId: id, jobId: id, prompt: nonEmpty }),
    response: instructedAgentJob,
  },

  /** The contract names the operation without its path. */
  getAgentJob: {
    method: 'GET',
    path: '/v2/agent/{projectId}/job/{jobId}',
    input: z.object({ projectId: id, jobId: id }),
    response: agentJob,
  },

  /** Not in the platform's contract: rejects with `not_found` or `unsupported` if the platform lacks it. */
  createAgentJob: {
    method: 'POST',
    path: '/v2/agent/{projectId}/job',
    input: z.object({ projectId: id, prompt: nonEmpty }),
    response: createdAgentJob,
  },

  // The other analytics are not in the platform's contract: they reject with `not_found` or `unsupported` if the
  // platform lacks them.
  getPageViews: {
    method: 'GET',
    path: '/v1/analytics/{projectId}/views',
    input: dates.extend({ limit: limitTo(250), offset: z.int().min(0).optional() }),
    response: pageViews,
  },

  /** A range has fewer visitors than the sum of its days. */
  getVisitors: {
    method: 'GET',
    path: '/v1/analytics/{projectId}/visitors',
    /** `limit` counts the pages in the response, whose visitors are not read. */
    input: dates.extend({ limit: limitTo(250) }),
    response: visitors,
  },

  /** Search terms, the most frequent first. */
  getSearches: {
    method: 'GET',
    path: '/v1/analytics/{projectId}/searches',
    input: dates.extend({ limit: limitTo(100), cursor }),
    response: searches,
  },

  /** It has neither cursor nor offset: only the first `limit` pages are available. */
  getFeedbackByPage: {
    method: 'GET',
    path: '/v1/analytics/{projectId}/feedback/by-page',
    /** The platform's default limit is 10. */
    input: dates.extend({ limit: limitTo(100) }),
    response: feedbackByPage,
  },

  getAssistantConversations: {
    method: 'GET',
    path: '/v1/analytics/{projectId}/assistant',
    /** The platform's default limit is 100. */
    input: dates.extend({ limit: limitTo(1000), cursor }),
    response: assistantConversations,
  },
} satisfies Record<string, Operation>;

/** The operations by name, which is also the label of their metrics. */
export type DocsApiOperation = keyof typeof OPERATIONS;

/** Returns whether an operation may be repeated: other methods than GET only if the row says so. */
export const isRepeatable = ({ method, repeatable = method === 'GET' }: Operation): boolean => repeatable;

/** Fills a path template. Returns the path, and the fields that the template does not name. */
export function fillPath(template: string, fields: Record<string, unknown>) {
  const rest = { ...fields };
  const path = template.replace(/\{(\w+)\}/gu, (_, name: string) => {
    delete rest[name];
    return encodeURIComponent(String(fields[name]));
  });
  return { path, rest };
}
