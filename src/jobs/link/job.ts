import { DocsApiError } from '../../docs-api/errors.ts';
import { backoffMs } from '../../runtime/timing.ts';
import { fillLinks } from '../../slack/blocks.ts';
import { createBundleLink, shouldRetryLink } from '../bundle-link.ts';
import type { JobContext } from '../context.ts';
import { done, type Outcome, runAgainIn } from '../job.ts';
import { defineRunJob } from '../run-job.ts';
import { type LinkRun, linkRun } from './record.ts';
import { linkKey, linkMessages, refusedMessage } from './view.ts';

/** Makes one person's own link, sends it by direct message, and takes it out of there when it ends. */
export const linkJob = defineRunJob({
  name: 'link',
  queue: 'docs-export',
  concurrency: 5,
  schema: linkRun,
  async step({ run }, context) {
    await publishMessages(run, context);
    return step(run, context);
  },
  giveUp: ({ run }, context, ref) => giveUp(run, context, ref),
});

async function step(run: LinkRun, context: JobContext): Promise<Outcome> {
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
      if (run.link === undefined || run.over) return markIdle(run, context);
      return awaitExpiry(run, { over: true }, context);
    case 'over':
      return markIdle(run, context);
  }
}

async function giveUp(run: LinkRun, context: JobContext, ref: string): Promise<Outcome> {
  // What breaks later has nobody to tell: the person has the link, or knows that there is none.
  if (run.state !== 'making') return markIdle(run, context);
  const saved = await context.runs.save({ ...run, state: 'failed' as const }, true);
  if (saved === undefined) return done;
  await publishMessages(saved, context);
  await addAudit(saved, `broken: ref ${ref}`, context);
  // One with an earlier link stays open, and is looked at again when that link ends.
  return saved.link === undefined ? markIdle(saved, context) : done;
}

async function publishMessages(run: LinkRun, { outbox }: JobContext) {
  for (const message of linkMessages(run)) await outbox.publish(run.teamId, message, run.rev);
}

async function createLink(run: LinkRun, context: JobContext): Promise<Outcome> {
  const { now, timing, random } = context;
  if (now() < run.nextLookAtMs) return runAgainIn(run.nextLookAtMs - now());
  const permission = await recheckPermission(run, context);
  if (permission === 'unknown') return runAgainIn(backoffMs(timing, 3, random()));
  if (permission === 'refused')
    return auditAndAdvance(run, { state: 'failed' }, 'refused: not permitted', context);
  const docs = context.docs(run.project);
  if (docs === undefined) return auditAndAdvance(run, { state: 'failed' }, 'no such project', context);
  try {
    const { link, linkEndsAtMs } = await createBundleLink(
      docs,
      run.exportJobId,
      `${run.id}.${run.made}`,
      context,
    );
    return auditAndAdvance(run, { state: 'sent', link, linkEndsAtMs, over: undefined }, 'sent', context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return runAgainIn(0);
    if (error.kind === 'key_rejected') await context.alertAdmins(run.teamId, run.project);
    const failures = run.failures + 1;
    const nextMs = now() + Math.max(error.retryAfterMs ?? 0, backoffMs(timing, failures, random()));
    if (!shouldRetryLink(error, nextMs, run.sinceMs, context))
      return auditAndAdvance(run, { state: 'failed' }, error.kind, context);
    return advance(run, { failures, nextLookAtMs: nextMs }, context, nextMs - now());
  }
}

/** Where no worker was there for long, whoever asked may have lost the permission since. */
async function recheckPermission({ sinceMs, to }: LinkRun, { policy, now, timing }: JobContext) {
  const isOld = now() - sinceMs > timing.permissionCacheMs;
  return isOld ? (await policy.check(to.id, 'export')).kind : 'allowed';
}

/** Sees to it that the message arrives, and that the link is taken out of it when it ends. */
async function awaitDelivery(run: LinkRun, context: JobContext): Promise<Outcome> {
  const delivery = await context.outbox.deliveryState(linkKey(run));
  if (delivery.kind === 'refused') {
    const { code } = delivery;
    return auditAndAdvance(run, { state: 'failed', refusal: code }, `not delivered: ${code}`, context);
  }
  if (delivery.kind === 'shown') return awaitExpiry(run, { state: 'over' }, context);
  const leftMs = (run.linkEndsAtMs ?? Infinity) - context.now();
  if (leftMs <= 0) return advance(run, { state: 'over' }, context);
  const waitedMs = context.now() - run.sinceMs;
  return runAgainIn(Math.min(Math.max(waitedMs / 2, 50), context.timing.retryMaxMs, leftMs));
}

/** Where Slack takes no direct message, the link comes as a private answer to the click, while that can be given. */
async function postLinkEphemeral(run: LinkRun, code: string, context: JobContext): Promise<void> {
  const responseUrl = await context.runs.responseUrl(run.id);
  const link = await context.links.get(run.link ?? '');
  if (responseUrl === undefined || link === undefined) return;
  const answer = await fillLinks(refusedMessage(run, code), async () => link);
  await context.callOnce(run.id, `refused.${run.made}`, () =>
    context.postEphemeral(responseUrl, answer, context.timing.slackCallMs),
  );
}

/** Looks again when the link ends. One whose end nobody knows stays as it is. */
async function awaitExpiry(run: LinkRun, changes: Partial<LinkRun>, context: JobContext): Promise<Outcome> {
  if (run.linkEndsAtMs === undefined) return markIdle(run, context);
  const leftMs = run.linkEndsAtMs - context.now();
  return leftMs > 0 ? runAgainIn(leftMs) : advance(run, changes, context);
}

/** Leaves an audit line, then saves: after a crash it may stand there twice, but is never missing. */
async function auditAndAdvance(run: LinkRun, changes: Partial<LinkRun>, result: string, context: JobContext) {
  await addAudit(run, result, context);
  return advance(run, changes, context);
}

async function addAudit({ teamId, to, site, exportJobId }: LinkRun, result: string, context: JobContext) {
  await context.audit.add(teamId, {
    atMs: context.now(),
    user: to,
    channel: '',
    what: 'link',
    subject: site,
    job: exportJobId,
    result,
  });
}

async function advance(
  run: LinkRun,
  changes: Partial<LinkRun>,
  context: JobContext,
  inMs = 0,
): Promise<Outcome> {
  const next = { ...run, ...changes };
  // Freed before the person reads that there is none, so that another can be asked for at once.
  const saved = await context.runs.save(next, next.state === 'failed');
  if (saved !== undefined) return runAgainIn(inMs);
  context.log.info({ run: run.id, rev: run.rev }, 'the run was changed meanwhile');
  await context.wake(run);
  return done;
}

async function markIdle(run: LinkRun, context: JobContext): Promise<Outcome> {
  await context.runs.markIdle(run, true);
  return done;
}
