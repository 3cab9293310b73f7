import { GithubError } from '../../deployments/github.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import { backoffMs } from '../../runtime/timing.ts';
import type { LoadedRun } from '../../store/runs.ts';
import type { JobContext } from '../context.ts';
import { defineRunJob, idle, type StepResult, save, wait } from '../job.ts';
import { lookupRetryMs, nextPollMs } from '../polling.ts';
import { updateNeeds, updateSubject } from './feature.ts';
import {
  advance,
  applyCallback,
  askedAtMs,
  attemptName,
  endUpdate,
  latestAlias,
  setNotified,
  type UpdateEnding,
  type UpdateRun,
  updateOf,
  updateRun,
  webhookId,
} from './record.ts';
import { updateMessages } from './view.ts';

type Result = Promise<StepResult<UpdateRun>>;

/** Maximum difference between two processes' readings of Redis's clock. */
const CLOCK_MS = 1000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Docket repeats a message for this long if the deployment does not take it. */
const NOTIFY_MS = HOUR_MS;

/** Docket renews a link a tenth of its life before its end, and at least this long before. */
const MIN_AHEAD_MS = 10 * MINUTE_MS;

/** Docket renews links for this long after a person or the schedule last requested the update. */
const RENEW_MS = 30 * DAY_MS;

/** How long the run of a workflow is polled. */
const WATCH_MS = 2 * HOUR_MS;

const steps: Record<UpdateRun['state'], (run: UpdateRun, context: JobContext) => Result> = {
  accepted: begin,
  linking: makeLink,
  notifying: notify,
  unknown: awaitAnswer,
  notified: keepCurrent,
  ended: async () => idle,
};

/** Notifies one deployment of one export, and keeps its link fresh until the deployment is notified of another. */
export const updateJob = defineRunJob({
  name: 'deployment',
  queue: 'docs-export',
  concurrency: 100,
  schema: updateRun,
  messages: updateMessages,
  needs: updateNeeds.of,
  auditLine: (run) => ({
    ...{ user: run.by, channel: run.asked.channel, what: 'deployment' },
    ...{ subject: updateSubject(run), job: run.jobId },
  }),
  step,
  giveUp: async ({ run }, context, ref) => end(run, { kind: 'broken', ref }, context),
});

async function step({ run, inbox }: LoadedRun<UpdateRun>, context: JobContext): Result {
  // The schedule's message shows this state. A wake before the step survives a crash right after its save.
  if (run.schedule !== undefined) await context.runs.markDue('export-schedule', run.schedule);
  if (inbox.length > 0) {
    const next = inbox.reduce(applyCallback, run);
    const { outcome } = next;
    const audit = outcome !== run.outcome && outcome ? { audit: `reported: ${outcome.state}` } : {};
    return save(next, { consumed: inbox.length, ...audit });
  }
  return steps[run.state](run, context);
}

const end = (run: UpdateRun, ending: UpdateEnding, { now }: JobContext) =>
  save(endUpdate(run, ending, now()), { audit: `ended: ${ending.kind}` });

/** Whether an update of this deployment to another export was requested later. */
const isSuperseded = async (run: UpdateRun, { runs }: JobContext) =>
  ![undefined, attemptName(run)].includes(await runs.byAlias(latestAlias(run)));

const endSuperseded = (run: UpdateRun, { now }: JobContext) =>
  save(endUpdate(run, { kind: 'superseded' }, now()));

async function begin(run: UpdateRun, context: JobContext): Result {
  const { runs, policy, now } = context;
  // The replaced update has to end. It is woken before the alias changes and after, in case of a crash between.
  const wakeReplaced = async () =>
    run.replaces !== undefined && runs.markDue('deployment', updateOf(run.replaces));
  await wakeReplaced();
  const permission = await policy.check(run.by.id, 'deploy');
  if (permission.kind === 'unknown') return wait(lookupRetryMs(context));
  if (permission.kind === 'refused')
    return end(run, { kind: 'permission', contacts: permission.contacts }, context);
  const target = context.deployment(run.project, run.deployment);
  if (target === undefined) return end(run, { kind: 'missing' }, context);
  const [name, own] = [latestAlias(run), attemptName(run)];
  const latest = await runs.byAlias(name);
  // A time after now is from before the clock was set back, so it does not count.
  if (latest !== undefined && latest > own && askedAtMs(latest) <= now() + CLOCK_MS)
    return endSuperseded(run, context);
  const isOther = latest !== undefined && updateOf(latest) !== run.id;
  if (isOther && latest !== run.replaces) return save({ ...run, replaces: latest });
  if (!(await runs.takeAlias(name, own, latest))) return 'next';
  await wakeReplaced();
  const state = target.kind === 'webhook' && target.includeLink ? 'linking' : 'notifying';
  return save(advance(run, { state }, now()));
}

