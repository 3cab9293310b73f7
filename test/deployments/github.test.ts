import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGithub, GithubError } from '../../src/deployments/github.ts';
import { createSender } from '../../src/deployments/sender.ts';
import type { GithubWorkflow } from '../../src/projects.ts';
import { answering, httpServer, tcpServer } from '../support/docs-api/servers.ts';

const token = 'github_pat_0123456789';
const update = { jobId: 'se_1', domain: 'docs.acme.com', version: 'v1' };
const url = 'https://github.test/acme/infra/actions/runs/7';
const run = {
  id: 7,
  html_url: url,
  status: 'completed',
  conclusion: 'success',
  display_title: 'Update docs',
};

/** Calls for a workflow of a repository, or for an event. */
function github(
  apiUrl: string,
  changes: Partial<GithubWorkflow> = { workflow: 'update docs.yml' },
  timeoutMs = 5000,
) {
  const sender = createSender(undefined, timeoutMs, new AbortController().signal);
  onTestFinished(() => void sender.close());
  const api = createGithub(sender.send, { apiUrl, repository: 'acme/infra', ref: 'main', token, ...changes });
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
    const details = { workflow_run_id: 7, run_url: `${url}/api`, html_url: url };
    const server = await answering(200, details);
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
    ['<html>', 200],
    ['{"workflow_run_id":7,"html_url":"javascript:alert(1)"}', 200],
    ['{"workflow_run_id":"../7","html_url":"https://github.test"}', 200],
    ['', 204],
  ])('whose answer is %j happened', async (body, status) => {
    expect(await github((await answering(status, body)).url).dispatch()).toEqual({ run: undefined });
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
      const server = await answering(status, { message: `Bad\n${token}` }, { ...headers, location: '/' });
      const error = await errorOf(github(server.url).dispatch());
      const retryAfterMs = 'retry-after' in headers ? 60_000 : undefined;
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
      response.end(JSON.stringify({ message: `No ${headers.authorization} ${url}`, errors: [token] }));
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
    const running = { id: 7, url, conclusion: undefined };
    expect(await github(server.url).getRun(7)).toEqual(running);
    expect(server.requests[0]?.line).toBe('GET /repos/acme/infra/actions/runs/7');
  });

  test.each([
    [200, '<html>', true],
    [200, { ...run, html_url: 'javascript:alert(1)' }, true],
    [200, ' '.repeat(2_100_000), true],
    [401, { message: 'Bad credentials' }, false],
    [404, 'x', false],
    [500, '', true],
  ])('is not read from answer %# with status %i', async (status, body, retryable) => {
    const api = github((await answering(status, body)).url);
    expect(await errorOf(api.getRun(7))).toMatchObject({ retryable });
  });
});
