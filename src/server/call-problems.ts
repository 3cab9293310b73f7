import type { Log } from '../runtime/log.ts';

/** What an operator has to fix. `error`: requests are refused, or work stands still. */
export interface Problem {
  name: string;
  level: 'error' | 'warn';
  text: string;
}

/** Problems of calls to the docs platform and to Slack. The first word of each name is the side that is called. */
const TEXTS = {
  docs_key:
    'The docs platform rejects an API key: nothing new starts with it. Set a new one; the log names the setting.',
  docs_forbidden:
    'The docs platform forbids what Docket asks (403). Check the plan, the IP allowlist and the scopes of the API key.',
  docs_limited:
    'The docs platform limits Docket (429), so work waits. Check what else uses the limit of the organization.',
  docs_failing:
    'The docs platform fails (5xx): some starts are unconfirmed, and work waits. See its status page.',
  docs_unreachable:
    'The docs platform does not answer properly. Check DOCS_API_URL, the certificate there, the proxy and the network.',
  slack_token: 'Slack refuses SLACK_BOT_TOKEN: nothing works until you set a new one and restart Docket.',
  slack_limited:
    'Slack limits Docket (429), so messages come late. Check what else uses the token of this app.',
  slack_unreachable:
    'Slack does not answer, or fails (5xx): messages wait. See its status page, the proxy and the network.',
} as const;
export type CallProblem = keyof typeof TEXTS;

export const callProblems = Object.keys(TEXTS) as CallProblem[];

/** A problem that no call has confirmed for so long is over: nobody knows any more. */
const FORGET_MS = 10 * 60_000;

/** A call of one kind. `of`: what a success proves something about, such as a project. */
export interface CallKind {
  of: string;
  operation: string;
}

interface Failure extends CallKind {
  name: CallProblem;
  sinceMs: number;
  seenMs: number;
  isProblem: boolean;
}

export type CallProblems = ReturnType<typeof createCallProblems>;

/**
 * The problems that calls have now. A failure is one at once where somebody waits for the call, and else when calls of its
 * kind have failed for `afterMs`; it is over with the first success. Each is logged once.
 */
export function createCallProblems(parts: { log: Log; now: () => number; afterMs: number }) {
  const { log, now, afterMs } = parts;
  const failures = new Map<string, Failure>();
  const keyOf = ({ of, operation }: CallKind) => `${of} ${operation}`;

  /** Names that are problems now. */
  function current(): CallProblem[] {
    for (const [key, { seenMs }] of failures) if (now() - seenMs >= FORGET_MS) failures.delete(key);
    return [...new Set([...failures.values()].filter(({ isProblem }) => isProblem).map(({ name }) => name))];
  }

  return {
    /** Keeps a failure; `code` says more of it in the log. */
    failed(kind: CallKind, name: CallProblem, isWaitedFor: boolean, code: string | number | undefined) {
      const before = failures.get(keyOf(kind));
      const sinceMs = before?.sinceMs ?? now();
      const isProblem = before?.isProblem === true || isWaitedFor || now() - sinceMs >= afterMs;
      const isNew = isProblem && !current().includes(name);
      failures.set(keyOf(kind), { ...kind, name, sinceMs, seenMs: now(), isProblem });
      if (isNew) log.error({ problem: name, code }, TEXTS[name]);
    },
    /** Ends the failures of this kind, and those that any answer disproves. */
    worked(kind: CallKind) {
      const before = current();
      for (const [key, { of, name }] of failures)
        if (
          key === keyOf(kind) ||
          (of === kind.of && /^(?:docs_key|docs_unreachable|slack_token)$/.test(name))
        )
          failures.delete(key);
      for (const name of before)
        if (!current().includes(name)) log.info({ problem: name }, 'a problem is over');
    },
    /** Returns those of one side, or all. */
    current: (side = ''): Problem[] =>
      current()
        .filter((name) => name.startsWith(side))
        .map((name) => ({ name, level: 'error', text: TEXTS[name] })),
  };
}
