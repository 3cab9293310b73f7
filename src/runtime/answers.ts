/** `repeat`: done if an earlier answer to the same message was lost, else as `hour`. The last four are in `PATIENCE_MS`. */
type Verdict = 'done' | 'final' | 'unclear' | 'repeat' | 'minutes' | 'hour' | 'link' | 'patient';
const operations = ['platform', 'start', 'message', 'renewal', 'dispatch', 'read'] as const;
type Operation = (typeof operations)[number];

/** For how long a call is repeated. `link`: until near the end of its link; `patient`: while its job waits anyway. */
export const PATIENCE_MS = {
  minutes: 600_000,
  hour: 3_600_000,
  repeat: 3_600_000,
  link: Infinity,
  patient: Infinity,
};

/**
 * What an answer means: `final` proves that nothing happened, and a repetition would be refused, too. `unclear` proves
 * nothing. The columns: the platform; there, the start of an export; a webhook with an update, and with a further link; GitHub's start of a workflow, and
 * its run.
 */
const TABLE: readonly (readonly [statuses: string, ...Verdict[]])[] = [
  ['2xx', 'done', 'done', 'done', 'done', 'done', 'done'],
  // Only GitHub's redirects inside its host are followed. It sends them for renamed repositories (its REST guide).
  ['3xx', 'unclear', 'unclear', 'final', 'final', 'final', 'final'],
  // Refusals that the platform documents, or before a request's content is read (RFC 9110). 410: Standard Webhooks.
  ['400 405 410 411 413 414 415 422', 'final', 'final', 'final', 'final', 'final', 'final'],
  // A proxy in front of a receiver answers so while it restarts (Standard Webhooks).
  ['401 403 404', 'final', 'final', 'minutes', 'link', 'final', 'final'],
  ['408', 'unclear', 'unclear', 'hour', 'hour', 'unclear', 'patient'],
  // A receiver that has the message may refuse its repetition so; or something else is under way there (RFC 9110).
  ['409', 'unclear', 'unclear', 'repeat', 'repeat', 'final', 'final'],
  ['425', 'unclear', 'unclear', 'hour', 'hour', 'final', 'final'],
  // RFC 6585. A 403 of one of GitHub's limits counts as 429, too.
  ['429', 'patient', 'patient', 'hour', 'hour', 'hour', 'patient'],
  ['4xx', 'unclear', 'unclear', 'final', 'final', 'final', 'final'],
  // For the start of an export, the platform's own error counts as a proof: a second export would harm nobody.
  ['5xx+error', 'unclear', 'patient', 'hour', 'hour', 'unclear', 'patient'],
  ['5xx none', 'unclear', 'unclear', 'hour', 'hour', 'unclear', 'patient'],
];

const rows = new Map(TABLE.flatMap(([statuses, ...row]) => statuses.split(' ').map((one) => [one, row])));

/**
 * Returns what the answer to a request that was sent means; without a status, none came. `hasError`: the platform itself
 * says that it failed, not a proxy before it.
 */
export function verdictOf(operation: Operation, status: number | undefined, hasError = false): Verdict {
  const group = `${Math.floor((status ?? 0) / 100)}xx${hasError ? '+error' : ''}`;
  const row = rows.get(`${status}`) ?? rows.get(group) ?? rows.get('none');
  return row?.[operations.indexOf(operation)] ?? 'unclear';
}

/** Returns a text without the codes that color it in a terminal. */
export const withoutAnsi = (text: string) => text.replace(/[^\P{Cc}\s]\[[0-?]*[ -/]*[@-~]/gu, '');
