import { AsyncLocalStorage } from 'node:async_hooks';
import { WebClient } from '@slack/web-api';
import type { Log } from '../runtime/log.ts';
import type { Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { ChannelIds } from './channel-ids.ts';
import { lacksScope, type SlackErrorKind, toSlackApiError } from './errors.ts';
import { fetchInTime, type IsTooLate } from './fetch-in-time.ts';
import { createSlackLogger } from './logger.ts';
import { createScopeReporter } from './scope-report.ts';
import { createSlackClock } from './slack-clock.ts';
import { createTokenGate } from './token-gate.ts';

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

/** One finished call, for health and metrics. */
export interface SlackCall {
  method: keyof typeof methodScopes;
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

/** More than a page of 100 long messages has. */
const MAX_ANSWER_BYTES = 16_000_000;

/** Prevents the present call from being sent too late. */
const guards = new AsyncLocalStorage<IsTooLate>();

/** Makes calls to Slack's Web API, each sent once. `call` rejects with `SlackApiError`. */
export function createSlackWeb(options: SlackWebOptions) {
  const { token, apiUrl, timing, channelIds, log, monotonicMs, onCall } = options;
  const gate = createTokenGate({ timing, monotonicMs });
  const clock = createSlackClock(monotonicMs);
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
      const isTooLate = guards.getStore();
      const { body: text } = sent ?? {};
      const init =
        channelIds && typeof text === 'string' ? { ...sent, body: channelIds.toSlack(text) } : sent;
      const response = await (isTooLate ? fetchInTime(url, init, isTooLate) : fetch(url, init));
      clock.update(response.headers.get('date'));
      const answer = limitBody(response);
      if (channelIds === undefined) return answer;
      const { status, headers } = response;
      return new Response(channelIds.fromSlack(await answer.text()), { status, headers: [...headers] });
    },
  });

  const reportScope = createScopeReporter(log);
  /** Scopes that methods lacked at their last call. */
  const missingScopes = new Map<string, string>();

  async function call<T>(
    method: keyof typeof methodScopes,
    run: () => Promise<T>,
    timeoutMs?: number,
  ): Promise<T> {
    return gate.run(method, async () => {
      const startedMs = monotonicMs();
      const report = (outcome: Omit<SlackCall, 'method' | 'durationMs'>) =>
        onCall({ method, ...outcome, durationMs: monotonicMs() - startedMs });
      try {
        const made = run().catch(async (error: unknown) => {
          const isUnknown = toSlackApiError(method, error).code === 'channel_not_found';
          // Another process may have recorded a changed channel id.
          if (isUnknown && (await channelIds?.refresh())) return run();
          throw error;
        });
        const response = await (timeoutMs === undefined ? made : withTimeout(timeoutMs, made));
        report({ answered: true, refused: false });
        missingScopes.delete(method);
        return response;
      } catch (thrown) {
        const error = toSlackApiError(method, thrown);
        // A token that lacks a scope works for everything else.
        const isLacking = lacksScope(error);
        if (isLacking) missingScopes.set(method, error.needed ?? method);
        const refused = error.kind === 'token' && !isLacking;
        const answered = !['unreachable', 'unclear'].includes(error.kind) && !refused;
        report({ answered, refused, error: error.kind });
        reportScope(error);
        throw error;
      }
    });
  }

  return {
    web,
    call,
    /** Makes a call that is not sent once it is too late. */
    callInTime: <T>(method: keyof typeof methodScopes, isTooLate: IsTooLate, run: () => Promise<T>) =>
      guards.run(isTooLate, () => call(method, run)),
    gate,
    clock,
    /** Returns the scopes that the app lacks, as far as calls have shown. */
    missingScopes: () => [...new Set(missingScopes.values())],
  };
}

/** Returns the response with a body that fails if it is too long: an answer must not fill the memory. */
function limitBody(response: Response): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= MAX_ANSWER_BYTES) controller.enqueue(chunk);
      else controller.error(Object.assign(new Error('too long'), { code: 'answer_too_long' }));
    },
  });
  return new Response(response.body.pipeThrough(limit), response);
}
