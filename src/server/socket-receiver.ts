import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SocketModeClient } from '@slack/socket-mode';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { createLog, createThrottledWarn } from '../runtime/log.ts';
import { createOutgoingAgent, type Proxies } from '../runtime/outgoing.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { SlackApiError, toSlackApiError } from '../slack/errors.ts';
import { clientOptions, createSlackLogger } from '../slack/web-calls.ts';
import { createListeners, type ListenerParts } from './http-receiver.ts';

/** While one is renewed, the other receives the envelopes. Slack allows an app ten. */
const CONNECTIONS = 2;

/** How long the start waits for the first connection before it continues without one. */
const START_MS = 2000;
/** How long a renewed connection is kept for envelopes in progress: Slack waits 3 s. */
const RETIRE_MS = 3000;
/** Maximum delay of the process' end by envelopes in progress. */
const DRAIN_MS = 1600;

export interface SocketParts extends ListenerParts {
  appToken: string;
  /** The setting with the token. */
  tokenName: string;
  apiUrl: string;
  /** The outgoing proxies; none by default. */
  proxies?: Proxies;
  timing: Pick<
    Timing,
    | ('retryMinMs' | 'retryMaxMs' | 'slackCallMs' | 'problemAfterMs')
    | ('socketHelloMs' | 'socketPongMs' | 'socketPingMs')
  >;
  random: () => number;
}

type LinkParts = Omit<SocketParts, 'random' | 'newRef' | 'tokenName'>;

/** A command, a click or an event as the client emits it, typed as `any` there. */
interface SlackEvent {
  body: Record<string, unknown>;
  accepts_response_payload?: boolean;
  /** Acknowledges over the connection that it arrived on. Rejects if that is closed. */
  ack: (payload?: unknown) => Promise<void>;
}

/**
 * Receives requests over Socket Mode. Unlike Bolt's own receiver it acknowledges an envelope only after its listeners
 * have finished, so that every acknowledged request is stored. If it does not acknowledge, Slack shows the person an
 * error or sends the event again.
 */
