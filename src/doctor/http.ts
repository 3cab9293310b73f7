import { connectionCode } from '../docs-api/connection-problem.ts';

/** What a GET or POST came to; `why` holds no part of what was sent. */
export type HttpAnswer =
  | {
      is: 'answer';
      status: number;
      /** The body, when it is JSON. */
      body: unknown;
      header(name: string): string | null;
      /** How far the machine's clock is ahead of the server's (negative: behind); `undefined` without a `Date`. */
      aheadMs: number | undefined;
    }
  | { is: 'none'; why: string };

export interface HttpParts {
  machineMs: () => number;
  timeLimitMs: number;
}

/** Sends one request with a key. Follows no redirect; never rejects. */
export async function ask(
  { machineMs, timeLimitMs }: HttpParts,
  method: 'GET' | 'POST',
  url: string,
  key: string,
): Promise<HttpAnswer> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeLimitMs),
    });
    const answeredMs = machineMs();
    const text = await response.text();
    return {
      is: 'answer',
      status: response.status,
      body: parse(text),
      header: (name) => response.headers.get(name),
      aheadMs: aheadOf(response.headers.get('date'), answeredMs),
    };
  } catch (error) {
    return { is: 'none', why: whyOf(error, timeLimitMs) };
  }
}

function aheadOf(date: string | null, nowMs: number): number | undefined {
  const serverMs = Date.parse(date ?? '');
  return Number.isNaN(serverMs) ? undefined : nowMs - serverMs;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function whyOf(error: unknown, timeLimitMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${timeLimitMs / 1000} s`;
  return connectionCode(error instanceof Error ? error.cause : error);
}
