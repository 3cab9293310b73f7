import { expect, test } from 'vitest';
import { TOO_LATE } from '../../src/slack/errors.ts';
import { fetchInTime } from '../../src/slack/web-calls.ts';
import { answering, tcpServer } from '../support/docs-api/servers.ts';

const init = {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'user-agent': 'docket' },
  body: '{"text":"größer"}',
};

test('a request that is too late is not sent, and whether it is shows only once the connection is there', async () => {
  let connections = 0;
  const received: string[] = [];
  const server = await tcpServer((socket) => {
    connections += 1;
    socket.on('data', (data) => {
      received.push(String(data));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  const connectedWhenAsked: boolean[] = [];
  const isTooLate = () => connectedWhenAsked.push(connections > 0) > 0;
  const error = await fetchInTime(server.url, init, isTooLate).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ cause: { code: TOO_LATE } });
  expect(connectedWhenAsked).toHaveLength(1);
  expect(received).toEqual([]);
  // Where it always takes too long to connect, the next try finds the connection there.
  expect((await fetchInTime(server.url, init, () => false)).status).toBe(200);
  expect(connections).toBe(1);
});

test('one that is in time goes out as from the global fetch', async () => {
  const server = await answering(200, { ok: true });
  const response = await fetchInTime(`${server.url}/api/chat.postMessage`, init, () => false);
  expect(await response.json()).toEqual({ ok: true });
  await (await fetch(`${server.url}/api/chat.postMessage`, init)).text();
  const [inTime, plain] = server.requests;
  expect(inTime).toEqual(plain);
});
