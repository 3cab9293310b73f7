import { isDeepStrictEqual } from 'node:util';
import { GithubError } from '../../deployments/github.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import { wait } from '../../runtime/later.ts';
import { backoffMs } from '../../runtime/timing.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import type { JobContext } from '../engine/context.ts';
import type { Save } from '../engine/job.ts';
import { defineRunJob, idle, type StepResult, save } from '../engine/job.ts';
import { nextPollMs } from '../engine/polling.ts';
import { type Sent, sent } from '../engine/send-event.ts';
import { permitted } from '../engine/waits.ts';
import { exportRuns } from '../export/record.ts';
import { exportScheduleEvents } from '../export-schedule/record.ts';
import { startStep } from '../operation/record.ts';
import { defineStart } from '../operation/start.ts';
import type { UpdateEnding } from './attempt.ts';
import { updateNeeds, updateSubject } from './feature.ts';
import {
  advance,
  applyCallback,
  askedAtMs,
  attemptName,
  earlierOf,
  endUpdate,
  hadIn,
  latestAlias,
  outcomeDueMs,
  readTaken,
  setNotified,
  stateOf,
  takenAlias,
  UNUSABLE,
  type UpdateRun,
  updateEvents,
  updateOf,
  updateRun,
  WATCH_MS,
  webhookId,
  withEarlier,
  withMessage,
} from './record.ts';
import { labelOf, updateLine, updateMessages } from './view.ts';

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

/** How often a renewal that the platform refuses is tried at most, until shortly before the link ends. */
const RENEW_TRIES = 20;

const steps: Record<UpdateRun['state'], (run: UpdateRun, context: JobContext) => Result> = {
  accepted: begin,
  linking: makeLink,
  notifying: notify,
  unknown: awaitAnswer,
  notified: keepCurrent,
  ended: (run, context) =>
    run.notifiedAtMs === undefined ? keepEarlier(run, context) : keepCurrent(run, context),
};

/** Notifies one deployment of one export, and keeps its link fresh while the deployment has no other. */
export const updateJob = defineRunJob({
  name: 'deployment',
  queue: 'docs-export',
  concurrency: 100,
  schema: updateRun,
  messages: updateMessages,
  needs: updateNeeds.of,
  auditLine: (run) => ({
    user: run.by,
    channel: run.asked.channel,
    what: 'deployment',
    subject: updateSubject(run),
    job: run.jobId,
  }),
  sends,
  events: updateEvents,
  apply: (run, events) => events.reduce(applyCallback, run),
  beforeSave: noteChange,
  step: (run, context) => steps[run.state](run, context),
  giveUp: async (run, context, ref) => end(run, { kind: 'broken', ref }, context),
});

/** Keeps which message shows the run, and counts the changes of what the messages of others show. */
function noteChange(before: UpdateRun, next: Save<UpdateRun>, { now }: JobContext): Save<UpdateRun> {
  const run = withMessage(next.run, now());
  const isSame =
    before.state !== 'accepted' && isDeepStrictEqual(updateLine(stateOf(before)), updateLine(stateOf(run)));
  const { outcome } = run;
  const isReported = outcome && outcome.state !== before.outcome?.state;
  return {
    ...next,
    ...(isReported && { audit: `reported: ${outcome.state}` }),
    run: isSame ? run : { ...run, changes: run.changes + 1 },
  };
}

/** Its export and its schedule look at it when their messages show another fact. */
function sends({ id, state, changes, exportRun, schedule }: UpdateRun): Sent[] {
  // Nothing shows an attempt before its first step.
  if (state === 'accepted') return [];
  const key = `${id} ${changes}`;
  const events = [sent(exportRuns, exportRun, key)];
  if (schedule !== undefined) events.push(sent(exportScheduleEvents, schedule, key));
  return events.map((one) => ({ ...one, isPatient: true }));
}

const end = (run: UpdateRun, ending: UpdateEnding, { now }: JobContext) =>
  save(endUpdate(run, ending, now()), { audit: `ended: ${ending.kind}` });

