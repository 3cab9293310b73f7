/**
 * Every Redis key, built here alone. All share the hash tag `{docket}`, so that one script can touch several
 * and Redis Cluster keeps them together. BullMQ's keys start with `PREFIX:` as well.
 */
export const PREFIX = '{docket}';

export const keys = {
  run: (runId: string) => `${PREFIX}:run:${runId}`,
  /** Sorted set of the runs that a worker has to look at, scored by the time they were accepted. */
  activeRuns: () => `${PREFIX}:runs:active`,
  claim: (name: string) => `${PREFIX}:claim:${name}`,
  responseUrl: (runId: string) => `${PREFIX}:response-url:${runId}`,
  step: (runId: string, step: string) => `${PREFIX}:step:${runId}:${step}`,
  message: (messageKey: string) => `${PREFIX}:message:${messageKey}`,
  /** Sorted set of the messages whose wanted state is not delivered, scored by the time it was first wanted. */
  undelivered: () => `${PREFIX}:messages:undelivered`,
  link: (name: string) => `${PREFIX}:link:${name}`,
  pace: (bucket: string) => `${PREFIX}:pace:${bucket}`,
  directMessage: (teamId: string, userId: string) => `${PREFIX}:dm:${teamId}:${userId}`,
  jobErrors: (bullJobId: string) => `${PREFIX}:job-errors:${bullJobId}`,
};
