import { createHash } from 'node:crypto';
import { z } from 'zod';
import { runBase } from '../../store/runs.ts';
import { version } from '../../store/version.ts';

/** The export is done, and a link to its bundle was made. */
const doneEnding = z.object({
  kind: z.literal('done'),
  /** Name of the link in the link store. */
  link: z.string(),
  linkEndsAtMs: z.number().optional(),
  sizeBytes: z.number().optional(),
  /** The link has ended, and its message says so. */
  over: z.boolean().optional(),
  /** The link went to the requester's direct messages; the thread has none. */
  privately: z.boolean().optional(),
  /** Slack's word for why it could not go there. */
  refusal: z.string().optional(),
});
export type DoneEnding = z.infer<typeof doneEnding>;

/** How an export came out, for the person who asked. */
const ending = z.discriminatedUnion('kind', [
  doneEnding,
  z.object({ kind: z.literal('failed'), reason: z.string().optional() }),
  /**
   * The platform certainly did not start it; `reason` is what it said. With `permission` whoever asked may no longer
   * start exports, and `reason` is whom to ask.
   */
  z.object({
    kind: z.literal('notStarted'),
    why: z.enum(['domain', 'plan', 'key', 'limit', 'down', 'project', 'permission', 'other']),
    reason: z.string().optional(),
    /** The admins were told of the rejected key. */
    adminsTold: z.boolean().optional(),
  }),
  z.object({ kind: z.literal('lost') }),
  z.object({ kind: z.literal('gaveUp'), afterMs: z.number() }),
  z.object({
    kind: z.literal('noLink'),
    /** Somebody has to act before a link can be had. */
    why: z.enum(['key', 'project']).optional(),
    adminsTold: z.boolean().optional(),
  }),
  /** Nobody could tell whether it started, and a person decided to leave it. */
  z.object({ kind: z.literal('left') }),
  /** The card could not be posted, so nothing was started. */
  z.object({ kind: z.literal('noPlace'), code: z.string() }),
  z.object({ kind: z.literal('broken'), ref: z.string() }),
]);
export type Ending = z.infer<typeof ending>;

/** Why a look at the platform gave nothing, while it lasts. */
const trouble = z.object({
  kind: z.enum(['down', 'limit', 'key', 'forbidden', 'project', 'lost']),
  inARow: z.number().int(),
  /** Admins were told of it. */
  adminsTold: z.boolean().optional(),
  /** When it is tried again. */
  nextMs: z.number(),
});

export type Trouble = z.infer<typeof trouble>;

/** One look at the export job. `fraction` is 0 to 1. */
const snapshot = z.object({ atMs: z.number(), fraction: z.number().optional() });
export type Snapshot = z.infer<typeof snapshot>;

/**
 * One export that somebody asked for. All times are epoch milliseconds. Every message about it is a function of
 * this record alone, see `view.ts`.
 */
export const exportRun = runBase.extend({
  v: version(2),
  job: z.literal('export'),
  project: z.string(),
  /** Empty for an export that was not started from here and whose job alone is known. */
  domain: z.string(),
  /** The label of this export, and the pages of it; every page when missing. */
  version: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** The link is for the requester alone. */
  privately: z.boolean().default(false),
  /** Watches an export job that exists; it starts none. */
  joined: z.boolean().default(false),
  requester: z.object({ id: z.string(), name: z.string() }),
  /** Who wants to be mentioned in the ending as well. */
  watchers: z.array(z.object({ id: z.string(), name: z.string() })),
  /** Where it was asked for. `joinable`: the app can be invited there; else its messages go to the person. */
  asked: z.object({ channel: z.string(), joinable: z.boolean(), isPublic: z.boolean(), atMs: z.number() }),
  /** Where its messages are: the channel, or the requester's direct messages. */
  inDirectMessage: z.boolean(),
  /** Counts the starts, and within one the times that a person had it watched again. */
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** Counts the further links that were asked for; they edit the ending that is there. */
  relinked: z.number().int(),
  /**
   * `accepted` nobody has looked yet · `carding` the card is on its way · `starting` · `watching` ·
   * `bundling` completed, the link is being made · `unknown` a person has to decide · `ended`
   */
  state: z.enum(['accepted', 'carding', 'starting', 'watching', 'bundling', 'unknown', 'ended']),
  /** When the present state began. */
  sinceMs: z.number(),
  /** When the present attempt began. */
  attemptAtMs: z.number(),
  nextLookAtMs: z.number(),
  /** The platform's id of the export job. */
  jobId: z.string().optional(),
  startedAtMs: z.number().optional(),
  /** What the platform last said. */
  status: z.string().optional(),
  progressText: z.string().optional(),
  pageCount: z.number().optional(),
  looks: z.array(snapshot),
  /** A person waits for the next look. */
  lookWanted: z.boolean().optional(),
  /** When the platform last told of any progress. */
  movedAtMs: z.number().optional(),
  /** There has been no progress for long, and people are told. */
  stalled: z.boolean().optional(),
  trouble: trouble.optional(),
  completedAtMs: z.number().optional(),
  ending: ending.optional(),
  /** A link whose message stands and may still work, while a further one is made or cannot be had. */
  earlier: z.object({ resumed: z.number().int(), ending: doneEnding }).optional(),
  /** The link that is being made is for the requester alone; missing until that is decided. */
  alone: z.boolean().optional(),
  /** The ending has its line in the audit log. */
  audited: z.boolean().optional(),
  /** The question of an earlier attempt, and who answered it how. */
  answer: z
    .object({
      attempt: z.number().int(),
      by: z.string(),
      byId: z.string(),
      action: z.enum(['startAgain', 'leave', 'late']),
    })
    .optional(),
});
export type ExportRun = z.infer<typeof exportRun>;