/** Wakes the update of an attempt, if it is another one. */
async function wakeOther(run: UpdateRun, attempt: string | undefined, { sendEvent }: JobContext) {
  const id = attempt && updateOf(attempt);
  if (id && id !== run.id) await sendEvent(updateEvents, id);
}

/** Returns the name of the attempt that the deployment has; undefined if none is known. */
const findHad = async (run: UpdateRun, { store: { runs } }: JobContext) =>
  hadIn(await runs.byAlias(takenAlias(run)));

/** Returns an attempt at the same deployment as people read it. */
async function describe(attempt: string, { store: { runs } }: JobContext): Promise<UpdateRun['newer']> {
  const [other] = await runs.loadAll([updateOf(attempt)], updateRun);
  const label = other?.version === undefined ? 'another export' : labelOf(other);
  return { attempt, label, atMs: other?.notifiedAtMs };
}

/** Ends an attempt that another one at its deployment replaced before it was sent, or before its start was clear. */
const endSuperseded = async (run: UpdateRun, attempt: string, context: JobContext) =>
  save({
    ...endUpdate(run, { kind: 'superseded' }, context.now()),
    newer: await describe(attempt, context),
  });

/**
 * Stops what must not be sent any more: a first message if another one was asked for later, and a fresh link if the
 * deployment has another export. Returns undefined if the message may leave.
 */
async function makeWay(run: UpdateRun, context: JobContext) {
  const { now } = context;
  const isFirst = run.notifiedAtMs === undefined;
  const other = isFirst ? await context.store.runs.byAlias(latestAlias(run)) : await findHad(run, context);
  if (other === undefined || (isFirst ? other === attemptName(run) : updateOf(other) === run.id))
    return undefined;
  // A start that may have left is a question, until the deployment has another export.
  if (isFirst && (await context.calls.callBegan(run.id, startStep(run)))) return undefined;
  if (isFirst) return endSuperseded(run, other, context);
  // It is due as soon as the deployment has this export again.
  return save(advance(run, { state: 'notified', renewAtMs: now() }, now()));
}

async function begin(run: UpdateRun, context: JobContext): Result {
  const { now } = context;
  const permission = await permitted(run.by.id, 'deploy', context);
  if (permission.kind === 'refused')
    return end(run, { kind: 'permission', contacts: permission.contacts }, context);
  const target = context.deployment(run.project, run.deployment);
  const mayBeSent = run.lostMessage !== undefined;
  if (target === undefined) return end(run, { kind: 'missing', mayBeSent }, context);
  const [name, own] = [latestAlias(run), attemptName(run)];
  const latest = await context.store.runs.byAlias(name);
  if (latest !== undefined && latest > own) {
    if (askedAtMs(latest) <= now() + CLOCK_MS) return endSuperseded(run, latest, context);
    // The clock was set back since. A deployment goes by these times, so they never go back.
    return save({ ...run, attemptAtMs: askedAtMs(latest) + 1 });
  }
  const replaces = await findHad(run, context);
  // Saved first, because this step may be repeated once the alias is taken.
  if (latest !== undefined && latest !== own && latest !== run.overtakes)
    return save({ ...run, overtakes: latest });
  if (!(await context.store.runs.takeAlias(name, own, latest))) return 'next';
  // The one before ends if it was not sent.
  await wakeOther(run, run.overtakes, context);
  const siteUrl = siteUrlOf(run, context);
  if (target.kind === 'github') return save(advance(run, { state: 'notifying', replaces, siteUrl }, now()));
  const sent = target.includeLink ? undefined : now() + NOTIFY_MS;
  const state = target.includeLink ? 'linking' : 'notifying';
  return save(advance(run, { state, replaces, siteUrl, notifyUntilMs: sent }, now()));
}

