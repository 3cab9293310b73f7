import { z } from 'zod';
import { isSafeId } from './paths.ts';
import type { Clean } from './platform-text.ts';
import { type Progress, progressFrom } from './progress.ts';
import { timestampFrom } from './timestamp.ts';

/** An export job as the platform tells it. Only `jobId` and the status are sure; the rest is there when it was sent. */
export interface ExportJob {
  jobId: string;
  status: 'queued' | 'running' | 'completed' | 'failed' | 'unknown';
  /** The platform's own word for the status; empty when a start was answered without one. */
  rawStatus: string;
  progress?: Progress;
  /** Pages exported so far, which is not how many there will be. */
  pageCount?: number;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** Epoch milliseconds. */
  updatedAt?: number;
  /** Why the job failed, in the platform's words: one line, cut. */
  error?: string;
}

/** A link to the bundle of a completed export. `bundleUrl` is a secret: whoever has it can download. */
export interface BundleLink {
  bundleUrl: string;
  /** Epoch milliseconds; missing when the platform's value cannot be read, though the link works. */
  expiresAt?: number;
  sizeBytes?: number;
}

/** A job of the docs agent. */
export interface AgentJob {
  id: string;
  status: 'active' | 'completed' | 'archived' | 'failed' | 'unknown';
  /** The platform's own word for the status; empty when a send was answered without one. */
  rawStatus: string;
  /** Full address of the repository. */
  repository?: string;
  /** Branch that the agent works on. */
  ref?: string;
  model?: string;
  /** http(s) address of the pull request. */
  prLink?: string;
  /** What the platform gave as `prLink` when it is not an http(s) address. */
  prText?: string;
  /** Epoch milliseconds. */
  createdAt?: number;
  /** Epoch milliseconds. */
  archivedAt?: number;
}

/** Counts as the platform gives them; they need not be whole. */
export interface ViewCounts {
  human: number;
  ai: number;
  total: number;
}

export interface PageView extends ViewCounts {
  path: string;
}

/** One page of results; `totals` are those of the whole date range. The order of `views` is not specified. */
export interface PageViews {
  totals: ViewCounts;
  views: PageView[];
  hasMore: boolean;
}

/** Longer than any presigned link; reading a host name takes the square of its length. */
const MAX_ADDRESS_LENGTH = 8000;

/** One that cannot be asked about is none. */
const id = z.union([z.string(), z.int()]).transform(String).refine(isSafeId);
const word = z.string().refine((value) => value.trim() !== '');
const webAddress = z.string().refine(isWebAddress);
const count = z.union([z.int().nonnegative(), z.string().regex(/^\s*\d{1,15}\s*$/u)]).transform(Number);

const optionalId = id.optional().catch(undefined);
const optionalWord = word.optional().catch(undefined);
const optionalCount = count.optional().catch(undefined);
const anything = z.unknown().optional();
const optionalTime = anything.transform(timestampFrom);

const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
const AGENT_STATUSES = ['active', 'completed', 'archived', 'failed'] as const;

const exportFields = z.object({
  progress: anything,
  pageCount: optionalCount,
  createdAt: optionalTime,
  updatedAt: optionalTime,
  error: anything,
});

/** Answer to a start: `jobId` is required. Without a status the job is queued, as the contract says of a new job. */
export function startedExportAnswer(clean: Clean): z.ZodType<ExportJob> {
  return exportFields
    .extend({ jobId: id, status: optionalWord })
    .transform((job) => exportJob({ ...job, status: job.status ?? '' }, 'queued', clean));
}

/** Answer to a look at a job: `status` is required, the id is the one that was asked for. */
export function exportAnswer(jobId: string, clean: Clean): z.ZodType<ExportJob> {
  return exportFields
    .extend({ status: word })
    .transform((job) => exportJob({ ...job, jobId }, 'unknown', clean));
}

function exportJob(
  job: z.infer<typeof exportFields> & { jobId: string; status: string },
  withoutStatus: ExportJob['status'],
  clean: Clean,
): ExportJob {
  const { jobId, pageCount, createdAt, updatedAt } = job;
  const rawStatus = clean(job.status);
  const status = rawStatus === '' ? withoutStatus : known(rawStatus, EXPORT_STATUSES);
  const progress = progressFrom(job.progress, status === 'completed', clean);
  const error = errorTextFrom(job.error, clean);
  return { jobId, status, rawStatus, ...present({ progress, pageCount, createdAt, updatedAt, error }) };
}

