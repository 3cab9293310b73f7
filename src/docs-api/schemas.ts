import { z } from 'zod';
import { holdsEmailAddress } from './email-address.ts';
import { isSafeId } from './paths.ts';
import { type CleanText, cut, fieldOf, parseErrorText, parseText } from './platform-text.ts';
import { type Progress, parseProgress } from './progress.ts';
import { parseTimestamp } from './timestamp.ts';

/** An export job as the platform describes it. Only `jobId` and the status are always there. */
export interface ExportJob {
  jobId: string;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'unknown';
  /** The status as the platform wrote it; empty if the response to a start had none. */
  rawStatus: string;
  progress?: Progress;
  /** Pages exported so far, not the total. */
  pageCount?: number;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** Epoch milliseconds. */
  updatedAt?: number;
  /** Why the job failed, as the platform wrote it: one line, cut. */
  error?: string;
}

/** A link to the bundle of a completed export. `bundleUrl` is a secret: it lets anybody download. */
export interface BundleLink {
  bundleUrl: string;
  /** Epoch milliseconds; missing if the platform's value is unreadable, though the link works. */
  expiresAt?: number;
  sizeBytes?: number;
}

/** A job of the docs agent. */
export interface AgentJob {
  id: string;
  status: 'active' | 'completed' | 'archived' | 'failed' | 'unknown';
  /** The status as the platform wrote it; empty if the response to a send had none. */
  rawStatus: string;
  /** Full address of the repository. */
  repository?: string;
  /** Branch that the agent works on. */
  ref?: string;
  model?: string;
  /** http(s) address of the pull request. */
  prLink?: string;
  /** The platform's `prLink` if it is not an http(s) address. */
  prText?: string;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** Epoch milliseconds. */
  archivedAt?: number;
}

/** How a 2xx response is read: by a schema, created once since its first use compiles it, and a function. */
export interface ResponseReader<Body, Answer, Input> {
  schema: z.ZodType<Body>;
  toAnswer(body: Body, clean: CleanText, input: Input): Answer;
}

function responseOf<Body, Answer, Input = unknown>(
  schema: z.ZodType<Body>,
  toAnswer: (body: Body, clean: CleanText, input: Input) => Answer,
): ResponseReader<Body, Answer, Input> {
  return { schema, toAnswer };
}

/** Returns the reader of a response that needs only its schema. */
const plainResponse = <Answer>(schema: z.ZodType<Answer>) => responseOf(schema, (answer) => answer);

/** Longer than any presigned link; parsing a host name takes quadratic time. */
const MAX_ADDRESS_LENGTH = 8000;

/** An id that is unsafe in a path is refused, since its job could not be requested. */
const id = z.union([z.string(), z.int()]).transform(String).refine(isSafeId);
const nonBlank = z.string().refine((value) => value.trim() !== '');
/** Platforms put names with spaces into addresses unencoded. */
const webAddress = z
  .string()
  .transform((address) => address.trim().replaceAll(' ', '%20'))
  .refine(isWebAddress);
const count = z.union([z.int().nonnegative(), z.string().regex(/^\s*\d{1,15}\s*$/u)]).transform(Number);

const optionalNonBlank = nonBlank.optional().catch(undefined);
const optionalCount = count.optional().catch(undefined);
const optionalUnknown = z.unknown().optional();
const optionalTime = optionalUnknown.transform(parseTimestamp);

const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
const AGENT_STATUSES = ['active', 'completed', 'archived', 'failed'] as const;

const exportFields = z.object({
  progress: optionalUnknown,
  pageCount: optionalCount,
  createdAt: optionalTime,
  updatedAt: optionalTime,
  error: optionalUnknown,
});

/** Response to a start: `jobId` is required. Without a status the job is queued, as in the contract. */
export const startExportResponse = responseOf(
  exportFields.extend({ jobId: id, status: optionalNonBlank }),
  (job, clean) => toExportJob(job, clean, 'queued'),
);

/** Response to a poll of an export job: `status` is required, the id is that of the request. */
export const exportResponse = responseOf(
  exportFields.extend({ status: nonBlank }),
  (job, clean, { jobId }: { jobId: string }) => toExportJob({ ...job, jobId }, clean),
);

function toExportJob(
  job: z.infer<typeof exportFields> & { jobId: string; status?: string | undefined },
  clean: CleanText,
  defaultStatus: ExportJob['status'] = 'unknown',
): ExportJob {
  const { jobId, pageCount, createdAt, updatedAt } = job;
  const rawStatus = clean(job.status ?? '');
  const status = rawStatus === '' ? defaultStatus : parseStatus(rawStatus, EXPORT_STATUSES);
  const progress = parseProgress(job.progress, status === 'completed', clean);
  const error = parseErrorText(job.error, clean);
  return { jobId, status, rawStatus, ...omitUndefined({ progress, pageCount, createdAt, updatedAt, error }) };
}