/** Returns the address of the deployment's site, if the settings have it. */
function siteUrlOf(
  { project, deployment }: UpdateRun,
  { settings: { projects } }: JobContext,
): string | undefined {
  const { deployments = [] } = projects.find(({ name }) => name === project) ?? {};
  return deployments.find(({ name }) => name === deployment)?.url;
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
  const { stopping, timing, now, log } = context;
  const ended = await makeWay(run, context);
  if (ended) return ended;
  if (now() < run.nextTryAtMs) return wait(run.nextTryAtMs - now());
  const docs = context.platform.docs(run.project);
  if (docs === undefined) return end(run, { kind: 'noLink', why: 'project' }, context);
  try {
    const { bundleUrl, expiresAt } = await docs.createBundle({ jobId: run.jobId }, { signal: stopping });
    const linkEndsAtMs = expiresAt ?? now() + HOUR_MS;
    await context.store.links.put(linkName({ id: run.id, linkEndsAtMs }), bundleUrl, linkEndsAtMs);
    const renewAtMs = renewalTime(now(), linkEndsAtMs);
    const { failures, notifyUntilMs = now() + NOTIFY_MS } = run;
    const link = { linkEndsAtMs, renewAtMs, failures, notifyUntilMs };
    return save(advance(run, { state: 'notifying', ...link }, now()));
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return wait(0);
    const needsOperator = error.kind === 'key_rejected' || error.kind === 'forbidden';
    if (needsOperator) await context.platform.alertAdmins(run.teamId, run.project, error);
    // The site lives on the link that it has, so each refusal may pass until shortly before its end.
    const renewUntilMs = run.notifiedAtMs === undefined ? 0 : (run.linkEndsAtMs ?? 0) - MINUTE_MS;
    const untilMs = Math.max(renewUntilMs, error.retryable ? run.sinceMs + timing.limitWaitMs : 0);
    const pauseMs = error.retryable ? (error.retryAfterMs ?? 0) : (untilMs - now()) / RENEW_TRIES;
    const later = retryLater(run, pauseMs, untilMs, context);
    if (later) return later;
    log.info({ run: run.id, err: error }, 'no link for a deployment');
    return end(run, { kind: 'noLink', reason: error.platformMessage }, context);
  }
}

/** Calls to one deployment follow one another: a process that dies in one blocks the next only for the limit of a call. */
const callLimit = (run: UpdateRun, { deploymentCallMs, callMarginMs }: JobContext['timing']): RateLimit => ({
  name: `deployments:${run.project} ${run.deployment}`,
  count: 1,
  perId: true,
  windowMs: deploymentCallMs + callMarginMs,
});

