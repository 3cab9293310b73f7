import { createHmac } from 'node:crypto';

/** The headers by which Slack signs a body; its timestamp is now when left out. */
export function signatureOf(
  body: string | Buffer,
  secret: string,
  atMs = Date.now(),
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const hash = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${hash}` };
}
