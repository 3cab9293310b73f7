import { parse } from 'node:querystring';
import { parseJson } from '../runtime/json.ts';

/** A request to `/slack/events`, or an envelope of Socket Mode. */
export type SlackRequest =
  | { kind: 'listeners'; body: Record<string, unknown> }
  | { kind: 'challenge'; challenge: string }
  /** Slack holds events back because there are too many. */
  | { kind: 'rate limited' };

/** Parses a body, sent as JSON or as a form. Returns undefined if it is neither. */
export function parseBody(contentType: string | undefined, sent: string): SlackRequest | undefined {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    return parseRequest(parseJson(sent));
  const { payload, ...form } = parse(sent);
  return parseRequest(payload === undefined ? form : parseJson(String(payload)));
}

/** Reads a parsed body. Returns undefined if it is not an object; Bolt and the listeners read the rest. */
export function parseRequest(body: unknown): SlackRequest | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const read: Record<string, unknown> = { ...body };
  if (read.type === 'url_verification' && typeof read.challenge === 'string')
    return { kind: 'challenge', challenge: read.challenge };
  if (read.type === 'app_rate_limited' && read.event === undefined) return { kind: 'rate limited' };
  return { kind: 'listeners', body: read };
}
