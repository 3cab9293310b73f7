import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';

/** Reports refused requests to the operator: perhaps all of Slack's are. */
export type RefusedRequests = ReturnType<typeof createRefusedRequests>;

/** Each kind is logged no more often than this: anybody can send unsigned requests. */
const LOG_MS = 60_000;

/** A request that Slack did not send must not count as a problem for longer. */
const PROBLEM_MS = 10 * 60_000;

export function createRefusedRequests(log: Log, now: () => number, metrics: Pick<Metrics, 'refusals'>) {
  let latest: { problem: string; atMs: number } | undefined;
  const loggedAtMs = new Map<string, number>();

  /** Keeps the problem, and logs it unless its kind was logged within `LOG_MS`. */
  function report(level: 'error' | 'warn', kind: string, problem: string) {
    latest = { problem, atMs: now() };
    if (now() - (loggedAtMs.get(kind) ?? Number.NEGATIVE_INFINITY) < LOG_MS) return;
    loggedAtMs.set(kind, now());
    log[level](problem);
  }

  return {
    /** Reports a request of Slack's whose timestamp is this far ahead of our clock (behind when negative). */
    clockSkewed(aheadS: number) {
      metrics.refusals.add({ reason: 'clock' });
      const where = aheadS > 0 ? 'ahead of' : 'behind';
      const problem = `Slack's request is ${Math.abs(aheadS)} s ${where} this machine's clock. Set the clock (NTP).`;
      report('error', 'clock', problem);
    },
    unsigned() {
      metrics.refusals.add({ reason: 'unsigned' });
      const problem =
        'A request is not signed with SLACK_SIGNING_SECRET. If Slack sent it, copy the secret again.';
      report('warn', 'secret', problem);
    },
    /** Ends the problem: a request was in order, so Slack's are. */
    accepted() {
      latest = undefined;
    },
    /** Returns the problem with its fix; `undefined` once a request was in order, or 10 minutes after a refusal. */
    problem: (): string | undefined =>
      latest && now() - latest.atMs < PROBLEM_MS ? latest.problem : undefined,
  };
}
