import { hash } from 'node:crypto';

/**
 * Every Redis key, built only here. All share one hash tag, so that one script can use several and Redis Cluster keeps
 * them together. BullMQ's keys start with `PREFIX:` as well. It changes only at the start: see `setTagName`.
 */
export let PREFIX = '{docket}';

/**
 * Sets the hash tag of all keys of this process: `{docket-<name>}`, or `{docket}` without a name. A process is one
 * Docket, so it is called once, before anything is read or written.
 */
export function setTagName(name: string | undefined) {
  PREFIX = name === undefined ? '{docket}' : `{docket-${name}}`;
}

export const keys = {
  /** The number of the schema of all data; see `schema.ts`. */
  schema: () => `${PREFIX}:schema`,
  /** Hash: the run as JSON, with its revision, number of wakes, and calls made once. */
  run: (runId: string) => `${PREFIX}:run:${runId}`,
  /** Sorted set of the active runs and undelivered messages, scored by due time; see `due.ts`. */
  activeRuns: () => `${PREFIX}:runs:active`,
  /** Sorted set of the ids of a workspace's active runs of one job, scored by start time; `LUA_WAKE` builds this key. */
  activeRunsOf: (job: string, teamId: string) => `${PREFIX}:runs:active:${job}:${teamId}`,
  /** Set of the keys of these sets; scripts build this key. */
  activeLists: () => `${PREFIX}:runs:active:lists`,
  /** Sorted set of a person's runs, scored by the time of the last request. */
  runsOf: (teamId: string, userId: string) => `${PREFIX}:runs:of:${teamId}:${userId}`,
  /**
   * Sorted set of the runs with an open question to a person, scored by the time of the latest save. Without a
   * user id: all runs of the workspace that ask, scored by the time of the question.
   */
  askedOf: (teamId: string, userId: string) => `${PREFIX}:runs:asked:${teamId}:${userId}`,
  /** The run of one of the platform's names, such as an export job. */
  alias: (name: string) => `${PREFIX}:alias:${name}`,
  claim: (name: string) => `${PREFIX}:claim:${name}`,
  /** List of the events that a run has not applied yet, oldest first. */
  inbox: (runId: string) => `${PREFIX}:inbox:${runId}`,
  /** The same for a thread that no run follows yet. */
  early: (claim: string) => `${PREFIX}:early:${claim}`,
  /** An event of a thread or a run has come. */
  seenEvent: (of: string, dedupeKey: string) => `${PREFIX}:seen:${of}:${dedupeKey}`,
  /** Sorted sets of our messages in a conversation, by time: keys of those being posted, `ts` of posted ones. */
  posting: (teamId: string, channel: string) => `${PREFIX}:posting:${teamId}:${channel}`,
  posted: (teamId: string, channel: string) => `${PREFIX}:posted:${teamId}:${channel}`,
  /** Sorted set of the messages of a conversation whose threads take no instructions, scored by their `ts`. */
  closedThreads: (teamId: string, channel: string) => `${PREFIX}:closed-threads:${teamId}:${channel}`,
  /** Set of the runs and messages whose records cannot be read. */
  damaged: () => `${PREFIX}:damaged`,
  /** Hash of the index entries of a workspace's followed threads, or of its schedules, by run id. */
  index: (job: string, teamId: string) => `${PREFIX}:index:${job}:${teamId}`,
  /** Hash of Slack's present channel ids, by Docket's ids. */
  channelIds: (teamId: string) => `${PREFIX}:channel-ids:${teamId}`,
  responseUrl: (runId: string) => `${PREFIX}:response-url:${runId}`,
  message: (messageKey: string) => `${PREFIX}:message:${messageKey}`,
  /** Sorted set of the keys of the messages whose wanted form is not delivered; `LUA_WAKE` builds this key. */
  undelivered: () => `${PREFIX}:runs:active:outbox`,
  link: (name: string) => `${PREFIX}:link:${name}`,
  /** Sorted set of the active runs that count toward a quota, scored by the time they were accepted. */
  quota: (name: string) => `${PREFIX}:quota:${name}`,
  /** Hash of the views of finished days of a project, by the day. */
  dayFigures: (teamId: string, project: string) => `${PREFIX}:figures:days:${teamId}:${project}`,
  /** Hash of the views of a project's pages in a range of days: parts of the platform's list, by offset. */
  pageFigures: (teamId: string, project: string, range: string) =>
    `${PREFIX}:figures:pages:${teamId}:${project}:${range}`,
  /** Hash of what needed work on a project, by the Monday of its week: ids alone. */
  gaps: (teamId: string, project: string) => `${PREFIX}:figures:gaps:${teamId}:${project}`,
  /** Set of the runs that report results of requests to the agent under a digest. */
  digestAsks: (editionId: string) => `${PREFIX}:digest-asks:${editionId}`,
  /** A feature that the workspace or the platform lacks, until the next try. */
  missing: (what: string) => `${PREFIX}:missing:${what}`,
  /** The team of a bot token. */
  team: (tokenId: string) => `${PREFIX}:team:${tokenId}`,
  alert: (name: string) => `${PREFIX}:alert:${name}`,
  /** Since when the platform rejects an API key. */
  rejectedKey: (keyId: string) => `${PREFIX}:rejected-key:${keyId}`,
  /** Parts of a rate limit: its hold, and a lane for each priority. */
  rateLimit: (part: string) => `${PREFIX}:limit:${part}`,
  /** This person has opened their Home tab. */
  homeOpened: (teamId: string, userId: string) => `${PREFIX}:home-opened:${teamId}:${userId}`,
  directMessage: (teamId: string, userId: string) => `${PREFIX}:dm:${teamId}:${userId}`,
  /** Stream of the audit log. */
  audit: (teamId: string) => `${PREFIX}:audit:${teamId}`,
  /** The same for refusals. */
  refusals: (teamId: string) => `${PREFIX}:audit-refused:${teamId}`,
  /** Written as a test whether Redis takes writes; expires at once. */
  probe: () => `${PREFIX}:probe`,
  health: (part: string) => `${PREFIX}:health:${part}`,
  /** What is wrong with a deployment. */
  trouble: (name: string) => `${PREFIX}:trouble:${name}`,
  /** Never written: it routes the question for the time to the node with all other keys. */
  clock: () => `${PREFIX}:clock`,
};

/** Returns an id or a claim, the same for the same parts. */
export const idOf = (...parts: string[]) => hash('sha256', parts.join('\n')).slice(0, 24);
