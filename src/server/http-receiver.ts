import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { App, Receiver } from '@slack/bolt';
import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import type { Metrics } from '../metrics/metrics.ts';
import { parseJson } from '../runtime/json.ts';
import { inLogScope, type Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import type { Health } from './health.ts';
import { type HttpServer, refuse, sendJson } from './http-server.ts';

/** Slack checks the certificate of a command's address by an unsigned request with `ssl_check=1` and a token. */
const MAX_SSL_CHECK_BYTES = 1000;

/** Requests this much older or newer than our clock are refused; Slack asks for 5 minutes. */
const CLOCK_TOLERANCE_S = 300;

/** A long message with blocks, escaped and encoded, exceeds 600 kB. */
const MAX_BYTES = 2_000_000;

/** If all bodies in progress together are longer, only short ones are read; above twice this, none. */
const MAX_OPEN_BYTES = 32_000_000;
const SHORT_BYTES = 100_000;

/** Approximate memory of a piece of a body, without its bytes. */
const PIECE_OVERHEAD_BYTES = 200;

/** Of all bodies in progress in this process, with their pieces. */
let openBytes = 0;

/** The signature of a longer body takes long enough to wait for its turn; most of Slack's are shorter. */
const QUICK_LENGTH = 10_000;

let lastTurn = Promise.resolve();

/** Resolves after all earlier calls, each in a later turn of the event loop, so that short requests are not held up. */
const takeTurn = () => {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
};

export interface ListenerParts {
  /** Returns a reference for all log lines of a request. */
  newRef: () => string;
  log: Log;
}

interface HttpParts extends ListenerParts {
  path: `/slack/${string}`;
  signingSecret: string;
  /** The setting with the secret. */
  secretName: string;
  server: HttpServer;
  now: () => number;
  metrics: Pick<Metrics, 'refusals'>;
  health: Pick<Health, 'failed' | 'worked'>;
}

/**
 * Receives Slack's requests at `POST <path>`. Unlike Bolt's own receiver it checks the signature's headers
 * before it reads a body, limits bodies, refuses timestamps in the future, and answers unreadable requests. It
 * acknowledges only after the listeners have finished, so that every acknowledged request is stored.
 */
export function createHttpReceiver(parts: HttpParts): Receiver {
  const { path, signingSecret, secretName, server, now, metrics, health, log } = parts;
  const kind = { of: path, operation: 'receive' };
  const listeners = createListeners(parts);
  let isVerified = false;

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const timestamp = String(request.headers['x-slack-request-timestamp']);
    const signature = String(request.headers['x-slack-signature']);
    if (!/^\d{1,12}$/.test(timestamp) || !/^v0=[0-9a-f]{64}$/.test(signature)) {
      if (await isSslCheck(request)) response.writeHead(200).end();
      else refuse(response, 401);
      return;
    }
    const aheadS = Math.round(Number(timestamp) - now() / 1000);
    const { body, refusal } = await readBody(request);
    if (refusal !== undefined) return refuse(response, refusal);
    if (body.length > QUICK_LENGTH) await takeTurn();
    const isSigned = isValidSlackRequest({
      signingSecret,
      body,
      headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': Number(timestamp) },
      // Bolt refuses only old requests, and does not say whether the age or the signature was wrong.
      nowMilliseconds: Number(timestamp) * 1000,
    });
    const isInTime = Math.abs(aheadS) <= CLOCK_TOLERANCE_S;
    if (!isSigned || !isInTime) {
      // Only the body proves whether Slack sent it.
      if (isSigned) reportClock(aheadS);
      else if (isInTime) reportUnsigned();
      return refuse(response, 401);
    }
    isVerified = true;
    await respond(parseBody(request.headers['content-type'], body), response);
    // After the answer: /docs-status still shows the problem that this request ends.
    health.worked(kind);
  }

  async function isSslCheck(request: IncomingMessage): Promise<boolean> {
    const { 'content-length': length, 'x-slack-signature': signature } = request.headers;
    if (signature !== undefined || !(Number(length) <= MAX_SSL_CHECK_BYTES)) return false;
    return parse((await readBody(request)).body).ssl_check === '1';
  }

  function reportClock(aheadS: number) {
    metrics.refusals.add({ reason: 'clock' });
    const where = aheadS > 0 ? 'ahead of' : 'behind';
    const text = `Slack's request is ${Math.abs(aheadS)} s ${where} this machine's clock. Set the clock (NTP).`;
    health.failed(kind, { name: 'clock', text }, true);
  }

  function reportUnsigned() {
    metrics.refusals.add({ reason: 'unsigned' });
    const text = `A request isn't signed with ${secretName}. If no command works, copy the secret again. If commands work, the request isn't from Slack: do nothing.`;
    // Anybody can send such a request. Once Slack's were in order, the secret is right.
    health.failed(kind, { name: 'slack_signature', level: isVerified ? 'warn' : 'error', text }, true);
  }

  async function respond(body: unknown, response: ServerResponse) {
    if (typeof body !== 'object' || body === null) {
      log.warn('a signed request has a body that Docket cannot read');
      return void response.writeHead(400).end();
    }
    const read: Record<string, unknown> = { ...body };
    if (read.type === 'url_verification' && typeof read.challenge === 'string')
      return sendJson(response, 200, { challenge: read.challenge });
    const acknowledgement = await listeners.run(read);
    if (acknowledgement?.payload) sendJson(response, 200, acknowledgement.payload);
    else response.writeHead(acknowledgement ? 200 : 500).end();
  }

  return {
    init: listeners.init,
    async start() {
      server.route(`POST ${path}`, handle);
    },
    // The server waits for its open requests when it closes.
    async stop() {},
  };
}

