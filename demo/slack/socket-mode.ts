import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Inside } from './inside.ts';
import type { Delivery, Envelope, SlackRequest } from './requests.ts';

// "up to 10 open WebSocket connections at the same time" (https://docs.slack.dev/apis/events-api/using-socket-mode).
const MAX_CONNECTIONS = 10;

/** Why Slack asks for a new connection (same page). */
export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled' | 'too_many_websockets';

/**
 * Trouble that a test or the demo orders for what comes next: a connection that is refused, or opened without the
 * greeting; an envelope whose connection breaks as soon as it is sent, or when its acknowledgement arrives, which
 * is then lost.
 */
export type SocketFault = 'refuse' | 'no hello' | 'cut when sent' | 'cut when acknowledged';

/** An envelope that was sent, and what came of it. */
export interface SentEnvelope {
  id: string;
  type: Envelope['type'];
  /** Which connection it went over, counted from 1. */
  connection: number;
  outcome?: 'acknowledged' | 'late' | 'lost';
}

/** Socket Mode as Slack speaks it (https://docs.slack.dev/apis/events-api/using-socket-mode). */
export interface Sockets {
  /** How many connections take envelopes. */
  readonly open: number;
  /** How many there have been. */
  readonly opened: number;
  readonly envelopes: SentEnvelope[];
  /** Sends a request over one of the open connections. */
  deliver(request: SlackRequest): Promise<Delivery>;
  order(fault: SocketFault, times?: number): void;
  /** Runs when an envelope was sent, and when it is acknowledged. Returns a function that removes the listener. */
  onEnvelope(listener: (envelope: SentEnvelope, moment: 'sent' | 'acknowledged') => void): () => void;
  /** Breaks every connection off without a word. */
  cut(): void;
  /** Asks the bot on every connection to make a new one; with `warning` Slack waits 10 s before it closes. */
  disconnect(reason: DisconnectReason, closesAfterMs?: number): void;
  /** Sends any text over every connection, for what Slack never sends. */
  sendRaw(text: string): void;
  /** Takes WebSocket connections on this server. Returns a function that breaks them off. */
  attach(server: Server): () => void;
}

interface Connection {
  n: number;
  ws: WebSocket;
  /** Slack asked for a new connection, so this one gets envelopes only while there is no other. */
  leaving: boolean;
  /** What waits for an acknowledgement, oldest first, by envelope id. */
  waiting: Map<string, ((moment: 'lost' | { payload: object }) => void)[]>;
  /** Envelopes that were sent over it, also those that nobody waits for any more. */
  sent: Set<string>;
}

const acknowledgement = z.object({
  envelope_id: z.string(),
  payload: z.record(z.string(), z.unknown()).optional(),
});

