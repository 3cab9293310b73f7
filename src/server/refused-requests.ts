import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import type { Problem } from './call-problems.ts';

/** Reports refused requests to the operator: all of Slack's may be affected. */
export type RefusedRequests = ReturnType<typeof createRefusedRequests>;

/** Each kind is logged at most this often: anybody can send unsigned requests. */
const LOG_MS = 60_000;

/** A request that Slack did not send must not count as a problem for longer. */
const PROBLEM_MS = 10 * 60_000;

export function createRefusedRequests(log: Log, now: () => number, metrics: Pick<Metrics, 'refusals'>) {
  let latest: { problem: Problem; atMs: number } | undefined;
  const loggedAtMs = new Map<string, number>();

  /** Records the problem, and logs it unless its kind was logged within `LOG_MS`. */
  function report(problem: Problem) {
    const { name, level, text } = problem;
    latest = { problem, atMs: now() };
    if (now() - (loggedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < LOG_MS) return;
    loggedAtMs.set(name, now());
    log[level]({ problem: name }, text);
  }

  return {
    /** Reports a Slack request whose timestamp is this far ahead of our clock (negative: behind). */
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
    /** Ends the problem: a valid request proves that Slack's requests are valid. */
    accepted() {
      latest = undefined;
    },
    /** Returns the problem with its fix; undefined after a valid request, or 10 minutes after a refusal. */
    problem: (): Problem | undefined =>
      latest && now() - latest.atMs < PROBLEM_MS ? latest.problem : undefined,
  };
}