/** Parses a body, sent as JSON or as a form; a form may have its JSON in `payload`. */
function parseBody(contentType: string | undefined, sent: string): unknown {
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return parseJson(sent);
  const { payload, ...form } = parse(sent);
  return payload === undefined ? form : parseJson(String(payload));
}

/**
 * Reads a whole body, or returns the HTTP status of a refusal if the body is too long or cut off. If all open bodies
 * together are too long, only short ones are read, since Slack's are. The server limits the time for a body.
 */
export async function readBody(request: IncomingMessage, longestBytes = MAX_BYTES) {
  if (Number(request.headers['content-length']) > longestBytes) return { body: '', refusal: 413 };
  const maxBytes = () =>
    openBytes <= MAX_OPEN_BYTES ? longestBytes : openBytes <= 2 * MAX_OPEN_BYTES ? SHORT_BYTES : 0;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let heldBytes = 0;
  // Without a listener, an error of the connection would end the process.
  request.on('error', () => {});
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      bytes += chunk.length;
      heldBytes += chunk.length + PIECE_OVERHEAD_BYTES;
      openBytes += chunk.length + PIECE_OVERHEAD_BYTES;
      if (bytes > maxBytes()) return { body: '', refusal: bytes > longestBytes ? 413 : 503 };
    }
    return { body: Buffer.concat(chunks).toString() };
  } catch {
    return { body: '', refusal: 400 };
  } finally {
    openBytes -= heldBytes;
  }
}

/** Slack waits 3 s for the acknowledgement. */
const ACKNOWLEDGE_MS = 2900;

/** Hands the requests of a receiver to Bolt. */
export function createListeners({ newRef, log }: ListenerParts) {
  let app: App | undefined;

  async function process(body: Record<string, unknown>) {
    if (body.type === 'app_rate_limited' && body.event === undefined) {
      log.warn('Slack holds events back: there are too many');
      return {};
    }
    let acknowledgement: { payload?: unknown } | undefined;
    await app?.processEvent({
      body,
      // Bolt acknowledges events before their listeners have run: this only records it, and the receiver sends it.
      async ack(payload: unknown) {
        acknowledgement ??= { payload };
      },
    });
    if (acknowledgement === undefined) log.warn('no listener took a request');
    return acknowledgement;
  }

  return {
    init(bolt: App) {
      app = bolt;
    },
    /** Runs the listeners until they have finished. Returns their acknowledgement; undefined if none comes in time. */
    run: (body: Record<string, unknown>): Promise<{ payload?: unknown } | undefined> =>
      inLogScope({ ref: newRef() }, () =>
        withTimeout(ACKNOWLEDGE_MS, process(body)).catch((error: unknown) => {
          log.warn({ err: error }, 'a request was not acknowledged');
          return undefined;
        }),
      ),
  };
}
