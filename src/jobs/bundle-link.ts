import type { DocsApi } from '../docs-api/client.ts';
import { DocsApiError } from '../docs-api/errors.ts';
import type { RunBase } from '../store/runs.ts';
import type { JobContext } from './context.ts';
import { runAgainIn } from './job.ts';
import type { PollFailure } from './poll-record.ts';
import { nextFailure } from './retry.ts';
import { saveAs } from './run-job.ts';

/** A link without a known expiry is forgotten after this time. */
const DEFAULT_LINK_TTL_MS = 3_600_000;

/** A run that makes a link; `sinceMs` is the time of the request. */
interface LinkingRun extends RunBase {
  project: string;
  sinceMs: number;
  nextPollAtMs: number;
  pollFailure?: PollFailure | undefined;
}

/**
 * Requests a new link to the bundle of a completed job, and stores it under `name`. Returns the link with its expiry
 * (epoch; missing if the platform did not say), or `later` with the step's result, or the error that ends the tries.
 */
export async function makeBundleLink<Run extends LinkingRun>(
  run: Run,
  docs: DocsApi,
  { jobId, name }: { jobId: string; name: string },
  context: JobContext,
) {
  const { links, stopping, timing, now } = context;
  try {
    const { bundleUrl, expiresAt, sizeBytes } = await docs.createBundle({ jobId }, { signal: stopping });
    await links.put(name, bundleUrl, expiresAt ?? now() + DEFAULT_LINK_TTL_MS);
    return { kind: 'made', made: { link: name, linkEndsAtMs: expiresAt, sizeBytes } } as const;
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return { kind: 'later', result: runAgainIn(0) } as const;
    const failure = nextFailure(run.pollFailure, error, context);
    // Right after completion, the platform may still report the job as incomplete.
    const isRetryable = error.retryable || error.kind === 'conflict';
    if (isRetryable && failure.nextMs <= run.sinceMs + timing.giveUpMs) {
      const next = { ...run, pollFailure: failure, nextPollAtMs: failure.nextMs };
      return { kind: 'later', result: saveAs<Run>(next, { inMs: failure.nextMs - now() }) } as const;
    }
    const needsOperator = error.kind === 'key_rejected' || error.kind === 'forbidden';
    const adminsTold = needsOperator && (await context.alertAdmins(run.teamId, run.project, error));
    return { kind: 'failed', error, adminsTold } as const;
  }
}
