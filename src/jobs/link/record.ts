import { z } from 'zod';
import { idOf } from '../../store/ids.ts';
import { runBase } from '../../store/runs.ts';
import { site } from '../export/phrases.ts';
import { type ExportRun, jobIdOf } from '../export/record.ts';
import { type RunRequest, requestRunId } from '../request.ts';
import type { VisibleKind } from '../visibility.ts';

/**
 * One person's own link to the bundle of a completed export, sent by direct message. All times are epoch
 * milliseconds.
 */
export const linkRun = runBase.extend({
  job: z.literal('link'),
  project: z.string(),
  /** The platform's id of the export job, and what it exported, for people to read. */
  exportJobId: z.string(),
  site: z.string(),
  to: z.object({ id: z.string(), name: z.string() }),
  state: z.enum(['making', 'sent', 'over', 'failed']),
  sinceMs: z.number(),
  nextPollAtMs: z.number(),
  /** Counts the links that were asked for; a further one edits the message that is there. */
  made: z.number().int(),
  /** Tries in a row that gave no link. */
  failures: z.number().int(),
  /** Name in the link store of the last link that could be had. */
  link: z.string().optional(),
  linkEndsAtMs: z.number().optional(),
  /** It has ended, while a further one was wanted. */
  expired: z.boolean().optional(),
  /** Slack's word for why the person's direct messages do not take the message. */
  refusal: z.string().optional(),
});
export type LinkRun = z.infer<typeof linkRun>;

/** A link is for one person, in their direct messages. */
export const linkKind: VisibleKind<LinkRun> = {
  record: linkRun,
  visible: ({ to }) => ({
    requester: to,
    asked: { channel: '', isPublic: false },
    inDirectMessage: true,
  }),
};

/** Returns a run that makes somebody's own link to the bundle of a completed export. */
export function newLinkRun(
  run: ExportRun,
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
    site: site(run),
    to: { id: user.id, name: user.name },
    state: 'making',
    sinceMs: nowMs,
    nextPollAtMs: nowMs,
    made: 1,
    failures: 0,
  };
}

/** Returns a fresh link for the same person; nothing while one is being made. */
export function renewLink(run: LinkRun, nowMs: number): LinkRun | undefined {
  if (run.state === 'making') return undefined;
  const over = run.state === 'over' || run.expired;
  const fresh = { sinceMs: nowMs, nextPollAtMs: nowMs, made: run.made + 1, failures: 0, refusal: undefined };
  return { ...run, ...fresh, state: 'making', expired: over };
}

/** What [New link] and [Get the link] carry: the link they were shown for. */
export const linkButton = z.object({ v: z.literal(1), run: z.string(), made: z.number().int() });
export type LinkButton = z.infer<typeof linkButton>;

export const linkActions = { again: 'link.again', download: 'link.download' } as const;
