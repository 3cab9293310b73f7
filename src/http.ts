import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { AuthorizationError, HTTPReceiver, type Logger } from '@slack/bolt';
import type { PartState } from './health.ts';

/** Requests this much older or newer than our clock are refused; Slack asks for 5 minutes. */
const CLOCK_TOLERANCE_S = 300;

export interface HealthParts {
  /** The state of each part; quick, and never rejects. */
  parts: () => Promise<Record<string, PartState>>;
  now: () => number;
}

export interface HttpParts extends HealthParts {
  signingSecret: string;
  logger: Logger;
}

/** A request whose signature is right but whose timestamp lies in the future; Bolt itself checks the past only. */
class FutureRequestError extends Error {
  override readonly name = 'FutureRequestError';
}

/** Throws `FutureRequestError` for a timestamp that Bolt let through. `timestampS` is the header as it came. */
export function refuseFuture(timestampS: unknown, nowMs: number) {
  if (!(Number(timestampS) - nowMs / 1000 <= CLOCK_TOLERANCE_S))
    throw new FutureRequestError('timestamp in the future');
}

/**
 * Bolt's HTTP receiver for `/slack/events`, answering only after the listeners have finished, with the health
 * addresses beside it.
 */
export function createReceiver({ signingSecret, logger, ...health }: HttpParts): HTTPReceiver {
  return new HTTPReceiver({
    signingSecret,
    endpoints: ['/slack/events'],
    processBeforeResponse: true,
    unhandledRequestTimeoutMillis: 2900,
    customPropertiesExtractor: (request) => ({
      requestTimestampS: request.headers['x-slack-request-timestamp'],
    }),
    customRoutes: healthRoutes(health),
    processEventErrorHandler: async ({ error, response }) => {
      const refused = error instanceof AuthorizationError || causedByFuture(error);
      if (!response.headersSent) response.writeHead(refused ? 401 : 500).end();
      return refused;
    },
    logger,
  });
}

/** The health addresses alone, for requests that come over a socket. */
export function createHealthServer(health: HealthParts): Server {
  const routes = healthRoutes(health);
  return createServer((request, response) => {
    const [path] = (request.url ?? '').split('?');
    const route = routes.find((one) => one.path === path && one.method === request.method);
    if (route) route.handler(request, response);
    else response.writeHead(404).end();
  });
}

/** `/readyz` is 200 also while Redis, Slack or the platform is down: Docket can still tell people so. */
function healthRoutes({ parts, now }: HealthParts) {
  return [
    {
      path: '/healthz',
      method: 'GET',
      handler: (_: IncomingMessage, response: ServerResponse) => json(response, { alive: true }),
    },
    {
      path: '/readyz',
      method: 'GET',
      handler: async (_: IncomingMessage, response: ServerResponse) =>
        json(response, { ready: true, atMs: now(), parts: await parts() }),
    },
  ];
}

function causedByFuture(error: unknown): boolean {
  if (error instanceof FutureRequestError) return true;
  return error instanceof Error && 'original' in error && causedByFuture(error.original);
}

function json(response: ServerResponse, body: unknown) {
  response
    .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
