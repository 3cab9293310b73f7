import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Certificates } from '../store/certificates.ts';

/** Listens on this machine until the test ends. Returns the port. */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A platform over https, which speaks HTTP/2, too. `requests` are those that reached it, with their protocol. */
export async function httpsPlatform({ cert, key }: Certificates, { answers = true } = {}) {
  const requests: string[] = [];
  const server = createSecureServer(
    { cert: readFileSync(cert), key: readFileSync(key), allowHTTP1: true },
    (request, response) => {
      requests.push(`${request.httpVersion} ${request.method} ${request.url}`);
      if (!answers) return;
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end('{"jobId":"se_1","status":"pending","domain":"docs.acme.com"}');
    },
  );
  return { port: await listen(server), requests };
}

/** Takes TLS off, and passes on to `port` of this machine. Returns its own port. */
export const tlsBefore = (port: number, { cert, key }: Certificates) =>
  listen(
    tls.createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (socket) => {
      const plain = connect(port, '127.0.0.1');
      for (const one of [plain, socket]) one.on('error', () => plain.destroy());
      plain.pipe(socket).pipe(plain);
    }),
  );

/**
 * A proxy that leads to a port of this machine, whatever host is asked for, or by host; with a `status`, it refuses with
 * that.
 */
export async function proxyTo(ports: number | Record<string, number>, status = 200) {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const server = createHttpServer();
  server.on('connect', (request, client: Socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const port = typeof ports === 'number' ? ports : ports[request.url?.split(':')[0] ?? ''];
    const upstream = connect(port ?? 1, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [upstream, client]) socket.on('error', () => upstream.destroy());
    return upstream;
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, asked };
}

/** Trusts an authority in the whole process of the test until it ends. */
export function trust({ ca }: Certificates): void {
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, readFileSync(ca, 'utf8')]);
  onTestFinished(() => tls.setDefaultCACertificates(before));
}
