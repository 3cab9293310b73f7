import { describe, expect, test } from 'vitest';
import {
  type DocsApiOperation,
  isRepeatable,
  OPERATIONS,
  type Operation,
} from '../../src/docs-api/operations.ts';
import { answering, clientOf, errorOf, tcpServer } from '../support/docs-api/servers.ts';

/** Input that every operation takes, each its part of it. */
const input = { domain: 'docs.acme.com', projectId: 'p', jobId: 'j', prompt: 'x' };
const rows: [DocsApiOperation, Operation][] = Object.entries(OPERATIONS).map(([name, row]) => [
  name as DocsApiOperation,
  row,
]);
const unrepeatable = rows.filter(([, row]) => row.method !== 'GET' && row.repeatable === undefined);

test('what is not a GET is repeatable only when its row says so', () => {
  const row: Operation = { ...OPERATIONS.getExport, method: 'POST' };
  expect(isRepeatable(row)).toBe(false);
  expect(isRepeatable({ ...row, repeatable: true })).toBe(true);
  expect(isRepeatable({ ...row, method: 'GET' })).toBe(true);
});

test('these are not repeatable', () => {
  expect(unrepeatable.map(([name]) => name)).toEqual(['startExport', 'sendFollowUp', 'createAgentJob']);
});

describe('what is not repeatable is sent once', () => {
  const call = (url: string, name: DocsApiOperation) => errorOf(clientOf(url)[name](input));

  test.each(unrepeatable)('%s, also where the platform asks for a repeat', async (name) => {
    for (const status of [408, 429, 500, 503]) {
      const server = await answering(status, {}, { 'retry-after': '0' });
      const proven = status === 429;
      expect(await call(server.url, name)).toMatchObject({ retryable: proven });
      expect(server.requests).toHaveLength(1);
    }
  });

  test.each(unrepeatable)('%s, also when the connection closes', async (name) => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.destroy()));
    expect(await call(server.url, name)).toMatchObject({ happened: 'unknown', retryable: false });
    expect(server.sockets).toHaveLength(1);
  });
});

test('a path names only what the input has, and every id of it is safe', async () => {
  for (const [name, { path, input: schema }] of rows) {
    for (const [, id = ''] of path.matchAll(/\{(\w+)\}/g)) {
      expect(schema.shape).toHaveProperty(id);
      expect(schema.safeParse({ ...input, [id]: '../x' }).success, `${name}: ${id}`).toBe(false);
    }
  }
});
