import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The signature of a request, from its headers. */
export interface Signature {
  timestamp: string;
  hash: string;
}

/** Requests this much older or newer than our clock are refused; Slack asks for 5 minutes. */
const CLOCK_TOLERANCE_S = 300;

/** Reads the headers. Returns `undefined` when one is missing or malformed. */
export function readSignature(headers: IncomingHttpHeaders): Signature | undefined {
  const timestamp = headers['x-slack-request-timestamp'];
  const [, hash] = /^v0=([0-9a-f]{64})$/.exec(String(headers['x-slack-signature'])) ?? [];
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp) || hash === undefined) return undefined;
  return { timestamp, hash };
}

/** Returns how many seconds a request is ahead of our clock (behind when negative); `undefined` within tolerance. */
export function clockSkew({ timestamp }: Signature, nowMs: number): number | undefined {
  const aheadS = Number(timestamp) - nowMs / 1000;
  return Math.abs(aheadS) > CLOCK_TOLERANCE_S ? Math.round(aheadS) : undefined;
}

/** Returns whether the secret signed the body: https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function isSigned({ timestamp, hash }: Signature, body: Buffer, signingSecret: KeyObject): boolean {
  const ours = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(ours, Buffer.from(hash, 'hex'));
}
