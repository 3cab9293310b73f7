import { z } from 'zod';
import { oneLine, type Progress, parseErrorText, parseProgress, parseTimestamp } from './text.ts';

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
export const parseStatus = <Status extends string>(
  raw: string,
  statuses: readonly Status[],
): Status | 'unknown' => statuses.find((status) => status === raw.trim().toLowerCase()) ?? 'unknown';

/** Returns the schema of a field that is left out if it is unreadable. */
export const optional = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** An id that is unsafe in a path is refused, since its job could not be requested. */
const id = z.union([z.string(), z.int()]).transform(String).refine(isSafeId);
const nonBlank = z.string().refine((value) => value.trim() !== '');
const line = optional(z.string().transform((text) => oneLine(text) || undefined));
const count = z.union([z.int().nonnegative(), z.string().regex(/^\s*\d{1,15}\s*$/u)]).transform(Number);
/** Epoch milliseconds. */
const time = z.unknown().transform(parseTimestamp).optional();
/** Platforms put names with spaces into addresses unencoded. */
const webAddress = z
  .string()
  .transform((address) => address.trim().replaceAll(' ', '%20'))
  .refine(isWebAddress);

const EXPORT_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
type ExportStatus = (typeof EXPORT_STATUSES)[number] | 'unknown';

/** Only the status is always there. */
const exportFields = z.object({
  progress: z.unknown().optional(),
  /** Pages exported so far, not the total. */
  pageCount: optional(count),
  createdAt: time,
  updatedAt: time,
  /** Why the job failed, as the platform wrote it: one line, cut. */
  error: z.unknown().transform(parseErrorText).optional(),
});

/** An export job. */
export type ExportJob = Omit<z.output<typeof exportFields>, 'progress'> & {
  status: ExportStatus;
  rawStatus: string;
  progress?: Progress | undefined;
};
export type StartedExport = ExportJob & { jobId: string };

/** Adds `status`, and `rawStatus` as the platform wrote it: empty if the response to a start had none. */
function withStatus<Fields extends { status?: string | undefined; progress?: unknown }>(
  job: Fields,
  defaultStatus: ExportStatus,
) {
  const rawStatus = oneLine(job.status ?? '');
  const status = rawStatus === '' ? defaultStatus : parseStatus(rawStatus, EXPORT_STATUSES);
  return { ...job, status, rawStatus, progress: parseProgress(job.progress, status === 'completed') };
}

/** Response to a start. Without a status the job is queued, as in the contract. */
export const startedExport = exportFields
  .extend({ jobId: id, status: optional(nonBlank) })
  .transform((job): StartedExport => withStatus(job, 'queued'));

/** Response to a poll of an export job. */
export const exportJob = exportFields
  .extend({ status: nonBlank })
  .transform((job): ExportJob => withStatus(job, 'unknown'));

/** A link to the bundle of a completed export. `bundleUrl` is a secret: it lets anybody download. */
export const bundleLink = z.object({
  bundleUrl: webAddress,
  expiresAt: time,
  sizeBytes: optional(count),
});

const AGENT_STATUSES = ['active', 'completed', 'archived', 'failed'] as const;

/** Only the status is always there. */
const agentFields = z.object({
  status: optional(nonBlank),
  /** The full address of the repository, and the branch that the agent works on. */
  source: optional(z.object({ repository: line, ref: line })),
  model: line,
  prLink: optional(nonBlank),
  createdAt: time,
  archivedAt: time,
});

/** A job of the docs agent. */
export type AgentJob = Omit<z.output<typeof agentFields>, 'status' | 'source'> & {
  status: (typeof AGENT_STATUSES)[number] | 'unknown';
  /** The status as the platform wrote it; empty if the response to a send had none. */
  rawStatus: string;
  repository?: string | undefined;
  ref?: string | undefined;
  /** The platform's `prLink` if it is not an http(s) address. */
  prText?: string | undefined;
  /** The id of a new job. */
  id?: string | undefined;
};

function toAgentJob({ source, prLink, ...job }: z.output<typeof agentFields> & { id?: string }): AgentJob {
  const rawStatus = oneLine(job.status ?? '');
  const isLink = prLink !== undefined && isWebAddress(prLink);
  return {
    ...job,
    status: parseStatus(rawStatus, AGENT_STATUSES),
    rawStatus,
    repository: source?.repository,
    ref: source?.ref,
    prLink: isLink ? prLink : undefined,
    prText: isLink ? undefined : oneLine(prLink ?? '') || undefined,
  };
}
/** Response to a poll of an agent job. */
export const agentJob = agentFields.extend({ status: nonBlank }).transform(toAgentJob);

/** Response to an instruction: nothing is required, since a 2xx means that it was accepted. */
export const instructedAgentJob = agentFields.transform(toAgentJob);

/** Response to a creation. */
export const createdAgentJob = agentFields.extend({ id }).transform(toAgentJob);
