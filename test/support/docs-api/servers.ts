import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createDocsApi, type DocsApi, type DocsApiOptions } from '../../../src/docs-api/client.ts';
import { DocsApiError } from '../../../src/docs-api/errors.ts';

export const KEY = 'adm_0123456789abcdef';

/** A client for a test, closed at its end. */
export function clientOf(baseUrl: string, options: Partial<DocsApiOptions> = {}): DocsApi {
  const api = createDocsApi({ baseUrl, apiKey: KEY, timeoutMs: 5000, ...options });
  // A test may have closed it itself.
  onTestFinished(() => void api.close().catch(() => {}));
  return api;
}

/** An HTTP server on a loopback port that logs what it got. */
export async function httpServer(
  answer: (request: IncomingMessage, response: ServerResponse, n: number) => void,
) {
  const requests: { line: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    const entry = { line: `${request.method} ${request.url}`, headers: request.headers, body: '' };
    requests.push(entry);
    const n = requests.length;
    for await (const chunk of request) chunks.push(chunk);
    entry.body = Buffer.concat(chunks).toString();
    answer(request, response, n);
  });
  const url = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, requests };
}

/** An HTTP server that always answers the same. */
export function answering(status: number, body: unknown, headers: Record<string, string> = {}) {
  return httpServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** A TCP server: `serve` gets every connection, numbered from 1. */
export async function tcpServer(serve: (socket: Socket, n: number) => void) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    serve(socket, sockets.length);
  });
  const url = await listening(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url, sockets, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The error of a call that must fail, and with nothing but a `DocsApiError`. */
export async function errorOf(call: Promise<unknown>): Promise<DocsApiError> {
  const error = await call.then(
    () => new Error('the call gave a result'),
    (reason: unknown) => reason,
  );
  if (error instanceof DocsApiError) return error;
  throw error;
}
