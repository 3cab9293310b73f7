import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { DocsApiRequest } from '../../src/docs-api/caller.ts';
import type { DocsApi } from '../../src/docs-api/client.ts';
import { adviceFor, createDocsReporter } from '../../src/docs-api/report.ts';
import { answering, clientOf, KEY, tcpServer } from '../support/docs-api/servers.ts';

const owner = { project: 'acme', keyVariable: 'ACME_DOCS_API_KEY' };
const start = (api: DocsApi) => api.startExport({ domain: 'docs.acme.com' });
const look = (api: DocsApi) => api.getExport({ jobId: 'se_1' });

/** What is said of the requests that a call makes. */
async function saidOf(url: string, call: (api: DocsApi) => Promise<unknown>) {
  const requests: DocsApiRequest[] = [];
  await call(clientOf(url, { log: (request) => requests.push(request) })).catch(() => {});
  return requests.map((request) => adviceFor(request, owner)).at(-1);
}

describe('what a failed request says of the settings', () => {
  const notThePlatform = (what: string) =>
    `what answers at DOCS_API_URL takes no exports (${what}). Set it to the base address of the platform's API alone: Docket adds /v1/static-export/jobs itself.`;

  test.each([
    [
      401,
      'error',
      'the docs platform rejects ACME_DOCS_API_KEY of project acme (401). Set a key that it takes, and restart Docket.',
    ],
    [
      403,
      'warn',
      "the docs platform does not allow ACME_DOCS_API_KEY of project acme a request (403). Check the plan (exports need Enterprise), the platform's IP allowlist, and that the key has the scope write.",
    ],
    [404, 'error', notThePlatform('404')],
    [405, 'error', notThePlatform('405')],
    [301, 'error', 'the docs platform redirects requests (301). Set DOCS_API_URL to the final address.'],
  ])('a start answered with %i', async (status, level, text) => {
    const server = await answering(status, { error: 'Not here' });
    expect(await saidOf(server.url, start)).toEqual({ level, text });
  });

  test('a start answered with the page of a website', async () => {
    const server = await answering(200, '<!doctype html>');
    expect(await saidOf(server.url, start)).toEqual({ level: 'error', text: notThePlatform('200') });
  });

  test('a host that is not there, or does not answer', async () => {
    const closed = await tcpServer(() => {});
    await closed.close();
    expect(await saidOf(closed.url, start)).toEqual({
      level: 'warn',
      text: 'the docs platform does not answer at DOCS_API_URL (ECONNREFUSED). If it stays so, check the address.',
    });
    const nameless: DocsApiRequest = {
      ...{ operation: 'startExport', method: 'POST', path: '/v1/static-export/jobs', attempt: 1 },
      ...{ durationMs: 1, error: 'refused', code: 'ENOTFOUND' },
    };
    expect(adviceFor(nameless, owner)).toEqual({
      level: 'error',
      text: 'The host name in DOCS_API_URL does not exist. Fix it. (ENOTFOUND)',
    });
  });

  test('a rejected key says the same at a poll; a job that is not known says nothing', async () => {
    expect((await saidOf((await answering(401, {})).url, look))?.text).toContain('ACME_DOCS_API_KEY');
    expect(await saidOf((await answering(404, {})).url, look)).toBeUndefined();
  });

  test.each([200, 400, 429, 500])('%i says nothing', async (status) => {
    expect(await saidOf((await answering(status, { jobId: 'se_1' })).url, start)).toBeUndefined();
  });
});

test('each thing is written once a minute, by itself, without the key', async () => {
  const server = await answering(401, { error: `no ${KEY}` });
  const lines: string[] = [];
  const clock = { ms: 0 };
  const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(line) });
  const report = createDocsReporter({ log, now: () => clock.ms });
  const api = clientOf(server.url, { log: (request) => report(request, owner) });
  const other = clientOf(server.url, { log: (request) => report(request, { ...owner, project: 'beta' }) });
  for (const atMs of [0, 30_000, 59_999, 60_000]) {
    clock.ms = atMs;
    await start(api).catch(() => {});
    await start(other).catch(() => {});
  }
  expect(lines.map((line) => line.match(/project \w+/)?.[0])).toEqual([
    ...['project acme', 'project beta', 'project acme', 'project beta'],
  ]);
  expect(lines.join()).not.toContain(KEY);
});

test('a start that cannot be read is for the operator only where the one before could not be read either', () => {
  const levels: string[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line) => void levels.push(JSON.parse(line).level) },
  );
  const clock = { ms: 0 };
  const report = createDocsReporter({ log, now: () => clock.ms });
  const answered = (error?: 'unreadable') => {
    clock.ms += 100_000;
    const request = { operation: 'startExport', method: 'POST', path: '/v1/static-export/jobs' } as const;
    report({ ...request, attempt: 1, durationMs: 1, status: 200, ...(error && { error }) }, owner);
  };
  answered('unreadable');
  answered();
  answered('unreadable');
  expect(levels).toEqual(['warn', 'warn']);
  answered('unreadable');
  expect(levels).toEqual(['warn', 'warn', 'error']);
});
