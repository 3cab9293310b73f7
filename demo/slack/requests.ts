import { createHmac } from 'node:crypto';
import { causing } from '../caused.ts';
import type { Inside } from './inside.ts';
import type { Ephemeral, SentMessage } from './workspace.ts';

/** The outcome of what a person did, as far as they see it. */
export interface Answer {
  /** The bot answered in time and with a 2xx. */
  ok: boolean;
  /** 0 when there was no answer. */
  status: number;
  tookMs: number;
  /** What Slack's client shows: late answers are `operation_timeout`, all other failures `dispatch_failed`. */
  failed?: 'operation_timeout' | 'dispatch_failed' | 'unknown_command';
  /** The ephemeral message that came with the acknowledgement. */
  ephemeral?: Ephemeral;
  /** The message that came with the acknowledgement. */
  message?: SentMessage;
  /** Errors beside the inputs of a modal, by block id. */
  errors?: Record<string, string>;
}

export interface Delivery {
  status: number;
  tookMs: number;
  body: string;
  contentType: string;
  noRetry: boolean;
  failed?: 'operation_timeout' | 'dispatch_failed';
}

/** What a request is over a socket instead of HTTP. */
export interface Envelope {
  type: 'slash_commands' | 'interactive' | 'events_api';
  payload: unknown;
  acceptsPayload: boolean;
  retryAttempt?: number;
  retryReason?: string;
}

/** A request as it went to the bot; it can go again, byte for byte. */
export interface SlackRequest {
  /** For messages about it: `/docs-export`, `block_actions [Refresh]`. */
  what: string;
  headers: Record<string, string>;
  body: string;
  /** Missing on a raw request, which only HTTP can carry. */
  envelope?: Envelope;
  /** What the stand-in makes of the bot's answer. */
  toAnswer(delivery: Delivery): Answer;
}

/** A request on its way to the bot: each attempt is one. */
export interface Sent {
  readonly name: string;
  readonly atMs: number;
  /** An HTTP status, or why there is none. Missing while it is under way. */
  outcome?: string;
  readonly caused: readonly string[];
}

export interface RawRequest {
  body: string;
  contentType?: string;
  /** Added last, so that they also replace the signature. */
  headers?: Record<string, string>;
  /** Seconds since 1970; now when left out. */
  timestampSec?: number;
  secret?: string;
}

export interface Requests {
  /** The last one that somebody made who typed, clicked or submitted something; events come at any time. */
  last: SlackRequest | undefined;
  /** Whether there is anybody to send to; a bot that is down still counts. */
  reachable(): boolean;
  form(what: string, fields: Record<string, string>, toAnswer?: (delivery: Delivery) => Answer): SlackRequest;
  payload(
    what: string,
    payload: Record<string, unknown>,
    toAnswer?: (delivery: Delivery) => Answer,
  ): SlackRequest;
  json(what: string, body: unknown): SlackRequest;
  raw(request: RawRequest): SlackRequest;
  /** Sends, and judges the answer as Slack does. */
  send(request: SlackRequest): Promise<Answer>;
  /** Sends without judging. */
  deliver(request: SlackRequest): Promise<Delivery>;
  /** Runs when a request leaves, and when its outcome is known. */
  watch(watcher: (sent: Sent, moment: 'began' | 'ended') => void): void;
}

/**
 * Requests from Slack to the bot: signed ones over HTTP
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack), or envelopes over a socket.
 */
