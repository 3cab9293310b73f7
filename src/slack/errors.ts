import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';

/**
 * Why a call to Slack has no result.
 *
 * `place` the conversation does not accept it (not found, archived, not joined …) · `blocks` the blocks are refused ·
 * `missing` the subject of the call does not exist (any more): the message to edit, the user group, the trigger id ·
 * `limited` too many calls · `token` the token is refused: nothing works until an operator acts · `refused` Slack
 * refused for another reason · `unreachable` certainly not sent · `unclear` it may have taken effect.
 */
export const slackErrorKinds = [
  'place',
  'blocks',
  'missing',
  'limited',
  'token',
  'refused',
  'unreachable',
  'unclear',
] as const;
export type SlackErrorKind = (typeof slackErrorKinds)[number];

/** A call to Slack has no result. Decide by `kind`; `code` is Slack's error code, safe to log and to show. */
export class SlackApiError extends Error {
  override readonly name = 'SlackApiError';
  readonly kind: SlackErrorKind;
  readonly method: string;
  readonly code: string;
  /** How long Slack asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The refused places in the blocks, as JSON pointers, if Slack names them. */
  readonly pointers: string[];
  /** The scopes that the app lacks, as Slack names them: any one of them is enough. */
  readonly needed: string | undefined;

  constructor(
    kind: SlackErrorKind,
    method: string,
    code: string,
    details: { retryAfterMs?: number | undefined; pointers?: string[]; needed?: string | undefined } = {},
  ) {
    super(`${method}: ${code}${details.needed === undefined ? '' : ` (needs ${details.needed})`}`);
    this.kind = kind;
    this.method = method;
    this.code = code;
    this.retryAfterMs = details.retryAfterMs;
    this.pointers = details.pointers ?? [];
    this.needed = details.needed;
  }
}

const permanentKinds = new Set<SlackErrorKind>(['place', 'missing', 'refused', 'blocks']);

/** Returns whether a retry would have the same outcome. */
export const isPermanent = (error: unknown) =>
  error instanceof SlackApiError && permanentKinds.has(error.kind);

/** Returns whether Slack refused a call because the app was installed without the scope for it. */
export const lacksScope = (error: unknown) =>
  error instanceof SlackApiError && error.code === 'missing_scope';

// From the error tables of the methods in use, on Slack's method pages.
const kindOfCode: Record<string, SlackErrorKind> = {
  channel_not_found: 'place',
  not_in_channel: 'place',
  is_archived: 'place',
  restricted_action: 'place',
  restricted_action_read_only_channel: 'place',
  restricted_action_thread_locked: 'place',
  restricted_action_thread_only_channel: 'place',
  restricted_action_non_threadable_channel: 'place',
  cannot_reply_to_message: 'place',
  thread_not_found: 'place',
  thread_locked: 'place',
  user_not_in_channel: 'place',
  messages_tab_disabled: 'place',
  user_disabled: 'place',
  user_not_found: 'place',
  user_not_visible: 'place',
  cannot_dm_bot: 'place',
  invalid_blocks: 'blocks',
  invalid_blocks_format: 'blocks',
  msg_blocks_too_long: 'blocks',
  view_too_large: 'blocks',
  message_not_found: 'missing',
  file_not_found: 'missing',
  file_deleted: 'missing',
  no_such_subteam: 'missing',
  // The workspace's plan has no user groups at all.
  plan_upgrade_required: 'missing',
  invalid_trigger_id: 'missing',
  expired_trigger_id: 'missing',
  exchanged_trigger_id: 'missing',
  ratelimited: 'limited',
  rate_limited: 'limited',
  message_limit_exceeded: 'limited',
  not_authed: 'token',
  invalid_auth: 'token',
  account_inactive: 'token',
  token_revoked: 'token',
  token_expired: 'token',
  missing_scope: 'token',
  // Failures inside Slack: by its documentation, the call may or may not have finished.
  internal_error: 'unclear',
  fatal_error: 'unclear',
  service_unavailable: 'unclear',
  request_timeout: 'unclear',
  // While the workspace moves into an Enterprise organization, calls fail now and then.
  team_added_to_org: 'unclear',
  unreadable: 'unclear',
};

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
  if (error instanceof WebAPIRateLimitedError) {
    return new SlackApiError('limited', method, 'ratelimited', { retryAfterMs: error.retryAfter * 1000 });
  }
  if (error instanceof WebAPIPlatformError) {
    // If a response is not JSON, the client passes it as if it were Slack's error code.
    const code = /^[a-z0-9_]{1,80}$/.test(error.data.error) ? error.data.error : 'unreadable';
    const pointers = error.data.response_metadata?.messages ?? [];
    const needed = parseScopes((error.data as { needed?: unknown }).needed);
    return new SlackApiError(kindOfCode[code] ?? 'refused', method, code, { pointers, needed });
  }
  if (error instanceof WebAPIHTTPError)
    return new SlackApiError('unclear', method, `http_${error.statusCode}`);
  const code = causeCode(error instanceof WebAPIRequestError ? error.original : error);
  return new SlackApiError(notSent.has(code) ? 'unreachable' : 'unclear', method, code);
}

/** Returns names of scopes, separated by commas; undefined for anything else. */
const parseScopes = (value: unknown) =>
  typeof value === 'string' && /^[a-z:._,-]{1,200}$/.test(value) ? value : undefined;

/** Returns the system's error code, even from a wrapped error. */
function causeCode(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    if (cause instanceof AggregateError && cause.errors[0] instanceof Error)
      return causeCode(cause.errors[0]);
  }
  return error instanceof Error ? error.name : 'unknown';
}
