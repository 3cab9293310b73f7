import { createConnection, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';

type Options = Pick<RedisOptions, 'host' | 'port' | 'path' | 'tls' | 'disconnectTimeout'>;

/**
 * Connects as ioredis does by itself, but rejects a connection that leads to a read-only replica, so that ioredis
 * retries with growing pauses until the address leads to a primary.
 */
export class PrimaryConnector extends AbstractConnector {
  readonly #options: Options;

  constructor(options: unknown) {
    const known = options as Options;
    super(known.disconnectTimeout ?? 2000);
    this.#options = known;
  }

  /** ioredis calls it with the fields of INFO before it uses a connection; they are missing where INFO is forbidden. */
  override check(info: { role?: string; slave_read_only?: string }): boolean {
    return !isReadOnlyReplica(info);
  }

  override async connect(): Promise<Socket> {
    this.connecting = true;
    // As in ioredis: its caller has to go on first.
    await new Promise((resolve) => process.nextTick(resolve));
    if (!this.connecting) throw new Error('Connection is closed.');
    const { host = 'localhost', port = 6379, path, tls } = this.#options;
    const where = typeof path === 'string' ? { path } : { host, port };
    const stream = tls ? connectTls({ ...where, ...tls }) : createConnection(where);
    stream.once('error', (error: Error) => {
      this.firstError = error;
    });
    this.stream = stream;
    return writeAtOnce(stream);
  }
}

/**
 * Has what is written in one go leave together. ioredis writes each command by itself, and each costs a call of the
 * system, here and in Redis, and with `appendfsync always` a wait for the disk of its own.
 */
export function writeAtOnce<S extends Writable>(stream: S): S {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let held = false;
  stream.write = (...args: unknown[]) => {
    if (!held) {
      held = true;
      stream.cork();
      process.nextTick(() => {
        held = false;
        stream.uncork();
      });
    }
    return write(...args);
  };
  return stream;
}

/** Returns whether these fields of INFO are those of a server that refuses writes. */
export function isReadOnlyReplica(info: { role?: string; slave_read_only?: string }): boolean {
  return info.role === 'slave' && info.slave_read_only !== '0';
}

/** Returns the fields of INFO by name. */
export function infoFields(info: string): Record<string, string> {
  const lines = info.split('\r\n').filter((line) => line.includes(':'));
  // A value may have colons in it: replicas have IPv6 addresses, too.
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
