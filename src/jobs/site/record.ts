import { z } from 'zod';
import { changedFiles } from '../../docs-api/operations.ts';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';
import type { EventsOf } from '../engine/send-event.ts';
import { answerOf, operation } from '../operation/record.ts';
import { origin, type Person, type VisibleKind } from '../shared/origin.ts';

/** How it ended. `reason` is the platform's own words. */
const ending = z.discriminatedUnion('kind', [
  /** `changed`: the files of its last commit; `picture`: the address of a picture of the result. */
  z.object({
    kind: z.literal('done'),
    changed: changedFiles.optional(),
    picture: z.string().optional(),
  }),
  /** The platform could not build it; `log` has the lines that say why. */
  z.object({ kind: z.literal('failed'), log: z.array(z.string()) }),
  /** It ended in a way of which Docket knows only the platform's word, such as "skipped". */
  z.object({ kind: z.literal('otherwise'), status: z.string() }),
  /**
   * The platform certainly did not start it. `unsupported`: it lacks the operation. `notFound`: perhaps, or it knows no such
   * branch or project. `permission`: the person may no longer ask for it.
   */
  z.object({
    kind: z.literal('notStarted'),
    why: z.enum([
      ...(['domain', 'plan', 'key', 'limit', 'down', 'project', 'permission'] as const),
      ...(['unsupported', 'notFound', 'other'] as const),
    ]),
    reason: z.string().optional(),
    /** Whom a person without the permission can ask. */
    contacts: z.string().optional(),
    /** The admins were alerted of the rejected key or the forbidden request. */
    adminsAlerted: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('lost') }),
  z.object({ kind: z.literal('gaveUp'), afterMs: z.number() }),
  /** The start is unknown, and a person decided to leave it so. */
  z.object({ kind: z.literal('left') }),
  /** Its line could not be posted, so nothing was started. */
  z.object({ kind: z.literal('noPlace'), code: z.string() }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type SiteEnding = z.infer<typeof ending>;

/** A preview of a branch, or without a branch an update of the site. All times are epoch milliseconds. */
export const siteRun = runBase.extend({
  job: z.literal('site'),
  project: z.string(),
  branch: z.string().optional(),
  /** The site's domain, if it is known. */
  domain: z.string().optional(),
  ...origin.shape,
  /** The followed thread in which somebody clicked [Preview]. It gets the run's messages. */
  thread: z.object({ id: z.string(), channel: z.string(), threadTs: z.string() }).optional(),
  ...operation.shape,
  /** `postingCard` the line about it · `starting` · `unknown` a person has to decide · `watching` · `ended` */
  state: z.enum(['postingCard', 'starting', 'unknown', 'watching', 'ended']),
  /** The platform's id of it, its latest status, and the address of the preview. */
  statusId: z.string().optional(),
  status: z.string().optional(),
  previewUrl: z.string().optional(),
  /** A round of the agent has ended since the start. */
  isOlder: z.boolean().optional(),
  ending: ending.optional(),
});
export type SiteRun = z.infer<typeof siteRun>;

/** A round of the agent has ended, which the preview does not show. */
export const siteEvents: EventsOf<{ kind: 'newerWork' }> = {
  job: 'site',
  schema: z.object({ kind: z.literal('newerWork') }),
};

export const siteKind: VisibleKind<SiteRun> = {
  what: 'preview or update',
  record: siteRun,
  visible: (run) => run,
};

type Wanted = Pick<SiteRun, 'id' | 'teamId' | 'project' | 'branch' | 'domain' | 'by' | 'asked'> &
  Pick<SiteRun, 'inDirectMessage' | 'thread'>;

/** Returns a new run. Until it ends, it blocks another one of the same branch or site. */
export function newSiteRun(wanted: Wanted, nowMs: number): SiteRun {
  const { id, teamId, project, branch, domain, by, asked, inDirectMessage, thread } = wanted;
  return {
    id,
    teamId,
    project,
    branch,
    domain,
    by,
    asked,
    inDirectMessage,
    thread,
    rev: 1,
    job: 'site',
    people: [by.id],
    // Workspaces that share a project update one site.
    claim: branch === undefined ? idOf('site', project) : idOf('site', teamId, project, branch),
    attempt: 1,
    state: 'postingCard',
    sinceMs: nowMs,
    nextPollAtMs: nowMs,
  };
}

/** Returns the run in its next state. */
export const advance = (
  run: SiteRun,
  changes: Partial<SiteRun> & Pick<SiteRun, 'state'>,
  nowMs: number,
): SiteRun => ({ ...run, sinceMs: nowMs, nextPollAtMs: nowMs, pollFailure: undefined, ...changes });

/** Returns the run after a person's answer to the question whether it was started. */
export function answerQuestion(run: SiteRun, by: Person, action: 'startAgain' | 'leave', nowMs: number) {
  const answer = answerOf(run, by, action);
  return action === 'startAgain'
    ? advance(run, { state: 'starting', attempt: run.attempt + 1, answer }, nowMs)
    : advance(run, { state: 'ended', ending: { kind: 'left' }, answer }, nowMs);
}

/** Returns the alias of the latest preview of a branch in a followed thread. */
export const previewAlias = (threadId: string, branch: string) => ['preview', threadId, branch].join(' ');

/** The name under which Docket remembers that a platform makes no previews. */
export const previewSupport = (teamId: string, project: string) => ['previews', teamId, project].join(':');

/** The value of a run's buttons. It names the attempt, so a late answer to its question does nothing. */
export const siteButton = z.object({ v: z.literal(1), site: z.string(), attempt: z.number().int() });

export const siteActions = {
  ask: 'site.ask',
  ofThread: 'agent.preview',
  startAgain: 'site.start_again',
  tryAgain: 'site.try_again',
  buildAgain: 'site.build_again',
  leave: 'site.leave',
  open: 'site.open',
} as const;

export const openPreview = (url: string) => ({ label: 'Open preview', action: siteActions.open, url });
