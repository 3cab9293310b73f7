import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { isSafeId } from '../docs-api/operations.ts';
import { readDomain } from '../domain.ts';

// Schemas for the kinds of values in settings; their messages name the fix.

/** Returns whether a host name in the form of `URL` is `localhost`, `127.0.0.0/8` or `::1`. */
export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);

/** Accepts `https`, or `http` to this machine: keys and tokens must not cross a network in the clear. */
export function secureUrl(fix: string) {
  return z.string(`is missing. ${fix}`).refine(
    (value) => {
      const url = URL.parse(value);
      return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    },
    { error: `must be an https address (http only for this machine). ${fix}`, abort: true },
  );
}

/** Returns whether an address has neither a user nor a query nor a fragment. */
export function isPlainUrl(value: string): boolean {
  const url = URL.parse(value);
  return !url || [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

/** Accepts host names, and returns them as `readDomain` does. A `suggestion`, if any, replaces `problem`. */
export const hostName = (problem: string, suggestion = (_meant: string) => problem) =>
  z.string(problem).transform((typed, context) => {
    const read = readDomain(typed);
    if (read.kind === 'domain') return read.domain;
    context.addIssue(read.suggested === undefined ? problem : suggestion(read.suggested));
    return z.NEVER;
  });

export const projectId = z
  .string('must be text. Put the id in quotes.')
  .refine(
    (id) => isSafeId(id) && /^\S{1,200}$/.test(id),
    "must be the project's id, without spaces and slashes. Copy it from the docs platform.",
  );

/** Accepts the path of a PEM file, and returns its text. */
export const certificate = z.string().transform((path, context) => {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch {}
  context.addIssue('does not name a readable certificate. Set it to the PEM file of the authority.');
  return z.NEVER;
});

/** Returns the entries of a list with commas. */
export const commaList = z
  .string()
  .default('')
  .transform((list) => list.split(',').flatMap((entry) => entry.trim() || []));

const addressProblem =
  'must list addresses or ranges separated by commas, such as 10.0.0.7,10.1.0.0/16,fd00::/8.';

/** Accepts addresses and CIDR ranges separated by commas. */
export const addresses = commaList.transform((entries, context) => {
  const list = new BlockList();
  for (const entry of entries) {
    const [, address = '', prefix] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
    const version = isIP(address);
    const bits = version === 4 ? 32 : 128;
    if (version === 0 || Number(prefix ?? 0) > bits) {
      context.addIssue(addressProblem);
      return z.NEVER;
    }
    list.addSubnet(address, Number(prefix ?? bits), version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
});

const wholeNumber = (min: number, max: number, problem: string) =>
  z.coerce.number(problem).int(problem).min(min, problem).max(max, problem);

export const portNumber = wholeNumber(0, 65535, 'must be a port number.');

export const seconds = wholeNumber(1, 3600, 'must be a whole number of seconds from 1 to 3600.');

export const date = z.iso.date('must be a date such as 2026-12-31.');

/** Returns whether a text can be the name of an environment variable; a key in its place cannot. */
export const isVariableName = (name: string) => /^[A-Z][A-Z0-9_]{0,99}$/.test(name);

/** Returns why a text cannot be a token, key or secret, with the fix and without the value; undefined if it can. */
export function secretFlaw(secret: string): string | undefined {
  if (/^["'`]|["'`]$/.test(secret))
    return 'has quotes around it. Remove them: docker --env-file keeps them in the value.';
  if (/["'`\s]/.test(secret)) return 'contains a quote, a space or a line break. Copy it again without them.';
  return /^[\x21-\x7e]*$/.test(secret) ? undefined : 'contains a character outside ASCII. Copy it again.';
}