/** Notifies the deployment. Repeats a webhook until it is taken; starts a workflow once. */
async function notify(run: UpdateRun, context: JobContext): Result {
  const { now, timing } = context;
  const { links, rateLimiter } = context.store;
  // An attempt that was asked for later ends this one at once, even if this one waits.
  const ended = await makeWay(run, context);
  if (ended) return ended;
  if (now() < run.nextTryAtMs) return wait(run.nextTryAtMs - now());
  const target = context.deployment(run.project, run.deployment);
  if (target === undefined) return end(run, { kind: 'missing', mayBeSent: true }, context);
  const bundleUrl = await links.get(linkName(run));
  const limit = callLimit(run, timing);
  const release = () => rateLimiter.releaseSlot(limit, attemptName(run));
  const inMs = await rateLimiter.takeSlot(limit, { id: attemptName(run) });
  if (inMs > 0) {
    // No reservation: it may be free sooner, and an attempt that ends would keep its place.
    await release();
    return wait(Math.min(inMs, timing.pollMinMs));
  }
  const tooLateMs = now() + timing.callMarginMs;
  // The last await before a message leaves: this process may have been frozen.
  const late = await makeWay(run, context);
  if (late || now() > tooLateMs) {
    await release();
    return late ?? wait(0);
  }
  const link = target.kind === 'webhook' && target.includeLink ? bundleUrl : undefined;
  const result =
    target.kind === 'github'
      ? await startWorkflow(run, context)
      : await sendWebhook(run, target, link, context);
  // The call may still be under way or arrive late, or the deployment has it and `keepTaken` comes first.
  const isSaved = typeof result === 'object' && result.kind === 'save';
  const isOpen = isSaved && ['notified', 'unknown'].includes(result.run.state);
  if (isSaved && (run.notifiedAtMs !== undefined || !isOpen)) await release();
  return result;
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
  const later = (from: UpdateRun, retryAfterMs = 0) => retryLater(from, retryAfterMs, notifyUntilMs, context);
  // The link has expired, or the settings changed. A message with another link has another id.
  if (target.includeLink && bundleUrl === undefined)
    return (
      later({ ...run, state: 'linking', renewal: run.renewal + 1 }) ??
      end(run, { kind: 'gaveUp', reason: 'its link ended' }, context)
    );
  const id = webhookId(run);
  const about = { isRenewal: run.notifiedAtMs !== undefined, wasLost: run.lostMessage === id };
  const result = await target.send({ id, body: webhookBody(run, bundleUrl) }, about);
  switch (result.kind) {
    case 'delivered':
      return saveNotified(run, {}, context);
    case 'refused':
      return end(run, result, context);
    case 'retry': {
      const { status, text, reason, retryAfterMs = 0, forMs = NOTIFY_MS, isLost } = result;
      const next = { ...run, notifyUntilMs, lostMessage: isLost ? id : run.lostMessage };
      if (stopping.aborted) return isLost ? save(next) : wait(0);
      // A further link is of use until near its end.
      const untilMs =
        forMs === Infinity ? (run.linkEndsAtMs ?? 0) - MINUTE_MS : notifyUntilMs - NOTIFY_MS + forMs;
      const isRefusal = forMs !== NOTIFY_MS;
      return (
        retryLater(next, retryAfterMs, untilMs, context) ??
        end(run, isRefusal ? { kind: 'refused', status, text } : { kind: 'gaveUp', reason }, context)
      );
    }
  }
}

/** Returns the body of a webhook. The same attempt and link have the same body. */
function webhookBody(run: UpdateRun, bundleUrl: string | undefined): string {
  const { deployment, jobId, version, pages, sizeBytes: size, linkEndsAtMs } = run;
  const domain = run.domain || undefined;
  const expiresAt = linkEndsAtMs === undefined ? undefined : new Date(linkEndsAtMs).toISOString();
  const askedAt = new Date(run.attemptAtMs).toISOString();
  const data = { deployment, domain, jobId, version, pages, size, expiresAt, bundleUrl };
  return JSON.stringify({ type: 'export.ready', timestamp: askedAt, askedAt, data });
}

/** Saves that the deployment has taken the message. */
function saveNotified(run: UpdateRun, changes: Partial<UpdateRun>, { now }: JobContext) {
  return save(setNotified(run, now(), changes), run.notifiedAtMs === undefined ? { audit: 'notified' } : {});
}

/** The answer to a start that was unclear may also have come after a further attempt ended. */
const startWorkflow = async (run: UpdateRun, context: JobContext): Result =>
  (run.again && (await starts.late(run, run.attempt - 1, context))) || starts.start(run, context);

type Dispatched = Awaited<ReturnType<GithubApi['dispatch']>>;

const starts = defineStart<UpdateRun, Dispatched>({
  limitMs: ({ timing }) => timing.deploymentCallMs,

  async prepare(run, { deployment }) {
    const target = deployment(run.project, run.deployment);
    if (target?.kind !== 'github') return { why: 'project' };
    return (isTooLate) => target.dispatch(run, isTooLate);
  },

  started: (run, { run: workflow }, context) => saveNotified(run, { workflow }, context),
  unclear(run, err, { log, now }) {
    log.warn({ run: run.id, err }, 'start of a workflow: outcome unknown');
    return advance(run, { state: 'unknown' }, now());
  },
  notAllowed: (run, _, context) => end(run, { kind: 'missing', mayBeSent: true }, context),

  async refused(run, error, context) {
    if (!(error instanceof GithubError)) throw error;
    const { status, text = '', reason, retryable, retryAfterMs = 0 } = error;
    const isMoved = status !== undefined && status < 400;
    const moved = isMoved ? { what: 'repository' as const, to: '' } : undefined;
    if (!retryable) return end(run, { kind: 'refused', status, text, moved }, context);
    const later = retryLater(run, retryAfterMs, run.sinceMs + NOTIFY_MS, context);
    return later ?? end(run, { kind: 'gaveUp', reason: text || reason }, context);
  },
});

