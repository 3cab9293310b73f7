import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../demo/ports.ts';
import { checkRedis, isFatal, type RedisProblem } from '../../../src/store/redis/check.ts';
import { temporaryFolder } from '../../support/flows/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const usual = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', save: '', requirepass: '' };
afterEach(() => configure(usual));

async function configure(settings: Record<string, string>) {
  for (const [name, value] of Object.entries(settings)) await redis.client.config('SET', name, value);
}

const labelOf = (problem: RedisProblem) => (isFatal(problem) ? `${problem.kind}!` : problem.kind);

const kindsAt = async (url: string, ca?: string) => (await checkRedis({ url, ca })).problems.map(labelOf);
const at = (rest: string) => redis.url.replace('redis://', rest);

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('a Redis as it should be has no problem, and nothing is written into it', async () => {
  expect(await kindsAt(redis.url)).toEqual([]);
  expect(await kindsAt(`${redis.url}/15`)).toEqual([]);
  expect(await redis.client.info('keyspace')).not.toContain('db');
});

test('a password that is missing or wrong', async () => {
  await configure({ requirepass: 'S3cret' });
  const answers = await Promise.all(
    ['redis://', 'redis://:wr0ng@', 'redis://nobody:S3cret@'].map((rest) => checkRedis({ url: at(rest) })),
  );
  for (const {
    problems: [problem],
  } of answers) {
    expect(problem).toMatchObject({ kind: 'password' });
    expect(problem?.text).not.toMatch(/S3cret|wr0ng|nobody/);
  }
  expect(await kindsAt(at('redis://:S3cret@'))).toEqual([]);
});

test('nobody listens, or nobody of that name', async () => {
  expect(await kindsAt(`redis://127.0.0.1:${await freePort()}`)).toEqual(['unreachable']);
  expect(await kindsAt('redis://nobody.invalid')).toEqual(['unreachable']);
});

test.each(['redis', 'rediss'])('a web server is no Redis, at %s://', async (scheme) => {
  const port = await listening(createHttpServer((_, response) => void response.end('<html>')));
  expect(await kindsAt(`${scheme}://127.0.0.1:${port}`)).toEqual(['address!']);
});

test('with TLS, a certificate of our own authority counts once it is named', async ({ skip }) => {
  const canTls = String(await redis.client.config('GET', 'tls-port')) !== '';
  skip(!canTls || spawnSync('openssl', ['version']).status !== 0, 'needs openssl and a Redis with TLS');
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const [cert, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
  const made = spawnSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${key} -out ${cert} -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1`.split(
      ' ',
    ),
  );
  expect(made.status).toBe(0);
  const port = await freePort();
  await configure({
    'tls-cert-file': cert,
    'tls-key-file': key,
    'tls-ca-cert-file': cert,
    'tls-auth-clients': 'no',
  });
  await configure({ 'tls-port': String(port) });
  onTestFinished(() => configure({ 'tls-port': '0' }));

  const url = `rediss://127.0.0.1:${port}`;
  expect(await kindsAt(url)).toEqual(['certificate!']);
  expect(await kindsAt(url, readFileSync(cert, 'utf8'))).toEqual([]);
  const [plainly] = (await checkRedis({ url: url.replace('rediss', 'redis') })).problems;
  expect(plainly).toMatchObject({ kind: 'unreachable' });
  expect(plainly?.text).toContain('begins with rediss if it expects TLS');
});
