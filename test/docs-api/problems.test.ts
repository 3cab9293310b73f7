import { expect, test } from 'vitest';
import type { DocsApi, DocsApiRequest } from '../../src/docs-api/client.ts';
import { docsProblemOf } from '../../src/docs-api/problems.ts';
import { answering, clientOf } from '../support/docs-api/servers.ts';

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

test('a page of a website is another problem than an answer about a job or an input', async () => {
  expect(await problemOf(start, 200, '<!doctype html>')).toMatchObject({ name: 'docs_unreachable' });
  expect(await problemOf(start, 400, { error: 'no such domain' })).toBeUndefined();
  expect(await problemOf(poll, 404, { error: 'no such job' })).toBeUndefined();
  expect(await problemOf(start, 202, { jobId: 'se_1', status: 'pending' })).toBeUndefined();
});
