import { AsyncLocalStorage } from 'node:async_hooks';
import { type Logger, LogLevel, type WebAPICallResult, WebClient } from '@slack/web-api';
import { fetch, getGlobalDispatcher } from 'undici';
import type { Log } from '../runtime/log.ts';
import { beforeSending } from '../runtime/outgoing.ts';
import type { Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { lacksScope, SlackApiError, type SlackErrorKind, TOO_LATE, toSlackApiError } from './errors.ts';

/**
 * The methods in use and the bot scopes they need, from Slack's method pages. `manifest.yml` requests these, `commands`
 * for the slash commands, and nothing else.
 */
export const methodScopes = {
  'auth.test': [],
  'apps.connections.open': [],
  'blocks.validate': [],
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

/** All scopes that Docket needs: also for commands, and for the event of a mention. */
const SCOPES = new Set<string>([...Object.values(methodScopes).flat(), 'commands', 'app_mentions:read']);

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
interface SlackCall {
  method: SlackMethod;
  /** Whether Slack answered and accepted the token. */
  answered: boolean;
  /** Whether it refused the token. */
  refused: boolean;
  /** Undefined if the call had a result. */
  error: SlackErrorKind | undefined;
  durationMs: number;
}

export interface SlackWebOptions {
  token: string;
  apiUrl: string;
  timing: Pick<Timing, 'slackCallMs' | 'retryMaxMs'>;
  /** Left out if every channel has the id that Docket knows. */
  channelIds?: Pick<ChannelIds, 'toSlack' | 'fromSlack'>;
  log: Log;
  /** Returns the time of a monotonic clock, in milliseconds. */
  monotonicMs: () => number;
  /** Called after every call. */
  onCall: (call: SlackCall) => void;
}

/** The error code of a token of a whole organization, and its text for operators. */
export const ORG_WIDE = 'org_wide_install';
export const ORG_WIDE_TEXT =
  'The app is installed for a whole organization, which Docket does not support. Install it in one workspace, and set that bot token.';

/** Prevents the present call from being sent too late. */
const guards = new AsyncLocalStorage<IsTooLate | undefined>();

/** The client's own retries would post twice, and its handling of a 429 delays every other call. */
export const clientOptions = (slackApiUrl: string, { slackCallMs }: Pick<Timing, 'slackCallMs'>) => ({
  slackApiUrl,
  timeout: slackCallMs,
  allowAbsoluteUrls: false,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
});

/** Maximum length of an answer. That of connections (`outgoing.ts`) counts compressed bytes. */
const MAX_LENGTH = 16 * 1024 * 1024;

/** The code of the error if an answer is longer than either of the two. */
export const TOO_LONG = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';

async function textOf({ body }: Awaited<ReturnType<typeof fetch>>): Promise<string> {
  let text = '';
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > MAX_LENGTH) throw Object.assign(new Error('too long'), { code: TOO_LONG });
  }
  return text;
}

