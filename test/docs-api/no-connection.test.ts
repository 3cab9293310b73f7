import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { DocsApiOptions } from '../../src/docs-api/client.ts';
import { type DocsApiRequest, docsProblemOf } from '../../src/docs-api/errors.ts';
import { answering, clientOf, errorOf, tcpServer } from '../support/docs-api/servers.ts';
import { httpsPlatform, proxyTo, trust } from '../support/docs-api/tls.ts';
import { temporaryFolder } from '../support/flows/world.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const certificates = (name: string, options: Parameters<typeof makeCertificates>[1]) => {
  mkdirSync(join(folder.path, name));
  return makeCertificates(join(folder.path, name), options);
};
const good = certificates('good', { names: 'IP:127.0.0.1,DNS:docs-api.test' });
const noProxy = { httpProxy: '', httpsProxy: '', noProxy: '' };

/** A start that must fail, and what the operator reads. */
async function failedStart(url: string, options: Partial<DocsApiOptions> = {}) {
  const requests: DocsApiRequest[] = [];
  const log = (request: DocsApiRequest) => void requests.push(request);
  const error = await errorOf(clientOf(url, { ...options, log }).startExport({ domain: 'docs.acme.com' }));
  const advice = requests
    .map((one) => docsProblemOf(one, { name: 'acme', apiKeyVariable: 'DOCS_API_KEY' }))
    .at(-1);
  return { error, advice: advice?.text };
}

const nothing = { kind: 'refused', happened: 'no', retryable: true };

describe('no connection took the request: nothing happened', () => {
  test('nobody at the address', async () => {
    const closed = await tcpServer(() => {});
    await closed.close();
    for (const host of ['127.0.0.1', 'localhost']) {
      const { error, advice } = await failedStart(`http://${host}:${new URL(closed.url).port}`);
      expect(error).toMatchObject(nothing);
      expect(advice).toContain('does not answer at DOCS_API_URL (ECONNREFUSED)');
    }
  });

  test('no such host', async () => {
    expect((await failedStart('https://docs-api.invalid')).error).toMatchObject(nothing);
  });

  test('an address that nothing leads to', async () => {
    expect((await failedStart('https://[100::1]', { timeoutMs: 400 })).error).toMatchObject(nothing);
  });

  test.each([
    ['nobody speaks', (): void => {}],
    ['the other side hangs up', (socket: { destroy(): void }): void => socket.destroy()],
  ])('%s before the connection is encrypted', async (_, serve) => {
    const server = await tcpServer((socket) => serve(socket));
    const url = server.url.replace('http:', 'https:');
    expect((await failedStart(url, { timeoutMs: 400 })).error).toMatchObject(nothing);
  });
});

describe('through a proxy', () => {
  test('a start arrives once, over HTTP/1.1, with the user and password of the proxy', async () => {
    trust(good);
    const platform = await httpsPlatform(good);
    const proxy = await proxyTo(platform.port);
    const httpsProxy = proxy.url.replace('//', '//bob:secret@');
    const api = clientOf('https://docs-api.test', { proxies: { ...noProxy, httpsProxy } });
    expect(await api.startExport({ domain: 'docs.acme.com' })).toMatchObject({ jobId: 'se_1' });
    expect(platform.requests).toEqual(['1.1 POST /v1/static-export/jobs']);
    expect(proxy.asked).toEqual([
      { target: 'docs-api.test:443', authorization: `Basic ${btoa('bob:secret')}` },
    ]);
  });

  test('this machine and what NO_PROXY names are asked directly', async () => {
    const server = await answering(202, { jobId: 'se_1', status: 'pending' });
    const proxy = await proxyTo(1);
    const proxies = { httpProxy: proxy.url, httpsProxy: proxy.url, noProxy: 'docs-api.invalid' };
    await clientOf(server.url, { proxies }).startExport({ domain: 'docs.acme.com' });
    expect((await failedStart('https://docs-api.invalid', { proxies })).error).toMatchObject(nothing);
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    [407, 'The proxy requires a user and a password.'],
    [403, 'The proxy that HTTPS_PROXY names does not connect to DOCS_API_URL.'],
    [502, 'The proxy that HTTPS_PROXY names does not connect to DOCS_API_URL.'],
  ])('that refuses with %i, nothing happened', async (status, text) => {
    const platform = await httpsPlatform(good);
    const proxy = await proxyTo(platform.port, status);
    const proxies = { ...noProxy, httpsProxy: proxy.url };
    const { error, advice } = await failedStart('https://docs-api.test', { proxies });
    expect(error).toMatchObject(nothing);
    expect(advice).toContain(text);
    expect(advice).toContain(`(PROXY_${status})`);
    expect(platform.requests).toEqual([]);
  });

  test.each([
    ['is away', undefined],
    ['never answers', (): void => {}],
    ['hangs up', (socket: { destroy(): void }): void => socket.destroy()],
  ])('that %s, nothing happened', async (_, serve) => {
    const server = await tcpServer((socket) => serve?.(socket));
    if (serve === undefined) await server.close();
    const proxies = { ...noProxy, httpsProxy: server.url };
    const { error } = await failedStart('https://docs-api.test', { proxies, timeoutMs: 400 });
    expect(error).toMatchObject(nothing);
  });

  test('a request that was sent and got no answer stays unknown', async () => {
    trust(good);
    const platform = await httpsPlatform(good, { answers: false });
    const proxy = await proxyTo(platform.port);
    const proxies = { ...noProxy, httpsProxy: proxy.url };
    const { error } = await failedStart('https://docs-api.test', { proxies, timeoutMs: 600 });
    expect(error).toMatchObject({ kind: 'timeout', happened: 'unknown', retryable: false });
    expect(platform.requests).toHaveLength(1);
  });
});

test('a page of a website is another problem than an answer about a job or an input', async () => {
  const problemOf = async (
    status: number,
    body: unknown,
    call: 'startExport' | 'getExport' = 'startExport',
  ) => {
    const requests: DocsApiRequest[] = [];
    const api = clientOf((await answering(status, body)).url, { log: (request) => requests.push(request) });
    await api[call]({ domain: 'docs.acme.com', jobId: 'se_1' }).catch(() => {});
    return requests
      .map((one) => docsProblemOf(one, { name: 'acme', apiKeyVariable: 'ACME_DOCS_API_KEY' }))
      .at(-1);
  };
  expect(await problemOf(200, '<!doctype html>')).toMatchObject({ name: 'docs_unreachable' });
  expect(await problemOf(400, { error: 'no such domain' })).toBeUndefined();
  expect(await problemOf(404, { error: 'no such job' }, 'getExport')).toBeUndefined();
  expect(await problemOf(202, { jobId: 'se_1', status: 'pending' })).toBeUndefined();
});