/** Response to a request for a bundle: only the link is required. */
export const bundleResponse = plainResponse<BundleLink>(
  z
    .object({ bundleUrl: webAddress, expiresAt: optionalTime, sizeBytes: optionalCount })
    .transform(({ bundleUrl, expiresAt, sizeBytes }) => ({
      bundleUrl,
      ...omitUndefined({ expiresAt, sizeBytes }),
    })),
);

const agentFields = z.object({
  source: z.object({ repository: optionalNonBlank, ref: optionalNonBlank }).optional().catch(undefined),
  model: optionalNonBlank,
  prLink: optionalNonBlank,
  createdAt: optionalTime,
  archivedAt: optionalTime,
});

/** Response to a poll of an agent job: `status` is required, the id is that of the request. */
export const agentJobResponse = responseOf(
  agentFields.extend({ status: nonBlank }),
  (job, clean, { jobId }: { jobId: string }) => toAgentJob({ ...job, id: jobId }, clean),
);

/** Response to an instruction: nothing is required, since a 2xx means that it was accepted. */
export const followUpResponse = responseOf(
  agentFields.extend({ status: optionalNonBlank }),
  (job, clean, { jobId }: { jobId: string }) => toAgentJob({ ...job, id: jobId }, clean),
);

/** Response to a creation: `id` is required. */
export const createAgentJobResponse = responseOf(
  agentFields.extend({ id, status: optionalNonBlank }),
  (job, clean) => toAgentJob(job, clean),
);

function toAgentJob(
  job: z.infer<typeof agentFields> & { id: string; status?: string | undefined },
  clean: CleanText,
): AgentJob {
  const { id, source, model, prLink, createdAt, archivedAt } = job;
  const rawStatus = clean(job.status ?? '');
  const isLink = prLink !== undefined && isWebAddress(prLink);
  return {
    id,
    status: parseStatus(rawStatus, AGENT_STATUSES),
    rawStatus,
    ...omitUndefined({
      repository: parseText(source?.repository, clean),
      ref: parseText(source?.ref, clean),
      model: parseText(model, clean),
      prLink: isLink ? prLink : undefined,
      prText: prLink === undefined || isLink ? undefined : parseText(prLink, clean),
      createdAt,
      archivedAt,
    }),
  };
}

/** Returns the schema of text that is cut, in characters, before it is processed. */
const textUpTo = (max: number) => z.string().transform((text) => cut(text, max).toWellFormed());
/** Text from readers, which may identify them: text with an e-mail address is dropped. */
const withoutAddress = <Text extends z.ZodType<unknown, string>>(text: Text) =>
  z
    .string()
    .refine((written) => !holdsEmailAddress(written))
    .pipe(text);
const MAX_PATH = 2000;
const pagePath = textUpTo(MAX_PATH);
const publicPath = withoutAddress(pagePath);

/** Any number, even negative or fractional: it is rounded for display. */
const number = z
  .union([
    z.number(),
    z
      .string()
      .max(40)
      .regex(/^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/u),
  ])
  .transform(Number);
const flag = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]);
const optionalFlag = flag.optional().catch(undefined);

const countsSchema = z.object({ human: number, ai: number, total: number.nullish() });
const withTotal = <T extends z.infer<typeof countsSchema>>(counts: T) => ({
  ...counts,
  total: counts.total ?? counts.human + counts.ai,
});

const pageRow = countsSchema.extend({ path: pagePath }).transform(withTotal);
type PageRow = z.infer<typeof pageRow>;

/** Returns a row unchanged if it needs no repair. */
function plainRow(row: unknown): PageRow | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const { path, human, ai, total } = row as Partial<Record<keyof PageRow, unknown>>;
  if (typeof path !== 'string' || path.length > MAX_PATH || !path.isWellFormed()) return undefined;
  if (!isNumber(human) || !isNumber(ai) || !(total === undefined || isNumber(total))) return undefined;
  return { path, human, ai, total: total ?? human + ai };
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** Returns whether the path of a row's page identifies a reader. The whole path is checked. */
const isOfReader = (row: unknown) => {
  const path = fieldOf(row, 'path');
  return typeof path === 'string' && holdsEmailAddress(path);
};

/** There may be tens of thousands of rows: a schema takes many times the time and memory of this check. */
const pageRows = z.array(z.unknown()).transform((all) => {
  const rows = all.flatMap((row) => {
    const data = plainRow(row) ?? pageRow.safeParse(row).data;
    return data === undefined || isOfReader(row) ? [] : [data];
  });
  return { rows, leftOut: all.length - rows.length };
});

/**
 * Response to a page-view query, one page of results. Everything but `total` is required; a missing `total` is
 * computed. The order of `views` is not specified.
 */
