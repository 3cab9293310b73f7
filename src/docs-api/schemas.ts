import { z } from 'zod';
import {
  cut,
  holdsEmailAddress,
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

/** Longer than any presigned link; parsing a host name takes quadratic time. */
const MAX_ADDRESS_LENGTH = 8000;

function isWebAddress(value: string): boolean {
  if (value.length > MAX_ADDRESS_LENGTH) return false;
  const url = URL.parse(value);
  return (url?.protocol === 'https:' || url?.protocol === 'http:') && !/[\s\p{C}]/u.test(value);
}

/** Returns the status if it is one of these, in any case. */
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
  .refine(isWebAddress);

/** Only the status is always there. */
const exportFields = z.object({
  status: optional(line),
  progress: z.unknown().optional(),
  /** Pages exported so far, not the total. */
  pageCount: optional(count),
  createdAt: time,
  updatedAt: time,
  /** Why the job failed, as the platform wrote it: one line, cut. */
  error: z.unknown().transform(parseErrorText).optional(),
});

const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;

/** An export job, with its status as the platform wrote it. `jobId` is that of a new one. */
export type ExportJob = Omit<z.output<typeof exportFields>, 'status' | 'progress'> & {
  status: (typeof EXPORT_STATUSES)[number] | 'unknown';
  rawStatus: string;
  progress?: Progress | undefined;
};
export type StartedExport = ExportJob & { jobId: string };

/** Without a status the job is queued, as in the contract. */
function toExportJob({
  status: rawStatus = '',
  progress,
  ...rest
}: z.output<typeof exportFields>): ExportJob {
  const status = rawStatus === '' ? 'queued' : parseStatus(rawStatus, EXPORT_STATUSES);
  return { ...rest, status, rawStatus, progress: parseProgress(progress, status === 'completed') };
}

/** Response to a start. */
export const startedExport = exportFields
  .extend({ jobId: id })
  .transform(({ jobId, ...job }): StartedExport => ({ jobId, ...toExportJob(job) }));

/** Response to a poll of an export job. */
export const exportJob = exportFields.extend({ status: line }).transform(toExportJob);

/** A link to the bundle of a completed export. `bundleUrl` is a secret: it lets anybody download. */
export const bundleLink = z.object({
  bundleUrl: webAddress,
  expiresAt: time,
  sizeBytes: optional(count),
});

/** Only the status is always there. */
const agentFields = z.object({
  status: optional(line),
  /** The full address of the repository, and the branch that the agent works on. */
  source: optional(z.object({ repository: optional(line), ref: optional(line) })),
  model: optional(line),
  /** An http(s) address, or other text in one line. */
  prLink: optional(z.string().refine(isWebAddress).or(line)),
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

/** Response to a poll of an agent job. */
export const agentJob = agentFields.extend({ status: line }).transform(toAgentJob);

/** Response to an instruction: nothing is required, since a 2xx means that it was accepted. */
export const instructedAgentJob = agentFields.transform(toAgentJob);

/** Response to a creation. */
export const createdAgentJob = agentFields.extend({ id }).transform(toAgentJob);

/** Returns the schema of text that is cut, in characters, before it is processed. */
const textUpTo = (max: number) => z.string().transform((text) => cut(text, max).toWellFormed());
/** The same for text from readers, which may identify them: text with an e-mail address is dropped. */
const publicText = (max: number) =>
  z
    .string()
    .refine((written) => !holdsEmailAddress(written))
    .transform((text) => cut(text, max).toWellFormed());

const views = z.object({ human: z.number(), ai: z.number() });

/** Returns the schema of a list without its unreadable rows: each costs only itself. */
const readableRows = <Row extends z.ZodType>(row: Row) =>
  z.array(z.unknown()).transform((values) => values.flatMap((value) => row.safeParse(value).data ?? []));

const pageRows = readableRows(views.extend({ path: publicText(2000) }));

/** Response to a page-view query, one page of results. The order of `views` is not specified. */
export const pageViews = z
  .object({
    /** Of the whole date range. */
    totals: views,
    views: z.array(z.unknown()),
    hasMore: z.boolean(),
  })
  .transform(({ views: rows, ...rest }) => {
    const read = pageRows.parse(rows);
    // Unreadable, or with an e-mail address in the path. An offset counts them.
    return { ...rest, views: read, ...(read.length < rows.length && { leftOut: rows.length - read.length }) };
  });

/** Response to a visitor query. `total` is required: a person may count in both `human` and `ai`. */
export const visitors = z.object({
  /** Of the whole date range, approximate. */
  totals: z.object({ human: optional(z.number()), ai: optional(z.number()), total: z.number() }),
});

/** A longer cursor could not be sent back: it is part of the next request's address. */
export const MAX_CURSOR_LENGTH = 2000;

/** Any other value means that there is more, which could not be requested: it makes a response unreadable. */
const nextCursor = z
  .string()
  .max(MAX_CURSOR_LENGTH)
  .nullish()
  .transform((value) => value || undefined);

/** Response to a query of search terms, one page of results. Without `nextCursor` there are no more terms. */
export const searches = z.object({
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
  /** Counts all searches of the range. */
  totalSearches: optional(z.number()),
  nextCursor,
});

/** Response to a query of feedback by page. */
export const feedbackByPage = z.object({
  feedback: readableRows(z.object({ path: publicText(2000), thumbsUp: z.number(), thumbsDown: z.number() })),
  hasMore: z.boolean().catch(false),
});

/** Readers' text is not kept. Conversations are counted even if fields are missing. */
const conversation = z.object({
  resolutionStatus: textUpTo(40)
    .catch('')
    .transform((status) => parseStatus(status, ['answered', 'unanswered'])),
  queryCategory: optional(publicText(200).transform((category) => category.trim() || undefined)),
});

/** Response to a query of conversations with the assistant, one page of results. */
export const assistantConversations = z
  .object({ conversations: readableRows(conversation), nextCursor, hasMore: optional(z.boolean()) })
  .transform(({ hasMore, ...rest }) => ({
    ...rest,
    /** True without a `nextCursor` if the platform has more but gives no way to get it. */
    hasMore: hasMore ?? rest.nextCursor !== undefined,
  }));