/** Short reference of a run, in messages and in every log line about it. */
export const refOf = (runId: string) => runId.slice(0, 8);

/** What keeps others from starting the same export while one is under way; the order of paths makes no difference. */
export function exportClaim({
  teamId,
  project,
  domain,
  version,
  paths,
}: Pick<ExportRun, 'teamId' | 'project' | 'domain' | 'version' | 'paths'>): string {
  const parts = ['export', teamId, project, domain, version ?? '', ...(paths ?? []).toSorted()];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);
}

/** The name by which the run of an export job is found. */
export const jobAlias = (teamId: string, project: string, jobId: string) =>
  ['export', teamId, project, jobId].join(' ');

/** The export job of a run in a state that has one. */
export function jobIdOf(run: ExportRun): string {
  if (run.jobId === undefined) throw new Error('a run in this state has an export job');
  return run.jobId;
}

/** How far the export was when the platform last said so, 0 to 1. */
export const fractionOf = (run: Pick<ExportRun, 'looks'>) =>
  run.looks.findLast(({ fraction }) => fraction !== undefined)?.fraction;

/** What a button may do to a run; nothing when the run has moved on since the button was shown. */
export type Transition = (
  run: ExportRun,
  by: { id: string; name: string },
  nowMs: number,
) => ExportRun | undefined;

/** What no run carries into a further attempt, watch or link. */
const resetFields = {
  trouble: undefined,
  stalled: undefined,
  ending: undefined,
  alone: undefined,
  audited: undefined,
};

/** The same request, started once more; one that was only watched until now is started from here. */
function restart(run: ExportRun, nowMs: number): ExportRun {
  return {
    ...run,
    joined: false,
    ...(run.joined && { claim: exportClaim(run) }),
    earlier: undefined,
    attempt: run.attempt + 1,
    relinked: 0,
    state: 'carding',
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextLookAtMs: nowMs,
    looks: [],
    jobId: undefined,
    startedAtMs: undefined,
    status: undefined,
    progressText: undefined,
    pageCount: undefined,
    movedAtMs: undefined,
    completedAtMs: undefined,
    ...resetFields,
  };
}

/** Once its link went to the requester alone, no later one goes to the thread. */
function keepPrivate(run: ExportRun): ExportRun {
  return run.ending?.kind === 'done' && run.ending.privately ? { ...run, privately: true } : run;
}

/** The same export job, looked at once more. */
function resumeWatch(run: ExportRun, state: 'watching' | 'bundling', nowMs: number): ExportRun {
  const times = { sinceMs: nowMs, nextLookAtMs: nowMs, movedAtMs: nowMs };
  return { ...keepPrivate(run), ...resetFields, ...times, resumed: run.resumed + 1, state };
}

/** A further link for an export that is done. */
function relink(run: ExportRun, nowMs: number): ExportRun {
  const times = { sinceMs: nowMs, nextLookAtMs: nowMs };
  const earlier = run.ending?.kind === 'done' ? { resumed: run.resumed, ending: run.ending } : undefined;
  const next = { ...keepPrivate(run), ...resetFields, ...times, earlier };
  return { ...next, relinked: run.relinked + 1, state: 'bundling' };
}

/** The run with its ending. A new link takes the place of the one whose message it edits. */
export function endRun(run: ExportRun, ending: Ending, nowMs: number): ExportRun {
  const replaced = ending.kind === 'done' && run.earlier?.resumed === run.resumed;
  return { ...run, state: 'ended', sinceMs: nowMs, ending, ...(replaced && { earlier: undefined }) };
}