export function createSocketReceiver({ random, newRef, tokenName, ...parts }: SocketParts) {
  const { timing, log } = parts;
  const links = new Set<SocketLink>();
  const connected = new Set<SocketLink>();
  const stopping = new AbortController();
  const firstConnection = Promise.withResolvers<void>();
  const warn = createThrottledWarn(log, () => performance.now());
  /** Since when there is no connection, and why. */
  let downSinceMs: number | undefined = performance.now();
  let failure: SlackApiError | undefined;
  const listeners = createListeners({ newRef, log });
  let loops: Promise<void>[] = [];

  /** Runs the listeners, then acknowledges with their payload. Never rejects. */
  async function handle({ body, accepts_response_payload: acceptsPayload, ack }: SlackEvent) {
    const read = z.looseObject({}).safeParse(body);
    if (!read.success || stopping.signal.aborted) return;
    const acknowledgement = await listeners.run(read.data);
    if (acknowledgement === undefined) return;
    await ack(acceptsPayload ? acknowledgement.payload : undefined).catch((error: unknown) =>
      log.warn({ err: error }, 'a request was not acknowledged'),
    );
  }

  /** Keeps one connection open while Docket runs. */
  async function maintainConnection(line: number) {
    // A connection that Slack wants renewed receives envelopes until the next one is open.
    let retired: SocketLink | undefined;
    let failures = 0;
    while (!stopping.signal.aborted) {
      const link = openSocketLink(parts, handle);
      links.add(link);
      let retryAfterMs = 0;
      try {
        await link.opened;
        if (retired) void retire(retired);
        const openedAtMs = performance.now();
        await serve(link, line);
        retired = link;
        // Slack renews each connection every few hours.
        if (performance.now() - openedAtMs > timing.retryMaxMs) failures = 0;
      } catch (error) {
        void retire(link);
        if (!stopping.signal.aborted) retryAfterMs = logFailure(line, error);
      }
      failures += 1;
      const pauseMs = Math.max(backoffMs(timing, failures, random()), retryAfterMs);
      await pause(pauseMs, undefined, stopping).catch(() => {});
    }
  }

  /** Receives requests over a connection until it has ended. */
  async function serve(link: SocketLink, line: number) {
    connected.add(link);
    downSinceMs = undefined;
    failure = undefined;
    void link.closed.then(() => {
      connected.delete(link);
      if (connected.size === 0) downSinceMs = performance.now();
    });
    firstConnection.resolve();
    log.info({ line }, 'connected to Slack');
    const reason = await link.ended;
    if (!stopping.signal.aborted) log.info({ line, reason }, 'a connection to Slack is over');
    if (reason === 'link_disabled') failure = new SlackApiError('refused', 'apps.connections.open', reason);
  }

  /** Keeps and logs why there is no connection. Returns how long Slack asks us to wait. */
  function logFailure(line: number, error: unknown): number {
    failure = toSlackApiError('apps.connections.open', error);
    warn(failure, `no connection to Slack (line ${line}); I keep trying`);
    return failure.retryAfterMs ?? 0;
  }

  /** Returns why Slack has not reached us for a while; at once if it refuses the connection. */
  function problem(): string | undefined {
    const { kind, code = 'no answer' } = failure ?? {};
    const isRefused = kind === 'token' || kind === 'refused';
    const isLong = downSinceMs !== undefined && performance.now() - downSinceMs >= timing.problemAfterMs;
    if (downSinceMs === undefined || !(isRefused || isLong)) return undefined;
    const fix = isRefused
      ? `Check ${tokenName}, its scope connections:write, and that Socket Mode is on; restart Docket after a change.`
      : 'Check the network, the proxy and status.slack.com; Docket keeps trying.';
    return `Slack doesn't reach this process over Socket Mode (${code}), so commands fail unless another one is connected. ${fix}`;
  }

  async function retire(link: SocketLink) {
    await withTimeout(RETIRE_MS, link.idle()).catch(() => {});
    link.close();
    links.delete(link);
  }

  return {
    init: listeners.init,
    /** Returns whether Slack can reach us now. */
    connected: () => connected.size > 0,
    problem,

    /** Resolves when the first connection is open, at the latest after 2 s. */
    async start() {
      loops = Array.from({ length: CONNECTIONS }, (_, index) => maintainConnection(index + 1));
      await withTimeout(START_MS, firstConnection.promise).catch(() => {});
    },

    async stop() {
      stopping.abort();
      const idle = Promise.all([...links].map((link) => link.idle()));
      await withTimeout(DRAIN_MS, idle).catch(() =>
        log.warn('requests in work are cut off; Slack shows an error to the people who made them'),
      );
      for (const link of links) link.close();
      await Promise.all(loops);
    },
  };
}

/** One connection to Slack. It never reconnects. */
type SocketLink = ReturnType<typeof openSocketLink>;

/** How long written data may take to be sent before the connection is destroyed. */
const FLUSH_MS = 200;

/**
 * Connects with Slack's own client. Version 3.1.0 reconnects by rejections that cannot be caught, and leaves a timer of
 * 30 s behind when it closes (slackapi/node-slack-sdk#2656, #2771). So each client serves one connection, which is
 * closed by closing its TCP sockets.
 */
function openSocketLink(parts: LinkParts, handle: (event: SlackEvent) => Promise<void>) {
  const { appToken, apiUrl, proxies, timing } = parts;
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
    clientOptions: clientOptions(apiUrl, timing),
    // The client logs people's messages; we log the causes of its warnings ourselves.
    logger: createSlackLogger(createLog('silent', [])),
  });
  client.on('slack_event', (event: SlackEvent) => {
    const working = handle(event).finally(() => work.delete(working));
    work.add(working);
  });

  const closed = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
  const retireRequested = new Promise<string>((resolve) => client.once(RETIRE, resolve));
  const ended = Promise.race([retireRequested, closed.then(() => 'closed')]);
  const opened = new Promise<void>((resolve, reject) => {
    // Not when `start` resolves: a request to disconnect right after Slack's `hello` would arrive earlier.
    client.once('connected', () => resolve());
    const kind = (why: string) => (why === 'link_disabled' ? 'refused' : 'unclear');
    const fail = (why: string) => reject(new SlackApiError(kind(why), 'apps.connections.open', why));
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
  return createOutgoingAgent(proxies, {
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