/** Saves when a failed call is repeated: at the latest at `untilMs`; undefined after that. */
function retryLater(
  run: UpdateRun,
  retryAfterMs: number,
  untilMs: number,
  { now, timing, random }: JobContext,
) {
  const failures = run.failures + 1;
  const inMs = Math.min(untilMs - now(), Math.max(retryAfterMs, backoffMs(timing, failures, random())));
  return inMs > 0 ? save({ ...run, failures, nextTryAtMs: now() + inMs }, { inMs }) : undefined;
}

/** Each link has its own name. If a frozen process stores another link later, a repeated message keeps its link. */
const linkName = ({ id, linkEndsAtMs = 0 }: Pick<UpdateRun, 'id' | 'linkEndsAtMs'>) =>
  `${id}.${linkEndsAtMs}`;

/** Returns when to renew a link: ahead of its end, but not before half its life or a minute. */
function renewalTime(madeAtMs: number, endsAtMs: number): number {
  const lifeMs = Math.max(endsAtMs - madeAtMs, 2 * MINUTE_MS);
  return Math.max(endsAtMs - Math.max(lifeMs / 10, MIN_AHEAD_MS), madeAtMs + lifeMs / 2);
}

/** Requests a download link that only the deployment gets. */
async function makeLink(run: UpdateRun, context: JobContext): Result {
  const { links, stopping, timing, now, log } = context;
  if (now() < run.nextTryAtMs) return wait(run.nextTryAtMs - now());
  if (await isSuperseded(run, context)) return endSuperseded(run, context);
  const docs = context.docs(run.project);
  if (docs === undefined) return end(run, { kind: 'missing' }, context);
  try {
    const { bundleUrl, expiresAt } = await docs.createBundle({ jobId: run.jobId }, { signal: stopping });
    const linkEndsAtMs = expiresAt ?? now() + HOUR_MS;
    await links.put(linkName({ id: run.id, linkEndsAtMs }), bundleUrl, linkEndsAtMs);
    const renewAtMs = renewalTime(now(), linkEndsAtMs);
    const { failures } = run;
    return save(advance(run, { state: 'notifying', linkEndsAtMs, renewAtMs, failures }, now()));
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return wait(0);
    const later =
      error.retryable && retryLater(run, error.retryAfterMs ?? 0, run.sinceMs + timing.limitWaitMs, context);
    if (later) return later;
    log.info({ run: run.id, err: error }, 'no link for a deployment');
    return end(run, { kind: 'noLink', reason: error.platformMessage }, context);
  }
}

/** Notifies the deployment. Repeats a webhook until it is taken; starts a workflow once. */
async function notify(run: UpdateRun, context: JobContext): Result {
  const { links, now } = context;
  if (now() < run.nextTryAtMs) return wait(run.nextTryAtMs - now());
  const bundleUrl = await links.get(linkName(run));
  // The last await before a message leaves: this process may have been frozen.
  if (await isSuperseded(run, context)) return endSuperseded(run, context);
  const target = context.deployment(run.project, run.deployment);
  if (target === undefined) return end(run, { kind: 'missing' }, context);
  if (target.kind === 'github') return startWorkflow(run, target, context);
  return sendWebhook(run, target, target.includeLink ? bundleUrl : undefined, context);
}

type Target = NonNullable<ReturnType<JobContext['deployment']>>;
type GithubApi = Extract<Target, { kind: 'github' }>;

async function sendWebhook(
  run: UpdateRun,
  target: Extract<Target, { kind: 'webhook' }>,
  bundleUrl: string | undefined,
  context: JobContext,
): Result {
  const { stopping, now } = context;
  const { notifyUntilMs = now() + NOTIFY_MS } = run;
  const later = (from: UpdateRun, retryAfterMs = 0) =>
    retryLater({ ...from, notifyUntilMs }, retryAfterMs, notifyUntilMs, context);
  // The link has expired, or the settings changed. A message with another link has another id.
  if (target.includeLink && bundleUrl === undefined)
    return (
      later({ ...run, state: 'linking', renewal: run.renewal + 1 }) ??
      end(run, { kind: 'gaveUp', reason: 'its link ended' }, context)
    );
  const result = await target.send({ id: webhookId(run), body: webhookBody(run, bundleUrl) }, now());
  switch (result.kind) {
    case 'delivered':
      return saveNotified(run, {}, context);
    case 'refused':
      return end(run, result, context);
    case 'retry': {
      if (stopping.aborted) return wait(0);
      return later(run, result.retryAfterMs) ?? end(run, { kind: 'gaveUp', reason: result.reason }, context);
    }
  }
}

