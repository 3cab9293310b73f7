import { expect, test } from 'vitest';
import type { DocsApi, DocsApiRequest } from '../../src/docs-api/client.ts';
import { docsProblemOf } from '../../src/docs-api/problems.ts';
import { answering, clientOf, KEY } from '../support/docs-api/servers.ts';

const owner = { project: 'acme', keyVariable: 'ACME_DOCS_API_KEY' };
const start = (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' });
const poll = (api: DocsApi) => api.getExport({ jobId: 'se_1' });

/** Returns the problem behind a call to a platform that answers so. */
async function problemOf(call: (api: DocsApi) => Promise<unknown>, status: number, body: unknown) {
  const requests: DocsApiRequest[] = [];
  const { url } = await answering(status, body);
  await call(clientOf(url, { log: (request) => requests.push(request) })).catch(() => {});
  return requests.map((request) => docsProblemOf(request, owner)).at(-1);
}

const REJECTED = /^the docs platform rejects ACME_DOCS_API_KEY of project acme \(401\)\. Set a key/;
const NOT_THE_PLATFORM = /^what answers at DOCS_API_URL is not the docs platform's API \(\d+\)/;

test.each([
  ['a start', start, 401, 'docs_key', REJECTED],
  ['a poll', poll, 401, 'docs_key', REJECTED],
  ['a start', start, 403, 'docs_forbidden', /ACME_DOCS_API_KEY of project acme \(403\)\. Check the plan/],
  ['a start', start, 429, 'docs_limited', /limits Docket/],
  ['a start', start, 500, 'docs_failing', /fails/],
  ['a start', start, 404, 'docs_unreachable', NOT_THE_PLATFORM],
  ['a start', start, 301, 'docs_unreachable', NOT_THE_PLATFORM],
] as const)('%s answered with %s %i is the problem %s', async (_, call, status, name, text) => {
  const problem = await problemOf(call, status, { error: `no ${KEY}` });
  expect(problem).toEqual({ name, text: expect.stringMatching(text) });
  expect(problem?.text).not.toContain(KEY);
});

test('a page of a website is another problem than an answer about a job or an input', async () => {
  expect(await problemOf(start, 200, '<!doctype html>')).toMatchObject({ name: 'docs_unreachable' });
  expect(await problemOf(start, 400, { error: 'no such domain' })).toBeUndefined();
  expect(await problemOf(poll, 404, { error: 'no such job' })).toBeUndefined();
  expect(await problemOf(start, 202, { jobId: 'se_1', status: 'pending' })).toBeUndefined();
});
