import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGithub, GithubError } from '../../src/deployments/github.ts';
import { createSender } from '../../src/deployments/sender.ts';
import type { GithubWorkflow } from '../../src/projects.ts';
import { createKey } from '../../src/runtime/key-file.ts';
import { answering, httpServer, tcpServer } from '../support/docs-api/servers.ts';
import { temporaryFolder } from '../support/flows/world.ts';

const token = 'github_pat_0123456789';
const update = { jobId: 'se_1', domain: 'docs.acme.com', version: 'v1' };
const run = {
  id: 7,
  html_url: 'https://evil.example/acme/infra/actions/runs/7',
  status: 'completed',
  conclusion: 'success',
  display_title: 'Update docs',
};

/** Calls for a workflow of a repository, or for an event. */
function github(
  apiUrl: string,
  changes: Partial<GithubWorkflow> = { workflow: 'update docs.yml' },
  timeoutMs = 5000,
  key = createKey(token),
  onExpiry = (_day: string) => {},
) {
  const sender = createSender(undefined, timeoutMs, new AbortController().signal);
  onTestFinished(() => void sender.close());
  const target = { apiUrl, repository: 'acme/infra', ref: 'main', ...changes };
  const api = createGithub(sender.send, target, key, onExpiry);
  return { ...api, dispatch: (isTooLate = () => false) => api.dispatch(update, isTooLate) };
}

async function errorOf(call: Promise<unknown>): Promise<GithubError> {
  const error = await call.then(
    () => new Error('the call gave a result'),
    (reason: unknown) => reason,
  );
  if (error instanceof GithubError) return error;
  throw error;
}

