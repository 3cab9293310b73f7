import { z } from 'zod';
import { STOPPED } from '../../deployments/github.ts';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import type { EventsOf } from '../engine/send-event.ts';
import { type ExportRun, latestLink } from '../export/record.ts';
import { answerOf, startAnswer } from '../operation/record.ts';
import { origin, type Person, type VisibleKind } from '../shared/origin.ts';
import { attempt, newer, type UpdateEnding, type UpdateState, updateState } from './attempt.ts';

/**
 * The update of one deployment to one export. `job.ts` has its steps, `view.ts` its messages. Two aliases say which attempt
 * at its deployment was asked for last, and which one the deployment has.
 */
export const updateRun = runBase.extend({
  job: z.literal('deployment'),
  /** The export's run whose messages show it, too. */
  exportRun: z.string(),
  project: z.string(),
  /** The deployment's name in the settings. */
  deployment: z.string(),
  /** The site's address, from the settings. */
  siteUrl: z.string().optional(),
  /** Empty if only the job is known. */
  domain: z.string(),
  version: z.string().optional(),
  jobId: z.string(),
  pages: z.number().optional(),
  sizeBytes: z.number().optional(),
  /** The key of the message in whose thread its messages are. */
  under: z.string(),
  /** The same people as the export may see it. Messages about failures mention the person. */
  ...origin.shape,
  asked: origin.shape.asked.omit({ joinable: true }),
  /** The export schedule that asked for it. */
  schedule: z.string().optional(),
  ...attempt.shape,
  newer: newer.optional(),
  /** The last attempt that the deployment took, while a later one is on its way or has failed. */
  earlier: attempt.optional(),
  /** The name of the attempt that was asked for before this one: its question ends when the deployment takes this one. */
  overtakes: z.string().optional(),
  /**
   * On a schedule, what a message has to say. `failure`: the attempt before failed, so another failure is no news.
   * `reported`: the same, and the deployment reported it. `recovered`: this one then succeeded.
   */
  follows: z.enum(['failure', 'reported', 'recovered']).optional(),
  /** The name of the attempt that the deployment has, as far as its last step knew. */
  has: z.string().optional(),
  /** Counts the changes of the fact that the messages of its export and of its schedule show. */
  changes: z.number().int(),
  /** The key of the message that the present one replaces. */
  replacedKey: z.string().optional(),
  /** The answer to the question whether the workflow of an attempt started; `late` is GitHub's, `newer` nobody's. */
  answer: startAnswer.optional(),
});
export type UpdateRun = z.infer<typeof updateRun>;

export const updateKind: VisibleKind<UpdateRun> = {
  what: 'update',
  record: updateRun,
  visible: (run) => run,
};

type Wanted = Pick<UpdateRun, 'deployment' | 'under' | 'asked' | 'inDirectMessage' | 'by' | 'schedule'>;

/** Returns the update of a deployment to an export. Its id follows from both, so all people share one update. */
export function newUpdate(run: ExportRun, wanted: Wanted, nowMs: number): UpdateRun {
  const { teamId, project, version, jobId = '', pageCount: pages } = run;
  const domain = run.domain || run.siteDomain || '';
  const { sizeBytes, linkEndsAtMs } = latestLink(run) ?? {};
  return {
    id: updateId(run, wanted.deployment),
    exportRun: run.id,
    rev: 1,
    job: 'deployment',
    people: [],
    changes: 0,
    teamId,
    project,
    domain,
    version,
    jobId,
    pages,
    sizeBytes,
    linkEndsAtMs,
    ...wanted,
    ...begun(1, nowMs),
  };
}

/** Returns the id of the update of a deployment to an export. */
export const updateId = ({ teamId, project, jobId = '' }: ExportRun, deployment: string) =>
  idOf('deployment', teamId, project, deployment, jobId);

/** The fields that each attempt begins with. */
const begun = (attempt: number, nowMs: number) => ({
  attempt,
  renewal: 0,
  attemptAtMs: nowMs,
  state: 'accepted' as const,
  sinceMs: nowMs,
  failures: 0,
  nextTryAtMs: nowMs,
  shows: 'line' as const,
});

/** Returns the run in its next state. */
export const advance = (
  run: UpdateRun,
  changes: Partial<UpdateRun> & Pick<UpdateRun, 'state'>,
  nowMs: number,
): UpdateRun => ({ ...run, sinceMs: nowMs, failures: 0, nextTryAtMs: nowMs, ...changes });

/** No field of an attempt. */
const blank: Partial<z.infer<typeof attempt>> = Object.fromEntries(
  Object.keys(attempt.shape).map((name) => [name, undefined]),
);

/** Whether nobody knows if the deployment has it, because the settings no longer have the deployment. */
const isUnclear = ({ ending, notifiedAtMs }: UpdateRun) =>
  notifiedAtMs === undefined && ending?.kind === 'missing' && ending.mayBeSent;