/** Waits for a person's answer to the question. A late answer of GitHub also wakes the run, or a newer attempt. */
async function awaitAnswer(run: UpdateRun, context: JobContext): Result {
  const late = await starts.late(run, run.attempt, context);
  if (late) return late;
  const has = (await findHad(run, context)) ?? '';
  if (has > attemptName(run) && updateOf(has) !== run.id) {
    const ended = await endSuperseded(run, has, context);
    const answer = { attempt: run.attempt, by: run.by, action: 'newer' as const };
    return { ...ended, run: { ...ended.run, answer } };
  }
  // The newer one may fail, and one after it succeed.
  return (await context.store.runs.byAlias(latestAlias(run))) === attemptName(run) ? idle : wait(HOUR_MS);
}

/** After a failed attempt, the deployment still has what it took before. */
async function keepEarlier(run: UpdateRun, context: JobContext): Result {
  // A person left the start unclear, and then GitHub's answer came.
  const isLeft = run.ending?.kind === 'left';
  const late = (isLeft || run.again) && (await starts.late(run, run.attempt - (isLeft ? 0 : 1), context));
  if (late) return late;
  const earlier = earlierOf(run);
  if (earlier === undefined) return idle;
  const result = await steps[earlier.state](earlier, context);
  const isSaved = typeof result === 'object' && result.kind === 'save';
  return isSaved ? { ...result, run: withEarlier(run, result.run) } : result;
}

/** How many attempts are kept that the deployment may go back to. */
const MAX_TAKEN = 5;

/**
 * Keeps which attempt the deployment has: the newest that it took. If it can't use that one, it still has the one before.
 * Wakes the others once that has changed. Returns undefined if nothing changes.
 */
async function keepTaken(run: UpdateRun, context: JobContext): Promise<StepResult<UpdateRun> | undefined> {
  const { timing } = context;
  const { runs, rateLimiter } = context.store;
  const own = attemptName(run);
  const known = await runs.byAlias(takenAlias(run));
  const others = readTaken(known).filter((name) => name !== own && name !== own + UNUSABLE);
  const all = [...others, run.outcome?.state === 'failed' ? own + UNUSABLE : own].sort().reverse();
  const usable = all.filter((name) => !name.endsWith(UNUSABLE));
  const taken = usable.length > 0 ? usable.slice(0, MAX_TAKEN) : all.slice(0, 1);
  const has = hadIn(taken[0]) ?? own;
  const isReplaced = has > own && updateOf(has) !== run.id;
  // What was asked for later, and not sent, may have taken the place of what the deployment has.
  const isKnown = has === run.has && isReplaced === (run.newer !== undefined);
  if (taken.join() === known && isKnown) return undefined;
  if (!(await runs.takeAlias(takenAlias(run), taken.join(), known))) return 'next';
  for (const other of [...others, run.overtakes]) await wakeOther(run, hadIn(other), context);
  await rateLimiter.releaseSlot(callLimit(run, timing), own);
  // A process that was frozen finds here that the run has changed, and wakes it.
  return save({ ...run, has, newer: isReplaced ? await describe(has, context) : undefined });
}

