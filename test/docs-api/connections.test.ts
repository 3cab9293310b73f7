import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { DocsApi } from '../../src/docs-api/client.ts';
import { answering, clientOf, errorOf, httpServer, tcpServer } from '../support/docs-api/servers.ts';

const start = (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' });
const look = (api: DocsApi) => api.getExport({ jobId: 'se_1' });

/** One whole HTTP answer. */
function answerOf(body: string, headers = 'connection: keep-alive\r\n'): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`;
}

describe('a request that its caller may no longer make', () => {
  test('is not sent, also when that shows only once the connection is there', async () => {
    const server = await answering(202, { jobId: 'se_1', status: 'pending' });
    let asked = 0;
    const isTooLate = () => {
      asked += 1;
      return true;
    };
    const error = await errorOf(clientOf(server.url).startExport({ domain: 'docs.acme.com' }, { isTooLate }));
    expect(error).toMatchObject({ kind: 'aborted', happened: 'no' });
    expect(asked).toBe(1);
    expect(server.requests).toEqual([]);
  });
});

describe('a start is sent once', () => {
  test('also when the connection closes without an answer', async () => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.destroy()));
    const error = await errorOf(start(clientOf(server.url)));
    expect(error).toMatchObject({
      kind: 'connection',
      happened: 'unknown',
      retryable: false,
      status: undefined,
    });
    expect(server.sockets).toHaveLength(1);
  });

  test('and never on a kept connection, so that a closed one cannot leave it unknown', async () => {
    const server = await tcpServer((socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        // Every connection dies at its second request, as if it had been closed while idle.
        if (requests > 1) socket.resetAndDestroy();
        else socket.write(answerOf('{"jobId":"se_1","status":"running"}'));
      });
    });
    const api = clientOf(server.url);
    await look(api);
    for (let n = 0; n < 3; n += 1) expect(await start(api)).toMatchObject({ jobId: 'se_1' });
  });
});

describe('time limits', () => {
  test('no headers: a start is unknown after the whole limit', async () => {
    const server = await httpServer(() => {});
    const startMs = performance.now();
    const error = await errorOf(start(clientOf(server.url, { timeoutMs: 300 })));
    expect(error).toMatchObject({
      kind: 'timeout',
      happened: 'unknown',
      retryable: false,
      status: undefined,
    });
    expect(performance.now() - startMs).toBeLessThan(1000);
    expect(server.requests).toHaveLength(1);
  });

  test('a body that stops, or only drips, ends with the limit', async () => {
    for (const everyMs of [0, 20]) {
      const server = await httpServer((_, response) => {
        response.writeHead(202, { 'content-type': 'application/json' }).write('{"jobId":');
        if (everyMs === 0) return;
        const drip = setInterval(() => response.write(' '), everyMs);
        response.on('close', () => clearInterval(drip));
      });
      expect(await errorOf(start(clientOf(server.url, { timeoutMs: 300 })))).toMatchObject({
        kind: 'timeout',
        status: 202,
        happened: 'unknown',
      });
      expect(server.requests).toHaveLength(1);
    }
  });

  test('an error answer whose body hangs still proves what its status proves', async () => {
    const server = await httpServer((_, response) => void response.writeHead(422).write('{'));
    expect(await errorOf(start(clientOf(server.url, { timeoutMs: 300 })))).toMatchObject({
      kind: 'bad_request',
      status: 422,
      happened: 'no',
    });
  });
});

describe('a signal', () => {
  test('during the call leaves a start unknown', async () => {
    const server = await httpServer(() => {});
    const stop = new AbortController();
    const call = errorOf(
      clientOf(server.url).startExport({ domain: 'docs.acme.com' }, { signal: stop.signal }),
    );
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    stop.abort();
    expect(await call).toMatchObject({ kind: 'aborted', happened: 'unknown', retryable: false });
  });
});

describe('answers that are too large', () => {
  test('announced: nothing of the body is read', async () => {
    const server = await answering(202, { jobId: 'x'.repeat(10_000_001) });
    const error = await errorOf(start(clientOf(server.url)));
    expect(error).toMatchObject({ kind: 'unreadable', status: 202, happened: 'unknown', retryable: false });
  });

  test('unannounced: reading stops at the limit', async () => {
    let written = 0;
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = setInterval(() => {
        written += 1_000_000;
        response.write('x'.repeat(1_000_000));
      }, 1);
      response.on('close', () => clearInterval(pour));
    });
    const error = await errorOf(look(clientOf(server.url)));
    expect(error).toMatchObject({ kind: 'unreadable', status: 200 });
    await sleep(50);
    const afterwards = written;
    await sleep(50);
    expect(written).toBe(afterwards);
  });
});

test('what is no HTTP proves nothing', async () => {
  const server = await tcpServer((socket) =>
    socket.on('data', () => socket.end('SSH-2.0-x https://f.test/b?sig=1\r\n')),
  );
  const error = await errorOf(start(clientOf(server.url)));
  expect(error).toMatchObject({ kind: 'unreadable', happened: 'unknown', retryable: false });
});

test.each([301, 302, 303, 307, 308])(
  'a redirect (%s) is not followed: the key stays here',
  async (status) => {
    const elsewhere = await answering(200, { status: 'running' });
    const server = await answering(status, {}, { location: `${elsewhere.url}/v1/static-export/jobs/se_1` });
    expect(await errorOf(look(clientOf(server.url)))).toMatchObject({ kind: 'redirect', status });
    expect(elsewhere.requests).toEqual([]);
  },
);

test('a closed client sends nothing', async () => {
  const server = await answering(200, { status: 'running' });
  const api = clientOf(server.url);
  await api.close();
  expect(await errorOf(look(api))).toMatchObject({ kind: 'aborted', happened: 'no' });
  expect(server.requests).toEqual([]);
});
