import { z } from 'zod';
import type { DocsApi } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { Policy } from '../../policy.ts';
import type { Log } from '../../runtime/log.ts';
import { backoffMs, type Timing } from '../../runtime/timing.ts';
import { fillLinks } from '../../slack/blocks.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { PostEphemeral } from '../../slack/response-url.ts';
import type { AuditStore } from '../../store/audit.ts';
import type { LinkStore } from '../../store/links.ts';
import type { RunStore } from '../../store/runs.ts';
import { createBundleLink, shouldRetryLink } from '../bundle-link.ts';
import type { CallOnce } from '../call-once.ts';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';
import { stepRun } from '../step-run.ts';
import { type LinkRun, linkRun } from './record.ts';
import { linkKey, linkMessages, refusedMessage } from './view.ts';

export interface LinkContext {
  runs: RunStore;
  docs: (project: string) => DocsApi | undefined;
  links: LinkStore;
  outbox: Outbox;
  callOnce: CallOnce;
  policy: Pick<Policy, 'check'>;
  postEphemeral: PostEphemeral;
  audit: AuditStore;
  alertAdmins: (teamId: string, project: string) => Promise<boolean>;
  /** Sees to it that the run is looked at soon. */
  wake: (run: LinkRun) => Promise<void>;
  /** Aborted when the process is to stop. */
  stopping: AbortSignal;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

/** Makes one person's own link, sends it by direct message, and takes it out of there when it ends. */
export const linkJob = defineJob<{ runId: string }, LinkContext>({
  name: 'link',
  queue: 'docs-export',
  list: 'runs',
  concurrency: 5,
  data: z.object({ runId: z.string() }),

  run: ({ runId }, context) =>
    stepRun(
      'link',
      runId,
      () => context.runs.load(runId, linkRun),
      context,
      async (run) => {
        await publishMessages(run, context);
        return step(run, context);
      },
    ),

  async giveUp({ runId }, context, ref) {
    await stepRun(
      'link',
      runId,
      () => context.runs.load(runId, linkRun),
      context,
      (run) => giveUp(run, context, ref),
    );
  },
});

async function step(run: LinkRun, context: LinkContext): Promise<Outcome> {
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

async function giveUp(run: LinkRun, context: LinkContext, ref: string): Promise<Outcome> {
  // What breaks later has nobody to tell: the person has the link, or knows that there is none.
  if (run.state !== 'making') return markIdle(run, context);
  const saved = await context.runs.save({ ...run, state: 'failed' as const }, true);
  if (saved === undefined) return done;
  await publishMessages(saved, context);
  await addAudit(saved, `broken: ref ${ref}`, context);
  // One with an earlier link stays open, and is looked at again when that link ends.
  return saved.link === undefined ? markIdle(saved, context) : done;
}

async function publishMessages(run: LinkRun, { outbox }: LinkContext) {
  for (const message of linkMessages(run)) await outbox.publish(run.teamId, message, run.rev);
}

async function createLink(run: LinkRun, context: LinkContext): Promise<Outcome> {
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
async function recheckPermission({ sinceMs, to }: LinkRun, { policy, now, timing }: LinkContext) {
  const isOld = now() - sinceMs > timing.permissionCacheMs;
  return isOld ? (await policy.check(to.id, 'export')).kind : 'allowed';
}

/** Sees to it that the message arrives, and that the link is taken out of it when it ends. */
async function awaitDelivery(run: LinkRun, context: LinkContext): Promise<Outcome> {
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
async function postLinkEphemeral(run: LinkRun, code: string, context: LinkContext): Promise<void> {
  const responseUrl = await context.runs.responseUrl(run.id);
  const link = await context.links.get(run.link ?? '');
  if (responseUrl === undefined || link === undefined) return;
  const answer = await fillLinks(refusedMessage(run, code), async () => link);
  await context.callOnce(run.id, `refused.${run.made}`, () =>
    context.postEphemeral(responseUrl, answer, context.timing.slackCallMs),
  );
}

/** Looks again when the link ends. One whose end nobody knows stays as it is. */
async function awaitExpiry(run: LinkRun, changes: Partial<LinkRun>, context: LinkContext): Promise<Outcome> {
  if (run.linkEndsAtMs === undefined) return markIdle(run, context);
  const leftMs = run.linkEndsAtMs - context.now();
  return leftMs > 0 ? runAgainIn(leftMs) : advance(run, changes, context);
}

/** Leaves an audit line, then saves: after a crash it may stand there twice, but is never missing. */
async function auditAndAdvance(
  run: LinkRun,
  changes: Partial<LinkRun>,
  result: string,
  context: LinkContext,
) {
  await addAudit(run, result, context);
  return advance(run, changes, context);
}

async function addAudit({ teamId, to, site, exportJobId }: LinkRun, result: string, context: LinkContext) {
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
  context: LinkContext,
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

async function markIdle(run: LinkRun, context: LinkContext): Promise<Outcome> {
  await context.runs.markIdle(run, true);
  return done;
}
