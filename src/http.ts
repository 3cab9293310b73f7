import { AuthorizationError, HTTPReceiver, type Logger } from '@slack/bolt';

/** Requests this much older or newer than our clock are refused; Slack asks for 5 minutes. */
const CLOCK_TOLERANCE_S = 300;

export interface HttpParts {
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

/** Bolt's HTTP receiver for `/slack/events`, answering only after the listeners have finished. */
export function createReceiver({ signingSecret, logger }: HttpParts): HTTPReceiver {
  return new HTTPReceiver({
    signingSecret,
    endpoints: ['/slack/events'],
    processBeforeResponse: true,
    unhandledRequestTimeoutMillis: 2900,
    customPropertiesExtractor: (request) => ({
      requestTimestampS: request.headers['x-slack-request-timestamp'],
    }),
    processEventErrorHandler: async ({ error, response }) => {
      const refused = error instanceof AuthorizationError || causedByFuture(error);
      if (!response.headersSent) response.writeHead(refused ? 401 : 500).end();
      return refused;
    },
    logger,
  });
}

function causedByFuture(error: unknown): boolean {
  if (error instanceof FutureRequestError) return true;
  return error instanceof Error && 'original' in error && causedByFuture(error.original);
}
