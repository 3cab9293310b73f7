const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * The durations that tests shorten, in milliseconds, and the Slack rate limits that a bench raises. `startApp` accepts
 * other values than the defaults.
 */
export const defaultTiming = {
  /** From the receipt of a request until its writes are refused; Slack itself waits 3 s. */
  intakeMs: 1.6 * second,
  /** The longest a permission look-up may take before the person counts as unknown. */
  permissionMs: 0.9 * second,
  /** How long the result of a look-up of a person or a user group is cached. */
  permissionCacheMs: 5 * minute,
  /** The longest an ephemeral may take over `response_url` before the click is acknowledged without it. */
  ephemeralMs: 0.6 * second,
  /** Maximum delay of an acknowledgement by opening a modal. */
  modalMs: 0.9 * second,
  /** Time limit of one Slack Web API call; after this, a post without an answer is unclear. */
  slackCallMs: 10 * second,
  /** Time limit of one call of the docs API. */
  docsCallMs: 15 * second,
  /** Time limit of one call to a deployment. */
  deploymentCallMs: 10 * second,
  /** Added to the time limit of a call: after both, a call without an answer takes effect no more. */
  callMarginMs: 2 * second,
  /** Posts in one conversation, and edits in the workspace, per minute; see `slack/rate-limits.ts`. */
  postsPerMinute: 60,
  editsPerMinute: 40,
  /** Calls per minute of each method that reads conversations. */
  readsPerMinute: 40,
  /** Digests of schedules that are posted per minute. */
  digestsPerMinute: 60,
  /** How long a digest waits for the numbers to compare with. One of a schedule also waits for its pages: one edit less. */
  digestWaitMs: 1 * minute,
  /** Gap between two edits of one message; Slack advises 3 s. */
  editGapMs: 3 * second,
  /**
   * How long Redis may leave a command unanswered before its connection is closed: one for requests, one for work, and
   * one on which BullMQ waits up to 10 s for a job; less would reconnect for ever.
   */
  redisRequestSocketMs: 3 * second,
  redisWorkSocketMs: 5 * second,
  redisBlockingSocketMs: 12 * second,
  /** Interval of pings on each connection to Redis, and of checks of Redis' own settings. */
  redisPingMs: 1 * second,
  redisCheckMs: 20 * second,
  /** How long answers of Redis have to be slow before operators see a problem. */
  redisSlowMs: 1 * minute,
  /** How long calls of a kind may fail before operators see a problem, and how often other causes are looked for. */
  problemAfterMs: 30 * second,
  problemCheckMs: 10 * second,
  /** How long work may be due, or a queue paused, before that is a problem. */
  notDrainingMs: 45 * second,
  /** After so long without a call to Slack or to the platform, one asks whether it is there. */
  probeMs: 1 * minute,
  /** How long a deployment may take nothing before operators see a problem, and how often its repository is asked for then. */
  deploymentProblemMs: 5 * minute,
  deploymentCheckMs: 1 * minute,
  /**
   * Pauses between two looks at the pull requests of a repository, while the agent has worked on one within the hour, and
   * later. A little less than what people read: within five minutes, within an hour.
   */
  pullRequestsSoonMs: 4.5 * minute,
  pullRequestsHourlyMs: 59 * minute,
  /** BullMQ: how long a silent worker keeps its job. Longer than a Redis outage plus reconnect. */
  lockMs: 30 * second,
  /** BullMQ: how often it checks for silent workers. */
  stalledMs: 5 * second,
  /** How often the sweeper checks for accepted work that is not queued. */
  sweepMs: 5 * second,
  /** First and longest pause between retries of anything. */
  retryMinMs: 1 * second,
  retryMaxMs: 30 * second,
  /** How long a start that certainly did not happen, or the creation of a link, is retried. */
  giveUpMs: 5 * minute,
  /** The same for the start of an export, if the platform says that it has trouble itself. */
  exportStartMs: 30 * minute,
  /** The longest `Retry-After` for which a start waits. */
  limitWaitMs: 1 * hour,
  /** Bounds of the pause between two polls of a job. */
  pollMinMs: 1 * second,
  pollMaxMs: 30 * second,
  /** How long a running export may make no progress before its message says so. */
  stalledAfterMs: 10 * minute,
  /** How long an export job is watched. */
  watchMs: 6 * hour,
  /** How long after a send an agent job may still show its old status. */
  graceMs: 1 * minute,
  /** Socket Mode: from the opening of a connection to Slack's `hello` on it. */
  socketHelloMs: 15 * second,
  /** Socket Mode: how long Slack may leave our ping unanswered, and how long it may send none itself. */
  socketPongMs: 5 * second,
  socketPingMs: 30 * second,
  /** From SIGTERM to the end of the process. */
  shutdownMs: 8 * second,
};
export type Timing = typeof defaultTiming;

/** The longest duration of a claim: longer than a run takes while Slack is there. The run releases it when it ends. */
export const claimMsOf = ({ limitWaitMs, watchMs, giveUpMs }: Timing) => limitWaitMs + watchMs + giveUpMs;

/** Times to live of records in Redis, in milliseconds. */
export const retention = {
  /** A run and its messages: long enough for every button of a thread that people still read. */
  runMs: 30 * 24 * hour,
  /** A pull request, after its end. */
  pullRequestMs: 60 * 24 * hour,
  /** A row of a digest, after its end. */
  rowMs: 24 * hour,
  /** Slack accepts a `response_url` for 30 minutes. */
  responseUrlMs: 30 * minute,
  /** Dedupe keys of events: longer than any repeat. */
  dedupeMs: 7 * 24 * hour,
  /** Events of a thread that arrive before the run of its root is known. */
  earlyMs: 10 * minute,
  /** An older health snapshot is worthless. */
  healthMs: 1 * hour,
  /** After this time without a call, the state of a key is unknown. */
  rejectedKeyMs: 7 * 24 * hour,
  auditMs: 90 * 24 * hour,
  /** Home is refreshed this long after a person last opened it. */
  homeOpenedMs: 30 * 24 * hour,
  /** The id of a person's direct message conversation never changes; still looked up once a day. */
  directMessageMs: 24 * hour,
  /** Views of finished days: an alert compares with eight weeks before, a monthly digest two months, up to two days late. */
  dayFiguresMs: 10 * 7 * 24 * hour,
  /** Views of pages: the next weekly digest compares with them, up to two days late. */
  pageFiguresMs: 17 * 24 * hour,
  /** Ids of what needed work: a digest counts for how many weeks that is so. */
  gapsMs: 26 * 7 * 24 * hour,
  /** A monthly digest, and the list of requests under it: until the next one, up to two days late. */
  monthlyMs: 40 * 24 * hour,
  /** A feature that the platform or the workspace lacks is tried again a day later. */
  missingMs: 24 * hour,
  /** The same problem alerts admins at most this often. */
  adminAlertMs: 1 * hour,
} as const;

/**
 * Returns the pause after this many consecutive failures, in milliseconds: it doubles from `retryMinMs` to `retryMaxMs`.
 * `jitter`, 0 to 1, spreads retries of calls that failed together.
 */
export function backoffMs(
  { retryMinMs, retryMaxMs }: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>,
  failures: number,
  jitter: number,
): number {
  const pauseMs = Math.min(retryMinMs * 2 ** (failures - 1), retryMaxMs);
  return Math.round(pauseMs * (0.75 + jitter / 2));
}
