import type { Socket } from 'node:net';
import { type Logger, SocketModeClient } from '@slack/socket-mode';
import { LogLevel } from '@slack/web-api';
import { Agent, buildConnector } from 'undici';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import type { Log } from '../runtime/log.ts';
import type { Timing } from '../runtime/timing.ts';
import { within } from '../runtime/within.ts';

/** What Slack sends over a connection: a command, a click or an event. */
export interface Envelope {
  body: Record<string, unknown>;
  acceptsPayload: boolean;
  retryNum: number | undefined;
  retryReason: string | undefined;
  /** Over the very connection that it came by. Rejects when that one is gone. */
  acknowledge(payload?: unknown): Promise<void>;
}

export interface SocketLinkParts {
  appToken: string;
  apiUrl: string;
  timing: Pick<Timing, 'slackCallMs' | 'socketHelloMs' | 'socketPongMs' | 'socketPingMs'>;
  /** Works on an envelope, acknowledgement included; never rejects. */
  handle: (envelope: Envelope) => Promise<void>;
  log: Log;
}

/** One connection to Slack, from its opening to its end; it never opens again. */
export interface SocketLink {
  /** Rejects when Slack does not take the connection. */
  opened: Promise<void>;
  /** Resolves with Slack's reason when it asks for a new connection, or with `closed` when this one is gone. */
  ended: Promise<string>;
  /** Resolves when it is gone; until then it takes envelopes. */
  closed: Promise<void>;
  /** Resolves when nothing is in work. */
  idle(): Promise<void>;
  /** Ends it at once, in whatever state it is. What was written is still sent. */
  close(): void;
}

/** What was written may take so long to be sent before the connection is torn down. */
const FLUSH_MS = 200;

/**
 * Connects by Slack's own client, as far as its version 3.1.0 goes: it reconnects by rejections that nobody can
 * catch, and closing leaves its timer of 30 s behind (slackapi/node-slack-sdk#2656, #2771). So each client lives
 * for one connection, and that ends by ending its TCP sockets.
 */
export function openSocketLink({ appToken, apiUrl, timing, handle, log }: SocketLinkParts): SocketLink {
  const work = new Set<Promise<void>>();
  const sockets = new Set<Socket>();
  const agent = createAgent(sockets);
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
      retryNum: event.retry_num,
      retryReason: event.retry_reason,
      acknowledge: event.ack,
    }).finally(() => work.delete(working));
    work.add(working);
  });

  const closed = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
  const retireRequested = new Promise<string>((resolve) => client.once(RETIRE, resolve));
  const ended = Promise.race([retireRequested, closed.then(() => 'closed')]);
  const opened = new Promise<void>((resolve, reject) => {
    // Not what `start` resolves with: that comes later than a wish of Slack's that follows its greeting at once.
    client.once('connected', () => resolve());
    const fail = (why: string) => reject(new Error(`Slack did not take the connection: ${why}`));
    void ended.then(fail);
    // It rejects with nothing at all when the connection breaks before Slack's greeting.
    client.start().catch((error: unknown) => (error ? reject(error) : fail('closed')));
  });
  return {
    opened: within(timing.socketHelloMs, opened),
    ended,
    closed,
    async idle() {
      while (work.size > 0) await Promise.all(work);
    },
    close() {
      void agent.destroy().catch(() => {});
      for (const socket of sockets) {
        socket.destroySoon();
        setTimeout(() => socket.destroy(), FLUSH_MS).unref();
      }
    },
  };
}

/** As the client hands it over; it says `any`. */
interface SlackEvent {
  ack: (payload?: unknown) => Promise<void>;
  body: Record<string, unknown>;
  accepts_response_payload?: boolean;
  retry_num?: number;
  retry_reason?: string;
}

const RETIRE = 'docket_retire';
const disconnectMessage = z.object({
  type: z.literal('disconnect'),
  reason: z.string().default('no reason'),
});

/** Slack's client would hang up as soon as Slack asks for it, with acknowledgements still to be sent. */
class DrainingClient extends SocketModeClient {
  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean) {
    const said = disconnectMessage.safeParse(typeof data === 'string' ? parseJson(data) : undefined);
    if (said.success) return void this.emit(RETIRE, said.data.reason);
    // An envelope without what it must hold makes it reject, which would end the process.
    return super.onWebSocketMessage(data, isBinary).catch((error) => void this.emit('error', error));
  }
}

/** An agent whose sockets are known also after they have become WebSockets. */
function createAgent(sockets: Set<Socket>): Agent {
  const connect = buildConnector({ allowH2: false });
  return new Agent({
    allowH2: false,
    connect: (options, callback) =>
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return callback(null, socket);
      }),
  });
}

/** Below a warning the client writes down all that people say; what it warns of, we tell ourselves. */
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
