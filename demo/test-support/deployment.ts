import { createHmac, randomBytes } from 'node:crypto';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

/** Returns the value of `webhook-signature` for what the headers and the body say. */
export function signatureOf(headers: Record<string, unknown>, body: string, secret = SECRET): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

export interface Webhook {
  id?: string;
  atMs?: number;
  secret?: string;
  data?: object;
  askedAt?: string;
  /** What is signed in place of an event. */
  body?: string;
  /** In place of the real ones. */
  headers?: Record<string, string>;
}

/** A signed webhook as Docket sends it, for `fetch`. */
export function webhook({ id = 'msg_a_1_0', atMs = Date.now(), secret, headers, ...rest }: Webhook = {}) {
  const {
    data,
    askedAt,
    body = JSON.stringify({ type: 'export.ready', timestamp: new Date(atMs), askedAt, data }),
  } = rest;
  const signed = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(atMs / 1000)) };
  const signature = signatureOf(signed, body, secret);
  const all = { 'content-type': 'application/json', ...signed, 'webhook-signature': signature, ...headers };
  return { method: 'POST', body, headers: all as Record<string, string> };
}
