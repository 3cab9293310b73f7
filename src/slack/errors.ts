import {
  type BlocksValidateResponse,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { connectionCode } from '../runtime/outgoing.ts';

/**
 * Why a call to Slack has no result.
 *
 * `place` the conversation does not accept it (not found, archived, not joined …) · `blocks` the blocks are refused ·
 * `missing` the subject of the call does not exist (any more): the message to edit, the user group, the trigger id ·
 * `limited` too many calls · `token` the token is refused: nothing works until an operator acts · `refused` Slack
 * refused for another reason · `unreachable` certainly not sent · `unclear` it may have taken effect.
 */
export type SlackErrorKind =
  | ('place' | 'blocks' | 'missing' | 'refused')
  | ('limited' | 'token' | 'unreachable' | 'unclear');

interface ErrorDetails {
  /** How long Slack asked us to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The refused places in the blocks, as JSON pointers, if Slack names them. */
  pointers?: string[];
  /** The scopes that the app lacks, as Slack names them: any one of them is enough. */
  needed?: string | undefined;
}

/** A call to Slack has no result. Decide by `kind`; `code` is Slack's error code, safe to log and to show. */
export class SlackApiError extends Error {
  override readonly name = 'SlackApiError';
  declare readonly kind: SlackErrorKind;
  declare readonly method: string;
  declare readonly code: string;
  declare readonly retryAfterMs: ErrorDetails['retryAfterMs'];
  declare readonly pointers: string[];
  declare readonly needed: ErrorDetails['needed'];

  constructor(kind: SlackErrorKind, method: string, code: string, details: ErrorDetails = {}) {
    const { retryAfterMs, pointers = [], needed } = details;
    super(`${method}: ${code}${needed === undefined ? '' : ` (needs ${needed})`}`);
    Object.assign(this, { kind, method, code, retryAfterMs, pointers, needed });
  }
}

/** Returns whether a retry would have the same outcome. */
export const isPermanent = (error: unknown): boolean =>
  error instanceof SlackApiError && ['place', 'missing', 'refused', 'blocks'].includes(error.kind);

/** Returns whether Slack refused a call because the app was installed without the scope for it. */
export const lacksScope = (error: unknown) =>
  error instanceof SlackApiError && error.code === 'missing_scope';

// From the error tables of the methods in use, on Slack's method pages.
const codesOfKind = {
  place: `
    channel_not_found not_in_channel is_archived restricted_action restricted_action_read_only_channel
    restricted_action_thread_locked restricted_action_thread_only_channel restricted_action_non_threadable_channel
    cannot_reply_to_message thread_not_found thread_locked user_not_in_channel messages_tab_disabled user_disabled
    user_not_found user_not_visible cannot_dm_bot`,
  blocks:
    'invalid_blocks invalid_blocks_format msg_blocks_too_long view_too_large invalid_message invalid_view',
  // A workspace whose plan has no user groups refuses with `plan_upgrade_required`.
  missing: `
    message_not_found file_not_found file_deleted no_such_subteam plan_upgrade_required
    invalid_trigger_id expired_trigger_id exchanged_trigger_id`,
  limited: 'ratelimited rate_limited message_limit_exceeded',
  token: 'not_authed invalid_auth account_inactive token_revoked token_expired missing_scope',
  // By Slack's documentation, the call may or may not have finished. While the workspace moves into an Enterprise
  // organization (`team_added_to_org`), calls fail now and then.
  unclear: 'internal_error fatal_error service_unavailable request_timeout team_added_to_org unreadable',
} satisfies Partial<Record<SlackErrorKind, string>>;

function kindOf(code: string): SlackErrorKind {
  const kinds = Object.keys(codesOfKind) as (keyof typeof codesOfKind)[];
  return kinds.find((kind) => codesOfKind[kind].split(/\s+/).includes(code)) ?? 'refused';
}

/** The error code of requests that were too late: certainly nothing was sent. */
export const TOO_LATE = 'too_late';

/** Codes of failures before any byte of the request was sent. */
const notSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  TOO_LATE,
]);

/** Returns any error of the Web API client as a typed error. */
export function toSlackApiError(method: string, error: unknown): SlackApiError {
  if (error instanceof SlackApiError) return error;
  if (error instanceof WebAPIRateLimitedError)
    return new SlackApiError('limited', method, 'ratelimited', { retryAfterMs: error.retryAfter * 1000 });
  if (error instanceof WebAPIPlatformError) {
    // If a response is not JSON, the client passes it as if it were Slack's error code.
    const code = /^[a-z0-9_]{1,80}$/.test(error.data.error) ? error.data.error : 'unreadable';
    const pointers = error.data.response_metadata?.messages ?? pointersOf(error.data);
    const needed = parseScopes((error.data as { needed?: unknown }).needed);
    return new SlackApiError(kindOf(code), method, code, { pointers, needed });
  }
  if (error instanceof WebAPIHTTPError)
    return new SlackApiError('unclear', method, `http_${error.statusCode}`);
  const code = connectionCode(error instanceof WebAPIRequestError ? error.original : error);
  return new SlackApiError(notSent.has(code) ? 'unreachable' : 'unclear', method, code);
}

/** Returns the errors of `blocks.validate` in the form that the other methods have. */
function pointersOf({ errors = [] }: BlocksValidateResponse): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.map((one) => `[ERROR] ${one?.message ?? one?.code} [json-pointer:${one?.pointer ?? ''}]`);
}

/** Returns names of scopes, separated by commas; undefined for anything else. */
const parseScopes = (value: unknown) =>
  typeof value === 'string' && /^[a-z:._,-]{1,200}$/.test(value) ? value : undefined;
