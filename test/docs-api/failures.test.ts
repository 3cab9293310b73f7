import { expect, test } from 'vitest';
import { createConnectionError } from '../../src/docs-api/failures.ts';

const reset = Object.assign(new Error('read ECONNRESET 192.0.2.1:443'), {
  syscall: 'read',
  code: 'ECONNRESET',
});
const given = Object.assign(new Error('read ETIMEDOUT'), { syscall: 'read', code: 'ETIMEDOUT' });

test.each([
  ['reset', reset, 'connection'],
  ['given up by the system', given, 'timeout'],
  ['not even an error', 'ECONNREFUSED', 'connection'],
] as const)('after a request was sent, %s proves nothing', (_, cause, kind) => {
  const error = createConnectionError('startExport', cause, { happened: 'unknown' });
  expect(error).toMatchObject({ kind, happened: 'unknown', retryable: false, status: undefined });
  expect(String(error.cause)).not.toContain('192.0.2.1');
});

test('whatever the cause, nothing happened when nothing was sent', () => {
  const error = createConnectionError('startExport', reset, { happened: 'no' });
  expect(error).toMatchObject({ kind: 'refused', happened: 'no', retryable: true });
});

test('a read may be repeated although nobody knows whether it arrived', () => {
  const error = createConnectionError('getExport', reset, { happened: 'unknown' });
  expect(error).toMatchObject({ happened: 'unknown', retryable: true });
});
