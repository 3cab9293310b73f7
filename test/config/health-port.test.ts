import { expect, test } from 'vitest';
import { healthAddressOf } from '../../src/config/env-file.ts';
import { readSettings } from '../../src/config/settings.ts';

const others = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  DOCS_API_URL: 'https://api.example.com',
  DOCS_API_KEY: 'adm_0123456789',
  REDIS_URL: 'rediss://redis.example.com',
};

const values = [undefined, '', ' ', '4000', ' 4001 '];
const cases = [undefined, '', 'all', 'web', 'worker'].flatMap((DOCKET_ROLE) =>
  values.flatMap((PORT) => values.map((HEALTH_PORT) => ({ DOCKET_ROLE, PORT, HEALTH_PORT }))),
);

test('a health check asks the port that the settings lead to', () => {
  const asked = cases.map((env) => ({ env, port: Number(healthAddressOf(env).replace('127.0.0.1:', '')) }));
  expect(asked).toEqual(
    cases.map((env) => {
      const { role, port, healthPort } = readSettings({ ...others, ...env });
      return { env, port: role === 'worker' ? healthPort : port };
    }),
  );
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
