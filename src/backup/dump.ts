import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { connect } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A backup could not be taken, or cannot be put back; the message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** A server that is busy waits for a while before it answers, and sends empty lines meanwhile. */
const SILENT_MS = 30_000;

/**
 * What a replica says that takes the data as they are read, without a file on the server's disk: Redis 6.2 makes one
 * unless it is told not to. Each waits for the answer to the one before; SYNC is answered with a mark and the data.
 */
const REQUESTS = [
  'CONFIG SET repl-diskless-sync YES',
  'CONFIG SET repl-diskless-sync-delay 0',
  'REPLCONF CAPA EOF',
  'SYNC',
];

/**
 * Writes all data of the Redis behind the socket, as it is at one moment, to `target`: as a replica gets it, so that
 * nothing waits for it and nothing is left on the server's disk. Returns the number of bytes. Throws `BackupError`.
 */
export async function dumpRedis(socketPath: string, target: Writable): Promise<number> {
  const requests = [...REQUESTS];
  const socket = connect(socketPath, sendNext);
  socket.setTimeout(SILENT_MS, () => socket.destroy(new BackupError('Redis does not answer.')));
  let mark: Buffer | undefined;
  let written = 0;

  function sendNext(): void {
    socket.write(`${requests.shift()}\r\n`);
  }

  /** Takes the answers in front of the data. Returns the rest. */
  function takeAnswers(bytes: Buffer): Buffer {
    let rest = bytes;
    for (let end = rest.indexOf('\n'); mark === undefined && end >= 0; end = rest.indexOf('\n')) {
      const line = rest.toString('latin1', 0, end).trimEnd();
      rest = rest.subarray(end + 1);
      // A setting that this server does not know, or does not let anybody change, is no reason not to go on.
      if (line !== '' && requests.length > 0) sendNext();
      else if (line !== '') mark = markOf(line);
    }
    return rest;
  }

  /** Returns the data: what comes before the mark comes again. */
  async function* contents(): AsyncGenerator<Buffer> {
    let held: Buffer = Buffer.alloc(0);
    for await (const part of socket as AsyncIterable<Buffer>) {
      held = Buffer.concat([held, part]);
      if (mark === undefined) held = takeAnswers(held);
      if (mark === undefined) continue;
      const ends = held.subarray(-mark.length).equals(mark);
      // The last bytes may be a part of the mark.
      const ready = held.subarray(0, Math.max(0, held.length - mark.length));
      held = held.subarray(ready.length);
      written += ready.length;
      if (ready.length > 0) yield ready;
      if (ends) return;
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

function markOf(line: string): Buffer {
  const [, mark] = /^\$EOF:(\w{40})$/.exec(line) ?? [];
  if (mark === undefined)
    throw new BackupError(`Redis refuses to send its data (${line.replace(/[^\w -]/g, '').slice(0, 80)}).`);
  return Buffer.from(mark);
}

/** Returns the code of an error of the system, else its message. */
export const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

const OPCODE_AUX = 0xfa;
const OPCODE_END = 0xff;
const INT_32 = 0xc2;

/** At the end: the end of the data, and its checksum. */
const END_BYTES = 9;

/** Redis writes when the data was as it is among the first. */
const HEAD_BYTES = 1000;

/**
 * Returns when the data of a backup was as it is in it, by the clock of its Redis. Throws `BackupError` when it is none,
 * or not whole; its checksum is verified by the Redis that loads it.
 */
export function takenAtMsOf(file: string): number {
  const { head, tail } = endsOf(file);
  if (!/^(?:REDIS|VALKEY)\d/.test(head.toString('latin1', 0, 9)))
    throw new BackupError('This is not a Docket backup.');
  const name = Buffer.from([OPCODE_AUX, 5, ...Buffer.from('ctime'), INT_32]);
  const at = head.indexOf(name);
  if (at < 0) throw new BackupError('The backup does not say when it was taken.');
  if (tail[0] !== OPCODE_END)
    throw new BackupError('The backup is incomplete: its end is missing. Use an earlier one.');
  return head.readInt32LE(at + name.length) * 1000;
}

/** Returns the first and the last bytes of a file of any size. */
function endsOf(file: string): { head: Buffer; tail: Buffer } {
  const fd = openSync(file, 'r');
  try {
    const { size } = fstatSync(fd);
    const read = (at: number, length: number) => {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - at)));
      readSync(fd, bytes, 0, bytes.length, at);
      return bytes;
    };
    return { head: read(0, HEAD_BYTES), tail: read(Math.max(0, size - END_BYTES), END_BYTES) };
  } finally {
    closeSync(fd);
  }
}
