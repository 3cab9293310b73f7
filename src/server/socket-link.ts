import type { Socket } from 'node:net';
import { type Logger, SocketModeClient } from '@slack/socket-mode';
import { LogLevel } from '@slack/web-api';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import type { Log } from '../runtime/log.ts';
import { createOutgoing, type Proxies } from '../runtime/outgoing.ts';
import type { Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** A message from Slack over a connection: a command, a click or an event. */
export interface Envelope {
  body: Record<string, unknown>;
  acceptsPayload: boolean;
  /** Acknowledges over the connection that it arrived on. Rejects if that is closed. */
  acknowledge(payload?: unknown): Promise<void>;
}

export interface SocketLinkParts {
  appToken: string;
  apiUrl: string;
  /** The outgoing proxies; none by default. */
  proxies?: Proxies;
  timing: Pick<Timing, 'slackCallMs' | 'socketHelloMs' | 'socketPongMs' | 'socketPingMs'>;
  /** Handles an envelope, acknowledgement included; never rejects. */
  handle: (envelope: Envelope) => Promise<void>;
  log: Log;
}

/** One connection to Slack. It never reconnects. */
export type SocketLink = ReturnType<typeof openSocketLink>;

/** How long written data may take to be sent before the connection is destroyed. */
const FLUSH_MS = 200;

/**
 * Connects with Slack's own client. Version 3.1.0 reconnects by rejections that cannot be caught, and leaves a timer of
 * 30 s behind when it closes (slackapi/node-slack-sdk#2656, #2771). So each client serves one connection, which is
 * closed by closing its TCP sockets.
 */
export function openSocketLink({ appToken, apiUrl, proxies, timing, handle, log }: SocketLinkParts) {
  const work = new Set<Promise<void>>();
  const sockets = new Set<Socket>();
  const agent = createAgent(sockets, proxies);
  const client = new DrainingClient({
    appToken,
    autoReconnectEnabled: false,
    clientPingTimeout: timing.socketPongMs,
    serverPingTimeout: timing.socketPingMs,
    dispatcher: agent,
    // A separate object, because the client writes into it.
    clientOptions: {
      slackApiUrl: apiUrl,
      allowAbsoluteUrls: false,
      timeout: timing.slackCallMs,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    },
    logger: createQuietLogger(log),
  });
  client.on('slack_event', (event: SlackEvent) => {
    const working = handle({
      body: event.body,
      acceptsPayload: event.accepts_response_payload === true,
      acknowledge: event.ack,
    }).finally(() => work.delete(working));
    work.add(working);
  });

  const closed = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
  const retireRequested = new Promise<string>((resolve) => client.once(RETIRE, resolve));
  const ended = Promise.race([retireRequested, closed.then(() => 'closed')]);
  const opened = new Promise<void>((resolve, reject) => {
    // Not when `start` resolves: a request to disconnect right after Slack's `hello` would arrive earlier.
    client.once('connected', () => resolve());
    const fail = (why: string) => reject(new Error(`Slack did not take the connection: ${why}`));
    void ended.then(fail);
    // It rejects with `undefined` if the connection breaks before Slack's `hello`.
    client.start().catch((error: unknown) => (error ? reject(error) : fail('closed')));
  });
  return {
    /** Rejects if Slack does not take the connection. */
    opened: withTimeout(timing.socketHelloMs, opened),
    /** Resolves with Slack's reason if it asks for a new connection, or with `closed` if this one is closed. */
    ended,
    /** Resolves when it is closed; until then it receives envelopes. */
    closed,
    /** Resolves when no envelope is being handled. */
    async idle() {
      while (work.size > 0) await Promise.all(work);
    },
    /** Closes it at once, in any state. Written data are still sent. */
    close() {
      void agent.destroy().catch(() => {});
      for (const socket of sockets) {
        socket.destroySoon();
        setTimeout(() => socket.destroy(), FLUSH_MS).unref();
      }
    },
  };
}

/** The client's event, which the client types as `any`. */
interface SlackEvent {
  ack: (payload?: unknown) => Promise<void>;
  body: Record<string, unknown>;
  accepts_response_payload?: boolean;
}

const RETIRE = 'docket_retire';
const disconnectMessage = z.object({
  type: z.literal('disconnect'),
  reason: z.string().default('no reason'),
});

/** Reports a request to disconnect instead of following it at once: acknowledgements may still have to be sent. */
class DrainingClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean) {
    const parsed = disconnectMessage.safeParse(typeof data === 'string' ? parseJson(data) : undefined);
    if (parsed.success) return void this.emit(RETIRE, parsed.data.reason);
    // A malformed envelope makes it reject, which would end the process.
    return super.onWebSocketMessage(data, isBinary).catch((error) => void this.emit('error', error));
  }
}

/** Returns an agent that adds its open sockets to `sockets`, even after they have become WebSockets. */
function createAgent(sockets: Set<Socket>, proxies: Proxies | undefined): Dispatcher {
  const track =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return callback(null, socket);
      });
  return createOutgoing(proxies, {
    maxResponseSize: 1_000_000,
    connect: buildConnector({ allowH2: false }),
    // Through a proxy, `connect` is the agent's own.
    factory: (origin, options: Pool.Options) =>
      new Pool(origin, {
        ...options,
        ...(typeof options.connect === 'function' && { connect: track(options.connect) }),
      }),
  });
}

/** Below a warning the client logs people's messages; we log its warnings' causes ourselves. */
function createQuietLogger(log: Log): Logger {
  const logDebug = (...parts: unknown[]) => log.debug({ by: 'socket-mode' }, parts.map(String).join(' '));
  const nothing = () => {};
  return {
    debug: nothing,
    info: nothing,
    warn: logDebug,
    error: logDebug,
    setLevel: nothing,
    getLevel: () => LogLevel.INFO,
    setName: nothing,
  };
}