describe('a dispatch', () => {
  const inputs = { job_id: 'se_1', domain: 'docs.acme.com', version: 'v1' };

  test('of a workflow returns its run', async () => {
    const server = await answering(200, { workflow_run_id: 7, html_url: run.html_url });
    const url = `${new URL(server.url).origin}/acme/infra/actions/runs/7`;
    expect(await github(server.url).dispatch()).toEqual({ run: { id: 7, url } });
    const [{ line = '', headers = {}, body = '' } = {}] = server.requests;
    expect(line).toBe('POST /repos/acme/infra/actions/workflows/update%20docs.yml/dispatches');
    expect(headers).toMatchObject({
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'x-github-api-version': '2022-11-28',
      'user-agent': 'docket',
    });
    expect(JSON.parse(body)).toEqual({ ref: 'main', inputs, return_run_details: true });
  });

  test('of an event returns none', async () => {
    const server = await answering(204, '');
    expect(await github(server.url, { event: 'docs-export' }).dispatch()).toEqual({ run: undefined });
    expect(server.requests[0]?.line).toBe('POST /repos/acme/infra/dispatches');
    const payload = { event_type: 'docs-export', client_payload: inputs };
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(payload);
  });

  test('is sent again to a server that does not know the details of runs', async () => {
    const refusal = { message: 'Invalid request.\n\n"return_run_details" is not a permitted key.' };
    const server = await httpServer((_, response, n) => {
      response.writeHead(n === 1 ? 422 : 204);
      response.end(n === 1 ? JSON.stringify(refusal) : '');
    });
    expect(await github(server.url).dispatch()).toEqual({ run: undefined });
    expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({ ref: 'main', inputs });
  });

  test.each([
    ['{"workflow_run_id":"../7"}', 200],
    ['', 204],
  ])('whose answer is %j happened', async (body, status) => {
    expect(await github((await answering(status, body)).url).dispatch()).toEqual({ run: undefined });
  });

  test.each([
    ['<!doctype html><title>Sign in</title>', 200],
    ['', 200],
    ['[]', 200],
    ['<html>', 202],
  ])("whose answer is %j, which is not GitHub's, may have happened", async (body, status) => {
    const error = await errorOf(github((await answering(status, body)).url).dispatch());
    expect(error).toMatchObject({ happened: 'unknown', retryable: false, reason: 'unreadable' });
  });

  test.each([301, 302, 307, 308])(
    'is sent on with %i inside the same API, with the same method and body',
    async (status) => {
      const server = await httpServer(({ url: path }, response) => {
        const isOld = path?.startsWith('/api/repos/');
        const location = `${server.url}/api/repositories/7/dispatches`;
        response.writeHead(isOld ? status : 204, isOld ? { location } : {}).end();
      });
      expect(await github(`${server.url}/api`, { event: 'x' }).dispatch()).toEqual({ run: undefined });
      const [first, second] = server.requests;
      expect(second).toMatchObject({ line: 'POST /api/repositories/7/dispatches', body: first?.body });
      expect(second?.headers.authorization).toBe(`Bearer ${token}`);
    },
  );

  test.each([
    'https://other.test/api/repositories/7',
    'HOST/login',
    '/api/../login',
    'HOST.evil.test/api/x',
    undefined,
  ])('is not sent on to %s', async (to) => {
    const server = await answering(307, '', to === undefined ? {} : { location: to });
    const location = to?.replace('HOST', server.url);
    const moved = await answering(307, '', location === undefined ? {} : { location });
    const error = await errorOf(github(`${moved.url}/api`).dispatch());
    expect(error).toMatchObject({ happened: 'no', retryable: false, status: 307 });
    expect(moved.requests).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
  });

  test('is sent again with a new token from its file after 401, and with no other', async () => {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    const file = join(path, 'token');
    writeFileSync(file, 'github_pat_new\n');
    const read: string[] = [];
    const key = createKey(token, file, (one) => read.push(one));
    const server = await httpServer(({ headers }, response) =>
      response.writeHead(headers.authorization === 'Bearer github_pat_new' ? 204 : 401).end(),
    );
    expect(await github(server.url, undefined, 5000, key).dispatch()).toEqual({ run: undefined });
    expect(server.requests).toHaveLength(2);
    expect(read).toEqual(['github_pat_new']);
    const refused = await answering(401, {});
    for (const content of ['github_pat_new', '', 'two lines\nhere'].map(
      (text) => () => writeFileSync(file, text),
    )) {
      content();
      await errorOf(github(refused.url, undefined, 5000, key).dispatch());
    }
    expect(refused.requests).toHaveLength(3);
  });

  test.each([
    ['2026-12-20 11:05:12 UTC', token, ['2026-12-20']],
    ['2026-12-20 11:05:12 +0100', token, ['2026-12-20']],
    ['soon', token, []],
    // A token of an installation is replaced each hour.
    ['2026-12-20 11:05:12 UTC', 'ghs_0123456789', []],
  ])('says when its token expires: %s of %s', async (header, own, days) => {
    const server = await answering(204, '', { 'github-authentication-token-expiration': header });
    const seen: string[] = [];
    await github(server.url, undefined, 5000, createKey(own), (day) => seen.push(day)).dispatch();
    expect(seen).toEqual(days);
  });

  const inWords = 'You have exceeded a secondary rate limit.';
  const now = 'Mon, 14 Sep 2026 14:00:00 GMT';
  const reset = String(Date.parse(now) / 1000 + 900);
  test.each([
    [403, { 'x-ratelimit-remaining': '4990', 'x-ratelimit-reset': reset }, inWords, 60_000],
    [403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, 'x', 900_000],
    [403, { 'retry-after': '90', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, 'x', 90_000],
    [429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'soon' }, 'x', 60_000],
    [429, {}, 'x', 60_000],
    [429, { 'retry-after': 'Mon, 14 Sep 2026 14:02:00 GMT' }, 'x', 120_000],
  ] as const)('at a limit, %i with %j, waits as told', async (status, headers, message, retryAfterMs) => {
    const server = await answering(status, { message }, { date: now, ...headers });
    const error = await errorOf(github(server.url).dispatch());
    expect(error).toMatchObject({ happened: 'no', retryable: true, retryAfterMs });
  });

  test.each([
    [301, {}, 'no', false],
    [400, {}, 'no', false],
    [401, {}, 'no', false],
    [403, {}, 'no', false],
    [403, { 'retry-after': '60' }, 'no', true],
    [403, { 'x-ratelimit-remaining': '0' }, 'no', true],
    [404, {}, 'no', false],
    [408, {}, 'unknown', false],
    [410, {}, 'no', false],
    [422, {}, 'no', false],
    [429, {}, 'no', true],
    [500, {}, 'unknown', false],
    [502, {}, 'unknown', false],
    [503, {}, 'unknown', false],
  ] as const)(
    'answered with %i %j: happened %s, retryable %s',
    async (status, headers, happened, retryable) => {
      const server = await answering(status, { message: `Bad\n${token}` }, headers);
      const error = await errorOf(github(server.url).dispatch());
      const retryAfterMs = retryable ? 60_000 : undefined;
      expect(error).toMatchObject({ happened, retryable, status, retryAfterMs, text: 'Bad …' });
      expect(error.message).toBe(`GitHub, dispatch: status ${status}`);
      expect(server.requests).toHaveLength(1);
    },
  );

  test('without an answer is unknown only if it was sent', async () => {
    const closed = await tcpServer(() => {});
    await closed.close();
    expect(await errorOf(github(closed.url).dispatch())).toMatchObject({ happened: 'no', retryable: true });
    const silent = await tcpServer(() => {});
    const lost = await errorOf(github(silent.url, { event: 'x' }, 200).dispatch());
    expect(lost).toMatchObject({ happened: 'unknown', retryable: false });
    const server = await answering(204, '');
    const late = await errorOf(github(server.url).dispatch(() => true));
    expect(late).toMatchObject({ happened: 'no', message: 'GitHub, dispatch: TooLate' });
    expect(server.requests).toEqual([]);
  });

  test('that fails shows neither token nor link nor what was sent', async () => {
    const server = await httpServer(({ headers }, response) => {
      response.writeHead(422);
      response.end(
        JSON.stringify({ message: `No ${headers.authorization} ${run.html_url}`, errors: [token] }),
      );
    });
    const error = await errorOf(github(server.url).dispatch());
    expect(error.text).toBe('No Bearer … …');
    for (const shown of [inspect(error, { depth: 9 }), JSON.stringify(error)])
      expect(shown).not.toMatch(/github_pat|https:|se_1|No Bearer/);
  });
});

