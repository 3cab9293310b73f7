import { connect, type Socket } from 'node:net';
import { serve } from './remote.ts';

/** Somebody who sends large bodies without a right to. */
export interface Flood {
  port: number;
  path: string;
  headers: Record<string, string>;
  connections: number;
  bytes: number;
  /** Of each chunk of `Transfer-Encoding: chunked`; 0 is a body with a length. */
  pieceBytes: number;
}

const handlers = {
  /** Sends the head and the body in one write on each connection. Resolves when all are closed, or after `forMs`. */
  async flood({ port, path, headers, connections, bytes, pieceBytes }: Flood, forMs: number) {
    const piece = pieceBytes > 0 && `${pieceBytes.toString(16)}\r\n${'x'.repeat(pieceBytes)}\r\n`;
    const body = piece ? piece.repeat(bytes / piece.length) : 'x'.repeat(bytes);
    const all = { ...headers, ...(piece ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes }) };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const sent = Buffer.from(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n${body}`);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
    const closed = sockets.map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const socket of sockets) socket.write(sent);
    const limit = new Promise<void>((resolve) => setTimeout(resolve, forMs).unref());
    await Promise.race([Promise.all(closed), limit]);
    for (const socket of sockets) socket.destroy();
  },
};

const open = (port: number) =>
  new Promise<Socket>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', () => resolve(socket)).resume();
  });

export type FloodProcess = typeof handlers;
serve(handlers);