/** Returns the next attempt of an update: after a failure, or to go back to its export. */
const restart = (run: UpdateRun, { id, name }: Person, nowMs: number): UpdateRun => ({
  ...run,
  ...blank,
  ...begun(run.attempt + 1, nowMs),
  again: run.state === 'unknown' || (run.notifiedAtMs === undefined && run.again) || undefined,
  lostMessage: isUnclear(run) ? webhookId(run) : undefined,
  earlier: run.notifiedAtMs === undefined ? run.earlier : { ...attempt.parse(run), shows: 'end' },
  replacedKey: messageKey(run),
  by: { id, name },
});

/** Returns the update as it was before its present attempt, if the deployment took it then. */
export const earlierOf = (run: UpdateRun): UpdateRun | undefined =>
  run.earlier && {
    ...run,
    ...blank,
    ...run.earlier,
    earlier: undefined,
    // The present attempt may have been superseded by one that the deployment does not have.
    newer: run.newer?.attempt === run.has ? run.newer : undefined,
  };

/** Returns the update after a step of `earlierOf`. */
export const withEarlier = (run: UpdateRun, stepped: UpdateRun): UpdateRun => ({
  ...stepped,
  ...blank,
  ...attempt.parse(run),
  earlier: attempt.parse(stepped),
});

/** Returns the attempt that people see: a failed one does not hide what the deployment took before. */
export const shownAttempt = (run: UpdateRun): UpdateRun =>
  (run.state === 'ended' && run.notifiedAtMs === undefined && earlierOf(run)) || run;

/** Whether somebody stopped the run of its workflow. */
export const isStopped = ({ workflow }: Pick<UpdateRun, 'workflow'>) =>
  STOPPED.includes(workflow?.conclusion ?? '');

/** Whether the run of its workflow failed. */
export const hasFailedWorkflow = ({ workflow }: Pick<UpdateRun, 'workflow'>) =>
  workflow?.conclusion !== undefined && !['success', ...STOPPED].includes(workflow.conclusion);

/** Whether everybody in the thread has to know of trouble with the present attempt. */
export function isInTrouble({ ending, newer, notifiedAtMs, outcome, ...run }: UpdateRun): boolean {
  if (newer && notifiedAtMs !== undefined) return false;
  if (ending) return !['superseded', 'left', 'permission'].includes(ending.kind);
  return outcome ? outcome.state === 'failed' : hasFailedWorkflow(run);
}

/**
 * Whether the deployment has this export, as far as anybody says: after a failure that it reported, it has to report. That a
 * fresh link did not follow changes nothing.
 */
const hasSucceeded = ({ notifiedAtMs, outcome, workflow, follows }: UpdateRun) =>
  notifiedAtMs !== undefined &&
  (outcome
    ? outcome.state === 'live'
    : workflow
      ? workflow.conclusion === 'success'
      : follows !== 'reported');

/** Returns what an update on a schedule follows: `before` is the schedule's previous one. */
export function followsOf({ schedule }: UpdateRun, before: UpdateRun | undefined): UpdateRun['follows'] {
  if (schedule === undefined || before?.schedule !== schedule || hasSucceeded(before)) return undefined;
  if (before.outcome?.state === 'failed' || before.follows === 'reported') return 'reported';
  // Also if the one before ended without a result.
  const isKnown = isInTrouble(before) || before.ending?.kind === 'permission' || before.follows === 'failure';
  return isKnown ? 'failure' : undefined;
}

/** Returns the attempt whose trouble everybody sees: above all, a site without a fresh link. */
const troubledAttempt = (run: UpdateRun): UpdateRun | undefined =>
  [run.state === 'ended' && run.earlier?.ending ? earlierOf(run) : undefined, run].find(
    (one) => one && isInTrouble(one),
  );

/** How long the run of a workflow is polled. */
export const WATCH_MS = 2 * 3_600_000;

/** How long a report of the deployment is waited for. Most need a download, and some never report. */
const REPORT_MS = 10 * 60_000;

/** Returns when nobody waits for an outcome of the present attempt any more. */
export function outcomeDueMs({ notifiedAtMs = Infinity, outcome, workflow }: UpdateRun): number {
  const isKnown = outcome ?? workflow?.conclusion ?? workflow?.unclear;
  if (isKnown !== undefined) return 0;
  // While it waits for an approval, nobody has to hear of it.
  return workflow?.untilMs ?? notifiedAtMs + (workflow ? WATCH_MS : REPORT_MS);
}

const SHOWN = attempt.shape.shows.options;

