import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** A domain as a person typed it. `suggested` is the likely correction. */
type ParsedDomain =
  | { kind: 'domain'; domain: string }
  | { kind: 'unclear'; typed: string; suggested: string | undefined };

/** Slack's form of a link, `<http://docs.acme.com|docs.acme.com>`: the label is the typed text. */
const slackLink = /^<(?:https?:\/\/)?([^|>]+)(?:\|([^>]+))?>$/i;

/** Straight and curly quotes and backticks around the word. */
const quotes = /^["'`“”‘’«»„]+|(?<!["'`“”‘’«»„])["'`“”‘’«»„]+$/gu;

/** Longer than any real address; converting a name to punycode takes quadratic time. */
const MAX_LENGTH = 2000;

/**
 * Parses a domain: a host name of at least two labels, in any script (returned as punycode), without scheme, port or
 * path. A trailing dot, capitals, quotes and Slack's link form are accepted.
 */
export function readDomain(typed: string): ParsedDomain {
  const bare = typed.trim().replace(quotes, '');
  if (bare.length > MAX_LENGTH) return { kind: 'unclear', typed: bare, suggested: undefined };
  const link = slackLink.exec(bare);
  const text = link ? (link[2] ?? link[1]?.replace(/\/$/, '') ?? '') : bare;
  const domain = parseHostName(text);
  if (domain !== undefined) return { kind: 'domain', domain };
  return { kind: 'unclear', typed: text, suggested: hostOfUrl(text) };
}

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

function parseHostName(text: string): string | undefined {
  // domainToASCII would decode `a%2Eb` and cut at `/`, `?` and `#`, so it only gets possible host names.
  if (!/^[\p{L}\p{M}\p{N}.\-。．｡]+$/u.test(text)) return undefined;
  const ascii = domainToASCII(text.replace(/[.。．｡]$/u, ''));
  const labels = ascii.split('.');
  const fits = ascii.length <= 253 && labels.length >= 2 && labels.every((one) => label.test(one));
  const special = isIP(ascii) !== 0 || /^\d+$/.test(labels.at(-1) ?? '') || labels.at(-1) === 'localhost';
  return fits && !special ? ascii : undefined;
}

/** Returns the host inside an address such as `https://user@docs.acme.com:8080/v2`. */
export function hostOfUrl(text: string): string | undefined {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return undefined;
  return parseHostName(new URL(address).hostname);
}
