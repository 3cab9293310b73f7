import { docsProblemNames } from '../docs-api/problems.ts';
import type { Log } from '../runtime/log.ts';

/** A problem for an operator. `error`: requests are refused, or work has stopped. */
export interface Problem {
  name: string;
  level: 'error' | 'warn';
  text: string;
}

const SLACK_TEXTS = {
  slack_token: 'Slack refuses SLACK_BOT_TOKEN: nothing works until you set a new one and restart Docket.',
  slack_limited:
    'Slack limits Docket (429), so messages come late. Check what else uses the token of this app.',
  slack_unreachable:
    'Slack does not answer, or fails (5xx): messages wait. See its status page, the proxy and the network.',
} as const;

/** The first word of each name is the called side. */
export const callProblems = [
  ...docsProblemNames,
  ...(Object.keys(SLACK_TEXTS) as (keyof typeof SLACK_TEXTS)[]),
];

/** A problem of calls to the docs platform or to Slack. */
type CallProblem = Pick<Problem, 'text'> & { name: (typeof callProblems)[number] };

/** Returns the problem of a failed call to Slack. */
export const slackProblem = (name: keyof typeof SLACK_TEXTS): CallProblem => ({
  name,
  text: SLACK_TEXTS[name],
});

/** A problem without confirmation for this long is over, since its state is unknown. */
const FORGET_MS = 10 * 60_000;

/** A call of one kind. `of`: the subject that a success proves something about, such as a project. */
export interface CallKind {
  of: string;
  operation: string;
}

interface Failure extends CallKind, CallProblem {
  sinceMs: number;
  seenMs: number;
  isProblem: boolean;
}

/**
 * The present problems of calls. A failure is one at once if a person waits for the call, else after calls of its kind
 * have failed for `afterMs`. The first success ends it. Each is logged once.
 */
export function createCallProblems(parts: { log: Log; now: () => number; afterMs: number }) {
  const { log, now, afterMs } = parts;
  const failures = new Map<string, Failure>();
  const keyOf = ({ of, operation }: CallKind) => `${of} ${operation}`;

  /** Returns the failures that are problems now. */
  function current(side = ''): Failure[] {
    for (const [key, { seenMs }] of failures) if (now() - seenMs >= FORGET_MS) failures.delete(key);
    return [...failures.values()].filter(({ name, isProblem }) => isProblem && name.startsWith(side));
  }

  return {
    /** Records a failure; `code` is a detail for the log. */
    failed(kind: CallKind, problem: CallProblem, isWaitedFor: boolean, code: string | number | undefined) {
      const { name, text } = problem;
      const before = failures.get(keyOf(kind));
      const sinceMs = before?.sinceMs ?? now();
      const isProblem = before?.isProblem === true || isWaitedFor || now() - sinceMs >= afterMs;
      const isNew = isProblem && !current(name).some(({ of }) => of === kind.of);
      failures.set(keyOf(kind), { ...kind, name, text, sinceMs, seenMs: now(), isProblem });
      if (isNew) log.error({ problem: name, code }, text);
    },
    /** Ends the failures of this kind, and those that any answer disproves. */
    worked(kind: CallKind) {
      const before = new Set(current().map(({ name }) => name));
      for (const [key, { of, name }] of failures)
        if (
          key === keyOf(kind) ||
          (of === kind.of && /^(?:docs_key|docs_unreachable|slack_token)$/.test(name))
        )
          failures.delete(key);
      for (const name of before)
        if (current(name).length === 0) log.info({ problem: name }, 'a problem is over');
    },
    /** Returns the problems of one side, or all. */
    current: (side = ''): Problem[] => {
      const byText = new Map(current(side).map(({ name, text }) => [text, name]));
      return [...byText].map(([text, name]) => ({ name, level: 'error', text }));
    },
  };
}
