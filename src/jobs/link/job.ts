import type { DocsApi } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import { fillLinks } from '../../slack/blocks.ts';
import type { RunBase } from '../../store/runs.ts';
import { deliveryCheckMs, postWhereAsked, recheckPermission } from '../card.ts';
import type { JobContext } from '../context.ts';
import { runAgainIn } from '../job.ts';
import { lookupRetryMs, nextFailure, type PollFailure } from '../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../run-job.ts';
import { type LinkRun, linkRun } from './record.ts';
import { linkKey, linkMessages, refusedMessage } from './view.ts';

/** Makes one person's own link, sends it by direct message, and removes it there when it expires. */
export const linkJob = defineRunJob({
  name: 'link',
  queue: 'docs-export',
  concurrency: 5,
  schema: linkRun,
  messages: linkMessages,
  hasEnded: ({ state }) => state === 'failed',
  auditLine: ({ to, site, exportJobId }) => ({
    user: to,
    channel: '',
    what: 'link',
    subject: site,
    job: exportJobId,
  }),
  step: ({ run }, context) => step(run, context),
  // A later error is not shown: the person has the link, or knows that there is none.
  giveUp: async ({ run }, context, ref) =>
    run.state === 'making' ? endFailed(run, `broken: ref ${ref}`) : markIdle(run, context),
});

async function step(run: LinkRun, context: JobContext): Promise<StepResult<LinkRun>> {
  switch (run.state) {
    case 'making':
      return createLink(run, context);
    case 'sent':
      return awaitDelivery(run, context);
    case 'failed':
      if (run.refusal !== undefined) {
        await postLinkEphemeral(run, run.refusal, context);
        return markIdle(run, context);
      }
      if (run.link === undefined || run.expired) return markIdle(run, context);
      return awaitExpiry(run, { expired: true }, context);
    case 'over':
      return markIdle(run, context);
  }
}

const endFailed = (run: LinkRun, audit: string) => saveAs({ ...run, state: 'failed' as const }, { audit });

async function createLink(run: LinkRun, context: JobContext): Promise<StepResult<LinkRun>> {
  const { now } = context;
  if (now() < run.nextPollAtMs) return runAgainIn(run.nextPollAtMs - now());
  const permission = await recheckPermission(run.to.id, run.sinceMs, context);
  if (permission.kind === 'unknown') return runAgainIn(lookupRetryMs(context));
  if (permission.kind === 'refused') return endFailed(run, 'refused: not permitted');
  const docs = context.docs(run.project);
  if (docs === undefined) return endFailed(run, 'no such project');
  const name = `${run.id}.${run.made}`;
  const made = await makeBundleLink(run, docs, { jobId: run.exportJobId, name }, context);
  switch (made.kind) {
    case 'made': {
      const { link, linkEndsAtMs } = made.made;
      return saveAs({ ...run, state: 'sent', link, linkEndsAtMs, expired: undefined }, { audit: 'sent' });
    }
    case 'later':
      return made.result;
    case 'failed':
      return endFailed(run, made.error.kind);
  }
}

/** Waits until the message with the link is posted, and removes the link when it expires. */
async function awaitDelivery(run: LinkRun, context: JobContext): Promise<StepResult<LinkRun>> {
  const delivery = await context.outbox.deliveryState(linkKey(run));
  if (delivery.kind === 'refused')
    return endFailed({ ...run, refusal: delivery.code }, `not delivered: ${delivery.code}`);
  if (delivery.kind === 'shown') return awaitExpiry(run, { state: 'over' }, context);
  const leftMs = (run.linkEndsAtMs ?? Infinity) - context.now();
  if (leftMs <= 0) return saveAs({ ...run, state: 'over' });
  return runAgainIn(Math.min(deliveryCheckMs(run, context, context.timing.retryMaxMs), leftMs));
}

/** If Slack takes no direct message, posts the link as an ephemeral to the click, while that is possible. */
async function postLinkEphemeral(run: LinkRun, code: string, context: JobContext): Promise<void> {
  const link = await context.links.get(run.link ?? '');
  if (link === undefined) return;
  const message = await fillLinks(refusedMessage(run, code), async () => link);
  await postWhereAsked(run, `refused.${run.made}`, message, context);
}

/** Waits until the link expires, then saves `changes`. A link of unknown expiry stays as it is. */
async function awaitExpiry(
  run: LinkRun,
  changes: Partial<LinkRun>,
  context: JobContext,
): Promise<StepResult<LinkRun>> {
  if (run.linkEndsAtMs === undefined) return markIdle(run, context);
  const leftMs = run.linkEndsAtMs - context.now();
  return leftMs > 0 ? runAgainIn(leftMs) : saveAs({ ...run, ...changes });
}

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