/** Returns the run with the message that shows it now. Each later one notifies people, and replaces the one before. */
export function withMessage(run: UpdateRun, nowMs: number): UpdateRun {
  const isSent = run.notifiedAtMs !== undefined && nowMs >= outcomeDueMs(run);
  const shows =
    run.state === 'unknown' ? 'question' : troubledAttempt(run) ? 'trouble' : isSent ? 'end' : 'line';
  const isLater = SHOWN.indexOf(shows) > SHOWN.indexOf(run.shows);
  const isRecovered = run.follows !== undefined && isSent && hasSucceeded(run);
  return {
    ...run,
    ...(isRecovered && { follows: 'recovered' }),
    // Somebody answers, and reads what came of it.
    ...(shows === 'question' && { follows: undefined }),
    ...(isLater && { shows, replacedKey: messageKey(run) }),
  };
}

/** Returns the key of the message that shows an update. */
export const messageKey = ({ id, attempt, shows }: Pick<UpdateRun, 'id' | 'attempt' | 'shows'>) =>
  `${id}.${shows}.${attempt}`;

/** Whether the deployment may have taken the present attempt, or may take it. */
export const mayTake = ({ ending, outcome, again }: UpdateRun) =>
  ending === undefined
    ? outcome?.state !== 'failed'
    : again ||
      (ending.kind === 'missing'
        ? ending.mayBeSent
        : !['refused', 'noLink', 'permission'].includes(ending.kind));

/** Returns what the messages of its export and of its schedule show. */
export const stateOf = (run: UpdateRun): UpdateState => updateState.parse(shownAttempt(run));

/** Returns the ended update. */
export const endUpdate = (run: UpdateRun, ending: UpdateEnding, nowMs: number): UpdateRun =>
  advance(run, { state: 'ended', ending }, nowMs);

/** Returns the name of the alias of a deployment's latest attempt, also if workspaces share its project. */
export const latestAlias = ({ project, deployment }: Pick<UpdateRun, 'project' | 'deployment'>) =>
  ['deployment', project, deployment].join(' ');

/** Returns the name of the alias of what the deployment took. */
export const takenAlias = (run: Parameters<typeof latestAlias>[0]) => `${latestAlias(run)} has`;

/** Stands behind the name of an attempt that the deployment took and could not use. */
export const UNUSABLE = '!';

/** Returns the attempts that the deployment took and can use, the newest first; else the newest that it took. */
export const readTaken = (alias = '') => alias.split(',').filter((name) => name !== '');

/** Returns the name of the attempt that the deployment has; undefined if none is known. */
export const hadIn = (alias: string | undefined) => readTaken(alias)[0]?.replace(UNUSABLE, '');

/** Returns the name of the present attempt. A later attempt has a greater name. */
export const attemptName = ({ id, attemptAtMs }: UpdateRun) => `${attemptAtMs} ${id}`;

/** Returns the id of an attempt's update. */
export const updateOf = (attempt: string) => attempt.slice(attempt.indexOf(' ') + 1);

/** Returns when an attempt was requested. */
export const askedAtMs = (attempt: string) => Number.parseInt(attempt, 10);

/**
 * Returns the `webhook-id` of the present message. A repeat has the same id; a message with a further link has another. The
 * time names the attempt, because a counter would come twice after data were restored from a backup.
 */
export const webhookId = ({ id, attemptAtMs, renewal }: UpdateRun) => `msg_${id}_${attemptAtMs}_${renewal}`;

/** Returns the parts of a `webhook-id`; undefined if it is not one of ours. */
export function readWebhookId(text: string): Pick<UpdateRun, 'id' | 'attemptAtMs' | 'renewal'> | undefined {
  const [, id, attemptAtMs, renewal] = /^msg_([0-9a-f]{24})_(\d{1,15})_(\d{1,9})$/.exec(text) ?? [];
  return id === undefined ? undefined : { id, attemptAtMs: Number(attemptAtMs), renewal: Number(renewal) };
}

/** The body of a callback: whether the deployment serves the export. */
export const callbackBody = z.object({
  state: z.enum(['live', 'failed']),
  message: z
    .string()
    .nullish()
    .transform((message) => message ?? undefined),
});

/** A callback in the inbox of its update, about one of its messages. */
const callback = callbackBody.extend({
  attemptAtMs: z.number(),
  renewal: z.number().int(),
  atMs: z.number(),
});

type Callback = z.infer<typeof callback>;

export const updateEvents: EventsOf<Callback> = { job: 'deployment', schema: callback };

/** Whether a message with this id may have left. */
export function mayBeSent(run: UpdateRun, about: Pick<UpdateRun, 'attemptAtMs' | 'renewal'>): boolean {
  if (about.attemptAtMs < run.attemptAtMs) return run.attempt > 1;
  const isLeft = run.notifyUntilMs !== undefined || run.notifiedAtMs !== undefined;
  const last = run.state === 'linking' ? run.renewal - 1 : run.renewal;
  return isLeft && about.attemptAtMs === run.attemptAtMs && about.renewal <= last;
}

