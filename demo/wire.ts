import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { causing } from './caused.ts';

/** One call that a stand-in received, numbered from 1 in the order of arrival. `detail` holds no secret. */
export interface Call {
  n: number;
  name: string;
  atMs: number;
  detail: Record<string, unknown>;
  /** The port it came in on, which tells callers apart; empty without one. */
  port: string;
  /** What the caller got: an HTTP status, or `reset` / `hang`. Missing while the call is being answered. */
  outcome?: string;
  /** What it changed in the stand-in, in words. */
  readonly caused: readonly string[];
}

/** `before` the call took effect in the stand-in, or `after`, with the answer still unsent. */
export type Phase = 'before' | 'after';

/** Trouble that a test or the demo orders for coming calls. */
export type Fault =
  | { kind: 'delay'; ms: number }
  | MadeUpAnswer
  | { kind: 'garbage'; when: Phase }
  | { kind: 'reset'; when: Phase }
  | { kind: 'hang'; when: Phase };

/** Given instead of the real one; `after` lets the call take effect all the same. `text` is a body that is no JSON. */
interface MadeUpAnswer {
  kind: 'answer';
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  when?: Phase;
}

/** Trouble that was ordered. */
export interface Order {
  /** How many calls it still waits for. */
  readonly left: number;
  takeBack(): void;
}

type Match = string | ((call: Call) => boolean);
type Listener = (call: Call, phase: Phase) => void | Promise<void>;
type Effect = () => Response | Promise<Response>;

/** Answers of a call served without a socket that a real network would have broken; `fetchOf` turns it into an error. */
const RESET_MARK = 'x-stand-in-reset';

/**
 * The wire between the bot and a stand-in: it logs every call, lets tests act before and after each one
 * takes effect, and injects the faults that were ordered.
 */
export interface Wire {
  readonly calls: Call[];
  /** Applies `fault` to the next `times` calls that match a name or a predicate; Infinity: until it is taken back. */
  order(match: Match, fault: Fault, times?: number): Order;
  /** Forgets every fault that has not happened yet. */
  clear(): void;
  /** How many ordered faults have not happened yet. */
  readonly waiting: number;
  /** Runs at both phases of each call, and is awaited. Returns a function that removes the listener. */
  onCall(listener: Listener): () => void;
  /** Runs when a call begins, and when its outcome is known. */
  watch(watcher: (call: Call, moment: 'began' | 'ended') => void): void;
  /** Serves one call: logs it, applies faults, runs `effect` at most once. */
  serve(
    c: Context<{ Bindings: Partial<HttpBindings> }>,
    name: string,
    detail: Record<string, unknown>,
    effect: Effect,
  ): Promise<Response>;
}

export function createWire(nowMs: () => number): Wire {
  const calls: Call[] = [];
  const listeners = new Set<Listener>();
  const watchers: Parameters<Wire['watch']>[0][] = [];
  const orders: { match: Match; fault: Fault; left: number }[] = [];

  function takeFault(call: Call): Fault | undefined {
    const order = orders.find(
      ({ match, left }) => left > 0 && (typeof match === 'string' ? match === call.name : match(call)),
    );
    if (!order) return undefined;
    order.left -= 1;
    return order.fault;
  }

  async function tell(call: Call, phase: Phase): Promise<void> {
    for (const listener of listeners) await listener(call, phase);
  }

  async function answered(
    c: Context<{ Bindings: Partial<HttpBindings> }>,
    call: Call,
    effect: Effect,
  ): Promise<Response> {
    await tell(call, 'before');
    const fault = takeFault(call);
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    const spoil = spoilerOf(fault);
    if (spoil?.when === 'before') return spoil.answer(c, call);
    const answer = await effect();
    await tell(call, 'after');
    if (spoil) return spoil.answer(c, call);
    call.outcome = String(answer.status);
    return answer;
  }

  return {
    calls,
    order(match, fault, times = 1) {
      const order = { match, fault, left: times };
      orders.push(order);
      return {
        get left() {
          return orders.includes(order) ? order.left : 0;
        },
        takeBack: () => {
          order.left = 0;
        },
      };
    },
    clear: () => void orders.splice(0),
    get waiting() {
      return orders.reduce((sum, { left }) => sum + left, 0);
    },
    onCall(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watch: (watcher) => void watchers.push(watcher),
    async serve(c, name, detail, effect) {
      const port = new URL(c.req.url).port;
      const caused: string[] = [];
      const call: Call = { n: calls.length + 1, name, atMs: nowMs(), detail, port, caused };
      calls.push(call);
      for (const watcher of watchers) watcher(call, 'began');
      try {
        return await causing(caused, () => answered(c, call, effect));
      } finally {
        for (const watcher of watchers) watcher(call, 'ended');
      }
    },
  };
}

type Spoiled = (c: Context<{ Bindings: Partial<HttpBindings> }>, call: Call) => Response | Promise<Response>;

/** What takes the place of the real answer, and from when on. */
function spoilerOf(fault: Fault | undefined): { when: Phase; answer: Spoiled } | undefined {
  if (fault === undefined || fault.kind === 'delay') return undefined;
  if (fault.kind === 'answer')
    return { when: fault.when ?? 'before', answer: (_, call) => madeUp(fault, call) };
  const { kind, when } = fault;
  return { when, answer: (c, call) => breakOff(c, call, kind) };
}

function madeUp({ status, headers = {}, body = {}, text }: MadeUpAnswer, call: Call): Response {
  call.outcome = String(status);
  if (text === undefined) return Response.json(body, { status, headers });
  return new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } });
}

function breakOff(
  c: Context<{ Bindings: Partial<HttpBindings> }>,
  call: Call,
  kind: 'garbage' | 'reset' | 'hang',
) {
  call.outcome = kind;
  if (kind === 'garbage') {
    return new Response('<html>502 from a proxy', { headers: { 'content-type': 'application/json' } });
  }
  const socket = c.env?.incoming?.socket;
  if (kind === 'hang') return socket ? RESPONSE_ALREADY_SENT : new Promise<Response>(() => {});
  if (!socket) return new Response(null, { headers: { [RESET_MARK]: '1' } });
  socket.resetAndDestroy();
  return RESPONSE_ALREADY_SENT;
}

/** A `fetch` that reaches a stand-in inside this process, without a port; an ordered reset rejects as a real one does. */
export function fetchOf(app: { fetch(request: Request): Response | Promise<Response> }): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const answer = await Promise.race([app.fetch(request), abortOf(request.signal)]);
    if (!answer.headers.has(RESET_MARK)) return answer;
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
  };
}

/** Rejects once the caller gives up, so that an ordered hang ends as it does on a socket. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Makes a server listen on loopback. Without a port, it takes any free one. */
export async function listenLocally(
  server: Server,
  wanted = 0,
): Promise<{ url: string; close(): Promise<void> }> {
  await once(server.listen(wanted, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
