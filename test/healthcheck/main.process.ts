import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../demo/ports.ts';
import { startNode } from '../support/processes.ts';

async function check(port: number) {
  const { ended, output } = startNode(['src/healthcheck/main.ts'], { env: { PORT: String(port) } });
  return { code: await ended, said: output().trim().replace(String(port), 'PORT') };
}

test.each([
  [200, 0],
  [503, 1],
])('a Docket that answers %i ends it with %i', async (status, code) => {
  const server = createServer(({ url }, response) =>
    response.writeHead(url === '/healthz' ? status : 404).end(),
  ).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await check(port)).toEqual({ code, said: `http://127.0.0.1:PORT/healthz: ${status}` });
});

test('no Docket ends it with 1', async () => {
  expect(await check(await freePort())).toMatchObject({ code: 1 });
});
