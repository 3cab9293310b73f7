import { z } from 'zod';

/** Why an update ended. `status` and `text` are the deployment's answer, cleaned. */
const ending = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('refused'),
    status: z.number().optional(),
    text: z.string(),
    /** It redirects, `to` a host and path if they are known. */
    moved: z.object({ what: z.enum(['address', 'repository']), to: z.string() }).optional(),
  }),
  /** It did not take the message for an hour. */
  z.object({ kind: z.literal('gaveUp'), reason: z.string() }),
  /** `project`: the settings have no key of its project any more. */
  z.object({
    kind: z.literal('noLink'),
    why: z.literal('project').optional(),
    reason: z.string().optional(),
  }),
  /** `by` may not update deployments. */
  z.object({ kind: z.literal('permission'), contacts: z.string() }),
  /** The settings no longer have it. */
  z.object({ kind: z.literal('missing'), mayBeSent: z.boolean() }),
  /** Another export was asked for before this one was sent. */
  z.object({ kind: z.literal('superseded') }),
  /** It is unknown whether the workflow started, and a person chose to leave it. */
  z.object({ kind: z.literal('left') }),
  /** The data are those of a backup: it may have been notified of another export since, so nothing more is sent. */
  z.object({ kind: z.literal('restored') }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type UpdateEnding = z.infer<typeof ending>;

/** One request to update, and what came of it. */
export const attempt = z.object({
  /** Counts the requests of people and of the schedule; `renewal` counts the further links of this attempt. */
  attempt: z.number().int(),
  renewal: z.number().int(),
  /** When it was asked for, by Redis' clock. */
  attemptAtMs: z.number(),
  /** `accepted` no step yet · `linking` makes the link · `notifying` · `unknown` a person has to decide · `notified` · `ended` */
  state: z.enum(['accepted', 'linking', 'notifying', 'unknown', 'notified', 'ended']),
  /** Start of the present state. */
  sinceMs: z.number(),
  /** Which of its messages shows this attempt: each later one is a post of its own, and replaces the one before. */
  shows: z.enum(['line', 'question', 'end', 'trouble']),
  /** A person began it because the start of the attempt before stayed unclear. */
  again: z.literal(true).optional(),
  /** The name of the attempt that the deployment had when this one began. */
  replaces: z.string().optional(),
  /** Consecutive failures of the present call, and when it is tried again. */
  failures: z.number().int(),
  nextTryAtMs: z.number(),
  /** Until then, Docket repeats the message with the present link. It is set before the first one may leave. */
  notifyUntilMs: z.number().optional(),
  /** The id of a message whose answer was lost, perhaps of the attempt before. */
  lostMessage: z.string().optional(),
  /** When the deployment first took the message of this attempt. */
  notifiedAtMs: z.number().optional(),
  /** The end of the latest known link, and when Docket makes the next one; epoch milliseconds. */
  linkEndsAtMs: z.number().optional(),
  renewAtMs: z.number().optional(),
  /** The outcome that the deployment reported. Repeated reports of one state keep the time of the first. */
  outcome: z
    .object({ state: z.enum(['live', 'failed']), message: z.string().optional(), atMs: z.number() })
    .optional(),
  /** The run of a GitHub workflow. Once it has ended, `conclusion` is GitHub's word for its result. */
  workflow: z
    .object({
      id: z.number(),
      url: z.string(),
      conclusion: z.string().optional(),
      /** It waits for an approval on GitHub. */
      waits: z.literal(true).optional(),
      /** It waits, or has waited. */
      waited: z.literal(true).optional(),
      /** Why its result cannot be read. */
      unclear: z.string().optional(),
      /** Until then it is read. */
      untilMs: z.number().optional(),
    })
    .optional(),
  ending: ending.optional(),
});

/** The attempt at another export that was asked for later and takes this one's place. */
export const newer = z.object({
  attempt: z.string(),
  /** The label of its version, if it has one. */
  label: z.string(),
  /** When the deployment took it. */
  atMs: z.number().optional(),
});

/** The fields of an update that the messages of its export and of its schedule show. */
export const updateState = attempt
  .pick({ state: true, notifiedAtMs: true, outcome: true, workflow: true, ending: true, again: true })
  .extend({ id: z.string(), deployment: z.string(), newer: newer.optional() });
export type UpdateState = z.infer<typeof updateState>;
