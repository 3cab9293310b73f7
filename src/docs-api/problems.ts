import type { DocsApiRequest } from './client.ts';

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
  [/^ENOTFOUND$/, 'The host name in … does not exist. Fix it.'],
];

/**
 * Returns the problem of a connection, with its fix; undefined if the code only says that there is none. `what` names
 * the host by its setting.
 */
export function connectionProblem(code: string, what: string): string | undefined {
  const [, text] = CONNECTION_TEXTS.find(([codes]) => codes.test(code)) ?? [];
  return text && `${text.replace('…', what)} (${code})`;
}

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
