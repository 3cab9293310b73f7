import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { addresses as addressList } from '../../src/config/settings.ts';
import { createLog } from '../../src/runtime/log.ts';
import { startHttpServer } from '../../src/server/http-server.ts';
import { serveMetrics } from '../../src/server/metrics.ts';
import { someMetrics } from '../support/metrics.ts';

async function served(addresses = '') {
  const server = await startHttpServer('PORT', 0, createLog('silent', []));
  onTestFinished(() => server.close());
  serveMetrics(server, someMetrics(), addressList.parse(addresses));
  /** Asks as somebody at `host` would, and returns the status. */
  const ask = (headers: Record<string, string> = {}, host = '127.0.0.1') =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request({ host, port: server.port, path: '/metrics', headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      });
      asked.on('error', reject).end();
    });
  return Object.assign(ask, { port: server.port });
}

/** An address of this machine that is not its loopback. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

describe('by default', () => {
  test('this machine reads them, by each of its names', async () => {
    const ask = await served();
    expect(await ask()).toBe(200);
    for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.53:3000', '[::1]:3000'])
      expect(await ask({ host })).toBe(200);
  });

  test.each([
    ['forwarded', 'for=203.0.113.7'],
    ['x-forwarded-for', '127.0.0.1'],
    ['X-Forwarded-Proto', 'https'],
    ['x-forwarded-anything', ''],
    ['via', '1.1 proxy'],
    ['x-real-ip', '203.0.113.7'],
    ['CF-Connecting-IP', '203.0.113.7'],
    ['True-Client-IP', '127.0.0.1'],
  ])('nobody through a proxy on this machine: %s', async (name, value) => {
    const ask = await served();
    expect(await ask({ [name]: value })).toBe(403);
  });

  test.each(['docs.example.com', 'localhost.evil.example', '127.0.0.1.evil.example:3000', '10.0.0.7:3000'])(
    'nor under another name, as a page in a browser or a proxy that keeps the name: %s',
    async (host) => {
      const ask = await served();
      expect(await ask({ host })).toBe(403);
    },
  );

  test.skipIf(outside === undefined)('nor somebody from another address', async () => {
    const ask = await served();
    expect(await ask({ host: 'localhost' }, outside)).toBe(403);
  });
});

describe('METRICS_ADDRESS', () => {
  test.skipIf(outside === undefined)('lets in an address, and a range of them, under any name', async () => {
    for (const list of [`${outside}`, `192.0.2.1, ${outside?.replace(/\d+$/, '0')}/24`]) {
      const ask = await served(list);
      expect(await ask({ host: 'docket.internal' }, outside)).toBe(200);
    }
  });
});
