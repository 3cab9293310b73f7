import type { Context, MiddlewareHandler } from 'hono';
import type { Outcome } from './protocol.ts';

const HEADERS = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-src http://127.0.0.1:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Paths that only a page of this origin may read; a file may be opened by its address, too. */
const OWN_PAGE_ONLY = /^\/(?:live$|files\/)/;

/** Answers with a refusal as a sentence. */
export function refuse(
  c: Context,
  status: 400 | 403 | 404 | 413 | 415 | 500 | 503,
  problem: string,
): Response {
  return c.json<Outcome>({ ok: false, problem }, status);
}

/**
 * Lets through what pages of this server ask for, and nothing that other pages in the same browser do: neither under a
 * name of theirs that leads to this machine (DNS rebinding), nor across origins.
 */
export function createGuard(port: () => number): MiddlewareHandler {
  return async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    const host = c.req.header('host') ?? '';
    const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${port()}`);
    if (!hosts.includes(host)) return refuse(c, 403, 'This address is not that of the demo.');

    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    const changes = !['GET', 'HEAD'].includes(c.req.method);
    const isOwn =
      (origin === undefined || origin === `http://${host}`) && [undefined, 'same-origin'].includes(site);
    // Browsers say with every POST where it comes from.
    const isUnsaid = origin === undefined && site === undefined;
    const isTyped = origin === undefined && site === 'none';
    const allowed = changes
      ? isOwn && !isUnsaid
      : !OWN_PAGE_ONLY.test(c.req.path) || isOwn || (isTyped && c.req.path.startsWith('/files/'));
    if (!allowed) return refuse(c, 403, 'Only the page of the demo itself may do that.');
    return next();
  };
}
