import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings, redisProblems, secretsInAddress } from '../../src/config/settings.ts';
import { configFolder, problemsOf, sound } from '../support/config/builders.ts';
import { keptLog } from '../support/runtime/log.ts';

const { folder, fileWith } = configFolder();

describe('a password that an address cannot hold as it is', () => {
  const addresses = [
    'redis://:Sup3rSecret/PartTwo@redis.example',
    'rediss://:Sup3rSecret/PartTwo@redis.example:6379/1',
    'rediss://docket:Sup3rSecret#PartTwo@redis.example',
    'rediss://docket:Sup3rSecret?PartTwo@redis.example',
    'rediss://docket:12345/Sup3rPartTwo@redis.example',
    'rediss://:Sup3rSecret@PartTwo/@redis.example',
  ];

  test.each(addresses)('%s is refused with the fix', (address) => {
    expect(redisProblems({ REDIS_URL: address })).toEqual([
      expect.stringMatching(/^REDIS_URL is not a valid address\. In its user and password, write %2F for \//),
    ]);
  });

  test.each(addresses)('no part of it is in a log, whoever repeats %s', (address) => {
    for (const secrets of [[], secretsInAddress(address)]) {
      const { log, text } = keptLog('trace', secrets);
      log.fatal(
        { err: Object.assign(new TypeError(`Invalid URL: ${address}`), { input: address }) },
        'no start',
      );
      log.warn({ address }, `cannot reach "${address}"`);
      expect(text()).not.toMatch(/Sup3r|PartTwo/);
    }
  });
});

describe('without TLS', () => {
  test.each([
    'redis://redis:6379',
    'redis://:pw@10.0.0.7',
    'redis://localhost.evil.example',
    'redis://127.0.0.1.evil.example',
    'redis://127.0.0.1@evil.example/0',
  ])('%s to another machine is refused, unless it is allowed', (address) => {
    const [problem, ...more] = redisProblems({ REDIS_URL: address });
    expect(problem).toContain('in the clear. Use rediss://, or set REDIS_ALLOW=plaintext');
    expect(problem).not.toContain('evil');
    expect(more).toEqual([]);
    expect(redisProblems({ REDIS_URL: address, REDIS_ALLOW: 'eviction' })).toHaveLength(1);
    expect(redisProblems({ REDIS_URL: address, REDIS_ALLOW: 'eviction, plaintext' })).toEqual([]);
  });
});

describe('a database', () => {
  test.each(['docket', '-1', '1/2', '1.5', '0x1', '1e2', 'NaN', '%31'])('/%s is refused', (database) => {
    expect(redisProblems({ REDIS_URL: `rediss://redis.example/${database}` })).toEqual([
      expect.stringContaining('REDIS_URL ends with something else than it needs. For one server, end it'),
    ]);
  });
});

test('REDIS_CA has to name a file with a certificate', () => {
  const pem = fileWith('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', 'ca.pem');
  const key = fileWith('-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n', 'key.pem');
  expect(readSettings({ ...sound, REDIS_CA: pem }).redisCa).toContain('MIIB');
  for (const wrong of [key, folder, join(folder, 'missing.pem')]) {
    const problems = problemsOf({ ...sound, REDIS_CA: wrong });
    expect(problems).toEqual([expect.stringContaining('Set it to the PEM file of the authority')]);
    expect(problems.join()).not.toContain(folder);
  }
});
