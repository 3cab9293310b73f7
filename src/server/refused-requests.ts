import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import type { Problem } from './call-problems.ts';

/** Reports refused requests to the operator: perhaps all of Slack's are. */
export type RefusedRequests = ReturnType<typeof createRefusedRequests>;

/** Each kind is logged no more often than this: anybody can send unsigned requests. */
const LOG_MS = 60_000;

/** A request that Slack did not send must not count as a problem for longer. */
const PROBLEM_MS = 10 * 60_000;

export function createRefusedRequests(log: Log, now: () => number, metrics: Pick<Metrics, 'refusals'>) {
  let latest: { problem: Problem; atMs: number } | undefined;
  const loggedAtMs = new Map<string, number>();

  /** Keeps the problem, and logs it unless its kind was logged within `LOG_MS`. */
  function report(problem: Problem) {
    const { name, level, text } = problem;
    latest = { problem, atMs: now() };
    if (now() - (loggedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < LOG_MS) return;
    loggedAtMs.set(name, now());
    log[level]({ problem: name }, text);
  }

  return {
    /** Reports a request of Slack's whose timestamp is this far ahead of our clock (behind when negative). */
    clockSkewed(aheadS: number) {
      metrics.refusals.add({ reason: 'clock' });
      const where = aheadS > 0 ? 'ahead of' : 'behind';
      const text = `Slack's request is ${Math.abs(aheadS)} s ${where} this machine's clock. Set the clock (NTP).`;
      report({ name: 'clock', level: 'error', text });
    },
    unsigned() {
      metrics.refusals.add({ reason: 'unsigned' });
      const text =
        'A request is not signed with SLACK_SIGNING_SECRET. If Slack sent it, copy the secret again.';
      report({ name: 'signature', level: 'warn', text });
    },
    /** Ends the problem: a request was in order, so Slack's are. */
    accepted() {
      latest = undefined;
    },
    /** Returns the problem with its fix; `undefined` once a request was in order, or 10 minutes after a refusal. */
    problem: (): Problem | undefined =>
      latest && now() - latest.atMs < PROBLEM_MS ? latest.problem : undefined,
  };
}
