import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenDemo, openStandIns, raw } from '../test-support/browser.ts';

let demo: OpenDemo;
beforeAll(async () => {
  demo = await openStandIns();
});
afterAll(() => demo.close());

const json = { 'content-type': 'application/json' };
const write = JSON.stringify({ as: 'ana', do: 'write', channel: 'C000000001', text: 'hi' });
const posted = () => demo.world.slack.messages.length;

describe('refuses what no page of its own asks for', () => {
  test.each([
    ['another host', '/', { host: 'evil.example' }],
    ['its address with another port', '/', { host: '127.0.0.1:1' }],
    ['a name that begins like its own', '/', { host: '127.0.0.1.evil.example' }],
    ['a stream for another origin', '/live?as=ana', { origin: 'https://evil.example' }],
    ['a stream for another site', '/live?as=ana', { 'sec-fetch-site': 'cross-site' }],
    ['a stream for another port', '/live?as=ana', { 'sec-fetch-site': 'same-site' }],
    ['a stream in a tab', '/live?as=ana', { 'sec-fetch-site': 'none' }],
    ['a file for another site', '/files/F1?as=ana', { 'sec-fetch-site': 'cross-site' }],
  ])('%s', async (_, path, headers) => {
    expect((await raw(demo.url + path, { headers })).status).toBe(403);
  });

  test.each<[string, Record<string, string>]>([
    ['nowhere', {}],
    ['another origin', { origin: 'https://evil.example' }],
    ['a page without an origin', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
  ])('a change from %s', async (_, headers) => {
    const before = posted();
    for (const path of ['/act', '/trouble']) {
      const answer = await raw(demo.url + path, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: write,
      });
      expect(answer.status).toBe(403);
    }
    expect(posted()).toBe(before);
  });

  test('a change that a form could send', async () => {
    const headers = { 'content-type': 'text/plain', origin: demo.url };
    expect((await raw(`${demo.url}/act`, { method: 'POST', headers, body: write })).status).toBe(415);
  });
});

test('serves its own page, under both names of this machine, with all protections', async () => {
  const { port } = new URL(demo.url);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const { status, headers, text } = await raw(`${demo.url}/`, { headers: { host } });
    expect({ status, text }).toEqual({ status: 200, text: '<!doctype html><title>Demo</title>' });
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'self'; img-src 'self' data:;"),
      'x-content-type-options': 'nosniff',
    });
    const same = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    expect((await raw(`${demo.url}/live?as=ana`, { headers: same })).status).toBe(200);
  }
});

test.each([
  '/../server.ts',
  '/%2e%2e/server.ts',
  '/assets/..%2f..%2fpackage.json',
  '/nothing.js',
  '//etc/passwd',
])('serves nothing but the page: %s', async (path) => {
  expect((await raw(demo.url + path, {})).status).toBe(404);
});

describe('takes a body that', () => {
  const send = (body: string) =>
    raw(`${demo.url}/act`, { method: 'POST', headers: { ...json, origin: demo.url }, body });

  test.each([
    ['is no JSON', '{'],
    ['is empty', ''],
    ['is null', 'null'],
    ['is a list', '[]'],
    ['is somebody else', JSON.stringify({ ...JSON.parse(write), as: 'eve' })],
    ['does something else', JSON.stringify({ as: 'ana', do: 'fly' })],
    ['has more in it', JSON.stringify({ ...JSON.parse(write), more: 1 })],
    ['lacks something', JSON.stringify({ as: 'ana', do: 'write' })],
    ['has a wrong type', JSON.stringify({ ...JSON.parse(write), text: { toString: 'x' } })],
    ['has a prototype', '{"as":"ana","do":"submit","values":{"__proto__":{"a":1}}}'],
  ])('%s, as a refusal', async (_, body) => {
    const { status, text } = await send(body);
    expect([200, 400]).toContain(status);
    expect(JSON.parse(text)).toEqual({ ok: false, problem: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  test('is too long, and goes on', async () => {
    const { status, text } = await send(JSON.stringify({ ...JSON.parse(write), text: 'x'.repeat(70_000) }));
    expect(status).toBe(413);
    expect(JSON.parse(text)).toEqual({ ok: false, problem: 'That is too much at once: at most 64 kB.' });
    expect((await send(write)).status).toBe(200);
  });
});

test('asks for a known person', async () => {
  for (const as of ['', 'eve', 'docket', '__proto__'])
    expect((await raw(`${demo.url}/live?as=${as}`, {})).status).toBe(400);
});

test('knows of no bot to make trouble with', async () => {
  const problem = 'The stand-ins run alone here: this bot is not theirs.';
  expect(await demo.trouble({ do: 'kill-bot' })).toEqual({ ok: false, problem });
  expect(await demo.trouble({ do: 'redis', up: false })).toEqual({ ok: false, problem });
  expect(await demo.trouble({ do: 'end-links' })).toEqual({ ok: true });
});
