/**
 * The durations that tests shorten, in milliseconds, and the rates of calls to Slack that a bench lifts. Defaults are
 * for production; `startApp` takes others.
 */
export interface Timing {
  /** From the receipt of a request to the moment a write of it is refused; Slack itself waits 3 s. */
  intakeMs: number;
  /** The longest a permission look-up may take before the person counts as unknown. */
  permissionMs: number;
  /** How long a look-up of a person or a user group is believed. */
  permissionCacheMs: number;
  /** The longest a private answer may take over `response_url` before the click is acknowledged without it. */
  ephemeralMs: number;
  /** The longest that opening a dialog may hold up the answer to a command or a click. */
  modalMs: number;
  /** Time limit of one Slack Web API call; a post older than this without an answer is unclear. */
  slackCallMs: number;
  /** Time limit of one call of the docs API. */
  docsCallMs: number;
  /** How long after an unclear post its delivery key is looked for, so that a late effect is seen. */
  unclearMs: number;
  /** Posts in one conversation, and edits and reactions in the workspace, per minute; see `slack/paces.ts`. */
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
  /** How often each connection to Redis is seen to answer, and how often Redis' own settings are looked at. */
  redisPingMs: number;
  redisCheckMs: number;
  /** How long a connection may go without an answer before the process counts as stuck. */
  redisLostMs: number;
  /** BullMQ: how long a worker that went silent keeps its job. Longer than a Redis outage plus reconnect. */
  lockMs: number;
  /** BullMQ: how often silent workers are looked for. */
  stalledMs: number;
  /** How often work that was accepted but is not queued is looked for. */
  sweepMs: number;
  /** First and longest pause of anything that is tried again. */
  retryMinMs: number;
  retryMaxMs: number;
  /** How long a start that certainly did not happen, or a link that cannot be had, is tried again. */
  giveUpMs: number;
  /** The longest `Retry-After` of a start that is waited for. */
  limitWaitMs: number;
  /** Bounds of the pause between two looks at an export job. */
  pollMinMs: number;
  pollMaxMs: number;
  /** How long a running export may show no progress before people are told. */
  stalledAfterMs: number;
  /** How long an export job is watched. */
  watchMs: number;
  /** How long an agent job may still read as it did before an instruction was sent to it. */
  graceMs: number;
  /** Socket Mode: from the wish for a connection to Slack's greeting on it. */
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

/** For production. */
export const defaultTiming: Timing = {
  intakeMs: 1.6 * second,
  permissionMs: 0.9 * second,
  permissionCacheMs: 5 * minute,
  ephemeralMs: 0.6 * second,
  modalMs: 0.9 * second,
  slackCallMs: 10 * second,
  docsCallMs: 15 * second,
  unclearMs: 2 * second,
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
  /** Events under a message of ours before its run knows that this is its thread, from when a worker is there. */
  earlyMs: 10 * minute,
  jobErrorsMs: 24 * hour,
  /** Older news of whether something answers says nothing of now. */
  healthMs: 1 * hour,
  auditMs: 90 * 24 * hour,
  /** The id of a person's direct message conversation never changes; look it up again once a day. */
  directMessageMs: 24 * hour,
  /** Admins hear of the same trouble no more often. */
  adminAlertMs: 1 * hour,
} as const;

/**
 * The pause after so many failures in a row, in milliseconds: doubles from `retryMinMs` to `retryMaxMs`.
 * `jitter` is 0 to 1 and spreads what failed together.
 */
export function backoffMs(
  { retryMinMs, retryMaxMs }: Pick<Timing, 'retryMinMs' | 'retryMaxMs'>,
  failures: number,
  jitter: number,
): number {
  const pauseMs = Math.min(retryMinMs * 2 ** (failures - 1), retryMaxMs);
  return Math.round(pauseMs * (0.75 + jitter / 2));
}