/** Returns the run with a callback. Ignores callbacks of attempts that are over, and repeats of the same state. */
export function applyCallback(run: UpdateRun, event: Callback): UpdateRun {
  const { attemptAtMs, renewal, ...outcome } = event;
  const earlier = earlierOf(run);
  if (attemptAtMs === earlier?.attemptAtMs) return withEarlier(run, applyCallback(earlier, event));
  if (attemptAtMs !== run.attemptAtMs || !mayBeSent(run, { attemptAtMs, renewal })) return run;
  const next = outcome.state === run.outcome?.state ? run : { ...run, outcome };
  // The deployment has the present message, whatever Docket got as its answer. After a restore, it may have another, too.
  const isOpen = run.state === 'notifying' || run.state === 'ended';
  const isFinal = run.ending?.kind === 'noLink' || run.ending?.kind === 'restored';
  return isOpen && !isFinal && renewal === run.renewal ? setNotified(next, outcome.atMs) : next;
}

/** Returns the update whose present message the deployment has taken. */
export const setNotified = (run: UpdateRun, nowMs: number, changes: Partial<UpdateRun> = {}): UpdateRun => ({
  ...advance(run, { state: 'notified', notifiedAtMs: run.notifiedAtMs ?? nowMs, ...changes }, nowMs),
  notifyUntilMs: undefined,
  ending: undefined,
  earlier: undefined,
});

/** Whether the run of a workflow is worth another look: it waits, has ended without success, or could not be read. */
export const canRecheck = ({ conclusion, unclear, waits }: NonNullable<UpdateRun['workflow']>) =>
  waits === true || (conclusion ?? unclear ?? 'success') !== 'success';

/** Returns the run whose workflow is read at once; undefined if there is nothing to read. */
export function recheck(run: UpdateRun, nowMs: number): UpdateRun | undefined {
  const earlier = run.state === 'ended' ? earlierOf(run) : undefined;
  const next = earlier && recheck(earlier, nowMs);
  if (next) return withEarlier(run, next);
  const { state, workflow } = run;
  if (state !== 'notified' || !workflow || !canRecheck(workflow)) return undefined;
  const untilMs = Math.max(workflow.untilMs ?? 0, nowMs + 60_000);
  return { ...run, nextTryAtMs: nowMs, workflow: { ...workflow, untilMs } };
}

type Change = (run: UpdateRun, by: Person, nowMs: number) => UpdateRun | undefined;

const isOpen = ({ state }: UpdateRun) => state === 'unknown';

/** What each button does. Returns undefined if the update has changed since the button was shown. */
export const updateTransitions = {
  again: (run, by, nowMs) => {
    const next = restart(run, by, nowMs);
    if (isOpen(run)) return { ...next, answer: answerOf(run, by, 'startAgain') };
    // While its link is renewed, too.
    return run.state === 'ended' || run.notifiedAtMs !== undefined ? next : undefined;
  },
  ran: (run, by, nowMs) => {
    if (!isOpen(run)) return undefined;
    return { ...setNotified(run, nowMs), changes: run.changes + 1, answer: answerOf(run, by, 'watchIt') };
  },
  leave: (run, by, nowMs) => {
    if (!isOpen(run)) return undefined;
    const left = endUpdate(run, { kind: 'left' }, nowMs);
    return { ...left, changes: run.changes + 1, answer: answerOf(run, by, 'leave') };
  },
} satisfies Record<string, Change>;

/** The value of an update's buttons. It names the attempt that they were shown for, so a late click does nothing. */
export const updateButton = z.object({ v: z.literal(1), update: z.string(), attempt: z.number().int() });

/** The subject of the form that asks before an older export goes over a newer one: `over` is the attempt that it names. */
export const goBackForm = updateButton.extend({ over: z.string() });

/** The value of [Deploy to …] under an export: its run, and the deployment. */
export const deployButton = z.object({ v: z.literal(1), run: z.string(), deployment: z.string() });

/** The value of [More deployments] under an export: its run. */
export const moreButton = z.object({ v: z.literal(1), run: z.string() });

/** Slack allows an action once in a message, so each [Deploy to …] has its own. More than five deployments get no button. */
export const updateActions = [1, 2, 3, 4, 5].map((n) => `deployment.update_${n}`);

export const deploymentActions = {
  again: 'deployment.again',
  redeploy: 'deployment.redeploy',
  startAnyway: 'deployment.start_anyway',
  goBack: 'deployment.go_back',
  openSite: 'deployment.open_site',
  ran: 'deployment.ran',
  leave: 'deployment.leave',
  check: 'deployment.check',
  openRun: 'deployment.open_run',
  more: 'deployment.more',
} as const;
