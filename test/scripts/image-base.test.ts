import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { baseOf, pinned, resolveDigest } from '../../scripts/image-base.mjs';

const INDEX = JSON.stringify({ schemaVersion: 2, manifests: [] });
const DIGEST = `sha256:${createHash('sha256').update(INDEX).digest('hex')}`;

async function registry(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the digest is that of the content, which a token of the registry is asked for', async () => {
  const asked: string[] = [];
  const address: string = await registry(({ url = '', headers, headers: { host } }, response) => {
    asked.push(url);
    if (url.startsWith('/token')) return response.end(JSON.stringify({ token: 'for-all' }));
    if (headers.authorization !== 'Bearer for-all')
      return response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="http://${host}/token",service="here",scope="repository:library/node:pull"`,
        })
        .end();
    return response.writeHead(200, { 'docker-content-digest': DIGEST }).end(INDEX);
  });
  expect(await resolveDigest('node:26-bookworm-slim', address)).toEqual({ digest: DIGEST });
  expect(asked).toEqual([
    '/v2/library/node/manifests/26-bookworm-slim',
    '/token?service=here&scope=repository%3Alibrary%2Fnode%3Apull',
    '/v2/library/node/manifests/26-bookworm-slim',
  ]);
});

test('the digest stands behind the tag, in place of an earlier one', () => {
  const once = pinned('# x\nARG BASE=node:26-bookworm-slim\nFROM $BASE\n', DIGEST);
  expect(once).toBe(`# x\nARG BASE=node:26-bookworm-slim@${DIGEST}\nFROM $BASE\n`);
  expect(pinned(once, 'sha256:1')).toContain('ARG BASE=node:26-bookworm-slim@sha256:1\n');
  expect(baseOf(once)).toBe('node:26-bookworm-slim');
});
