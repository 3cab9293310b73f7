import type { DocsApi } from '../docs-api/client.ts';
import type { DocsApiError } from '../docs-api/errors.ts';
import type { JobContext } from './context.ts';

/** A link is forgotten after this time when the platform did not say how long it works. */
const DEFAULT_LINK_TTL_MS = 3_600_000;

/**
 * Has the platform make a fresh link to the bundle of a completed job, and keeps it under `name`. Returns when the link
 * stops working (epoch; missing when the platform did not say), too.
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

/** Whether a link that could not be made is worth another try at `nextMs`, having been wanted since `sinceMs`. */
export function shouldRetryLink(
  error: DocsApiError,
  nextMs: number,
  sinceMs: number,
  { timing }: Pick<JobContext, 'timing'>,
): boolean {
  // A platform that has just completed a job may still call it incomplete for a moment.
  const isRetryable = error.retryable || error.kind === 'conflict';
  return isRetryable && nextMs <= sinceMs + timing.giveUpMs;
}
