import { createHmac, randomBytes } from 'node:crypto';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

const signature = (secret: string, text: string) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(text)
    .digest('base64')}`;

export interface Webhook {
  id?: string;
  atMs?: number;
  secret?: string;
  data?: object;
  /** In place of the real ones. */
  headers?: Record<string, string>;
}

/** A signed webhook as Docket sends it, for `fetch`. */
export function webhook({ id = 'msg_a.1', atMs = Date.now(), secret = SECRET, data, headers }: Webhook = {}) {
  const timestamp = String(Math.floor(atMs / 1000));
  const body = JSON.stringify({ type: 'export.ready', timestamp: new Date(atMs).toISOString(), data });
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature(secret, `${id}.${timestamp}.${body}`),
      ...headers,
    },
  };
}

/** Whether a request that came is signed with `SECRET`. */
export function isSigned(headers: Record<string, unknown>, body: string): boolean {
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return headers['webhook-signature'] === signature(SECRET, text);
}