/** Makes calls to Slack's Web API, each sent once. `call` rejects with `SlackApiError`. */
export function createSlackWeb(options: SlackWebOptions) {
  const { token, apiUrl, timing, channelIds, log, monotonicMs, onCall } = options;
  const web = new WebClient(token, {
    ...clientOptions(apiUrl, timing),
    logger: createSlackLogger(log),
    // A call queued in the client would start in the async context of the call that ended before it.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
    async fetch(url, sent) {
      const isTooLate = guards.getStore();
      const dispatcher = beforeSending(getGlobalDispatcher(), () => {
        if (isTooLate?.()) throw Object.assign(new Error('not sent'), { code: TOO_LATE });
      });
      if (channelIds === undefined) return fetch(url, { ...sent, dispatcher });
      const body = typeof sent?.body === 'string' ? channelIds.toSlack(sent.body) : sent?.body;
      const response = await fetch(url, { ...sent, body: body ?? null, dispatcher });
      const { status, headers } = response;
      return new Response(channelIds.fromSlack(await textOf(response)), { status, headers: [...headers] });
    },
  });

  /** Scopes that methods lacked at their last call, and those that the token had at its last check. */
  const refusedScopes = new Map<SlackMethod, string>();
  let held: readonly string[] = [...SCOPES];
  /** Until then, no call tries the token, which Slack has refused. Undefined while the token works. */
  let refusedUntilMs: number | undefined;
  const refusedForMs = () => Math.max(0, Math.ceil((refusedUntilMs ?? 0) - monotonicMs()));
  const pause = () => {
    refusedUntilMs = monotonicMs() + timing.retryMaxMs;
  };

  /** Makes a call. It is not sent once it is too late, and counts as unclear without an answer after `timeoutMs`. */
  async function call<Name extends SlackMethod>(
    method: Name,
    args: Parameters<ClientMethod<Name>>[0],
    { timeoutMs, isTooLate }: { timeoutMs?: number | undefined; isTooLate?: IsTooLate } = {},
  ): Promise<Answer<Name>> {
    const waitMs = refusedForMs();
    // `auth.test` always passes: it is how the token is checked.
    if (waitMs > 0 && method !== 'auth.test')
      throw new SlackApiError('token', method, 'token_refused_before', { retryAfterMs: waitMs });
    // While this call tries the token, the others wait for it.
    if (refusedUntilMs !== undefined) pause();
    const startedMs = monotonicMs();
    let error: SlackApiError | undefined;
    try {
      const made = guards.run(isTooLate, () => web.apiCall(method, { ...args }));
      const answer = await (timeoutMs === undefined ? made : withTimeout(timeoutMs, made));
      refusedScopes.delete(method);
      noteScopes(answer.response_metadata?.scopes);
      return answer as Answer<Name>;
    } catch (thrown) {
      error = toSlackApiError(method, thrown);
      if (lacksScope(error)) refusedScopes.set(method, error.needed ?? methodScopes[method].join(' or '));
      throw error;
    } finally {
      // A token that lacks a scope works for everything else.
      const refused = error?.kind === 'token' && !lacksScope(error);
      const answered = !refused && error?.kind !== 'unclear' && error?.kind !== 'unreachable';
      if (refused) pause();
      if (answered) refusedUntilMs = undefined;
      const durationMs = monotonicMs() - startedMs;
      onCall({ method, answered, refused, error: error?.kind, durationMs });
    }
  }

  /** Keeps the scopes of the token, which Slack names in a header. A reinstalled app has more with the same token. */
  function noteScopes(scopes: readonly string[] | undefined) {
    if (scopes === undefined) return;
    held = scopes;
    for (const [method, needed] of refusedScopes)
      if (needed.split(/ or |,/).some((scope) => scopes.includes(scope))) refusedScopes.delete(method);
  }

  return {
    call,
    /** Returns for how many milliseconds calls still reject with kind `token`, because Slack refuses it. */
    refusedForMs,
    /** Returns whether the token was refused and has not worked since. */
    isRefused: () => refusedUntilMs !== undefined,
    /** Returns the scopes that the app lacks, and the methods that Slack refused for that. */
    missingScopes: () => [...SCOPES.difference(new Set(held)).union(new Set(refusedScopes.values()))],
    refusedMethods: () => [...refusedScopes.keys()],
  };
}

/**
 * Returns our log as the logger of Slack's packages. Their errors are logged as warnings, since the caller decides
 * whether it is an error; lines for debugging are not, since they quote whole requests and links.
 */
export function createSlackLogger(log: Log): Logger {
  const text = (parts: unknown[]) => parts.map(String).join(' ');
  return {
    debug: () => {},
    info: (...parts) => log.trace(text(parts)),
    warn: (...parts) => log.warn(text(parts)),
    error: (...parts) => log.warn(text(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.DEBUG,
    setName: () => {},
  };
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
  let refresh = async () => {};
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Returns the text with Slack's present ids. */
    toSlack: (text: string) => replaceIds(text, toPresent),
    /** Returns a message or a form with Slack's present ids. */
    inContent: <T>(content: T): T =>
      content === undefined ? content : JSON.parse(replaceIds(JSON.stringify(content), toPresent)),
    /** Returns the text with the ids that Docket knows. */
    fromSlack: (text: string) => replaceIds(text, toKnown),
    /** Reloads them; if they cannot be loaded, nothing changes. */
    refresh: () => refresh().catch(() => {}),
    /** Loads them now and again every `everyMs`, since any process may record a change. */
    async begin(load: () => Promise<Record<string, string>>, everyMs: number) {
      refresh = async () => {
        const entries = Object.entries(await load());
        toPresent = new Map(entries);
        toKnown = new Map(entries.map(([known, present]) => [present, known]));
      };
      timer ??= setInterval(() => void refresh().catch(() => {}), everyMs);
      await refresh().catch(() => {});
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Possible conversation ids. They are capital letters and digits, so they look the same in JSON and in forms. In a
 * form, an encoded character (`%3D`) may precede one, and is not part of it.
 */
const ENCODED_OR_ID = /%[0-9A-F]{2}|[CDG][A-Z0-9]{2,}/g;

function replaceIds(text: string, ids: ReadonlyMap<string, string>): string {
  if (ids.size === 0) return text;
  return text.replace(ENCODED_OR_ID, (id) => ids.get(id) ?? id);
}

/** The name of an upload in errors; it is not a method of the Web API. */
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
