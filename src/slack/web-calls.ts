import { AsyncLocalStorage } from 'node:async_hooks';
import { type Logger, LogLevel, type WebAPICallResult, WebClient } from '@slack/web-api';
import { type Response as FetchResponse, fetch, getGlobalDispatcher, type RequestInit } from 'undici';
import type { Log } from '../runtime/log.ts';
import { beforeSending } from '../runtime/outgoing.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { lacksScope, SlackApiError, type SlackErrorKind, TOO_LATE, toSlackApiError } from './errors.ts';

/**
 * The methods in use and the bot scopes they need, from Slack's method pages. `manifest.yml` requests these, `commands`
 * for the slash commands, and nothing else.
 */
export const methodScopes = {
  'auth.test': [],
  'users.info': ['users:read'],
  'usergroups.users.list': ['usergroups:read'],
  'usergroups.list': ['usergroups:read'],
  'conversations.info': ['channels:read', 'groups:read', 'mpim:read'],
  'conversations.members': ['channels:read', 'groups:read', 'mpim:read'],
  'views.open': [],
  'views.update': [],
  'views.publish': [],
  'conversations.open': ['im:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.completeUploadExternal': ['files:write'],
  'files.info': ['files:read'],
  'reactions.add': ['reactions:write'],
  'reactions.remove': ['reactions:write'],
  'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
} as const;

/**
 * Returns whether other processes may already treat a call as lost, so that it must not be made. Called right before
 * the request leaves, since a process may freeze at any moment, even while it connects.
 */
export type IsTooLate = () => boolean;

type SlackMethod = keyof typeof methodScopes;

/** The client's function for a method, found by the parts of its name. */
type ClientMethod<Name extends string, Group = WebClient> = Name extends `${infer First}.${infer Rest}`
  ? ClientMethod<Rest, Group[First & keyof Group]>
  : Extract<Group[Name & keyof Group], (args: never) => Promise<WebAPICallResult>>;

type Answer<Name extends SlackMethod> = Awaited<ReturnType<ClientMethod<Name>>>;

/** One finished call, for health and metrics. */
export interface SlackCall {
  method: SlackMethod;
  /** Whether Slack answered and accepted the token. */
  answered: boolean;
  /** Whether it refused the token. */
  refused: boolean;
  /** Missing if the call had a result. */
  error?: SlackErrorKind;
  durationMs: number;
}

export interface SlackWebOptions {
  token: string;
  apiUrl: string;
  timing: Pick<Timing, 'slackCallMs' | 'retryMinMs' | 'retryMaxMs'>;
  /** Left out if every channel has the id that Docket knows. */
  channelIds?: Pick<ChannelIds, 'toSlack' | 'fromSlack' | 'refresh'>;
  log: Log;
  /** Returns the time of a monotonic clock, in milliseconds. */
  monotonicMs: () => number;
  /** Called after every call. */
  onCall: (call: SlackCall) => void;
}

/** Prevents the present call from being sent too late. */
const guards = new AsyncLocalStorage<IsTooLate | undefined>();

/** Makes calls to Slack's Web API, each sent once. `call` rejects with `SlackApiError`. */
export function createSlackWeb(options: SlackWebOptions) {
  const { token, apiUrl, timing, channelIds, log, monotonicMs, onCall } = options;
  const gate = createTokenGate({ timing, monotonicMs });
  // The client's own retries would post twice, and its handling of a 429 delays every other call.
  const web = new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    timeout: timing.slackCallMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: createSlackLogger(log),
    // A call queued in the client would start in the async context of the call that ended before it.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
    async fetch(url, sent) {
      const { body: text } = sent ?? {};
      const init =
        channelIds && typeof text === 'string' ? { ...sent, body: channelIds.toSlack(text) } : sent;
      const response = await fetchInTime(url, init, guards.getStore());
      if (channelIds === undefined) return response;
      const { status, headers } = response;
      return new Response(channelIds.fromSlack(await response.text()), { status, headers: [...headers] });
    },
  });

  /** Scopes that methods lacked at their last call. */
  const missingScopes = new Map<string, string>();

  /** Logs a missing scope once: it lasts until an operator acts. */
  function noteMissingScope({ method, needed }: SlackApiError) {
    if (!missingScopes.has(method))
      log.error(
        `Slack refuses ${method}: the app lacks a scope, and needs ${needed ?? 'more than the app has'}. Replace its manifest by manifest.yml and install it again.`,
      );
    missingScopes.set(method, needed ?? method);
  }

  /** Makes a call. It is not sent once it is too late, and counts as unclear without an answer after `timeoutMs`. */
  function call<Name extends SlackMethod>(
    method: Name,
    args: Parameters<ClientMethod<Name>>[0],
    { timeoutMs, isTooLate }: { timeoutMs?: number | undefined; isTooLate?: IsTooLate } = {},
  ): Promise<Answer<Name>> {
    const send = () => guards.run(isTooLate, () => web.apiCall(method, { ...args }));
    const answer = gate.run(method, async () => {
      const startedMs = monotonicMs();
      const report = (outcome: Omit<SlackCall, 'method' | 'durationMs'>) =>
        onCall({ method, ...outcome, durationMs: monotonicMs() - startedMs });
      try {
        const made = send().catch(async (error: unknown) => {
          const isUnknown = toSlackApiError(method, error).code === 'channel_not_found';
          // Another process may have recorded a changed channel id.
          if (isUnknown && (await channelIds?.refresh())) return send();
          throw error;
        });
        const response = await (timeoutMs === undefined ? made : withTimeout(timeoutMs, made));
        report({ answered: true, refused: false });
        missingScopes.delete(method);
        return response;
      } catch (thrown) {
        const error = toSlackApiError(method, thrown);
        if (lacksScope(error)) noteMissingScope(error);
        const outcome = outcomeOf(error);
        report({ answered: outcome === 'works', refused: outcome === 'refused', error: error.kind });
        throw error;
      }
    });
    return answer as Promise<Answer<Name>>;
  }

  return {
    call,
    gate,
    /** Returns the scopes that the app lacks, as far as calls have shown. */
    missingScopes: () => [...new Set(missingScopes.values())],
  };
}

