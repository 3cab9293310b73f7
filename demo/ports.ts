import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a port of this machine that is free now. It is below those that the system gives to outgoing connections and to
 * servers without a port of their own, so that it is still free when a program that was killed comes back to it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const listens = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!listens) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
