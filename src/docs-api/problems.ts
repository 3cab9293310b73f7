import type { DocsApiRequest } from './caller.ts';
import { connectionProblem } from './connection-problem.ts';

export const docsProblemNames = [
  'docs_key',
  'docs_forbidden',
  'docs_limited',
  'docs_failing',
  'docs_unreachable',
] as const;

/** A problem that prevents calls to the platform. `text` is for operators, and names the setting with its fix. */
interface DocsProblem {
  name: (typeof docsProblemNames)[number];
  text: string;
}

/** The project whose key a request used, as the settings name it. */
interface KeyOwner {
  project: string;
  /** The setting with its key, or with the name of its file. */
  keyVariable: string;
  isFile?: boolean;
}

/** Possible causes of a 403 from the platform, for the person who can fix it. */
export const FORBIDDEN_CAUSES =
  "Check the plan (exports need Enterprise), the platform's IP allowlist, and that the key has the scope write.";

/** Returns the problem behind a failed request; undefined for an answer about its job or its input. */
export function docsProblemOf(
  { operation, error, status, code }: DocsApiRequest,
  { project, keyVariable, isFile }: KeyOwner,
): DocsProblem | undefined {
  const key = `${keyVariable} of project ${project}`;
  switch (error) {
    case 'key_rejected': {
      const fix = isFile
        ? 'Put a key that it takes into its file, which Docket reads again.'
        : 'Set a key that it takes, and restart Docket.';
      return { name: 'docs_key', text: `the docs platform rejects ${key} (${status}). ${fix}` };
    }
    case 'forbidden':
      return {
        name: 'docs_forbidden',
        text: `the docs platform forbids what Docket asks with ${key} (${status}). ${FORBIDDEN_CAUSES}`,
      };
    case 'rate_limited':
      return {
        name: 'docs_limited',
        text: 'the docs platform limits Docket (429), so work waits. Check what else uses the limit of the organization.',
      };
    case 'server':
      return {
        name: 'docs_failing',
        text: 'the docs platform fails (5xx): some starts are unconfirmed, and work waits. See its status page.',
      };
    case 'not_found':
    case 'unsupported':
      // For other operations it is an answer about their job; the address of a start has no id.
      return operation === 'startExport' ? notThePlatform(status) : undefined;
    case 'redirect':
    case 'unreadable':
      return notThePlatform(status);
    case 'timeout':
    case 'refused':
    case 'connection':
      return unreachable(
        connectionProblem(code ?? '', 'DOCS_API_URL') ??
          `the docs platform does not answer at DOCS_API_URL (${code ?? status ?? 'no answer in time'}). If it stays so, check the address, the proxy and the network.`,
      );
    default:
      return undefined;
  }
}

const unreachable = (text: string): DocsProblem => ({ name: 'docs_unreachable', text });

const notThePlatform = (status: number | undefined) =>
  unreachable(
    `what answers at DOCS_API_URL is not the docs platform's API (${status}). If it stays so, set the base address of the API, without /v1 or /v2.`,
  );
