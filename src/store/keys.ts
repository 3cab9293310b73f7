/**
 * Every Redis key, built here alone. All share one hash tag, so that one script can touch several and Redis Cluster
 * keeps them together. BullMQ's keys start with `PREFIX:` as well. It changes at the start only: see `setTagName`.
 */
export let PREFIX = '{docket}';

/**
 * From here on all keys of this process have the hash tag `{docket-<name>}`, or `{docket}` without a name. A process is
 * one Docket, so this is called once, before anything is read or written.
 */
export function setTagName(name: string | undefined) {
  PREFIX = name === undefined ? '{docket}' : `{docket-${name}}`;
}

export const keys = {
  /** The number of the schema of all data; see `schema.ts`. */
  schema: () => `${PREFIX}:schema`,
  run: (runId: string) => `${PREFIX}:run:${runId}`,
  /** Sorted set of the runs that have something to do, scored by when they are due; see `due.ts`. */
  activeRuns: () => `${PREFIX}:runs:active`,
  /** Sorted set of the ids of those of one job, scored by the time since when; scripts make this key (`LUA_INDEX`). */
  activeRunsOf: (job: string) => `${PREFIX}:runs:active:${job}`,
  /** Sorted set of the runs that concern a person, scored by the time they last asked. */
  runsOf: (teamId: string, userId: string) => `${PREFIX}:runs:of:${teamId}:${userId}`,
  /** The run that knows a name of the platform's, such as an export job. */
  alias: (name: string) => `${PREFIX}:alias:${name}`,
  claim: (name: string) => `${PREFIX}:claim:${name}`,
  /** List of the events that a run has not applied yet, oldest first. */
  inbox: (runId: string) => `${PREFIX}:inbox:${runId}`,
  /** The same for a thread that no run follows yet. */
  early: (claim: string) => `${PREFIX}:early:${claim}`,
  /** Set of the claims with early events that no worker has seen yet. */
  earlyUnseen: () => `${PREFIX}:early-unseen`,
  /** Sorted set of the dedupe keys of the events of a thread or a run, scored by the time. */
  seenEvents: (of: string) => `${PREFIX}:told:${of}`,
  /** Sorted sets of messages of ours in a conversation, scored by the time: their keys, and the `ts` of those there. */
  posting: (teamId: string, channel: string) => `${PREFIX}:posting:${teamId}:${channel}`,
  posted: (teamId: string, channel: string) => `${PREFIX}:posted:${teamId}:${channel}`,
  /** Sorted set of the messages of a conversation whose threads instruct nobody, scored by their `ts`. */
  closedThreads: (teamId: string, channel: string) => `${PREFIX}:closed-threads:${teamId}:${channel}`,
  /** Sorted set of the runs of followed threads, scored by the time since when. */
  followed: (teamId: string) => `${PREFIX}:followed:${teamId}`,
  /** Hash of what is listed of those runs, by their ids. */
  followedIndex: (teamId: string) => `${PREFIX}:followed-index:${teamId}`,
  /** Hash of the ids that Slack has for channels now, by those that Docket knows. */
  channelIds: (teamId: string) => `${PREFIX}:channel-ids:${teamId}`,
  responseUrl: (runId: string) => `${PREFIX}:response-url:${runId}`,
  step: (runId: string, step: string) => `${PREFIX}:step:${runId}:${step}`,
  message: (messageKey: string) => `${PREFIX}:message:${messageKey}`,
  /** Sorted set of the messages whose wanted state is not delivered, scored by when they are due. */
  undelivered: () => `${PREFIX}:messages:undelivered`,
  /** How long the last export of one site took. */
  lastDuration: (name: string) => `${PREFIX}:last-duration:${name}`,
  link: (name: string) => `${PREFIX}:link:${name}`,
  /** Sorted set of the runs that count toward a quota while they are at work, scored by the time they were accepted. */
  quota: (name: string) => `${PREFIX}:quota:${name}`,
  /** Hash of the views of finished days of a project, by the day. */
  dayFigures: (teamId: string, project: string) => `${PREFIX}:figures:days:${teamId}:${project}`,
  /** Hash of the views of the pages of a project in a range of days, by path. */
  pageFigures: (teamId: string, project: string, range: string) =>
    `${PREFIX}:figures:pages:${teamId}:${project}:${range}`,
  /** The same for dates that somebody asked for. */
  askedPageFigures: (teamId: string, project: string, range: string) =>
    `${PREFIX}:figures:asked-pages:${teamId}:${project}:${range}`,
  /** Set of the runs that report what became of work that was asked of the agent under a digest. */
  digestAsks: (editionId: string) => `${PREFIX}:digest-asks:${editionId}`,
  /** Sorted set of those runs under digests of any dates of a project in a channel, scored by when they were asked. */
  rangeAsks: (teamId: string, channel: string, project: string) =>
    `${PREFIX}:range-asks:${teamId}:${channel}:${project}`,
  /** What the workspace or the platform turned out to lack, until it is tried again. */
  lacks: (what: string) => `${PREFIX}:lacks:${what}`,
  alert: (name: string) => `${PREFIX}:alert:${name}`,
  /** Whom an alert is for. */
  alertPeople: (name: string) => `${PREFIX}:alert-people:${name}`,
  /** What waited when an alert began. */
  alertWaits: (name: string) => `${PREFIX}:alert-waits:${name}`,
  /** Since when the platform rejects an API key. */
  rejectedKey: (keyId: string) => `${PREFIX}:rejected-key:${keyId}`,
  /** Parts of rate limits: of those that give slots one by one, and of those with so many in any window. */
  rateLimit: (part: string) => `${PREFIX}:limit:${part}`,
  /** Somebody has opened their Home tab. */
  homeOpened: (teamId: string, userId: string) => `${PREFIX}:home-opened:${teamId}:${userId}`,
  directMessage: (teamId: string, userId: string) => `${PREFIX}:dm:${teamId}:${userId}`,
  /** Stream of who did what. */
  audit: (teamId: string) => `${PREFIX}:audit:${teamId}`,
  /** The same of what was refused. */
  refusals: (teamId: string) => `${PREFIX}:audit-refused:${teamId}`,
  /** Written to see whether Redis takes writes, and gone at once. */
  probe: () => `${PREFIX}:probe`,
  health: (part: string) => `${PREFIX}:health:${part}`,
  /** Never written: it leads a question for the time to the node that has all other keys. */
  clock: () => `${PREFIX}:clock`,
  /** One process at a time sweeps. */
  sweep: () => `${PREFIX}:sweep`,
  jobErrors: (bullJobId: string) => `${PREFIX}:job-errors:${bullJobId}`,
};
