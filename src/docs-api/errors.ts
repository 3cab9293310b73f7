import { connectionCode } from '../runtime/outgoing.ts';
import { type DocsApiOperation, isRepeatable, OPERATIONS, type Operation } from './operations.ts';

/**
 * Why a call has no result. `KINDS` and `kindOfStatus` have the statuses of most kinds. `bad_request` includes an input
 * that we refused before the send. `timeout` includes our own time limit. `unsupported`: the platform lacks the operation.
 * `redirect` is never followed. `refused`: no connection took the request (no such host, nobody there, certificate,
 * proxy). `connection`: it broke. `unreadable`: an answer that breaks the API's contract or is too large. `aborted`: by
 * the caller's signal, or by its `isTooLate`.
 */
export type DocsApiErrorKind =
  | (typeof TRANSIENT_KINDS)[number]
  | ('bad_request' | 'key_rejected' | 'forbidden' | 'not_found' | 'unsupported')
  | ('conflict' | 'rejected' | 'redirect' | 'aborted');

const TRANSIENT_KINDS = ['rate_limited', 'server', 'timeout', 'refused', 'connection', 'unreadable'] as const;

const KINDS: Record<number, DocsApiErrorKind> = {
  400: 'bad_request',
  401: 'key_rejected',
  403: 'forbidden',
  404: 'not_found',
  405: 'unsupported',
  408: 'timeout',
  409: 'conflict',
  410: 'not_found',
  413: 'bad_request',
  414: 'bad_request',
  415: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
  501: 'unsupported',
};

/** Returns the kind of a status that is not 2xx. */
export const kindOfStatus = (status: number): DocsApiErrorKind =>
  KINDS[status] ?? (status >= 500 ? 'server' : status >= 400 ? 'rejected' : 'redirect');

interface ErrorFacts {
  /** `no` is a proof that the call had no effect; only then may a start or a send be repeated. */
  happened: 'no' | 'unknown';
  /** HTTP status; missing if there was no answer. */
  status?: number | undefined;
  /** The platform's `Retry-After`, in milliseconds from its answer. */
  retryAfterMs?: number | undefined;
  /**
   * The platform's own `error` text: one line, cut, without our key or the query of any link. May be shown to a
   * person.
   */
  platformMessage?: string | undefined;
}

/**
 * A call to the docs platform has no result. Decide by `kind`, `happened` and `retryable`, never by the text. `message`
 * is safe for logs: method, path template, `what`; no id, key, link or body.
 */
export class DocsApiError extends Error {
  override readonly name = 'DocsApiError';
  declare readonly operation: DocsApiOperation;
  declare readonly kind: DocsApiErrorKind;
  declare readonly happened: ErrorFacts['happened'];
  /** The same call may succeed later, and repeating it is safe: it did not happen, or its operation is repeatable. */
  declare readonly retryable: boolean;
  declare readonly status: number | undefined;
  declare readonly retryAfterMs: number | undefined;
  declare readonly platformMessage: string | undefined;

  constructor(
    operation: DocsApiOperation,
    kind: DocsApiErrorKind,
    { what, cause, platformMessage, ...facts }: ErrorFacts & { what: string; cause?: unknown },
  ) {
    const { method, path } = OPERATIONS[operation];
    super(`${method} ${path}: ${what}`, cause === undefined ? {} : { cause: withoutContent(cause) });
    const isSafe = facts.happened === 'no' || isRepeatable(OPERATIONS[operation]);
    const retryable = isSafe && (TRANSIENT_KINDS as readonly string[]).includes(kind);
    Object.assign(this, { operation, kind, retryable, ...facts });
    // Not enumerable, so that no log writes it: it may repeat the data sent.
    Object.defineProperty(this, 'platformMessage', { value: platformMessage });
  }
}

/** Returns the cause with only its code: a parser's message quotes unreadable text, which may contain a link. */
function withoutContent(cause: unknown): Error {
  const error = new Error(connectionCode(cause));
  if (cause instanceof Error) error.name = cause.name;
  return error;
}

/** One sent request, for logs and metrics, without id, key and body. */
export interface DocsApiRequest {
  operation: DocsApiOperation;
  durationMs: number;
  status: number | undefined;
  /** Undefined if the request had a result. */
  error: DocsApiErrorKind | undefined;
  /** Why there was no complete response, such as `ENOTFOUND`. */
  code: string | undefined;
  /** Whether the answer is certainly the platform's: it has a result, or an error as in the API's contract. */
  isOwn: boolean;
}

