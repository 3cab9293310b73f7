import { z } from 'zod';
import { isPublicAddress, readWebAddress } from '../runtime/web-address.ts';
import {
  cut,
  holdsEmailAddress,
  logExcerpt,
  oneLine,
  type Progress,
  parseErrorText,
  parseProgress,
  parseTimestamp,
} from './text.ts';

/** Slack's buttons hold 2000 characters, and ours carry more than an id. */
const MAX_ID_LENGTH = 512;

/**
 * Returns whether an id is safe in a path. Slashes and dot segments are refused, even encoded: addresses are normalized
 * on the way, and some proxies decode `%2F` first.
 */
export function isSafeId(id: string): boolean {
  if (id.trim() === '' || id.length > MAX_ID_LENGTH || !id.isWellFormed() || /\p{Cc}/u.test(id)) return false;
  return !/[/\\]|%2f|%5c/iu.test(id) && !/^(?:\.|%2e){1,2}$/iu.test(id);
}

const parseStatus = <Status extends string>(raw: string, statuses: readonly Status[]): Status | 'unknown' =>
  statuses.find((status) => status === raw.toLowerCase()) ?? 'unknown';

/** Returns the schema of a field that is left out if it is unreadable. */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** An id that is unsafe in a path is refused, since its job could not be requested. */
const id = z.union([z.string(), z.int()]).transform(String).refine(isSafeId);
const line = z.string().transform(oneLine).refine(Boolean);
const count = z.union([z.int().nonnegative(), z.string().regex(/^\s*\d{1,15}\s*$/u)]).transform(Number);
/** Epoch milliseconds. */
const time = z.unknown().transform(parseTimestamp).optional();
/** Platforms put names with spaces into addresses unencoded. */
const webAddress = z
  .string()
  .transform((address) => address.trim().replaceAll(' ', '%20'))
  .refine(readWebAddress);

/** Each field may be missing; in the answer to a poll, each but the status. */
const exportFields = z.object({
  status: optional(line),
  progress: z.unknown().optional(),
  /** Pages exported so far, not the total. */
  pageCount: optional(count),
  createdAt: time,
  updatedAt: time,
  /** The site; the contract does not name this field. */
  domain: optional(line),
  /** Why the job failed, as the platform wrote it: one line, cut. */
  error: z.unknown().transform(parseErrorText).optional(),
});

const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;

/** An export job. `rawStatus` is its status as the platform wrote it. */
export type ExportJob = Omit<z.output<typeof exportFields>, 'status' | 'progress'> & {
  status: (typeof EXPORT_STATUSES)[number] | 'unknown';
  rawStatus: string;
  progress?: Progress | undefined;
};
export type StartedExport = ExportJob & { jobId: string };

/** Without a status the job is queued, as in the contract. */
function toExportJob(job: z.output<typeof exportFields>): ExportJob {
  const { status: rawStatus = '', progress, ...rest } = job;
  const status = rawStatus === '' ? 'queued' : parseStatus(rawStatus, EXPORT_STATUSES);
  return { ...rest, status, rawStatus, progress: parseProgress(progress, status === 'completed') };
}

