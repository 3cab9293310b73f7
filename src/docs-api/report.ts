import type { Log } from '../runtime/log.ts';
import type { DocsApiRequest } from './caller.ts';

/** Whose requests they are, in the words of the settings. */
export interface KeyOwner {
  project: string;
  /** The environment variable that holds its key. */
  keyVariable: string;
}

/** What an operator has to know, with the setting to look at. `error`: until somebody acts, it stays so. */
interface Advice {
  level: 'error' | 'warn';
  text: string;
}

/** The same is said again after this time. */
const LOG_INTERVAL_MS = 60_000;

/** Returns what writes to the log which setting a failed request points at, each thing once a minute at most. */
export function createDocsReporter({ log, now }: { log: Log; now: () => number }) {
  const loggedAtMs = new Map<string, number>();

  return (request: DocsApiRequest, owner: KeyOwner): void => {
    const advice = adviceFor(request, owner);
    if (advice === undefined) return;
    const { level, text } = advice;
    if (now() - (loggedAtMs.get(text) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    loggedAtMs.set(text, now());
    const { operation, status, error, code } = request;
    log[level]({ operation, status, error, code }, text);
  };
}

/** Returns `undefined` for what the settings have no part in, such as a job that the platform does not know. */
export function adviceFor(request: DocsApiRequest, { project, keyVariable }: KeyOwner): Advice | undefined {
  const { error, status, code } = request;
  switch (error) {
    case 'key_rejected':
      return errorAdvice(
        `the docs platform rejects ${keyVariable} of project ${project} (${status}). Set a key that it takes, and restart Docket.`,
      );
    case 'redirect':
      return errorAdvice(
        `the docs platform sends requests elsewhere (${status}). Set DOCS_API_URL to the address that it ends at.`,
      );
    case 'not_found':
    case 'unsupported':
    case 'unreadable':
      // Only of a start is this no answer about a job: its address holds no id.
      return request.operation === 'startExport' ? wrongPlatformAdvice(request) : undefined;
    case 'forbidden':
      return request.operation === 'startExport'
        ? warningAdvice(
            `the docs platform allows ${keyVariable} of project ${project} no exports (${status}). They need the Enterprise plan.`,
          )
        : undefined;
    case 'refused':
      return code === 'ENOTFOUND'
        ? errorAdvice(`no host has the name in DOCS_API_URL (${code}). Mend it.`)
        : unreachableAdvice(code);
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