/** Follows the run of the workflow, and renews the link in time. */
async function keepCurrent(run: UpdateRun, context: JobContext): Result {
  const changed = await keepTaken(run, context);
  if (changed !== undefined) return changed;
  if (run.state === 'ended' || updateOf(run.has ?? '') !== run.id) return idle;
  const { now } = context;
  const { renewAtMs = Infinity, renewal, workflow } = run;
  if (workflow !== undefined && now() < (workflow.untilMs ?? run.sinceMs + WATCH_MS))
    return pollWorkflow(run, workflow, context);
  const endAtMs = run.shows === 'line' ? outcomeDueMs(run) : Infinity;
  if (now() >= endAtMs) return save(run);
  // If the settings changed, the deployment takes no link any more. A workflow must not start by itself.
  const target = context.deployment(run.project, run.deployment);
  const isRenewed = !target || (target.kind === 'webhook' && target.includeLink);
  const nextAtMs = isRenewed && renewAtMs <= run.attemptAtMs + RENEW_MS ? renewAtMs : Infinity;
  const inMs = Math.min(endAtMs, nextAtMs) - now();
  if (inMs > 0) return inMs === Infinity ? idle : wait(inMs);
  return save(advance(run, { state: 'linking', renewal: renewal + 1, renewAtMs: undefined }, now()));
}

/** How long an approval is waited for: almost as long as GitHub waits, because the record has to outlive it. */
const APPROVAL_MS = RENEW_MS - HOUR_MS;

/** Consecutive final answers after which the result of a workflow stays unclear. */
const UNCLEAR_AFTER = 3;

/**
 * Reads the run of the workflow. If it ends without success, hourly for a day: somebody may run it again. While it waits for
 * an approval, ever more slowly, at last hourly.
 */
async function pollWorkflow(
  run: UpdateRun,
  workflow: NonNullable<UpdateRun['workflow']>,
  context: JobContext,
): Result {
  const { now, random, timing, log } = context;
  const target = context.deployment(run.project, run.deployment);
  if (target?.kind !== 'github') return idle;
  if (now() < run.nextTryAtMs) return wait(run.nextTryAtMs - now());
  const since = { startedAtMs: run.sinceMs };
  const pollMs = nextPollMs(since, now(), timing, random());
  try {
    const { conclusion, ...found } = await target.getRun(workflow.id);
    // While a further attempt runs, the end of the one before is shown.
    if (conclusion === undefined && workflow.conclusion !== undefined)
      return wait(Math.max(pollMs, MINUTE_MS));
    const { waits } = found;
    const waitMs = waits ? nextPollMs(since, now(), { ...timing, pollMaxMs: HOUR_MS }, random()) : pollMs;
    const isSame = conclusion === workflow.conclusion && waits === workflow.waits;
    // The time of the next look at an approval is saved, so that no other wake looks sooner.
    if (conclusion === undefined && isSame && !waits && workflow.unclear === undefined) return wait(pollMs);
    const inMs = conclusion === undefined ? waitMs : HOUR_MS;
    const endMs =
      conclusion !== undefined ? now() + DAY_MS : waits ? run.attemptAtMs + APPROVAL_MS : now() + WATCH_MS;
    const untilMs = isSame ? workflow.untilMs : conclusion === 'success' ? 0 : endMs;
    const next = {
      ...run,
      failures: 0,
      nextTryAtMs: now() + inMs,
      workflow: { ...found, waited: waits ?? workflow.waited, conclusion, untilMs },
    };
    const audit = `workflow: ${conclusion ?? (waits ? 'waits' : 'runs')}`;
    return save(next, isSame ? { inMs } : { audit });
  } catch (error) {
    if (!(error instanceof GithubError)) throw error;
    log.info({ run: run.id, err: error }, 'the run of a workflow cannot be read');
    const { retryable, retryAfterMs = 0, text, reason } = error;
    const failures = retryable ? 0 : run.failures + 1;
    const inMs = Math.max(pollMs, retryAfterMs, retryable ? 0 : MINUTE_MS);
    if (failures < UNCLEAR_AFTER) return save({ ...run, failures, nextTryAtMs: now() + inMs }, { inMs });
    const unclear = workflow.conclusion === undefined ? text || reason : undefined;
    const next = { ...run, failures: 0, workflow: { ...workflow, unclear, waits: undefined, untilMs: 0 } };
    return save(next, { audit: 'workflow: unclear' });
  }
}