/** More mentions in one message would be noise. */
export const MAX_WATCHERS = 20;

/** A look this young answers a click on [Refresh] as well. */
const FRESH_SNAPSHOT_MS = 2000;

/** Whether the ending mentions this person. */
export const isMentioned = (run: ExportRun, userId: string) =>
  [run.requester, ...run.watchers].some(({ id }) => id === userId);

/** What the buttons do, by name. */
export const transitions = {
  /** Nobody knows whether it started: start it again. */
  startAgain: (run, by, nowMs) =>
    run.state === 'unknown'
      ? {
          ...restart(run, nowMs),
          answer: { attempt: run.attempt, by: by.name, byId: by.id, action: 'startAgain' },
        }
      : undefined,
  /** Nobody knows whether it started: leave it at that. */
  leave: (run, by, nowMs) =>
    run.state === 'unknown'
      ? {
          ...endRun(run, { kind: 'left' }, nowMs),
          answer: { attempt: run.attempt, by: by.name, byId: by.id, action: 'leave' },
        }
      : undefined,
  /** It failed or did not start: start it once more. */
  tryAgain: (run, _by, nowMs) =>
    run.state === 'ended' &&
    run.domain !== '' &&
    (['failed', 'notStarted', 'lost'].includes(run.ending?.kind ?? '') ||
      (run.ending?.kind === 'broken' && run.jobId === undefined))
      ? restart(run, nowMs)
      : undefined,
  /** The watch ended before the job did, or its link could not be had: look again. */
  checkNow: (run, _by, nowMs) => {
    if (run.state !== 'ended') return undefined;
    const { ending } = run;
    if (ending?.kind === 'noLink') return resumeWatch(run, 'bundling', nowMs);
    const canResume = ending?.kind === 'gaveUp' || (ending?.kind === 'broken' && run.jobId !== undefined);
    return canResume ? resumeWatch(run, 'watching', nowMs) : undefined;
  },
  /** The link of a finished export ends, or has ended: make another. */
  newLink: (run, _by, nowMs) =>
    run.state === 'ended' && run.ending?.kind === 'done' ? relink(run, nowMs) : undefined,
  /** Mentions one more person in the ending. */
  notify: (run, by) => {
    if (run.state === 'ended' || isMentioned(run, by.id) || run.watchers.length >= MAX_WATCHERS)
      return undefined;
    const watchers = [...run.watchers, { id: by.id, name: by.name }];
    return { ...run, watchers, people: [...new Set([...run.people, by.id])] };
  },
  /** Looks at the platform at once, unless it was looked at just now, or its limit is reached. */
  refresh: (run, _by, nowMs) => {
    const { trouble } = run;
    const isLimited = trouble?.kind === 'limit' && trouble.nextMs > nowMs;
    const isFresh = trouble === undefined && nowMs - (run.looks.at(-1)?.atMs ?? 0) <= FRESH_SNAPSHOT_MS;
    if (run.state !== 'watching' || isLimited || isFresh) return undefined;
    return { ...run, nextLookAtMs: nowMs, lookWanted: true };
  },
} satisfies Record<string, Transition>;
export type TransitionName = keyof typeof transitions;

/** What a button of a run carries. It names the attempt it was shown for: a second click finds it over. */
export const runButton = z.object({
  v: z.literal(1),
  run: z.string(),
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** For when the record is gone: what was exported, in which project, and the platform's id of the job. */
  domain: z.string(),
  project: z.string().optional(),
  job: z.string().optional(),
  /** It had a label or only some pages: its domain alone would not start the same. */
  special: z.boolean().optional(),
  /** Its link is for the requester alone. */
  privately: z.boolean().optional(),
});
export type RunButton = z.infer<typeof runButton>;

/** What [Start another] carries: the request that was told of the other export. */
export const startAnother = z.object({
  v: z.literal(1),
  /** The run that is busy with the same: the other one is like it. */
  like: z.string(),
  domain: z.string(),
  request: z.string(),
});
export type StartAnother = z.infer<typeof startAnother>;

/** Ids of the buttons' listeners. */
export const exportActions = {
  startAgain: 'export.start_again',
  leave: 'export.leave',
  tryAgain: 'export.try_again',
  checkNow: 'export.check_now',
  newLink: 'export.new_link',
  notify: 'export.notify',
  refresh: 'export.refresh',
  startAnother: 'export.start_another',
  download: 'export.download',
  openThread: 'export.open_thread',
  useDomain: 'export.use_domain',
  ownLink: 'export.own_link',
  settings: 'export.settings',
} as const;