/** Returns the body of a webhook. The same attempt and link have the same body. */
function webhookBody(run: UpdateRun, bundleUrl: string | undefined): string {
  const { deployment, domain, jobId, version, pages, sizeBytes: size, linkEndsAtMs } = run;
  const expiresAt = linkEndsAtMs === undefined ? undefined : new Date(linkEndsAtMs).toISOString();
  const data = { deployment, domain, jobId, version, pages, size, expiresAt, bundleUrl };
  return JSON.stringify({ type: 'export.ready', timestamp: new Date(run.attemptAtMs).toISOString(), data });
}

/** Saves that the deployment has taken the message. */
function saveNotified(run: UpdateRun, changes: Partial<UpdateRun>, { now }: JobContext) {
  return save(setNotified(run, now(), changes), run.notifiedAtMs === undefined ? { audit: 'notified' } : {});
}

/** Returns the name of the call that starts the workflow of the present attempt. */
export const dispatchStep = ({ attempt }: Pick<UpdateRun, 'attempt'>) => `dispatch.${attempt}`;

async function startWorkflow(run: UpdateRun, target: GithubApi, context: JobContext): Result {
  const { now, log } = context;
  // A person chose to update it again, but the answer to the first start has come: it did start.
  const isAgain = run.answer?.action === 'again' && run.answer.attempt === run.attempt - 1;
  const late = isAgain && (await lateAnswer(run, run.attempt - 1, context));
  if (late) return late;
  const outcome = await context.callOnce(
    run,
    dispatchStep(run),
    context.timing.deploymentCallMs,
    (isTooLate) => target.dispatch(run, isTooLate),
  );
  switch (outcome.kind) {
    case 'done':
      return saveNotified(run, { workflow: outcome.value.run }, context);
    case 'inFlight':
      return wait(outcome.forMs);
    case 'unknown':
      log.warn({ run: run.id, err: outcome.error }, 'start of a workflow: outcome unknown');
      return save(advance(run, { state: 'unknown' }, now()), { audit: 'start unclear' });
    case 'notHappened': {
      const { error } = outcome;
      if (!(error instanceof GithubError)) throw error;
      const { status, text = '', reason, retryable, retryAfterMs = 0 } = error;
      if (!retryable) return end(run, { kind: 'refused', status, text }, context);
      const later = retryLater(run, retryAfterMs, run.sinceMs + NOTIFY_MS, context);
      return later ?? end(run, { kind: 'gaveUp', reason: text || reason }, context);
    }
  }
}

/** If GitHub has answered the start of that attempt, the deployment was notified; else returns undefined. */
async function lateAnswer(run: UpdateRun, attempt: number, context: JobContext) {
  const late = await context.callResult(run.id, dispatchStep({ attempt }));
  if (late === undefined) return undefined;
  const { run: workflow } = late.result as Awaited<ReturnType<GithubApi['dispatch']>>;
  return saveNotified(run, { workflow, answer: { attempt, by: run.by, action: 'late' } }, context);
}

/** Waits for a person's answer to the question. A late answer of GitHub also wakes the run. */
async function awaitAnswer(run: UpdateRun, context: JobContext): Result {
  return (await lateAnswer(run, run.attempt, context)) ?? idle;
}

/** Follows the run of the workflow, and renews the link in time. */
async function keepCurrent(run: UpdateRun, context: JobContext): Result {
  if (await isSuperseded(run, context)) return endSuperseded(run, context);
  const { now } = context;
  const { renewAtMs = Infinity, renewal, workflow } = run;
  if (workflow !== undefined && workflow.conclusion === undefined && now() < run.sinceMs + WATCH_MS)
    return pollWorkflow(run, workflow.id, context);
  if (renewAtMs > run.attemptAtMs + RENEW_MS) return idle;
  // If the settings changed, the deployment takes no link any more. A workflow must not start by itself.
  const target = context.deployment(run.project, run.deployment);
  if (target && !(target.kind === 'webhook' && target.includeLink)) return idle;
  if (now() < renewAtMs) return wait(renewAtMs - now());
  return save(advance(run, { state: 'linking', renewal: renewal + 1, renewAtMs: undefined }, now()));
}

async function pollWorkflow(run: UpdateRun, workflowRun: number, context: JobContext): Result {
  const { now, random, timing, log } = context;
  const target = context.deployment(run.project, run.deployment);
  if (target?.kind !== 'github') return idle;
  const inMs = nextPollMs({ startedAtMs: run.sinceMs }, now(), timing, random());
  try {
    const workflow = await target.getRun(workflowRun);
    if (workflow.conclusion === undefined) return wait(inMs);
    return save({ ...run, workflow }, { audit: `workflow: ${workflow.conclusion}` });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.info({ run: run.id, err: error }, 'the run of a workflow cannot be read');
    return wait(inMs);
  }
}