/** Fetches as the global `fetch` does. A request that is too late is not sent: the cause of the error has that code. */
function fetchInTime(
  url: string | URL,
  init: RequestInit | undefined,
  isTooLate: IsTooLate = () => false,
): Promise<FetchResponse> {
  const dispatcher = beforeSending(getGlobalDispatcher(), () => {
    if (isTooLate()) throw Object.assign(new Error('not sent'), { code: TOO_LATE });
  });
  return fetch(url, { ...init, dispatcher });
}

/** Lines of the client that quote whole requests and responses, including links. */
const wholeBody = /^http request (body|result|headers)/;

/**
 * Returns our log as the logger of Slack's packages. Their lines below a warning are traced; their errors are logged as
 * warnings, since the caller decides whether it is an error.
 */
export function createSlackLogger(log: Log): Logger {
  const text = (parts: unknown[]) => parts.map(String).join(' ');
  return {
    debug(...parts) {
      const line = text(parts);
      if (!wholeBody.test(line)) log.trace(line);
    },
    info: (...parts) => log.trace(text(parts)),
    warn: (...parts) => log.warn(text(parts)),
    error: (...parts) => log.warn(text(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.DEBUG,
    setName: () => {},
  };
}

/** Returns a gate for calls to Slack: while the token is refused, one call at a time tries whether it works again. */
function createTokenGate({ timing, monotonicMs }: Pick<SlackWebOptions, 'timing' | 'monotonicMs'>) {
  /** Consecutive refusals, and the time of the next try. */
  let refusals = 0;
  let untilMs = 0;
  const waitMs = () => (refusals === 0 ? 0 : Math.max(0, Math.ceil(untilMs - monotonicMs())));

  return {
    /** Returns for how many milliseconds no call may pass; 0 if the token works or the next try is due. */
    waitMs,

    /** Returns whether the token was refused and has not worked since. */
    isRefused: () => refusals > 0,

    /** Makes the call and returns its result, or rejects with kind `token` without making it. */
    async run<T>(method: string, call: () => Promise<T>): Promise<T> {
      const remainingMs = waitMs();
      // `auth.test` always passes: it is how the token is checked.
      if (remainingMs > 0 && method !== 'auth.test')
        throw new SlackApiError('token', method, 'token_refused_before', { retryAfterMs: remainingMs });
      const before = refusals;
      // While this call is under way, the others wait for it.
      if (refusals > 0) untilMs = monotonicMs() + timing.slackCallMs;
      try {
        const result = await call();
        refusals = 0;
        return result;
      } catch (error) {
        const outcome = outcomeOf(error);
        // Of concurrent calls, the first refusal counts.
        if (outcome === 'refused' && refusals === before) refusals += 1;
        if (outcome === 'works') refusals = 0;
        else untilMs = monotonicMs() + backoffMs(timing, Math.max(1, refusals), 0.5);
        throw error;
      }
    },
  };
}

function outcomeOf(error: unknown): 'works' | 'refused' | 'unknown' {
  if (!(error instanceof SlackApiError)) return 'unknown';
  const { kind, code } = error;
  if (kind === 'unclear' || kind === 'unreachable') return 'unknown';
  // A token that lacks a scope works for everything else.
  return kind === 'token' && code !== 'missing_scope' ? 'refused' : 'works';
}

/**
 * Slack gives a channel another id when it becomes shared. Docket continues with the id that it knows: threads,
 * schedules and messages stay unchanged, and ids are replaced in incoming requests and outgoing calls.
 */
type ChannelIds = ReturnType<typeof createChannelIds>;

/** Returns the exchange of ids, which changes none until it is begun. */
export function createChannelIds() {
  let toPresent = new Map<string, string>();
  let toKnown = new Map<string, string>();
  let load: (() => Promise<Record<string, string>>) | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function refresh() {
    const before = JSON.stringify([...toPresent]);
    const entries = Object.entries((await load?.()) ?? {});
    toPresent = new Map(entries);
    toKnown = new Map(entries.map(([known, present]) => [present, known]));
    return JSON.stringify(entries) !== before;
  }

  return {
    /** Returns the text with Slack's present ids. */
    toSlack: (text: string) => replaceIds(text, toPresent),
    /** Returns the text with the ids that Docket knows. */
    fromSlack: (text: string) => replaceIds(text, toKnown),
    /** Reloads them. Returns whether they have changed; false if they cannot be loaded. */
    refresh: () => refresh().catch(() => false),
    /** Loads them now and again every `everyMs`, since any process may record a change. */
    async begin(from: () => Promise<Record<string, string>>, everyMs: number) {
      if (load !== undefined) return;
      load = from;
      timer = setInterval(() => void refresh().catch(() => {}), everyMs);
      await refresh().catch(() => {});
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Possible conversation ids. They are capital letters and digits, so they look the same in JSON and in forms, except
 * that an encoded character before one (`%3D`) is not part of it.
 */
const ENCODED_OR_ID = /%[0-9A-F]{2}|[CDG][A-Z0-9]{2,}/g;

function replaceIds(text: string, ids: ReadonlyMap<string, string>): string {
  if (ids.size === 0) return text;
  return text.replace(ENCODED_OR_ID, (id) => ids.get(id) ?? id);
}

/** Its name in errors; it is not a method of the Web API. */
const UPLOAD = 'files.upload';

/**
 * Sends the bytes of a file to the address from Slack, once. Anybody who knows the address may upload, so no error
 * contains it. Rejects with `SlackApiError`; a file that may have arrived is uploaded again to another address.
 */
export async function uploadBytes(uploadUrl: string, bytes: Uint8Array, timeoutMs: number): Promise<void> {
  const response = await fetch(uploadUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.from(bytes),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw toSlackApiError(UPLOAD, error);
  });
  await response.body?.cancel();
  const { ok, status } = response;
  if (ok) return;
  const kind = status === 429 ? 'limited' : status >= 500 ? 'unclear' : 'refused';
  throw new SlackApiError(kind, UPLOAD, `http_${status}`);
}