describe('a run', () => {
  test('is read by its id', async () => {
    const server = await answering(200, { ...run, status: 'in_progress', conclusion: null, actor: {} });
    const url = `${new URL(server.url).origin}/acme/infra/actions/runs/7`;
    expect(await github(server.url).getRun(7)).toEqual({ id: 7, url, conclusion: undefined });
    expect(server.requests[0]?.line).toBe('GET /repos/acme/infra/actions/runs/7');
  });

  test.each([
    [200, '<html>', true],
    [200, { ...run, id: '7' }, true],
    [200, ' '.repeat(2_100_000), true],
    [401, { message: 'Bad credentials' }, false],
    [404, 'x', false],
    [403, { message: 'API rate limit exceeded' }, true],
    [500, '', true],
  ])('is not read from answer %# with status %i', async (status, body, retryable) => {
    const api = github((await answering(status, body)).url);
    expect(await errorOf(api.getRun(7))).toMatchObject({ retryable });
  });

  test.each([
    ['https://api.github.com', 'https://github.com'],
    ['https://api.acme.ghe.com/', 'https://acme.ghe.com'],
    ['https://github.acme.com/api/v3', 'https://github.acme.com'],
    ['https://api.acme.com/api/v3', 'https://api.acme.com'],
  ])('at %s has its page at %s, whatever the answer says', async (apiUrl, origin) => {
    const send = async () =>
      ({ outcome: 'ok', status: 200, text: JSON.stringify(run), headers: {} }) as never;
    const target = { apiUrl, repository: 'acme/infra', ref: 'main', workflow: 'update.yml' };
    const { url } = await createGithub(send, target, createKey(token)).getRun(7);
    expect(url).toBe(`${origin}/acme/infra/actions/runs/7`);
  });
});
