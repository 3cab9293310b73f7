import { setTimeout as pause } from 'node:timers/promises';
import type { App, Receiver } from '@slack/bolt';
import { inLogScope } from '../runtime/log-scope.ts';
import { backoffMs, type Timing } from '../runtime/timing.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { toSlackApiError } from '../slack/errors.ts';
import { runListeners } from './listeners.ts';
import { parseRequest } from './slack-request.ts';
import { type Envelope, openSocketLink, type SocketLink, type SocketLinkParts } from './socket-link.ts';

/** While one is renewed, the other receives the envelopes. Slack allows an app ten. */
const CONNECTIONS = 2;

/** How long the start waits for the first connection before it continues without one. */
const START_MS = 2000;
/** How long a renewed connection is kept for envelopes in progress: Slack waits 3 s. */
const RETIRE_MS = 3000;
/** Maximum delay of the process' end by envelopes in progress. */
const DRAIN_MS = 1600;

export interface SocketParts extends Omit<SocketLinkParts, 'handle' | 'timing'> {
  timing: Pick<Timing, 'retryMinMs' | 'retryMaxMs'> & SocketLinkParts['timing'];
  random: () => number;
  /** Returns a reference for all log lines of a request. */
  newRef: () => string;
}

export interface SocketReceiver extends Receiver {
  /** Resolves when the first connection is open, at the latest after 2 s. */
  start(): Promise<void>;
  /** Returns whether Slack can reach us now. */
  connected(): boolean;
}

/**
 * Receives requests over Socket Mode. Unlike Bolt's own receiver it acknowledges an envelope only after its listeners
 * have finished, so that every acknowledged request is stored. If it does not acknowledge, Slack shows the person an
 * error or sends the event again.
 */
export function createSocketReceiver({ random, newRef, ...parts }: SocketParts): SocketReceiver {
  const { timing, log } = parts;
  const links = new Set<SocketLink>();
  const connected = new Set<SocketLink>();
  const stopping = new AbortController();
  const firstConnection = Promise.withResolvers<void>();
  let app: App | undefined;
  let loops: Promise<void>[] = [];

  const handle = (envelope: Envelope) => inLogScope({ ref: newRef() }, () => handleInScope(envelope));

  async function handleInScope(envelope: Envelope) {
    if (app === undefined || stopping.signal.aborted) return;
    try {
      await acknowledgeAfter(app, envelope);
    } catch (error) {
      log.warn({ err: error }, 'a request was not acknowledged');
    }
  }

  /** Keeps one connection open while Docket runs. */
  async function maintainConnection(line: number) {
    // A connection that Slack wants renewed receives envelopes until the next one is open.
    const retired = new Set<SocketLink>();
    let failures = 0;
    while (!stopping.signal.aborted) {
      const link = openSocketLink({ ...parts, handle });
      links.add(link);
      let retryAfterMs = 0;
      try {
        await link.opened;
        for (const old of retired) void retire(old);
        retired.clear();
        const openedAtMs = performance.now();
        await serve(link, line);
        retired.add(link);
        // A connection that lasted is no failure: Slack renews each every few hours.
        if (performance.now() - openedAtMs > timing.retryMaxMs) failures = -1;
      } catch (error) {
        void retire(link);
        if (!stopping.signal.aborted) retryAfterMs = logFailure(line, error);
      }
      failures += 1;
      const pauseMs = failures === 0 ? 0 : backoffMs(timing, failures, random());
      await pause(Math.max(pauseMs, retryAfterMs), undefined, stopping).catch(() => {});
    }
  }

  /** Receives requests over a connection until it has ended. */
  async function serve(link: SocketLink, line: number) {
    connected.add(link);
    void link.closed.then(() => connected.delete(link));
    firstConnection.resolve();
    log.info({ line }, 'connected to Slack');
    const reason = await link.ended;
    if (!stopping.signal.aborted) log.info({ line, reason }, 'a connection to Slack is over');
    if (reason === 'link_disabled') log.error("Socket Mode is off: turn it on in the Slack app's settings");
  }

  /** Logs why there is no connection. Returns how long Slack asks us to wait. */
  function logFailure(line: number, error: unknown): number {
    const problem = toSlackApiError('apps.connections.open', error);
    const fix = 'check SLACK_APP_TOKEN, its scope connections:write, and that Socket Mode is on';
    if (problem.kind === 'token' || problem.kind === 'refused')
      log.error({ line, code: problem.code }, `Slack refuses the connection: ${fix}`);
    else {
      const why = error instanceof Error ? error.message : String(error);
      log.warn({ line, why }, 'no connection to Slack; I keep trying');
    }
    return problem.retryAfterMs ?? 0;
  }

  async function retire(link: SocketLink) {
    await withTimeout(RETIRE_MS, link.idle()).catch(() => {});
    link.close();
    links.delete(link);
  }

  return {
    init(bolt) {
      app = bolt;
    },
    connected: () => connected.size > 0,

    async start() {
      loops = Array.from({ length: CONNECTIONS }, (_, index) => maintainConnection(index + 1));
      await withTimeout(START_MS, firstConnection.promise).catch(() => {});
    },

    async stop() {
      stopping.abort();
      const idle = Promise.all([...links].map((link) => link.idle()));
      await withTimeout(DRAIN_MS, idle).catch(() =>
        log.warn('requests in work are cut off; Slack shows an error to whoever made them'),
      );
      for (const link of links) link.close();
      await Promise.all(loops);
    },
  };
}

/** Runs the listeners, then acknowledges with their payload. Throws if none of them acknowledged. */
async function acknowledgeAfter(app: App, envelope: Envelope): Promise<void> {
  const request = parseRequest(envelope.body);
  if (request === undefined) throw new Error('a body that Docket cannot read');
  if (request.kind !== 'listeners') return envelope.acknowledge();
  const acknowledgement = await runListeners(app, request.body);
  if (acknowledgement === undefined) throw new Error('no listener took it');
  await envelope.acknowledge(envelope.acceptsPayload ? acknowledgement.payload : undefined);
}