export function createRequests(parts: {
  inside: Inside;
  botUrl: () => string | undefined;
  /** When given, requests go this way instead of over HTTP. */
  overSocket?: ((request: SlackRequest) => Promise<Delivery>) | undefined;
  answerWithinMs: number;
}): Requests {
  const { inside, botUrl, overSocket, answerWithinMs } = parts;
  const { workspace, tokens, violations } = inside;
  const watchers: Parameters<Requests['watch']>[0][] = [];

  function signed(contentType: string, body: string, raw: Omit<RawRequest, 'body'> = {}) {
    const timestamp = String(raw.timestampSec ?? Math.floor(workspace.nowMs() / 1000));
    const secret = raw.secret ?? tokens.signingSecret;
    const hash = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
    return {
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'content-type': contentType,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${hash}`,
      ...raw.headers,
    };
  }

  /** Delivers, tells the watchers, and has them know what `judge` changes. */
  async function watched<T>(request: SlackRequest, judge: (delivery: Delivery) => T): Promise<T> {
    const caused: string[] = [];
    const sent: Sent = { name: request.what, atMs: workspace.nowMs(), caused };
    for (const watcher of watchers) watcher(sent, 'began');
    try {
      const delivery = await carry(request);
      sent.outcome = delivery.failed === 'operation_timeout' ? 'no answer in time' : outcomeOf(delivery);
      return causing(caused, () => judge(delivery));
    } finally {
      sent.outcome ??= 'not sent';
      for (const watcher of watchers) watcher(sent, 'ended');
    }
  }

  async function carry(request: SlackRequest): Promise<Delivery> {
    if (overSocket) return overSocket(request);
    const url = botUrl();
    if (!url)
      throw new Error('Nobody listens: set botUrl to the address of the bot, ending in /slack/events');
    const startMs = performance.now();
    const took = () => performance.now() - startMs;
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: request.headers,
        body: request.body,
        redirect: 'manual',
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const body = await answer.text();
      return {
        status: answer.status,
        tookMs: took(),
        body,
        contentType: answer.headers.get('content-type') ?? '',
        noRetry: answer.headers.get('x-slack-no-retry') === '1',
        ...(!answer.ok && { failed: 'dispatch_failed' as const }),
      };
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError';
      const failed = late ? 'operation_timeout' : 'dispatch_failed';
      return { status: 0, tookMs: took(), body: '', contentType: '', noRetry: false, failed };
    }
  }

  const requests: Requests = {
    last: undefined,
    reachable: () => overSocket !== undefined || botUrl() !== undefined,
    form(what, fields, toAnswer = answered) {
      // Without a charset: Bolt only reads exactly this type, and Slack sends exactly this type.
      const body = new URLSearchParams(fields).toString();
      const envelope: Envelope = { type: 'slash_commands', payload: fields, acceptsPayload: true };
      return {
        what,
        headers: signed('application/x-www-form-urlencoded', body),
        body,
        envelope,
        toAnswer,
      };
    },
    payload(what, payload, toAnswer) {
      const envelope: Envelope = {
        type: 'interactive',
        payload,
        // Of what we send, only a modal's submission is answered in the acknowledgement.
        acceptsPayload: payload.type === 'view_submission',
      };
      return { ...requests.form(what, { payload: JSON.stringify(payload) }, toAnswer), envelope };
    },
    json(what, value) {
      const body = JSON.stringify(value);
      const envelope: Envelope = { type: 'events_api', payload: value, acceptsPayload: false };
      return { what, headers: signed('application/json', body), body, envelope, toAnswer: answered };
    },
    raw({ body, contentType = 'application/x-www-form-urlencoded', ...rest }) {
      return { what: 'raw', headers: signed(contentType, body, rest), body, toAnswer: answered };
    },
    deliver: (request) => watched(request, (delivery) => delivery),
    watch: (watcher) => void watchers.push(watcher),
    send(request) {
      requests.last = request;
      return watched(request, (delivery) => judged(request, delivery));
    },
  };

  function judged(request: SlackRequest, delivery: Delivery): Answer {
    const { status, failed } = delivery;
    if (request.what !== 'raw') {
      if (failed === 'operation_timeout')
        violations.push(`${request.what}: no answer within ${answerWithinMs} ms`);
      else if (failed && status > 0) violations.push(`${request.what}: answered ${status}`);
    }
    return failed ? answered(delivery) : request.toAnswer(delivery);
  }

  return requests;
}

const outcomeOf = ({ status }: Delivery) => (status === 0 ? 'no connection' : String(status));

/** An answer of which only the status counts. */
export function answered({ status, tookMs, failed }: Delivery): Answer {
  return { ok: !failed, status, tookMs, ...(failed && { failed }) };
}
