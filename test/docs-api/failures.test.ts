import { errors } from 'undici';
import { describe, expect, test } from 'vitest';
import { createConnectionError } from '../../src/docs-api/failures.ts';

/** An error as Node gives it. */
function systemError(syscall: string, code: string): Error {
  return Object.assign(new Error(`${syscall} ${code} 192.0.2.1:443`), { syscall, code });
}

const refused = systemError('connect', 'ECONNREFUSED');
const unreachable = systemError('connect', 'EHOSTUNREACH');

describe('only a connection that no address took proves that nothing happened', () => {
  test.each([
    ['refused', refused, 'refused', 'no'],
    ['refused at every address', new AggregateError([refused, refused]), 'refused', 'no'],
    ['unknown host', systemError('getaddrinfo', 'ENOTFOUND'), 'refused', 'no'],
    ['name server away', systemError('getaddrinfo', 'EAI_AGAIN'), 'refused', 'no'],
    ['refused at one address only', new AggregateError([refused, unreachable]), 'connection', 'unknown'],
    ['no address at all', new AggregateError([]), 'connection', 'unknown'],
    ['unreachable', unreachable, 'connection', 'unknown'],
    ['reset', systemError('read', 'ECONNRESET'), 'connection', 'unknown'],
    ['the same code from elsewhere', systemError('read', 'ECONNREFUSED'), 'connection', 'unknown'],
    ['no connection in time', new errors.ConnectTimeoutError(), 'timeout', 'unknown'],
    ['given up by the system', systemError('connect', 'ETIMEDOUT'), 'timeout', 'unknown'],
    ['not even an error', 'ECONNREFUSED', 'connection', 'unknown'],
  ] as const)('%s', (_, cause, kind, happened) => {
    const error = createConnectionError('startExport', cause);
    expect(error).toMatchObject({ kind, happened, retryable: happened === 'no', status: undefined });
    expect(String(error.cause)).not.toContain('192.0.2.1');
  });
});

test('a read may be repeated although nobody knows whether it arrived', () => {
  expect(createConnectionError('getExport', unreachable)).toMatchObject({
    happened: 'unknown',
    retryable: true,
  });
});
