import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import { type ExportRun, jobIdOf } from '../export/record.ts';
import { type RunRequest, requestRunId } from '../request.ts';
import { pollFailure } from '../retry.ts';
import type { VisibleKind } from '../visibility.ts';

/**
 * One person's own link to the bundle of a completed export, sent by direct message. All times are epoch milliseconds.
 */
export const linkRun = runBase.extend({
  job: z.literal('link'),
  project: z.string(),
  /** The platform's id of the export job, and the exported site for display. */
  exportJobId: z.string(),
  site: z.string(),
  to: z.object({ id: z.string(), name: z.string() }),
  state: z.enum(['making', 'sent', 'over', 'failed']),
  sinceMs: z.number(),
  nextPollAtMs: z.number(),
  /** Counts the requested links; a further one edits the same message. */
  made: z.number().int(),
  pollFailure: pollFailure.optional(),
  /** Name of the last link in the link store. */
  link: z.string().optional(),
  linkEndsAtMs: z.number().optional(),
  /** It expired while a further one was requested. */
  expired: z.boolean().optional(),
  /** Slack's error code, if the person's direct messages refuse the message. */
  refusal: z.string().optional(),
});
export type LinkRun = z.infer<typeof linkRun>;

/** A link is for one person, in their direct messages. */
export const linkKind: VisibleKind<LinkRun> = {
  what: 'link',
  record: linkRun,
  visible: ({ to }) => ({
    requester: to,
    asked: { channel: '', isPublic: false },
    inDirectMessage: true,
  }),
};

/** Returns a run that makes a person's own link to the bundle of a completed export. */
export function newLinkRun(
  run: ExportRun,
  site: string,
  request: Pick<RunRequest, 'teamId' | 'requestId' | 'user'>,
  nowMs: number,
): LinkRun {
  const { teamId, user } = request;
  return {
    id: requestRunId(request),
    teamId,
    job: 'link',
    rev: 1,
    people: [],
    claim: idOf('link', run.id, user.id),
    project: run.project,
    exportJobId: jobIdOf(run),
    site,
    to: { id: user.id, name: user.name },
    state: 'making',
    sinceMs: nowMs,
    nextPollAtMs: nowMs,
    made: 1,
  };
}

/** Returns a new link for the same person; undefined while one is being made. */
export function renewLink(run: LinkRun, nowMs: number): LinkRun | undefined {
  if (run.state === 'making') return undefined;
  const over = run.state === 'over' || run.expired;
  const fresh = { sinceMs: nowMs, nextPollAtMs: nowMs, made: run.made + 1 };
  return { ...run, ...fresh, state: 'making', expired: over, pollFailure: undefined, refusal: undefined };
}

/** The value of [New link] and [Get the link]: the link that they were shown for. */
export const linkButton = z.object({ v: z.literal(1), run: z.string(), made: z.number().int() });
export type LinkButton = z.infer<typeof linkButton>;

export const linkActions = { again: 'link.again', download: 'link.download' } as const;
