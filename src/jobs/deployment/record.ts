import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import { type Person, person, type VisibleKind } from '../visibility.ts';

/** The export that a deployment is told of. */
const toldExport = z.object({
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
});

/** Why a deployment is not told, or no longer kept current. `status` and `text` are its answer, cleaned. */
const ending = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('refused'), status: z.number().optional(), text: z.string() }),
  /** It did not take the message for an hour. */
  z.object({ kind: z.literal('gaveUp'), reason: z.string() }),
  z.object({ kind: z.literal('noLink'), reason: z.string().optional() }),
  /** `by` may not tell deployments. */
  z.object({ kind: z.literal('permission'), contacts: z.string() }),
  /** The settings no longer have it. */
  z.object({ kind: z.literal('missing') }),
  /** The deployment was told of another export since. */
  z.object({ kind: z.literal('superseded') }),
  /** It is unknown whether the workflow started, and a person left it so. */
  z.object({ kind: z.literal('left') }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type UpdateEnding = z.infer<typeof ending>;

/** One export, and one deployment that is told of it. `job.ts` has its steps, `view.ts` its messages. */
export const updateRun = runBase.extend({
  job: z.literal('deployment'),
  ...toldExport.shape,
  /** The key of the message in whose thread its messages are. */
  under: z.string(),
  /** Who may see it: the same people as the export. */
  asked: z.object({ channel: z.string(), isPublic: z.boolean() }),
  inDirectMessage: z.boolean(),
  /** Who asked for it; messages about failures mention this person. */
  by: person,
  /** The export schedule that asked for it. */
  schedule: z.string().optional(),
  /** Counts how often people, or the schedule, asked; then the further links of this attempt. */
  attempt: z.number().int(),
  renewal: z.number().int(),
  attemptAtMs: z.number(),
  /** `accepted` not stepped yet · `linking` the link is being made · `telling` · `unknown` a person has to decide · `told` */
  state: z.enum(['accepted', 'linking', 'telling', 'unknown', 'told', 'ended']),
  /** Start of the present state. */
  sinceMs: z.number(),
  /** The name of the attempt that this one replaces as the latest of its deployment. */
  replaces: z.string().optional(),
  /** Consecutive failures of the present call, and when it is tried again. */
  failures: z.number().int(),
  nextTryAtMs: z.number(),
  /** Docket stops trying to tell it of the present link then. */
  tellUntilMs: z.number().optional(),
  /** The deployment first took the message of this attempt. */
  toldAtMs: z.number().optional(),
  /** Its own link is made again then. */
  renewAtMs: z.number().optional(),
  /** What the deployment said came of it, at its first word: a renewed link changes nothing. */
  outcome: z
    .object({ state: z.enum(['live', 'failed']), message: z.string().optional(), atMs: z.number() })
    .optional(),
  /** The run of a GitHub workflow; `conclusion` is GitHub's word, once it has ended. */
  workflow: z.object({ id: z.number(), url: z.string(), conclusion: z.string().optional() }).optional(),
  ending: ending.optional(),
  /** The answer to the question whether the workflow of an attempt started. */
  answer: z
    .object({ attempt: z.number().int(), by: person, action: z.enum(['ran', 'again', 'leave']) })
    .optional(),
});
export type UpdateRun = z.infer<typeof updateRun>;

/** What a schedule's message shows of an update. */
export const updateState = updateRun.pick({
  ...{ id: true, deployment: true, state: true, toldAtMs: true, renewal: true },
  ...{ outcome: true, workflow: true, ending: true },
});
export type UpdateState = z.infer<typeof updateState>;

export const updateKind: VisibleKind<UpdateRun> = {
  what: 'update',
  record: updateRun,
  visible: (run) => ({ ...run, requester: run.by }),
};

type Wanted = z.infer<typeof toldExport> &
  Pick<UpdateRun, 'teamId' | 'under' | 'asked' | 'inDirectMessage' | 'by' | 'schedule'>;

/** Returns the update of a deployment to an export. The same export and deployment have the same one, whoever asks. */
export const newUpdate = (wanted: Wanted, nowMs: number): UpdateRun => ({
  id: idOf('deployment', wanted.teamId, wanted.project, wanted.deployment, wanted.jobId),
  rev: 1,
  job: 'deployment',
  people: [wanted.by.id],
  ...wanted,
  ...{ attempt: 1, renewal: 0, attemptAtMs: nowMs },
  ...{ state: 'accepted', sinceMs: nowMs, failures: 0, nextTryAtMs: nowMs },
});

/** Returns the run in its next state. */
export const advance = (
  run: UpdateRun,
  changes: Partial<UpdateRun> & Pick<UpdateRun, 'state'>,
  nowMs: number,
): UpdateRun => ({ ...run, sinceMs: nowMs, failures: 0, nextTryAtMs: nowMs, ...changes });

/** Returns the update once more, for the same export: after a failure, or to go back to its version. */
export const restart = (run: UpdateRun, by: Person, nowMs: number): UpdateRun => ({
  ...advance(run, { state: 'accepted', attempt: run.attempt + 1, attemptAtMs: nowMs, renewal: 0 }, nowMs),
  ...{ by, people: [...new Set([...run.people, by.id])] },
  ...{ replaces: undefined, toldAtMs: undefined, renewAtMs: undefined, outcome: undefined },
  ...{ workflow: undefined, ending: undefined, tellUntilMs: undefined, linkEndsAtMs: undefined },
});

/** Whether a person may ask for it once more. */
export const canRestart = ({ state }: UpdateRun) => state === 'told' || state === 'ended';

/** Returns the ended update. */
export const endUpdate = (run: UpdateRun, ending: UpdateEnding, nowMs: number): UpdateRun =>
  advance(run, { state: 'ended', ending }, nowMs);

/** Returns the alias of the attempt that was asked for last, of all updates of a deployment. */
export const latestAlias = ({ teamId, project, deployment }: UpdateRun) =>
  ['deployment', teamId, project, deployment].join(' ');

/** Returns the name of the present attempt. One that was asked for later has a greater name. */
export const attemptName = ({ id, attemptAtMs }: UpdateRun) => `${attemptAtMs} ${id}`;

/** Returns the id of the update that an attempt belongs to, and when it was asked for. */
export const updateOf = (attempt: string) => attempt.slice(attempt.indexOf(' ') + 1);
export const askedAtMs = (attempt: string) => Number.parseInt(attempt, 10);

/** Returns the `webhook-id` of the present message. A repeat has the same one, and a further link another. */
export const webhookId = ({ id, attempt, renewal }: UpdateRun) => `msg_${id}_${attempt}_${renewal}`;

/** Returns the parts of a `webhook-id`; undefined if it is not one of ours. */
export function readWebhookId(text: string): Pick<UpdateRun, 'id' | 'attempt' | 'renewal'> | undefined {
  const [, id, attempt, renewal] = /^msg_([0-9a-f]{24})_(\d{1,9})_(\d{1,9})$/.exec(text) ?? [];
  return id === undefined ? undefined : { id, attempt: Number(attempt), renewal: Number(renewal) };
}

/** The body of a callback: what came of an export at the deployment. */
export const callbackBody = z.object({
  state: z.enum(['live', 'failed']),
  message: z.string().optional(),
});

/** A callback in the inbox of its update, about one of its messages. */
const callback = callbackBody.extend({
  ...{ attempt: z.number().int(), renewal: z.number().int(), atMs: z.number() },
});

/** Returns the run with a callback. An attempt that is over has none, and a site that is live stays so since then. */
export function applyCallback(run: UpdateRun, event: unknown): UpdateRun {
  const { attempt, renewal, ...outcome } = callback.parse(event);
  if (attempt !== run.attempt) return run;
  const next = outcome.state === run.outcome?.state ? run : { ...run, outcome };
  // The deployment has the present message, though Docket did not get its answer.
  const isTaken = renewal === run.renewal && (run.state === 'telling' || run.ending?.kind === 'gaveUp');
  return isTaken ? setTold(next, outcome.atMs) : next;
}

/** Returns the update whose present message the deployment has taken. */
export const setTold = (run: UpdateRun, nowMs: number, changes: Partial<UpdateRun> = {}): UpdateRun => ({
  ...advance(run, { state: 'told', toldAtMs: run.toldAtMs ?? nowMs, ...changes }, nowMs),
  ...{ tellUntilMs: undefined, ending: undefined },
});

/** The value of an update's buttons. It names the attempt that they were shown for, so a late click does nothing. */
export const updateButton = z.object({ v: z.literal(1), update: z.string(), attempt: z.number().int() });

/** The value of [Update …] under an export: its run, and the deployment. */
export const deployButton = z.object({ v: z.literal(1), run: z.string(), deployment: z.string() });

/** One for each [Update …] in a message, where Slack allows each action once: further deployments have no button. */
export const updateActions = [1, 2, 3, 4, 5].map((n) => `deployment.update_${n}`);

export const deploymentActions = {
  again: 'deployment.again',
  ran: 'deployment.ran',
  leave: 'deployment.leave',
  openRun: 'deployment.open_run',
} as const;
