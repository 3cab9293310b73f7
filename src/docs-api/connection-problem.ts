/** Problems of the connection to a host by error code, with the fix. */
const PROBLEMS: [codes: RegExp, problem: (what: string) => string][] = [
  [/^CERT_HAS_EXPIRED$/, (what) => `The certificate of ${what} has expired. Renew it.`],
  [
    /^CERT_NOT_YET_VALID$/,
    (what) => `The certificate of ${what} is not valid yet. Check this machine's clock.`,
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|UND_ERR_PRX_TLS)$/,
    (what) => `The certificate of ${what} is for another host name. Use the name that is in it.`,
  ],
  [
    /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|^CERT_UNTRUSTED$/,
    (what) =>
      `This machine does not trust the certificate of ${what}. Set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed it.`,
  ],
  [
    /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/,
    (what) => `The server at ${what} does not use https. Check the port.`,
  ],
  [/^(CERT|ERR_TLS|ERR_SSL|UNABLE_TO)_/, (what) => `No encrypted connection to ${what} is possible.`],
  [
    /^PROXY_407$/,
    () =>
      'The proxy requires a user and a password. Put them into HTTPS_PROXY: http://user:password@host:port.',
  ],
  [
    /^PROXY_/,
    (what) =>
      `The proxy that HTTPS_PROXY names does not connect to ${what}. Allow that there, or list the host in NO_PROXY.`,
  ],
  [/^ENOTFOUND$/, (what) => `The host name in ${what} does not exist. Fix it.`],
];

/**
 * Returns the problem of a connection, with its fix; undefined if the code only says that there is none. `what` names
 * the host by its setting.
 */
export function connectionProblem(code: string, what: string): string | undefined {
  const found = PROBLEMS.find(([codes]) => codes.test(code));
  return found && `${found[1](what)} (${code})`;
}

/** Returns the code of a connection's failure; never a part of the data sent. */
export function connectionCode(error: unknown): string {
  const proxy = error instanceof Error && /^Proxy response \((\d{3})\)/.exec(error.message);
  if (proxy) return `PROXY_${proxy[1]}`;
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string')
    return inner.code.slice(0, 60);
  return error instanceof Error ? error.name : 'no reason';
}
