import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Webhook } from '../projects.ts';
import { PATIENCE_MS, verdictOf } from '../runtime/answers.ts';
import { createKey } from '../runtime/key-file.ts';
import { firstLine, isRedirect, reasonIn, type Send, targetOf } from './sender.ts';

/** A message by the Standard Webhooks specification. A repeat has the same `id`, of `[A-Za-z0-9_-]`. */
export interface WebhookMessage {
  id: string;
  body: string;
}

/** How far the clocks of sender and receiver may differ. Limits how long a message can be replayed. */
const TOLERANCE_MS = 5 * 60_000;

/** The form of a secret: 24 to 64 bytes, by the Standard Webhooks specification. */
export const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

type Headers = Record<string, string | string[] | undefined>;

/** Signs the messages of a webhook, and verifies those that come back. */
type Signer = ReturnType<typeof createSigner>;

/** Returns the signer of a webhook. `onNew` gets the parts of a secret that was read again, which no log may contain. */
export function createSigner({ url, secrets }: Webhook, onNew?: (hidden: string[]) => void) {
  const hiddenIn = (texts: readonly string[]) =>
    secretsOfWebhook({ url, secrets: texts.map((secret) => ({ secret })) });
  const keys = secrets.map(({ secret, file }) =>
    createKey(secret, file, (text) => onNew?.(hiddenIn([text])), WEBHOOK_SECRET),
  );
  const isSigned = (headers: Headers, body: string, nowMs: number) =>
    keys.some((key) => verifyWebhook(key.current(), headers, body, nowMs));
  /** Reads the secrets in files again after a 401. Returns whether one of them is new. */
  const renew = () => keys.filter((key) => key.isRenewed(key.current())).length > 0;
  return {
    url,
    renew,
    /** Returns the signatures with all secrets: while one is replaced, the receiver has either. */
    sign: (message: WebhookMessage, timestamp: string) =>
      keys.map((key) => signWebhook(key.current(), message, timestamp)).join(' '),
    /** Returns whether a message was signed with one of the secrets, less than five minutes from now. */
    verify: (headers: Headers, body: string, nowMs: number) =>
      isSigned(headers, body, nowMs) || (renew() && isSigned(headers, body, nowMs)),
    /** Returns what no text may show. */
    hidden: () => hiddenIn(keys.flatMap((key) => key.all)),
  };
}

/** Returns the value of `webhook-signature` for a message. `secret` is `whsec_` and base64. */
function signWebhook(secret: string, { id, body }: WebhookMessage, timestamp: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

function verifyWebhook(secret: string, headers: Headers, body: string, nowMs: number): boolean {
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
  signer: Signer,
  message: WebhookMessage,
  nowMs: number,
  { isRenewal = false, wasLost = false } = {},
) {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = signer.sign(message, timestamp);
  const { id, body } = message;
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  const answer = await send({ url: signer.url, headers, body, maxLength: 16_384 });
  const { status, reason, retryAfterMs, isSent } = answer;
  const verdict = verdictOf(isRenewal ? 'renewal' : 'message', status);
  if (verdict === 'done' || (verdict === 'repeat' && wasLost)) return { kind: 'delivered' as const };
  const secrets = [...signer.hidden(), ...signature.split(' ')];
  const text = firstLine(reasonIn(answer.text), secrets);
  if (verdict === 'final' || verdict === 'unclear') {
    const to = isRedirect(answer) ? targetOf(answer, signer.url, secrets) : undefined;
    const moved = to === undefined ? undefined : { what: 'address' as const, to };
    return { kind: 'refused' as const, status, text, moved };
  }
  // A proxy may have passed on what it got no answer to.
  const isLost = isSent && (status ?? 500) >= 500;
  return { kind: 'retry' as const, status, text, reason, retryAfterMs, forMs: PATIENCE_MS[verdict], isLost };
}

/** Returns the parts of a webhook that no log may contain: its secrets in two forms, and the query of its address. */
export const secretsOfWebhook = ({ url, secrets }: { url: string; secrets: readonly { secret: string }[] }) =>
  [
    ...secrets.flatMap(({ secret }) => [secret, secret.slice('whsec_'.length)]),
    new URL(url).search.slice(1),
  ].filter((text) => text !== '');
