import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import { type App, isValidSlackRequest, type Receiver } from '@slack/bolt';
import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import { inLogScope } from '../runtime/log-scope.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { type HttpServer, refuse, sendJson } from './http-server.ts';
import { runListeners } from './listeners.ts';
import { createRefusedRequests, type RefusedRequests } from './refused-requests.ts';
import { BodyRefused, createBodyReader } from './request-body.ts';
import { parseBody } from './slack-request.ts';

/** Slack waits 3 s for the acknowledgement. */
const ACKNOWLEDGE_MS = 2900;

/** Slack checks the certificate of a command's address by an unsigned request with `ssl_check=1` and a token. */
const MAX_SSL_CHECK_BYTES = 1000;

/** Requests this much older or newer than our clock are refused; Slack asks for 5 minutes. */
const CLOCK_TOLERANCE_S = 300;

export interface HttpParts {
  signingSecret: string;
  server: HttpServer;
  now: () => number;
  metrics: Pick<Metrics, 'refusals'>;
  /** Returns a reference for all log lines of a request. */
  newRef: () => string;
  log: Log;
}

export type HttpReceiver = Receiver & Pick<RefusedRequests, 'problem'>;

/**
 * Receives Slack's requests at `POST /slack/events`. Unlike Bolt's own receiver it checks the signature's headers
 * before it reads a body, limits bodies, refuses timestamps in the future, and answers unreadable requests. It
 * acknowledges only after the listeners have finished, so that every acknowledged request is stored.
 */
export function createHttpReceiver(parts: HttpParts): HttpReceiver {
  const { signingSecret, server, now, metrics, newRef, log } = parts;
  const refused = createRefusedRequests(log, now, metrics);
  const readBody = createBodyReader();
  let app: App | undefined;

  async function handle(request: IncomingMessage, response: ServerResponse) {
    try {
      const signature = readSignature(request.headers);
      if (signature === undefined) {
        if (await isSslCheck(request)) response.writeHead(200).end();
        else refuse(response, 401);
        return;
      }
      const skewS = clockSkew(signature, now());
      const body = (await readBody(request)).toString();
      const signed = isSigned(signature, body, signingSecret);
      if (!signed || skewS !== undefined) {
        // Only the body proves whether Slack sent it.
        if (signed && skewS !== undefined) refused.clockSkewed(skewS);
        else if (skewS === undefined) refused.unsigned();
        return refuse(response, 401);
      }
      const type = request.headers['content-type'];
      await inLogScope({ ref: newRef() }, () => handleSigned(type, body, response));
      // After the answer: /docs-status still shows the problem that this request ends.
      refused.accepted();
    } catch (error) {
      if (!(error instanceof BodyRefused)) throw error;
      refuse(response, error.status);
    }
  }

  async function isSslCheck(request: IncomingMessage): Promise<boolean> {
    const { 'content-length': length, 'x-slack-signature': signature } = request.headers;
    if (signature !== undefined || !(Number(length) <= MAX_SSL_CHECK_BYTES)) return false;
    return parse((await readBody(request)).toString()).ssl_check === '1';
  }

  async function handleSigned(contentType: string | undefined, sent: string, response: ServerResponse) {
    const read = parseBody(contentType, sent);
    switch (read?.kind) {
      case undefined:
        log.warn('a signed request has a body that Docket cannot read');
        return void response.writeHead(400).end();
      case 'challenge':
        return sendJson(response, 200, { challenge: read.challenge });
      case 'rate limited':
        log.warn('Slack holds events back: there are too many');
        return void response.writeHead(200).end();
      case 'listeners':
        return respondWithListeners(read.body, response);
    }
  }

  async function respondWithListeners(body: Record<string, unknown>, response: ServerResponse) {
    const status = (code: number) => void response.writeHead(code).end();
    if (app === undefined) return status(503);
    try {
      const acknowledgement = await withTimeout(ACKNOWLEDGE_MS, runListeners(app, body));
      if (acknowledgement === undefined) {
        log.warn('no listener took a request');
        return status(404);
      }
      const { payload } = acknowledgement;
      if (payload) sendJson(response, 200, payload);
      else status(200);
    } catch (error) {
      log.warn({ err: error }, 'a request was not acknowledged');
      status(500);
    }
  }

  return {
    init(bolt) {
      app = bolt;
    },
    problem: refused.problem,
    async start() {
      server.route('POST /slack/events', handle);
    },
    // The server waits for its open requests when it closes.
    async stop() {},
  };
}

/** The signature of a request, from its headers. */
interface Signature {
  timestampS: number;
  value: string;
}

/** Parses the headers. Returns undefined if one is missing or malformed. */
function readSignature(headers: IncomingHttpHeaders): Signature | undefined {
  const timestamp = String(headers['x-slack-request-timestamp']);
  const value = String(headers['x-slack-signature']);
  if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(value)) return undefined;
  return { timestampS: Number(timestamp), value };
}

/** Returns by how many seconds a request is ahead of our clock (negative: behind); undefined within tolerance. */
function clockSkew({ timestampS }: Signature, nowMs: number): number | undefined {
  const aheadS = timestampS - nowMs / 1000;
  return Math.abs(aheadS) > CLOCK_TOLERANCE_S ? Math.round(aheadS) : undefined;
}

/** Returns whether the secret signed the body, at any time. */
const isSigned = ({ timestampS, value }: Signature, body: string, signingSecret: string): boolean =>
  isValidSlackRequest({
    signingSecret,
    body,
    headers: { 'x-slack-signature': value, 'x-slack-request-timestamp': timestampS },
    // Bolt refuses only old requests, and does not say whether the age or the signature was wrong.
    nowMilliseconds: timestampS * 1000,
  });
