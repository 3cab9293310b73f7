import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Webhook } from '../projects.ts';
import { PATIENCE_MS, verdictOf } from '../runtime/answers.ts';
import { firstLine, isRedirect, reasonIn, type Send, targetOf } from './sender.ts';

/** A message by the Standard Webhooks specification. A repeat has the same `id`, of `[A-Za-z0-9_-]`. */
export interface WebhookMessage {
  id: string;
  body: string;
}

/** How far the clocks of sender and receiver may differ. Limits how long a message can be replayed. */
const TOLERANCE_MS = 5 * 60_000;

/** Returns the value of `webhook-signature` for a message. `secret` is `whsec_` and base64. */
export function signWebhook(secret: string, { id, body }: WebhookMessage, timestamp: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Returns whether a message was signed with the secret, less than five minutes from now. */
export function verifyWebhook(
  secret: string,
  headers: Record<string, string | string[] | undefined>,
  body: string,
  nowMs: number,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1000) > TOLERANCE_MS)
    return false;
  const expected = Buffer.from(signWebhook(secret, { id, body }, timestamp));
  const isExpected = (given: Buffer) => given.length === expected.length && timingSafeEqual(given, expected);
  return signatures.split(' ').some((signature) => isExpected(Buffer.from(signature)));
}

/**
 * Sends a message once. `nowMs` is the time of this attempt. `isRenewal`: it only has a further link. `wasLost`: the answer
 * to an earlier attempt was. Never rejects. `refused`: a repetition would be refused, too. `retry`: for `forMs` since the
 * first attempt. `text` is the reason in the answer, one line without links.
 */
export async function sendWebhook(
  send: Send,
  webhook: Webhook,
  message: WebhookMessage,
  nowMs: number,
  { isRenewal = false, wasLost = false } = {},
) {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = signWebhook(webhook.secret, message, timestamp);
  const { id, body } = message;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  const answer = await send({ url: webhook.url, headers, body, maxLength: 16_384 });
  const { status, reason, retryAfterMs, isSent } = answer;
  const verdict = verdictOf(isRenewal ? 'renewal' : 'message', status);
  if (verdict === 'done' || (verdict === 'repeat' && wasLost)) return { kind: 'delivered' as const };
  const secrets = [...secretsOfWebhook(webhook), signature];
  const text = firstLine(reasonIn(answer.text), secrets);
  if (verdict === 'final' || verdict === 'unclear') {
    const to = isRedirect(answer) ? targetOf(answer, webhook.url, secrets) : undefined;
    const moved = to === undefined ? undefined : { what: 'address' as const, to };
    return { kind: 'refused' as const, status, text, moved };
  }
  // A proxy may have passed on what it got no answer to.
  const isLost = isSent && (status ?? 500) >= 500;
  return { kind: 'retry' as const, status, text, reason, retryAfterMs, forMs: PATIENCE_MS[verdict], isLost };
}

/** Returns the parts of a webhook that no log may contain: its secret in two forms, and the query of its address. */
export const secretsOfWebhook = ({ url, secret }: Pick<Webhook, 'url' | 'secret'>): string[] =>
  [secret, secret.slice('whsec_'.length), new URL(url).search.slice(1)].filter((text) => text !== '');
