import { connect } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A backup could not be taken, or cannot be put back; the message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** A server that is busy saves for a while before it answers, and sends empty lines meanwhile. */
const SILENT_MS = 30_000;

/**
 * Writes all data of the Redis behind the socket, as it is at one moment, to `target`: as a replica gets it, so that
 * nothing waits for it and nothing is left on the server's disk. Returns the number of bytes. Throws `BackupError`.
 */
export async function dumpRedis(socketPath: string, target: Writable): Promise<number> {
  const socket = connect(socketPath, () => socket.write('SYNC\r\n'));
  socket.setTimeout(SILENT_MS, () => socket.destroy(new BackupError('Redis does not answer.')));
  let written = 0;

  /** Returns what follows the length, that many bytes. */
  async function* contents(): AsyncGenerator<Buffer> {
    let head = Buffer.alloc(0);
    let length: number | undefined;
    for await (const part of socket as AsyncIterable<Buffer>) {
      let bytes = part;
      if (length === undefined) {
        head = Buffer.concat([head, part]);
        const start = head.findIndex((byte) => byte !== 0x0a);
        const end = start < 0 ? -1 : head.indexOf('\r\n', start);
        if (end < 0) continue;
        length = lengthOf(head.toString('latin1', start, end));
        bytes = head.subarray(end + 2);
      }
      const wanted = bytes.subarray(0, length - written);
      written += wanted.length;
      if (wanted.length > 0) yield wanted;
      if (written === length) return;
    }
    throw new BackupError('Redis ended before it had sent all of its data. Run this again.');
  }

  try {
    await pipeline(contents, target);
  } catch (error) {
    throw error instanceof BackupError
      ? error
      : new BackupError(`The backup could not be written (${codeOf(error)}).`, { cause: error });
  } finally {
    socket.destroy();
  }
  return written;
}

function lengthOf(line: string): number {
  const [, length] = /^\$(\d+)$/.exec(line) ?? [];
  if (length === undefined)
    throw new BackupError(`Redis does not give its data out (${line.replace(/[^\w -]/g, '').slice(0, 80)}).`);
  return Number(length);
}

/** Returns the code of an error of the system, else its message. */
export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const OPCODE_AUX = 0xfa;
const OPCODE_END = 0xff;
const INT_32 = 0xc2;

/** At the end: the end of the data, and its checksum. */
const END_BYTES = 9;

/**
 * Returns when the data of a backup was as it is in it, by the clock of its Redis. Throws `BackupError` when it is none,
 * or not whole; its checksum is verified by the Redis that loads it.
 */
export function takenAtMsOf(bytes: Buffer): number {
  if (!/^(?:REDIS|VALKEY)\d/.test(bytes.toString('latin1', 0, 9)))
    throw new BackupError('This is no backup of Docket.');
  const name = Buffer.from([OPCODE_AUX, 5, ...Buffer.from('ctime'), INT_32]);
  const at = bytes.subarray(0, 1000).indexOf(name);
  if (at < 0) throw new BackupError('The backup does not say when it was taken.');
  if (bytes.at(-END_BYTES) !== OPCODE_END)
    throw new BackupError('The backup is not whole: its end is missing. Take an earlier one.');
  return bytes.readInt32LE(at + name.length) * 1000;
}