/** Answer to a bundle request: only the link is required. */
export const bundleAnswer: z.ZodType<BundleLink> = z
  .object({ bundleUrl: webAddress, expiresAt: optionalTime, sizeBytes: optionalCount })
  .transform(({ bundleUrl, expiresAt, sizeBytes }) => ({ bundleUrl, ...present({ expiresAt, sizeBytes }) }));

const agentFields = z.object({
  source: z.object({ repository: optionalWord, ref: optionalWord }).optional().catch(undefined),
  model: optionalWord,
  prLink: optionalWord,
  createdAt: optionalTime,
  archivedAt: optionalTime,
});

/** Answer to a look at an agent job: `status` is required, the id is the one that was asked for. */
export function agentAnswer(jobId: string, clean: Clean): z.ZodType<AgentJob> {
  return agentFields.extend({ status: word }).transform((job) => agentJob({ ...job, id: jobId }, clean));
}

/** Answer to an instruction: nothing is required, since the instruction was taken. */
export function followUpAnswer(jobId: string, clean: Clean): z.ZodType<AgentJob> {
  return agentFields
    .extend({ id: optionalId, status: optionalWord })
    .transform((job) => agentJob({ ...job, id: jobId, status: job.status ?? '' }, clean));
}

/** Answer to a creation: `id` is required. */
export function createdAgentAnswer(clean: Clean): z.ZodType<AgentJob> {
  return agentFields
    .extend({ id, status: optionalWord })
    .transform((job) => agentJob({ ...job, status: job.status ?? '' }, clean));
}

function agentJob(job: z.infer<typeof agentFields> & { id: string; status: string }, clean: Clean): AgentJob {
  const { id, source, model, prLink, createdAt, archivedAt } = job;
  const rawStatus = clean(job.status);
  const isLink = prLink !== undefined && isWebAddress(prLink);
  return {
    id,
    status: known(rawStatus, AGENT_STATUSES),
    rawStatus,
    ...present({
      repository: textFrom(source?.repository, clean),
      ref: textFrom(source?.ref, clean),
      model: textFrom(model, clean),
      prLink: isLink ? prLink : undefined,
      prText: prLink === undefined || isLink ? undefined : textFrom(prLink, clean),
      createdAt,
      archivedAt,
    }),
  };
}

/** As it comes, whole and positive or not: where it is shown, it is rounded. */
const viewCount = z
  .union([z.number(), z.string().regex(/^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/u)])
  .transform(Number);
const countsShape = z.object({ human: viewCount, ai: viewCount, total: viewCount.optional() });
const withTotal = <T extends z.infer<typeof countsShape>>(counts: T) => ({
  ...counts,
  total: counts.total ?? counts.human + counts.ai,
});

/** Answer to a page-view query. Everything is required; only a missing `total` is added up. */
export const pageViewsAnswer: z.ZodType<PageViews> = z.object({
  totals: countsShape.transform(withTotal),
  views: z.array(countsShape.extend({ path: z.string() }).transform(withTotal)),
  hasMore: z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]),
});

/** The platform's words in an error answer (`error`, else `message`), or in the `error` of a failed job. */
export function errorTextFrom(value: unknown, clean: Clean): string | undefined {
  const inner = fieldOf(value, 'error');
  const candidates = [value, inner, fieldOf(inner, 'message'), fieldOf(value, 'message')];
  return candidates.map((candidate) => textFrom(candidate, clean)).find((text) => text !== undefined);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
}

function textFrom(value: unknown, clean: Clean): string | undefined {
  return typeof value === 'string' ? clean(value) || undefined : undefined;
}

function known<Status extends string>(raw: string, statuses: readonly Status[]): Status | 'unknown' {
  return statuses.find((status) => status === raw.trim().toLowerCase()) ?? 'unknown';
}

function isWebAddress(value: string): boolean {
  if (value.length > MAX_ADDRESS_LENGTH) return false;
  const url = URL.parse(value);
  return (url?.protocol === 'https:' || url?.protocol === 'http:') && !/[\s\p{C}]/u.test(value);
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** The same fields without those that are undefined. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
