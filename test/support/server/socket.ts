import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App, ReceiverEvent } from '@slack/bolt';
import { onTestFinished } from 'vitest';
import { createStandInSlack, type StandInSlackOptions } from '../../../demo/slack/slack.ts';
import { createLog } from '../../../src/runtime/log.ts';
import { createSocketReceiver, type SocketParts } from '../../../src/server/socket-receiver.ts';

/** Short enough for tests. */
export const quick: SocketParts['timing'] = {
  retryMinMs: 20,
  retryMaxMs: 200,
  slackCallMs: 5000,
  socketHelloMs: 5000,
  socketPongMs: 5000,
  problemAfterMs: 500,
  socketPingMs: 30_000,
};

export type Listener = (event: ReceiverEvent) => Promise<unknown>;
export const acknowledges: Listener = (event) => event.ack();

/** A receiver whose app is a function, and what it logs. */
export function receiver(apiUrl: string, listener: Listener, parts: Partial<SocketParts> = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', [], { write: (line: string) => void lines.push(JSON.parse(line)) });
  const made = createSocketReceiver({
    appToken: 'xapp-stand-in-app-token',
    tokenName: 'SLACK_APP_TOKEN',
    apiUrl,
    timing: quick,
    random: () => 0.5,
    newRef: () => '7f3c1d',
    log,
    ...parts,
  });
  made.init({ use() {}, processEvent: listener } as unknown as App);
  let stopped: Promise<unknown> | undefined;
  const stop = () => {
    stopped ??= made.stop();
    return stopped;
  };
  onTestFinished(async () => void (await stop()));
  return { receiver: { ...made, stop }, lines };
}

/** The stand-in Slack and a receiver that is connected to it. */
export async function connected(
  listener: Listener,
  { timing, ...options }: StandInSlackOptions & { timing?: Partial<SocketParts['timing']> } = {},
) {
  const slack = createStandInSlack({ transport: 'socket', ...options });
  onTestFinished((await slack.listen()).close);
  const made = receiver(slack.apiUrl, listener, { timing: { ...quick, ...timing } });
  await made.receiver.start();
  await slack.until(() => slack.sockets.open === 2);
  return { slack, ana: slack.person('ana'), ...made };
}

/** An address that tells the bot to connect to `webSocketUrl`. */
export async function apiThatNames(webSocketUrl: () => string): Promise<string> {
  const api = createServer((_, response) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ok: true, url: webSocketUrl() }));
  });
  return `${await listening(api)}/api/`;
}

/** Has a server listen until the test ends; returns its address. */
async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
