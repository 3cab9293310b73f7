import type { DocsApi } from '../docs-api/client.ts';
import type { DocsApiError } from '../docs-api/errors.ts';
import type { JobContext } from './context.ts';

/** A link without a known expiry is forgotten after this time. */
const DEFAULT_LINK_TTL_MS = 3_600_000;

/**
 * Requests a new link to the bundle of a completed job, and stores it under `name`. Returns its expiry as well (epoch;
 * missing if the platform did not say).
 */
export async function createBundleLink(
  docs: DocsApi,
  jobId: string,
  name: string,
  { links, stopping, now }: Pick<JobContext, 'links' | 'stopping' | 'now'>,
) {
  const { bundleUrl, expiresAt, sizeBytes } = await docs.createBundle({ jobId }, { signal: stopping });
  await links.put(name, bundleUrl, expiresAt ?? now() + DEFAULT_LINK_TTL_MS);
  return { link: name, linkEndsAtMs: expiresAt, sizeBytes };
}

/** Whether to retry a failed link at `nextMs`; `sinceMs` is the time of the request. */
export function shouldRetryLink(
  error: DocsApiError,
  nextMs: number,
  sinceMs: number,
  { timing }: Pick<JobContext, 'timing'>,
): boolean {
  // Right after completion, the platform may still report the job as incomplete.
  const isRetryable = error.retryable || error.kind === 'conflict';
  return isRetryable && nextMs <= sinceMs + timing.giveUpMs;
}