/** Problems of the connection to a host by error code, with the fix. `…` stands for the host. */
const CONNECTION_TEXTS: [codes: RegExp, text: string][] = [
  [/^CERT_HAS_EXPIRED$/, 'The certificate of … has expired. Renew it.'],
  [/^CERT_NOT_YET_VALID$/, "The certificate of … is not valid yet. Check this machine's clock."],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)$/,
    'The certificate of … is for another host name. Use the name that is in it.',
  ],
  [
    /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|^CERT_UNTRUSTED$/,
    'This machine does not trust the certificate of …. Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed it.',
  ],
  [
    /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/,
    'The server at … does not use https. Check the port.',
  ],
  [/^(CERT|ERR_TLS|ERR_SSL|UNABLE_TO)_/, 'No encrypted connection to … is possible.'],
  [
    /^PROXY_407$/,
    'The proxy requires a user and a password. Put them into HTTPS_PROXY: http://user:password@host:port.',
  ],
  [
    /^PROXY_/,
    'The proxy that HTTPS_PROXY names does not connect to …. Allow that there, or list the host in NO_PROXY.',
  ],
  [
    /^(ENOTFOUND|EAI_AGAIN)$/,
    "This machine can't look up the host name in …. Check the name, the machine's DNS, and the proxy if there is one.",
  ],
];

/**
 * Returns the problem of a connection, with its fix; undefined if the code only says that there is none. `what` names
 * the host by its setting.
 */
export function connectionProblem(code: string, what: string): string | undefined {
  const [, text] = CONNECTION_TEXTS.find(([codes]) => codes.test(code)) ?? [];
  return text && `${text.replace('…', what)} (${code})`;
}

/** The project whose key a request used: the setting with its key, or with the name of its file. */
interface KeyOwner {
  name: string;
  apiKeyVariable: string;
  apiKeyFile?: string | undefined;
}

/** Possible causes of a 403 from the platform, for the person who can fix it. */
export const FORBIDDEN_CAUSES =
  "Check the plan (exports need Enterprise), the platform's IP allowlist, and that the key has the scope write.";

/**
 * Returns the problem behind a failed request, which prevents further calls; undefined for an answer about its job, its
 * input or the plan. `text` is for operators, and names the setting with its fix.
 */
export function docsProblemOf(
  { operation, error, status, code }: DocsApiRequest,
  { name, apiKeyVariable, apiKeyFile }: KeyOwner,
) {
  const key = `${apiKeyVariable} of project ${name}`;
  if (error === 'key_rejected') {
    const fix = apiKeyFile
      ? 'Put a key that it takes into its file, which Docket reads again.'
      : 'Set a key that it takes, and restart Docket.';
    return { name: 'docs_key', text: `the docs platform rejects ${key} (${status}). ${fix}` };
  }
  const { isOfPlan }: Operation = OPERATIONS[operation];
  if (error === 'forbidden' && isOfPlan) return undefined;
  if (error === 'forbidden')
    return {
      name: 'docs_forbidden',
      text: `the docs platform forbids what Docket asks with ${key} (${status}). ${FORBIDDEN_CAUSES}`,
    };
  if (error === 'rate_limited')
    return {
      name: 'docs_limited',
      text: 'the docs platform limits Docket (429), so work waits. Check what else uses the limit of the organization.',
    };
  if (error === 'server')
    return {
      name: 'docs_failing',
      text: 'the docs platform fails (5xx): some starts are unconfirmed, and work waits. See its status page.',
    };
  // For other operations it is an answer about their job; the address of a start has no id.
  const isMissing = (error === 'not_found' || error === 'unsupported') && operation === 'startExport';
  if (isMissing || error === 'redirect' || error === 'unreadable')
    return unreachable(
      `what answers at DOCS_API_URL is not the docs platform's API (${status}). If it stays so, set the base address of the API, without /v1 or /v2.`,
    );
  if (error !== 'timeout' && error !== 'refused' && error !== 'connection') return undefined;
  return unreachable(
    connectionProblem(code ?? '', 'DOCS_API_URL') ??
      `the docs platform does not answer at DOCS_API_URL (${code ?? status ?? 'no answer in time'}). If it stays so, check the address, the proxy and the network.`,
  );
}

const unreachable = (text: string) => ({ name: 'docs_unreachable', text });
