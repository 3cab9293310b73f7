import { createSecretKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { App, Receiver } from '@slack/bolt';
import type { Metrics } from '../metrics/metrics.ts';
import type { Log } from '../runtime/log.ts';
import { inLogScope } from '../runtime/log-scope.ts';
import { within } from '../runtime/within.ts';
import { type HttpServer, refuse, sendJson } from './http-server.ts';
import { runListeners, trackListeners, UnreadableRequest } from './listeners.ts';
import { createRefusedRequests, type RefusedRequests } from './refused-requests.ts';
import { BodyRefused, createBodyReader } from './request-body.ts';
import { parseBytes } from './slack-request.ts';
import { clockSkew, isSigned, readSignature } from './slack-signature.ts';

/** Slack waits 3 s for the acknowledgement. */
const ACKNOWLEDGE_MS = 2900;

/** Slack checks the certificate of a command's address by an unsigned request with `ssl_check=1` and a token. */
const MAX_SSL_CHECK_BYTES = 1000;

export interface HttpParts {
  signingSecret: string;
  server: HttpServer;
  now: () => number;
  metrics: Pick<Metrics, 'refusals'>;
  /** Returns a reference, which all lines carry that a request causes. */
  newRef: () => string;
  log: Log;
}

export type HttpReceiver = Receiver & Pick<RefusedRequests, 'problem'>;

/**
 * Receives Slack's requests at `POST /slack/events`. Unlike Bolt's own receiver it checks the signature's headers
 * before it reads a body, limits bodies, refuses timestamps in the future, and answers requests that it cannot read.
 * It acknowledges only when the listeners have finished, so that what is acknowledged is kept.
 */
export function createHttpReceiver(parts: HttpParts): HttpReceiver {
  const { server, now, metrics, newRef, log } = parts;
  const signingSecret = createSecretKey(parts.signingSecret, 'utf8');
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
      const body = await readBody(request);
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

  async function handleSigned(contentType: string | undefined, bytes: Buffer, response: ServerResponse) {
    const read = parseBytes(contentType, bytes);
    switch (read?.kind) {
      case undefined:
        log.warn('a signed request is none that Docket can read');
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
      const acknowledgement = await within(ACKNOWLEDGE_MS, runListeners(app, { body }));
      if (acknowledgement === undefined) {
        log.warn('no listener took a request');
        return status(404);
      }
      const { payload } = acknowledgement;
      if (payload) sendJson(response, 200, payload);
      else status(200);
    } catch (error) {
      const unreadable = error instanceof UnreadableRequest;
      const outcome = unreadable ? 'a signed request cannot be read' : 'a request was not acknowledged';
      log.warn({ err: error }, outcome);
      status(unreadable ? 400 : 500);
    }
  }

  return {
    init(bolt) {
      app = bolt;
      trackListeners(bolt);
    },
    problem: refused.problem,
    async start() {
      server.route('POST /slack/events', handle);
    },
    // The server waits for its open requests when it closes.
    async stop() {},
  };
}