/** Each field may be missing; in the answer to a poll, each but the status. */
const agentFields = z.object({
  status: optional(line),
  /** The full address of the repository, and the branch that the agent works on. */
  source: optional(z.object({ repository: optional(line), ref: optional(line) })),
  model: optional(line),
  /** An address that may become a link, or other text in one line, which begins as no address does. */
  prLink: optional(
    z
      .string()
      .refine(readWebAddress)
      .or(line.transform((text) => text.replace(/^https?:\/*/i, '')).refine(Boolean)),
  ),
  createdAt: time,
  archivedAt: time,
});

const AGENT_STATUSES = ['active', 'completed', 'archived', 'failed'] as const;

/** A job of the docs agent. */
export type AgentJob = Omit<z.output<typeof agentFields>, 'status' | 'source'> & {
  status: (typeof AGENT_STATUSES)[number] | 'unknown';
  /** The status as the platform wrote it; empty if the response to a send had none. */
  rawStatus: string;
  repository?: string | undefined;
  ref?: string | undefined;
  /** The id of a new job. */
  id?: string | undefined;
};

function toAgentJob({ source, ...job }: z.output<typeof agentFields> & { id?: string }): AgentJob {
  const rawStatus = job.status ?? '';
  return { ...job, ...source, status: parseStatus(rawStatus, AGENT_STATUSES), rawStatus };
}

/** How a commit changed a file, with the fields of the platform. */
const CHANGES = ['modified', 'added', 'removed'] as const;

const names = optional(z.array(z.unknown()));
const filesChanged = z.object({ modified: names, added: names, removed: names });

/** The first files of a commit, as people may read their names, and how many there are. */
export const changedFiles = z.object({
  files: z.array(z.object({ name: z.string(), how: z.enum(CHANGES) })),
  count: z.number(),
});

const MAX_FILES = 3;

function readChanges(read: z.output<typeof filesChanged> = {}): z.infer<typeof changedFiles> | undefined {
  const all = CHANGES.flatMap((how) => (read[how] ?? []).map((name) => ({ name, how })));
  const named = all.filter(({ name }) => typeof name === 'string' && name !== '');
  const first = named.slice(0, MAX_FILES).map(({ name, how }) => ({ name: oneLine(String(name)), how }));
  const files = first.filter(({ name }) => name !== '');
  return files.length > 0 ? { files, count: named.length } : undefined;
}

/** An address of a picture that Slack may load. */
const picture = optional(z.string().max(2000).refine(isPublicAddress));

/**
 * A preview or an update of a site. `ended`: skipped, canceled, or in another way; else an unknown status counts as at work.
 * If it failed, `log` has the lines of its log that name the error. `changed` is of its last commit.
 */
const siteStatus = z
  .object({
    status: line,
    endedAt: time,
    summary: optional(z.string()),
    logs: optional(z.array(z.unknown())),
    commit: optional(z.object({ filesChanged: optional(filesChanged) })),
    screenshot: picture,
    screenshotLight: picture,
  })
  .transform(({ status: rawStatus, summary, logs, endedAt, commit, screenshot, screenshotLight }) => {
    const known = parseStatus(rawStatus, ['queued', 'in_progress', 'success', 'failure']);
    const isOver = endedAt !== undefined || /^(?:cancell?ed|skipped)$/i.test(rawStatus);
    const status = known === 'unknown' && isOver ? 'ended' : known;
    const log = status === 'failure' ? logExcerpt(logs, summary) : [];
    const changed = readChanges(commit?.filesChanged);
    return { status, rawStatus, log, changed, picture: screenshotLight ?? screenshot };
  });
export type SiteStatus = z.infer<typeof siteStatus>;

/** Returns the schema of text that is cut, in characters, before it is processed. */
const textUpTo = (max: number) => z.string().transform((text) => cut(text, max).toWellFormed());
/** The same for text from readers, which may identify them: text with an e-mail address is dropped. */
const publicText = (max: number) =>
  z
    .string()
    .refine((written) => !holdsEmailAddress(written))
    .pipe(textUpTo(max));

const views = z.object({ human: z.number(), ai: z.number() });

/** Returns the schema of a list without its unreadable rows: each costs only itself. */
const readableRows = <Row extends z.ZodType>(row: Row) =>
  z.array(z.unknown()).transform((values) => values.flatMap((value) => row.safeParse(value).data ?? []));

const pageRows = readableRows(views.extend({ path: publicText(2000) }));

/** Response to a page-view query, one page of results. The order of `views` is not specified. */
const pageViews = z
  .object({
    /** Of the whole date range. */
    totals: views,
    views: z.array(z.unknown()),
    hasMore: z.boolean(),
  })
  .transform(({ views: rows, ...rest }) => {
    const read = pageRows.parse(rows);
    // `leftOut` counts rows that are unreadable, or whose path has an e-mail address. An offset counts them as well.
    return { ...rest, views: read, ...(read.length < rows.length && { leftOut: rows.length - read.length }) };
  });

/** A longer cursor could not be sent back: it is part of the next request's address. */
const MAX_CURSOR_LENGTH = 2000;

/** Any other value means that there is more, which could not be requested: it makes a response unreadable. */
const nextCursor = z
  .string()
  .max(MAX_CURSOR_LENGTH)
  .nullish()
  .transform((value) => value || undefined);

/** Response to a query of search terms, one page of results. Without `nextCursor` there are no more terms. */
const searches = z.object({
  searches: readableRows(
    z.object({
      searchQuery: publicText(500),
      hits: z.number(),
      /** Click-through rate on an unspecified scale; missing if unknown. */
      ctr: optional(z.number()),
      /** Missing if nobody clicked. */
      topClickedPage: textUpTo(2000)
        .nullish()
        .transform((page) => page || undefined),
    }),
  ),
  /** All searches of the range, also those of terms that are not listed. */
  totalSearches: optional(z.number()),
  nextCursor,
});

/** Readers' text is not kept. Conversations are counted even if fields are missing. */
const conversation = z.object({
  resolutionStatus: textUpTo(40)
    .catch('')
    .transform((status) => parseStatus(status, ['answered', 'unanswered'])),
  queryCategory: optional(publicText(200).transform((category) => category.trim() || undefined)),
});

const assistantConversations = z
  .object({ conversations: readableRows(conversation), nextCursor, hasMore: optional(z.boolean()) })
  .transform(({ hasMore, ...rest }) => ({
    ...rest,
    /** True without a `nextCursor` if the platform has more but gives no way to get it. */
    hasMore: hasMore ?? rest.nextCursor !== undefined,
  }));

/** One operation of the docs platform: its request, and the schema of a 2xx response. */
export interface Operation {
  method: 'GET' | 'POST';
  /** Path template, such as `/v1/static-export/jobs/{jobId}`. */
  path: string;
  /** What people miss without it. */
  feature: string;
  /** Fields in the template go into the path; the others are the query of a GET, else the JSON body. */
  input: z.ZodObject;
  response: z.ZodType;
  /** Whether a call of unknown effect may be repeated. Default: only a GET. */
  repeatable?: boolean;
  /** A 403 is about the plan, as the person reads. If the key is forbidden everything, other calls show it. */
  isOfPlan?: boolean;
}

const operation =
  <Method extends 'GET' | 'POST'>(method: Method) =>
  <Input extends z.ZodRawShape, Response extends z.ZodType>(
    path: string,
    feature: string,
    input: Input,
    response: Response,
  ) => ({ method, path, feature, input: z.object(input), response });
const get = operation('GET');
const post = operation('POST');

/** Returns a page's path in the platform's form: without slashes at its ends, the home page as `index`. */
const toPagePath = (path: string) => path.replace(/^\/+|(?<!\/)\/+$/gu, '') || 'index';

const pathId = z.string().refine(isSafeId, 'cannot be an id');
const nonEmpty = z.string().min(1);
const limitTo = (max: number) => z.int().min(1).max(max).optional();
/** The `nextCursor` of the previous response. */
const cursor = nonEmpty.max(MAX_CURSOR_LENGTH).optional();
/** Dates are YYYY-MM-DD or ISO 8601; the first is included, the last excluded. */
const range = { projectId: pathId, dateFrom: z.string().optional(), dateTo: z.string().optional() };

/**
 * Every operation that Docket calls. The platform's contract names neither `createAgentJob`, nor those of a site, nor
 * the analytics other than page views: they reject with `not_found` or `unsupported` if the platform lacks them.
 */
export const OPERATIONS = {
  /** `domain` is a host name. Outside the contract: `version` labels the export, without `paths` it has every page. */
  startExport: post(
    '/v1/static-export/jobs',
    'exports and deployments',
    {
      domain: nonEmpty,
      version: z.string().optional(),
      paths: z.array(z.string().transform(toPagePath)).readonly().optional(),
    },
    exportFields
      .extend({ jobId: id })
      .transform(({ jobId, ...job }): StartedExport => ({ jobId, ...toExportJob(job) })),
  ),
  getExport: get(
    '/v1/static-export/jobs/{jobId}',
    'exports and deployments',
    { jobId: pathId },
    exportFields.extend({ status: line }).transform(toExportJob),
  ),
  /**
   * Returns a new link each time, a secret: it lets anybody download. Before the job has completed, rejects with
   * `conflict`.
   */
  createBundle: {
    ...post(
      '/v1/static-export/jobs/{jobId}/bundle',
      'download links and deployments',
      { jobId: pathId },
      z.object({ bundleUrl: webAddress, expiresAt: time, sizeBytes: optional(count) }),
    ),
    repeatable: true,
  },

  /** Sends an instruction to an existing agent job. The response is the job then; no field of it is required. */
  sendFollowUp: post(
    '/v2/agent/{projectId}/job/{jobId}/message',
    'requests to the docs agent',
    { projectId: pathId, jobId: pathId, prompt: nonEmpty },
    agentFields.transform(toAgentJob),
  ),
  getAgentJob: get(
    '/v2/agent/{projectId}/job/{jobId}',
    'following agent jobs',
    { projectId: pathId, jobId: pathId },
    agentFields.extend({ status: line }).transform(toAgentJob),
  ),
  createAgentJob: post(
    '/v2/agent/{projectId}/job',
    'new agent jobs (those that exist can still be followed)',
    { projectId: pathId, prompt: nonEmpty },
    agentFields.extend({ id }).transform(toAgentJob),
  ),

  /** Builds a preview of a branch; a later one has the same address. */
  previewBranch: {
    ...post(
      '/v1/project/preview/{projectId}',
      'previews of branches',
      { projectId: pathId, branch: nonEmpty },
      z.object({ statusId: id, previewUrl: optional(webAddress) }),
    ),
    isOfPlan: true,
  },
  /** Updates the site from the branch that the platform's settings name. */
  updateSite: {
    ...post(
      '/v1/project/update/{projectId}',
      'updates of the site',
      { projectId: pathId },
      z.object({ statusId: id }),
    ),
    isOfPlan: true,
  },
  getSiteStatus: get(
    '/v1/project/update-status/{statusId}',
    'the results of previews and updates',
    { statusId: pathId },
    siteStatus,
  ),

  getPageViews: get(
    '/v1/analytics/{projectId}/views',
    'digests',
    { ...range, limit: limitTo(250), offset: z.int().min(0).optional() },
    pageViews,
  ),
  /**
   * Approximate, and fewer than the sum of the range's days. `total` is required: a person may count in both others.
   * `limit` counts pages, whose visitors are not read.
   */
  getVisitors: get(
    '/v1/analytics/{projectId}/visitors',
    'numbers of readers in digests',
    { ...range, limit: limitTo(250) },
    z.object({ totals: z.object({ total: z.number() }) }),
  ),
  /** Search terms, the most frequent first. */
  getSearches: get(
    '/v1/analytics/{projectId}/searches',
    'search terms in digests',
    { ...range, limit: limitTo(100), cursor },
    searches,
  ),
  /** It has neither cursor nor offset: only the first `limit` pages are available. */
  getFeedbackByPage: get(
    '/v1/analytics/{projectId}/feedback/by-page',
    'thumbs of readers in digests',
    { ...range, limit: limitTo(100) },
    z.object({
      feedback: readableRows(
        z.object({ path: publicText(2000), thumbsUp: z.number(), thumbsDown: z.number() }),
      ),
      hasMore: optional(z.boolean()),
    }),
  ),
  getAssistantConversations: get(
    '/v1/analytics/{projectId}/assistant',
    'questions to the assistant in digests',
    { ...range, limit: limitTo(1000), cursor },
    assistantConversations,
  ),
} satisfies Record<string, Operation>;

/** The operations by name, which is also the label of their metrics. */
export type DocsApiOperation = keyof typeof OPERATIONS;

/** Returns whether an operation may be repeated: other methods than GET only if the row says so. */
export const isRepeatable = ({ method, repeatable = method === 'GET' }: Operation): boolean => repeatable;
