import type { Log } from '../runtime/log.ts';

/** What an operator has to hear when requests are refused: perhaps all of Slack's are. */
export interface RefusedRequests {
  /** A request of Slack's is this far ahead of our clock, or behind it. */
  clockSkewed(aheadS: number): void;
  unsigned(): void;
  /** A request was in order, so Slack's are. */
  accepted(): void;
  /** What is wrong, with the fix; nothing once a request was in order, or after a while without any. */
  problem(): string | undefined;
}

/** How often one thing is logged: anybody can send what is not signed. */
const LOG_MS = 60_000;

/** Somebody else's request must not look like trouble with Slack's for long. */
const PROBLEM_MS = 10 * 60_000;

export function createRefusedRequests(log: Log, now: () => number): RefusedRequests {
  let latest: { problem: string; atMs: number } | undefined;
  const loggedAtMs = new Map<string, number>();

  /** Logs it unless it has been logged a moment ago. */
  function report(level: 'error' | 'warn', kind: string, problem: string) {
    latest = { problem, atMs: now() };
    if (now() - (loggedAtMs.get(kind) ?? Number.NEGATIVE_INFINITY) < LOG_MS) return;
    loggedAtMs.set(kind, now());
    log[level](problem);
  }

  return {
    clockSkewed(aheadS) {
      const where = aheadS > 0 ? 'ahead of' : 'behind';
      const problem = `Slack's request is ${Math.abs(aheadS)} s ${where} this machine's clock. Set the clock (NTP).`;
      report('error', 'clock', problem);
    },
    unsigned() {
      const problem =
        'A request is not signed with SLACK_SIGNING_SECRET. If Slack sent it, copy the secret again.';
      report('warn', 'secret', problem);
    },
    accepted() {
      latest = undefined;
    },
    problem: () => (latest && now() - latest.atMs < PROBLEM_MS ? latest.problem : undefined),
  };
}
