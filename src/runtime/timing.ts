/**
 * The durations that tests shorten, in milliseconds, and the rate limits of calls to Slack that a bench lifts.
 * `startApp` takes other values than the defaults.
 */
export interface Timing {
  /** From the receipt of a request to the moment a write of it is refused; Slack itself waits 3 s. */
  intakeMs: number;
  /** The longest a permission look-up may take before the person counts as unknown. */
  permissionMs: number;
  /** How long the result of a look-up of a person or a user group is cached. */
  permissionCacheMs: number;
  /** The longest an ephemeral message may take over `response_url` before the click is acknowledged without it. */
  ephemeralMs: number;
  /** The longest that opening a modal may hold up the acknowledgement of a command or a click. */
  modalMs: number;
  /** Time limit of one Slack Web API call; the outcome of a post older than this without an answer is unclear. */
  slackCallMs: number;
  /** Time limit of one call of the docs API. */
  docsCallMs: number;
  /** Added to the time limit of a call that got no answer: only after both is its late effect looked for. */
  callMarginMs: number;
  /** Posts in one conversation, and edits and reactions in the workspace, per minute; see `slack/rate-limits.ts`. */
  postsPerMinute: number;
  editsPerMinute: number;
  reactionsPerMinute: number;
  reactionRemovalsPerMinute: number;
  /** How long a message has to show what a reaction would say, before that is added. */
  reactAfterMs: number;
  /** Calls per minute of each method that reads conversations. */
  readsPerMinute: number;
  /** Gap between two edits of one message; Slack advises 3 s. */
  editGapMs: number;
  /**
   * How long Redis may leave a command unanswered before its connection is given up: one for requests, and one for
   * work, where BullMQ waits up to 10 s for a job; less would reconnect for ever.
   */
  redisRequestSocketMs: number;
  redisWorkSocketMs: number;
  /** How often each connection to Redis is pinged, and how often Redis' own settings are checked. */
  redisPingMs: number;
  redisCheckMs: number;
  /** How long a connection may go without an answer before the process counts as stuck. */
  redisLostMs: number;
  /** BullMQ: how long a worker that went silent keeps its job. Longer than a Redis outage plus reconnect. */
  lockMs: number;
  /** BullMQ: how often it checks for silent workers. */
  stalledMs: number;
  /** How often the sweeper checks for accepted work that is not queued. */
  sweepMs: number;
  /** First and longest pause between retries of anything. */
  retryMinMs: number;
  retryMaxMs: number;
  /** How long a start that certainly did not happen, or the creation of a link, is retried. */
  giveUpMs: number;
  /** The longest `Retry-After` of a start that is waited for. */
  limitWaitMs: number;
  /** Bounds of the pause between two polls of an export job. */
  pollMinMs: number;
  pollMaxMs: number;
  /** How long a running export may make no progress before its message says so. */
  stalledAfterMs: number;
  /** How long an export job is watched. */
  watchMs: number;
  /** How long after a send an agent job may still show its old status. */
  graceMs: number;
  /** Socket Mode: from the opening of a connection to Slack's `hello` on it. */
  socketHelloMs: number;
  /** Socket Mode: how long Slack may leave our ping unanswered, and how long it may send none itself. */
  socketPongMs: number;
  socketPingMs: number;
  /** From SIGTERM to the end of the process. */
  shutdownMs: number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The values for production. */
export const defaultTiming: Timing = {
  intakeMs: 1.6 * second,
  permissionMs: 0.9 * second,
  permissionCacheMs: 5 * minute,
  ephemeralMs: 0.6 * second,
  modalMs: 0.9 * second,
  slackCallMs: 10 * second,
  docsCallMs: 15 * second,
  callMarginMs: 2 * second,
  postsPerMinute: 60,
  editsPerMinute: 40,
  reactionsPerMinute: 40,
  reactionRemovalsPerMinute: 16,
  reactAfterMs: 4 * second,
  readsPerMinute: 40,
  editGapMs: 3 * second,
  redisRequestSocketMs: 3 * second,
  redisWorkSocketMs: 12 * second,
  redisPingMs: 1 * second,
  redisCheckMs: 1 * minute,
  redisLostMs: 2 * minute,
  lockMs: 30 * second,
  stalledMs: 5 * second,
  sweepMs: 5 * second,
  retryMinMs: 1 * second,
  retryMaxMs: 30 * second,
  giveUpMs: 5 * minute,
  limitWaitMs: 1 * hour,
  pollMinMs: 1 * second,
  pollMaxMs: 30 * second,
  stalledAfterMs: 10 * minute,
  watchMs: 6 * hour,
  graceMs: 1 * minute,
  socketHelloMs: 15 * second,
  socketPongMs: 5 * second,
  socketPingMs: 30 * second,
  shutdownMs: 8 * second,
};

/** Times to live of records in Redis, in milliseconds. */
export const retention = {
  /** A run and its messages: long enough for every button of a thread that people still read. */
  runMs: 30 * 24 * hour,
  /** Slack lets a `response_url` be used for 30 minutes. */
  responseUrlMs: 30 * minute,
  /** Dedupe keys of events: longer than anybody repeats one. */
  dedupeMs: 7 * 24 * hour,
  /** Events of a thread that arrive before the run that posted its root is known, counted from when a worker runs. */
  earlyMs: 10 * minute,
  jobErrorsMs: 24 * hour,
  /** An older health snapshot says nothing of now. */
  healthMs: 1 * hour,
  auditMs: 90 * 24 * hour,
  /** The id of a person's direct message conversation never changes; look it up again once a day. */
  directMessageMs: 24 * hour,
  /** The same trouble alerts admins no more often. */
  adminAlertMs: 1 * hour,
} as const;

/**
 * Returns the pause after so many failures in a row, in milliseconds: it doubles from `retryMinMs` to `retryMaxMs`.
 * `jitter`, 0 to 1, spreads retries of what failed together.
 */
export function backoffMs(
  { retryMinMs, retryMaxMs }: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>,
  failures: number,
  jitter: number,
): number {
  const pauseMs = Math.min(retryMinMs * 2 ** (failures - 1), retryMaxMs);
  return Math.round(pauseMs * (0.75 + jitter / 2));
}
