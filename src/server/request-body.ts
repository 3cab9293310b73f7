import type { IncomingMessage } from 'node:http';

/** A long message with blocks, escaped and encoded, exceeds 600 kB. */
const MAX_BYTES = 2_000_000;

/** Maximum bytes of all bodies in progress together. */
const MAX_OPEN_BYTES = 32_000_000;

/** Approximate memory of a chunk without its bytes: a body can arrive in millions of chunks. */
const CHUNK_OVERHEAD_BYTES = 200;

/** A body was not read completely; `status` is the HTTP status of the answer. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly status: number;

  constructor(status: number, why: string) {
    super(why);
    this.status = status;
  }
}

interface OpenBody {
  bytes: number;
  refuse(reason: BodyRefused): void;
}

/**
 * Returns a function that reads a whole body. It rejects with `BodyRefused` if the body is too long or cut off. If all
 * open bodies together are too long, the longest one is refused, since Slack's are short. The server limits the time
 * for a body.
 */
export function createBodyReader(maxBytes = MAX_BYTES, maxOpenBytes = MAX_OPEN_BYTES) {
  const openBodies = new Set<OpenBody>();
  let openBytes = 0;

  function receive(body: OpenBody, bytes: number) {
    body.bytes += bytes;
    openBytes += bytes;
    if (body.bytes > maxBytes) body.refuse(new BodyRefused(413, 'too long'));
    while (openBytes > maxOpenBytes) {
      const longest = [...openBodies].reduce((one, other) => (other.bytes > one.bytes ? other : one));
      longest.refuse(new BodyRefused(503, 'too many bodies at once'));
    }
  }

  return function readBody(request: IncomingMessage): Promise<Buffer> {
    if (Number(request.headers['content-length']) > maxBytes)
      return Promise.reject(new BodyRefused(413, 'too long'));
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks: Buffer[] = [];
    const body: OpenBody = {
      bytes: 0,
      refuse(reason) {
        close();
        reject(reason);
      },
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      receive(body, chunk.length + CHUNK_OVERHEAD_BYTES);
    };
    const onEnd = () => {
      resolve(Buffer.concat(chunks));
      close();
    };
    const onClose = () => body.refuse(new BodyRefused(400, 'cut off'));

    function close() {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      // Without a listener, an error of the connection would end the process.
      request.on('error', () => {});
      if (openBodies.delete(body)) openBytes -= body.bytes;
      chunks.length = 0;
    }

    openBodies.add(body);
    request.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose);
    return promise;
  };
}