export function createSockets(parts: {
  inside: Inside;
  answerWithinMs: number;
  /** How often Slack asks whether the bot is still there; who does not answer by the next time is cut off. */
  pingEveryMs: number;
}): Sockets {
  const { inside, answerWithinMs, pingEveryMs } = parts;
  const { tickets, violations, workspace } = inside;
  const ids = new WeakMap<SlackRequest, string>();
  const faults: { fault: SocketFault; left: number }[] = [];
  const listeners = new Set<Parameters<Sockets['onEnvelope']>[0]>();
  const envelopes: SentEnvelope[] = [];
  let connections: Connection[] = [];
  let opened = 0;

  function takes(fault: SocketFault): boolean {
    const ordered = faults.find((one) => one.fault === fault && one.left > 0);
    if (ordered) ordered.left -= 1;
    return ordered !== undefined;
  }

  function say({ ws }: Connection, message: unknown) {
    ws.send(JSON.stringify(message));
  }

  function welcome(ws: WebSocket) {
    opened += 1;
    const connection: Connection = { n: opened, ws, leaving: false, waiting: new Map(), sent: new Set() };
    keepAlive(connection);
    ws.on('error', () => ws.terminate());
    ws.on('message', (data, isBinary) =>
      readAcknowledgement(connection, isBinary ? undefined : data.toString()),
    );
    ws.on('close', () => {
      connections = connections.filter((one) => one !== connection);
      for (const lose of [...connection.waiting.values()].flat()) lose('lost');
      workspace.changed();
    });
    if (connections.length >= MAX_CONNECTIONS) {
      say(connection, disconnectMessage('too_many_websockets'));
      violations.push(`socket: more than ${MAX_CONNECTIONS} connections`);
      return ws.close();
    }
    if (takes('no hello')) return undefined;
    connections.push(connection);
    say(connection, {
      type: 'hello',
      num_connections: connections.length,
      debug_info: { host: 'applink-stand-in', build_number: 1, approximate_connection_time: 18_060 },
      connection_info: { app_id: workspace.bot.appId },
    });
    return workspace.changed();
  }

  function keepAlive({ ws }: Connection) {
    let answered = true;
    ws.on('pong', () => {
      answered = true;
    });
    const timer = setInterval(() => {
      if (!answered) return ws.terminate();
      answered = false;
      return ws.ping('Ping from Slack');
    }, pingEveryMs);
    ws.on('close', () => clearInterval(timer));
  }

  /** Judges what the bot sends; all it may send is acknowledgements. */
  function readAcknowledgement(connection: Connection, text: string | undefined) {
    const parsed = acknowledgement.safeParse(parseJson(text));
    if (!parsed.success) return violations.push('socket: what came is no acknowledgement');
    const { envelope_id: id, payload } = parsed.data;
    if (!connection.sent.has(id)) {
      const elsewhere = envelopes.some((one) => one.id === id);
      return violations.push(
        elsewhere ? 'socket: acknowledged over another connection' : 'socket: acknowledged what was not sent',
      );
    }
    const answer = connection.waiting.get(id)?.shift();
    if (answer === undefined) return violations.push('socket: acknowledged twice');
    return answer({ payload: payload ?? {} });
  }

  function next(): Connection | undefined {
    const newestFirst = connections.toSorted((a, b) => b.n - a.n);
    const connection = connections.find(({ leaving }) => !leaving) ?? newestFirst[0];
    // Each in turn.
    if (connection) connections = [...connections.filter((one) => one !== connection), connection];
    return connection;
  }

  async function deliver(request: SlackRequest): Promise<Delivery> {
    const { envelope } = request;
    if (!envelope) throw new Error('A raw request goes over HTTP only');
    const startMs = performance.now();
    const delivery = (rest: Partial<Delivery>): Delivery => {
      const tookMs = performance.now() - startMs;
      return { status: 0, tookMs, body: '', contentType: 'application/json', noRetry: false, ...rest };
    };
    // Who asks again and again must let others have their turn.
    await new Promise(setImmediate);
    const connection = next();
    if (!connection) return delivery({ failed: 'dispatch_failed' });
    const id = ids.get(request) ?? randomUUID();
    ids.set(request, id);
    const sent: SentEnvelope = { id, type: envelope.type, connection: connection.n };
    envelopes.push(sent);
    const answer = await sendAndWait(connection, sent, envelope);
    if (answer === 'late' || answer === 'lost') {
      sent.outcome = answer;
      return delivery({ failed: answer === 'late' ? 'operation_timeout' : 'dispatch_failed' });
    }
    sent.outcome = 'acknowledged';
    const isEmpty = Object.keys(answer).length === 0;
    if (!isEmpty && !envelope.acceptsPayload) {
      violations.push(`${request.what}: acknowledged with a payload, which it does not accept`);
      return delivery({ status: 200 });
    }
    return delivery({ status: 200, body: isEmpty ? '' : JSON.stringify(answer) });
  }

  function sendAndWait(connection: Connection, sent: SentEnvelope, envelope: Envelope) {
    const { id } = sent;
    return new Promise<object | 'late' | 'lost'>((resolve) => {
      // What is late still counts as the answer to this one, and changes nothing any more.
      const limit = setTimeout(() => resolve('late'), answerWithinMs);
      const finish = (moment: 'lost' | { payload: object }) => {
        clearTimeout(limit);
        if (moment === 'lost') return resolve('lost');
        for (const listener of listeners) listener(sent, 'acknowledged');
        if (!takes('cut when acknowledged')) return resolve(moment.payload);
        connection.ws.terminate();
        return resolve('lost');
      };
      connection.sent.add(id);
      connection.waiting.set(id, [...(connection.waiting.get(id) ?? []), finish]);
      const message = {
        envelope_id: id,
        type: envelope.type,
        accepts_response_payload: envelope.acceptsPayload,
        payload: envelope.payload,
        ...(envelope.retryAttempt !== undefined && {
          retry_attempt: envelope.retryAttempt,
          retry_reason: envelope.retryReason,
        }),
      };
      const cut = takes('cut when sent');
      connection.ws.send(JSON.stringify(message), () => cut && connection.ws.terminate());
      for (const listener of listeners) listener(sent, 'sent');
    });
  }

  const disconnectMessage = (reason: DisconnectReason) => ({
    type: 'disconnect',
    reason,
    debug_info: { host: 'applink-stand-in' },
  });

  return {
    get open() {
      return connections.filter(({ leaving }) => !leaving).length;
    },
    get opened() {
      return opened;
    },
    envelopes,
    deliver,
    order: (fault, times = 1) => void faults.push({ fault, left: times }),
    onEnvelope(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    cut() {
      for (const { ws } of connections) ws.terminate();
    },
    disconnect(reason, closesAfterMs = reason === 'warning' ? 10_000 : 0) {
      for (const connection of [...connections]) {
        connection.leaving = true;
        say(connection, disconnectMessage(reason));
        const timer = setTimeout(() => connection.ws.close(), closesAfterMs);
        connection.ws.on('close', () => clearTimeout(timer));
      }
    },
    sendRaw(text) {
      for (const { ws } of connections) ws.send(text);
    },

    attach(server) {
      const webSockets = new WebSocketServer({ noServer: true });
      server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const url = new URL(request.url ?? '', 'http://stand-in');
        const ticketIsGood = url.pathname === '/link/' && tickets.use(url.searchParams.get('ticket') ?? '');
        if (!ticketIsGood) {
          violations.push('socket: a ticket that is used up, too old or unknown');
          return refuse(socket, '401 Unauthorized');
        }
        if (takes('refuse')) return refuse(socket, '503 Service Unavailable');
        keepOpenAfterHandshake(socket);
        return webSockets.handleUpgrade(request, socket, head, welcome);
      });
      return () => {
        for (const ws of webSockets.clients) ws.terminate();
      };
    },
  };
}

function refuse(socket: Duplex, status: string) {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

/**
 * Slack leaves the TCP connection open after the closing handshake (slackapi/node-slack-sdk#2752), which a bot that
 * waits for its end has to bear.
 */
function keepOpenAfterHandshake(socket: Duplex) {
  const end = socket.end.bind(socket);
  Object.assign(socket, { end: () => (socket.readableEnded ? end() : socket) });
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
