import type { Log } from '../runtime/log.ts';
import type { DocsApiRequest } from './caller.ts';
import { connectionProblem } from './connection-problem.ts';

/** The project whose key a request used, as the settings name it. */
export interface KeyOwner {
  project: string;
  /** The setting that holds its key, or names its file. */
  keyVariable: string;
  isFile?: boolean;
}

/** A log line for the operator with the setting to check. `error`: it stays so until somebody acts. */
interface Advice {
  level: 'error' | 'warn';
  text: string;
}

/** The same line is logged no more often than this. */
const LOG_INTERVAL_MS = 60_000;

/** Returns a function that logs which setting a failed request points at, each at most once a minute. */
export function createDocsReporter({ log, now }: { log: Log; now: () => number }) {
  const loggedAtMs = new Map<string, number>();
  let wasUnreadable = false;

  return (request: DocsApiRequest, owner: KeyOwner): void => {
    const { operation, status, error, code } = request;
    const isFirstUnreadable = error === 'unreadable' && !wasUnreadable;
    if (operation === 'startExport') wasUnreadable = error === 'unreadable';
    const advice = adviceFor(request, owner);
    if (advice === undefined) return;
    const { text } = advice;
    // One answer alone may be that of a gateway on the way.
    const level = isFirstUnreadable ? 'warn' : advice.level;
    const line = `${level} ${text}`;
    if (now() - (loggedAtMs.get(line) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    loggedAtMs.set(line, now());
    log[level]({ operation, status, error, code }, text);
  };
}

/** What a 403 of the platform can mean, to whoever can mend it. */
export const FORBIDDEN_CAUSES =
  "Check the plan (exports need Enterprise), the platform's IP allowlist, and that the key has the scope write.";

/** Returns the advice for a failed request; `undefined` when no setting can be the cause, as with an unknown job. */
export function adviceFor(
  request: DocsApiRequest,
  { project, keyVariable, isFile }: KeyOwner,
): Advice | undefined {
  const { error, status, code } = request;
  switch (error) {
    case 'key_rejected':
      return errorAdvice(
        `the docs platform rejects ${keyVariable} of project ${project} (${status}). ${isFile ? 'Put a key that it takes into its file, which Docket reads again.' : 'Set a key that it takes, and restart Docket.'}`,
      );
    case 'redirect':
      return errorAdvice(
        `the docs platform redirects requests (${status}). Set DOCS_API_URL to the final address.`,
      );
    case 'not_found':
    case 'unsupported':
    case 'unreadable':
      // For other operations it may be an answer about their job; the address of a start holds no id.
      return request.operation === 'startExport' ? wrongPlatformAdvice(request) : undefined;
    case 'forbidden':
      return warningAdvice(
        `the docs platform does not allow ${keyVariable} of project ${project} a request (${status}). ${FORBIDDEN_CAUSES}`,
      );
    case 'refused': {
      const problem = connectionProblem(code ?? '', 'DOCS_API_URL');
      return problem === undefined
        ? unreachableAdvice(code ?? 'no connection in time')
        : errorAdvice(problem);
    }
    case 'timeout':
    case 'connection':
      return unreachableAdvice(code ?? status ?? 'no answer in time');
    default:
      return undefined;
  }
}

const errorAdvice = (text: string): Advice => ({ level: 'error', text });
const warningAdvice = (text: string): Advice => ({ level: 'warn', text });

function wrongPlatformAdvice({ path, status }: DocsApiRequest): Advice {
  return errorAdvice(
    `what answers at DOCS_API_URL takes no exports (${status}). Set it to the base address of the platform's API alone: Docket adds ${path} itself.`,
  );
}

function unreachableAdvice(reason: string | number | undefined): Advice {
  return warningAdvice(
    `the docs platform does not answer at DOCS_API_URL (${reason}). If it stays so, check the address.`,
  );
}
