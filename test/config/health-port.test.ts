import { expect, test } from 'vitest';
import { healthAddressOf } from '../../src/config/env-file.ts';

test.each([
  [{ PORT: ' 4000 ', HEALTH_PORT: '4001' }, 4000],
  [{ DOCKET_ROLE: 'worker', PORT: '4000', HEALTH_PORT: '4001' }, 4001],
  [{ DOCKET_ROLE: 'worker', PORT: '4000', HEALTH_PORT: ' ' }, 4000],
  [{ DOCKET_ROLE: 'web', PORT: '', HEALTH_PORT: '4001' }, 3000],
])('with %o a health check asks the port %i', (env, port) => {
  expect(healthAddressOf(env)).toBe(`127.0.0.1:${port}`);
});

test.each([
  [undefined, '127.0.0.1:3000'],
  [' ', '127.0.0.1:3000'],
  ['0.0.0.0', '127.0.0.1:3000'],
  ['::', '[::1]:3000'],
  ['10.0.0.7', '10.0.0.7:3000'],
  ['fd00::7', '[fd00::7]:3000'],
])('with HOST %s it asks %s', (HOST, address) => {
  expect(healthAddressOf({ HOST })).toBe(address);
});
