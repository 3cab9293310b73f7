import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type Logger, LogLevel, WebClient } from '@slack/web-api';
import { onTestFinished } from 'vitest';
import { type Manifest, readManifest } from '../slack/manifest.ts';
import type { StandInSlack } from '../slack/slack.ts';
import { listenLocally } from '../wire.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  /** A form's fields. */
  form: Record<string, string>;
  /** What `payload` or a JSON body holds. */
  json: Record<string, unknown>;
}

export type Reply = { status?: number; headers?: Record<string, string>; body?: unknown } | 'never';

/** A bot that writes down what Slack sends it, and answers by `reply`. It is closed when the test ends. */
export async function startTinyBot(reply: (received: Received) => Reply | Promise<Reply> = () => ({})) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const isJson = request.headers['content-type'] === 'application/json';
    const form = isJson ? {} : (Object.fromEntries(new URLSearchParams(body)) as Record<string, string>);
    const json = JSON.parse((isJson ? body : form.payload) ?? '{}') as Record<string, unknown>;
    const item = { headers: request.headers, body, form, json };
    received.push(item);
    const answer = await reply(item);
    if (answer === 'never') return;
    const { status = 200, headers = {}, body: text } = answer;
    const isText = text === undefined || typeof text === 'string';
    response.writeHead(status, { ...(!isText && { 'content-type': 'application/json' }), ...headers });
    response.end(isText ? text : JSON.stringify(text));
  });
  const { url, close } = await listenLocally(server);
  onTestFinished(close);
  return { url: `${url}/slack/events`, received, close };
}

// Refusals are what these tests are about; the client would print each.
const nothing = () => undefined;
const SILENT: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  getLevel: () => LogLevel.ERROR,
  setName: nothing,
};

/** Slack's own client, which reaches the stand-in without a port. */
export function clientOf(slack: StandInSlack, token: string | undefined = slack.tokens.bot): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    fetch: slack.fetch,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: SILENT,
  });
}

/** What the client threw: Slack's code and the rest of the answer. */
export async function refusal(call: Promise<unknown>): Promise<Record<string, unknown> & { error: string }> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return { error: 'none' };
  return (error as { data: Record<string, unknown> & { error: string } }).data;
}

/** Docket's manifest with more rights than it has today. */
export function widerManifest(more: Partial<Manifest>): Manifest {
  const own = readManifest();
  return {
    ...own,
    ...more,
    scopes: [...own.scopes, ...(more.scopes ?? [])],
    commands: [...own.commands, ...(more.commands ?? [])],
  };
}
