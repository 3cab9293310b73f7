import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import { type ExportRun, latestLink } from '../export/record.ts';
import { type Person, person, type VisibleKind } from '../visibility.ts';

/** Why an update ended. `status` and `text` are the deployment's answer, cleaned. */
const ending = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('refused'), status: z.number().optional(), text: z.string() }),
  /** It did not take the message for an hour. */
  z.object({ kind: z.literal('gaveUp'), reason: z.string() }),
  z.object({ kind: z.literal('noLink'), reason: z.string().optional() }),
  /** `by` may not update deployments. */
  z.object({ kind: z.literal('permission'), contacts: z.string() }),
  /** The settings no longer have it. */
  z.object({ kind: z.literal('missing') }),
  /** The deployment was notified of another export since. */
  z.object({ kind: z.literal('superseded') }),
  /** It is unknown whether the workflow started, and a person chose to leave it. */
  z.object({ kind: z.literal('left') }),
  /** The data are those of a backup: it may have been notified of another export since, so its link is not renewed. */
  z.object({ kind: z.literal('restored') }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type UpdateEnding = z.infer<typeof ending>;

/** The update of one deployment to one export. `job.ts` has its steps, `view.ts` its messages. */
export const updateRun = runBase.extend({
  job: z.literal('deployment'),
  project: z.string(),
  /** The deployment's name in the settings. */
  deployment: z.string(),
  domain: z.string(),
  version: z.string().optional(),
  jobId: z.string(),
  pages: z.number().optional(),
  sizeBytes: z.number().optional(),
  /** The end of the latest known link; epoch milliseconds. */
  linkEndsAtMs: z.number().optional(),
  /** The key of the message in whose thread its messages are. */
  under: z.string(),
  /** Who may see it: the same people as the export. */
  asked: z.object({ channel: z.string(), isPublic: z.boolean() }),
  inDirectMessage: z.boolean(),
  /** Who asked for it; messages about failures mention this person. */
  by: person,
  /** The export schedule that asked for it. */
  schedule: z.string().optional(),
  /** Counts the requests of people and of the schedule; `renewal` counts the further links of this attempt. */
  attempt: z.number().int(),
  renewal: z.number().int(),
  attemptAtMs: z.number(),
  /** `accepted` no step yet · `linking` makes the link · `notifying` · `unknown` a person has to decide · `notified` · `ended` */
  state: z.enum(['accepted', 'linking', 'notifying', 'unknown', 'notified', 'ended']),
  /** Start of the present state. */
  sinceMs: z.number(),
  /** The name of the attempt that this one replaces as the latest of its deployment. */
  replaces: z.string().optional(),
  /** Consecutive failures of the present call, and when it is tried again. */
  failures: z.number().int(),
  nextTryAtMs: z.number(),
  /** Until then, Docket repeats the message with the present link. */
  notifyUntilMs: z.number().optional(),
  /** When the deployment first took the message of this attempt. */
  notifiedAtMs: z.number().optional(),
  /** When Docket makes the next link. */
  renewAtMs: z.number().optional(),
  /** The outcome that the deployment reported. Repeated reports of one state keep the time of the first. */
  outcome: z
    .object({ state: z.enum(['live', 'failed']), message: z.string().optional(), atMs: z.number() })
    .optional(),
  /** The run of a GitHub workflow. Once it has ended, `conclusion` is GitHub's word for its result. */
  workflow: z.object({ id: z.number(), url: z.string(), conclusion: z.string().optional() }).optional(),
  ending: ending.optional(),
  /** The answer to the question whether the workflow of an attempt started; `late` is GitHub's own. */
  answer: z
    .object({ attempt: z.number().int(), by: person, action: z.enum(['ran', 'again', 'leave', 'late']) })
    .optional(),
});
export type UpdateRun = z.infer<typeof updateRun>;

/** The fields of an update that the schedule's message shows. */
export const updateState = updateRun.pick({
  ...{ id: true, deployment: true, state: true, notifiedAtMs: true },
  ...{ outcome: true, workflow: true, ending: true },
});
export type UpdateState = z.infer<typeof updateState>;

export const updateKind: VisibleKind<UpdateRun> = {
  what: 'update',
  record: updateRun,
  visible: (run) => ({ ...run, requester: run.by }),
};

type Wanted = Pick<UpdateRun, 'deployment' | 'under' | 'asked' | 'inDirectMessage' | 'by' | 'schedule'>;

/** Returns the update of a deployment to an export. Its id follows from both, so all people share one update. */
export function newUpdate(run: ExportRun, wanted: Wanted, nowMs: number): UpdateRun {
  const { teamId, project, domain, version, jobId = '', pageCount: pages } = run;
  const { sizeBytes, linkEndsAtMs } = latestLink(run) ?? {};
  return {
    id: idOf('deployment', teamId, project, wanted.deployment, jobId),
    ...{ rev: 1, job: 'deployment', people: [wanted.by.id] },
    ...{ teamId, project, domain, version, jobId, pages, sizeBytes, linkEndsAtMs, ...wanted },
    ...{ attempt: 1, renewal: 0, attemptAtMs: nowMs },
    ...{ state: 'accepted', sinceMs: nowMs, failures: 0, nextTryAtMs: nowMs },
  };
}

/** Returns the run in its next state. */
export const advance = (
  run: UpdateRun,
  changes: Partial<UpdateRun> & Pick<UpdateRun, 'state'>,
  nowMs: number,
): UpdateRun => ({ ...run, sinceMs: nowMs, failures: 0, nextTryAtMs: nowMs, ...changes });

/** Returns the next attempt of an update: after a failure, or to go back to its export. */
export const restart = (run: UpdateRun, { id, name }: Person, nowMs: number): UpdateRun => ({
  ...advance(run, { state: 'accepted', attempt: run.attempt + 1, attemptAtMs: nowMs, renewal: 0 }, nowMs),
  ...{ by: { id, name }, people: [...new Set([...run.people, id])] },
  ...{ replaces: undefined, notifiedAtMs: undefined, renewAtMs: undefined, outcome: undefined },
  ...{ workflow: undefined, ending: undefined, notifyUntilMs: undefined, linkEndsAtMs: undefined },
});

/** Returns the ended update. */
export const endUpdate = (run: UpdateRun, ending: UpdateEnding, nowMs: number): UpdateRun =>
  advance(run, { state: 'ended', ending }, nowMs);

/** Returns the name of the alias that points to a deployment's latest attempt, also if workspaces share its project. */
export const latestAlias = ({ project, deployment }: UpdateRun) =>
  ['deployment', project, deployment].join(' ');

/** Returns the name of the present attempt. A later attempt has a greater name. */
export const attemptName = ({ id, attemptAtMs }: UpdateRun) => `${attemptAtMs} ${id}`;

/** Returns the id of an attempt's update. */
export const updateOf = (attempt: string) => attempt.slice(attempt.indexOf(' ') + 1);

/** Returns when an attempt was requested. */
export const askedAtMs = (attempt: string) => Number.parseInt(attempt, 10);

/** Returns the `webhook-id` of the present message. A repeat has the same id; a message with a further link has another. */
export const webhookId = ({ id, attempt, renewal }: UpdateRun) => `msg_${id}_${attempt}_${renewal}`;

/** Returns the parts of a `webhook-id`; undefined if it is not one of ours. */
export function readWebhookId(text: string): Pick<UpdateRun, 'id' | 'attempt' | 'renewal'> | undefined {
  const [, id, attempt, renewal] = /^msg_([0-9a-f]{24})_(\d{1,9})_(\d{1,9})$/.exec(text) ?? [];
  return id === undefined ? undefined : { id, attempt: Number(attempt), renewal: Number(renewal) };
}

/** The body of a callback: whether the deployment serves the export. */
export const callbackBody = z.object({
  state: z.enum(['live', 'failed']),
  message: z.string().optional(),
});

/** A callback in the inbox of its update, about one of its messages. */
const callback = callbackBody.extend({
  ...{ attempt: z.number().int(), renewal: z.number().int(), atMs: z.number() },
});

/** Returns the run with a callback. Ignores callbacks of earlier attempts, and repeats of the same state. */
export function applyCallback(run: UpdateRun, event: unknown): UpdateRun {
  const { attempt, renewal, ...outcome } = callback.parse(event);
  if (attempt !== run.attempt) return run;
  const next = outcome.state === run.outcome?.state ? run : { ...run, outcome };
  // The deployment has the present message, though Docket did not get its answer.
  const isTaken = renewal === run.renewal && (run.state === 'notifying' || run.ending?.kind === 'gaveUp');
  return isTaken ? setNotified(next, outcome.atMs) : next;
}

/** Returns the update whose present message the deployment has taken. */
export const setNotified = (run: UpdateRun, nowMs: number, changes: Partial<UpdateRun> = {}): UpdateRun => ({
  ...advance(run, { state: 'notified', notifiedAtMs: run.notifiedAtMs ?? nowMs, ...changes }, nowMs),
  ...{ notifyUntilMs: undefined, ending: undefined },
});

/** The value of an update's buttons. It names the attempt that they were shown for, so a late click does nothing. */
export const updateButton = z.object({ v: z.literal(1), update: z.string(), attempt: z.number().int() });

/** The value of [Update …] under an export: its run, and the deployment. */
export const deployButton = z.object({ v: z.literal(1), run: z.string(), deployment: z.string() });

/** Slack allows an action once in a message, so each [Update …] has its own. More than five deployments get no button. */
export const updateActions = [1, 2, 3, 4, 5].map((n) => `deployment.update_${n}`);

export const deploymentActions = {
  again: 'deployment.again',
  ran: 'deployment.ran',
  leave: 'deployment.leave',
  openRun: 'deployment.open_run',
} as const;
