import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Redis, or to another server, that can lead elsewhere and go silent, as networks do. */
export interface RedisWay {
  url: string;
  port: number;
  /** New connections lead to this server; those that are open stay where they are. */
  leadTo(url: string): void;
  /** Connections that are open now carry nothing any more, and nobody tells their ends; new ones work. */
  goSilent(): void;
  /** Ends the connections that are open. */
  cut(): void;
  /** How many connections were made. */
  connections(): number;
  close(): void;
}

/** Opens one; `at` is its own port, any when left out. */
export async function openWay(url: string, at = 0): Promise<RedisWay> {
  let port = portOf(url);
  let made = 0;
  const open = new Set<[Socket, Socket]>();
  const server = createServer((client) => {
    made += 1;
    const behind = connect(port, '127.0.0.1');
    const pair: [Socket, Socket] = [client, behind];
    open.add(pair);
    for (const socket of pair) socket.on('error', () => {});
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
    client.pipe(behind);
    behind.pipe(client);
  }).listen(at, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const pair of open) for (const socket of pair) socket.destroy();
    open.clear();
  };
  const own = (server.address() as AddressInfo).port;
  return {
    url: `redis://127.0.0.1:${own}`,
    port: own,
    leadTo(to) {
      port = portOf(to);
    },
    goSilent() {
      for (const [client, behind] of open) {
        client.unpipe(behind);
        behind.unpipe(client);
        // What still comes is lost on the way.
        for (const socket of [client, behind]) socket.resume();
        behind.removeAllListeners('close');
      }
    },
    cut,
    connections: () => made,
    close() {
      server.close();
      cut();
    },
  };
}

const portOf = (url: string) => Number(new URL(url).port);