export const pageViewsResponse = plainResponse(
  z
    .object({
      /** Of the whole date range. */
      totals: countsSchema.transform(withTotal),
      views: pageRows,
      hasMore: flag,
    })
    .transform(({ totals, views: { rows, leftOut }, hasMore }) => ({
      totals,
      views: rows,
      hasMore,
      /** Rows left out of `views`: unreadable, or with an e-mail address in the path. An offset counts them. */
      ...omitUndefined({ leftOut: leftOut || undefined }),
    })),
);

/** Response to a visitor query. `total` is required: a person may count in both `human` and `ai`. */
export const visitorsResponse = plainResponse(
  z.object({
    /** Of the whole date range, approximate. */
    totals: z
      .object({
        human: number.optional().catch(undefined),
        ai: number.optional().catch(undefined),
        total: number,
      })
      .transform(({ human, ai, total }) => ({ total, ...omitUndefined({ human, ai }) })),
  }),
);

/** A longer cursor could not be sent back: it is part of the next request's address. */
export const MAX_CURSOR_LENGTH = 2000;

/** Any other value means that there is more, which could not be requested: it makes a response unreadable. */
const nextCursor = z
  .union([z.string().max(MAX_CURSOR_LENGTH), z.int(), z.null()])
  .optional()
  .transform((value) => (value === null || value === '' ? undefined : value?.toString()));

/** Returns the schema of a list without its unreadable rows: each costs only itself. */
const readableRows = <Row extends z.ZodType>(row: Row) =>
  z.array(z.unknown()).transform((values) =>
    values.flatMap((value) => {
      const read = row.safeParse(value);
      return read.success ? [read.data] : [];
    }),
  );

const searchRow = z
  .object({
    searchQuery: withoutAddress(textUpTo(500)),
    hits: number,
    ctr: number.optional().catch(undefined),
    topClickedPage: pagePath.nullish(),
  })
  .transform(({ searchQuery, hits, ctr, topClickedPage }) => ({
    searchQuery,
    hits,
    ...omitUndefined({
      /** Click-through rate on an unspecified scale; missing if unknown. */
      ctr,
      /** Missing if nobody clicked. */
      topClickedPage: topClickedPage || undefined,
    }),
  }));

/** Response to a query of search terms, one page of results. Only `searches` is required. */
export const searchesResponse = plainResponse(
  z
    .object({
      searches: readableRows(searchRow),
      totalSearches: number.optional().catch(undefined),
      nextCursor,
    })
    .transform(({ searches, totalSearches, nextCursor }) => ({
      searches,
      /** `totalSearches` counts all searches of the range; without `nextCursor` there are no more terms. */
      ...omitUndefined({ totalSearches, nextCursor }),
    })),
);

/** Response to a query of feedback by page. Only `feedback` is required. */
export const feedbackByPageResponse = plainResponse(
  z
    .object({
      feedback: readableRows(z.object({ path: publicPath, thumbsUp: number, thumbsDown: number })),
      hasMore: optionalFlag,
    })
    .transform(({ feedback, hasMore }) => ({ feedback, hasMore: hasMore ?? false })),
);

const RESOLUTIONS = ['answered', 'unanswered'] as const;

/** Readers' text is not kept. Conversations are counted even if fields are missing. */
const conversation = z
  .object({
    resolutionStatus: optionalUnknown,
    queryCategory: withoutAddress(textUpTo(200)).optional().catch(undefined),
  })
  .transform(({ resolutionStatus, queryCategory }) => ({
    resolutionStatus: parseStatus(
      typeof resolutionStatus === 'string' ? cut(resolutionStatus, 40) : '',
      RESOLUTIONS,
    ),
    ...omitUndefined({ queryCategory: queryCategory?.trim() || undefined }),
  }));

/** Response to a query of conversations with the assistant, one page of results. Only `conversations` is required. */
export const assistantConversationsResponse = plainResponse(
  z
    .object({ conversations: readableRows(conversation), nextCursor, hasMore: optionalFlag })
    .transform(({ conversations, nextCursor, hasMore }) => ({
      conversations,
      /** True without a `nextCursor` if the platform has more but gives no way to get it. */
      hasMore: hasMore ?? nextCursor !== undefined,
      ...omitUndefined({ nextCursor }),
    })),
);

function parseStatus<Status extends string>(raw: string, statuses: readonly Status[]): Status | 'unknown' {
  return statuses.find((status) => status === raw.trim().toLowerCase()) ?? 'unknown';
}

function isWebAddress(value: string): boolean {
  if (value.length > MAX_ADDRESS_LENGTH) return false;
  const url = URL.parse(value);
  return (url?.protocol === 'https:' || url?.protocol === 'http:') && !/[\s\p{C}]/u.test(value);
}

type OmitUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Returns the fields without those that are undefined. */
function omitUndefined<T extends object>(fields: T): OmitUndefined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as OmitUndefined<T>;
}
