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

/** What Slack sends over a connection: a command, a click or an event. */
export interface Envelope {
  body: Record<string, unknown>;
  acceptsPayload: boolean;
  /** Acknowledges over the connection that it arrived on. Rejects when that one is closed. */
  acknowledge(payload?: unknown): Promise<void>;
}

export interface SocketLinkParts {
  appToken: string;
  apiUrl: string;
  /** The proxies on the way; none by default. */
  proxies?: Proxies;
  timing: Pick<Timing, 'slackCallMs' | 'socketHelloMs' | 'socketPongMs' | 'socketPingMs'>;
  /** Handles an envelope, acknowledgement included; never rejects. */
  handle: (envelope: Envelope) => Promise<void>;
  log: Log;
}

/** One connection to Slack. It never reconnects. */
export type SocketLink = ReturnType<typeof openSocketLink>;

/** How long what was written may take to be sent before the connection is torn down. */
const FLUSH_MS = 200;

/**
 * Connects with Slack's own client. Version 3.1.0 reconnects by rejections that nobody can catch, and leaves a timer of
 * 30 s behind when it closes (slackapi/node-slack-sdk#2656, #2771). So each client lives for one connection, which is
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
    // An object of its own: the client writes into it.
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
    // Not when `start` resolves: a request to disconnect that follows Slack's `hello` at once would come before.
    client.once('connected', () => resolve());
    const fail = (why: string) => reject(new Error(`Slack did not take the connection: ${why}`));
    void ended.then(fail);
    // It rejects with `undefined` when the connection breaks before Slack's `hello`.
    client.start().catch((error: unknown) => (error ? reject(error) : fail('closed')));
  });
  return {
    /** Rejects when Slack does not take the connection. */
    opened: withTimeout(timing.socketHelloMs, opened),
    /** Resolves with Slack's reason when it asks for a new connection, or with `closed` when this one is closed. */
    ended,
    /** Resolves when it is closed; until then it receives envelopes. */
    closed,
    /** Resolves when no envelope is being handled. */
    async idle() {
      while (work.size > 0) await Promise.all(work);
    },
    /** Closes it at once, in whatever state it is. What was written is still sent. */
    close() {
      void agent.destroy().catch(() => {});
      for (const socket of sockets) {
        socket.destroySoon();
        setTimeout(() => socket.destroy(), FLUSH_MS).unref();
      }
    },
  };
}

/** The event of the client, which types it as `any`. */
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

/** Returns an agent that adds its open sockets to `sockets`, also after they have become WebSockets. */
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
    // Of a way through a proxy, `connect` is the agent's own.
    factory: (origin, options: Pool.Options) =>
      new Pool(origin, {
        ...options,
        ...(typeof options.connect === 'function' && { connect: track(options.connect) }),
      }),
  });
}

/** Below a warning the client logs all that people write; what it warns of, we log ourselves. */
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
