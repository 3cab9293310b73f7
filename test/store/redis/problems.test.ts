import { describe, expect, test } from 'vitest';
import { problemOfError, problemsOf, type RedisFacts } from '../../../src/store/redis/problems.ts';

const info = { redis_version: '7.0.15', role: 'master', maxmemory_policy: 'noeviction', aof_enabled: '1' };
const config = { policy: 'noeviction', appendonly: 'yes', save: '' };

const found = (facts: Partial<RedisFacts>) =>
  problemsOf({ info, config, ...facts }).map(({ kind, fatal }) => (fatal ? `${kind}!` : kind));

test('a Redis as it should be has none', () => {
  expect(found({})).toEqual([]);
  expect(found({ info: undefined })).toEqual(['info-forbidden']);
});

test.each(['redis_mode', 'server_mode'])('a Sentinel and a node of a cluster are known by %s', (field) => {
  expect(found({ info: { ...info, [field]: 'sentinel' } })).toEqual(['is-sentinel!']);
  expect(found({ info: { ...info, [field]: 'cluster' } })).toEqual(['is-cluster!']);
});

describe('keys that may be dropped', () => {
  test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])('%s ends the start', (policy) => {
    const [problem, ...more] = problemsOf({ info, config: { ...config, policy } });
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ kind: 'eviction', fatal: true, allowance: 'eviction' });
    expect(problem?.text).toContain(`(maxmemory-policy ${policy})`);
    expect(problem?.text).toContain('CONFIG SET maxmemory-policy noeviction');
    expect(problem?.text).toContain('REDIS_ALLOW=eviction');
  });

  test('are said and no more where CONFIG is forbidden', () => {
    expect(found({ config: undefined, info: { ...info, maxmemory_policy: 'allkeys-lru' } })).toEqual([
      'eviction',
    ]);
  });
});

describe('data that is not on disk', () => {
  test('ends the start when it never gets there', () => {
    const volatile = { info: { ...info, aof_enabled: '0' }, config: { ...config, appendonly: 'no' } };
    expect(found(volatile)).toEqual(['volatile!']);
    expect(problemsOf(volatile)[0]).toMatchObject({ allowance: 'volatile' });
    expect(problemsOf(volatile)[0]?.text).toContain('CONFIG SET appendonly yes');
  });

  test('is said when there are snapshots', () => {
    expect(
      found({
        info: { ...info, aof_enabled: '0' },
        config: { ...config, appendonly: 'no', save: '3600 1 300 100' },
      }),
    ).toEqual(['snapshots']);
  });
});

describe('what Redis does not tell', () => {
  test('is taken from INFO where CONFIG is forbidden', () => {
    expect(found({ config: undefined })).toEqual([]);
  });

  test('is said, and ends nothing', () => {
    const unknown = ['eviction-unknown', 'volatile-unknown'];
    expect(found({ config: undefined, info: undefined })).toEqual(['info-forbidden', ...unknown]);
    expect(found({ config: undefined, info: { role: 'master', aof_enabled: '0' } })).toEqual(unknown);
  });
});

test.each([
  ['6.0.16', ['too-old!']],
  ['5.0.7', ['too-old!']],
  ['6.2.0', []],
  ['10.0.1', []],
  ['unheard-of', []],
])('the version %s', (redis_version, expected) => {
  expect(found({ info: { ...info, redis_version } })).toEqual(expected);
});

test.each([
  [{ role: 'slave', slave_read_only: '1' }, ['read-only']],
  [{ role: 'slave' }, ['read-only']],
  [{ role: 'slave', slave_read_only: '0' }, []],
])('a replica with %o', (replica, expected) => {
  expect(found({ info: { ...info, ...replica } })).toEqual(expected);
});

test('a text repeats nothing of a server but words', () => {
  const policy = `evil](https://evil.example) ${'x'.repeat(100)}`;
  const [problem] = problemsOf({ info, config: { ...config, policy } });
  expect(problem?.text).not.toMatch(/[()[\]/]evil|x{60}/);
});

test.each([
  [{ code: 'CERT_HAS_EXPIRED', message: 'certificate has expired' }, true, 'certificate!'],
  [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'no' }, true, 'certificate!'],
  [{ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', message: 'no' }, true, 'certificate!'],
  [{ code: 'ERR_SSL_WRONG_VERSION_NUMBER', message: 'no' }, true, 'no-tls!'],
  [{ message: 'NOAUTH Authentication required.' }, false, 'password!'],
  [{ message: 'DENIED Redis is running in protected mode' }, false, 'password!'],
  [{ message: 'ERR max number of clients reached' }, false, 'unreachable'],
  [{ code: 'EAI_AGAIN', message: 'getaddrinfo EAI_AGAIN redis' }, false, 'unreachable'],
  [undefined, false, 'unreachable'],
])('the error %o is told as %s', (error, tls, expected) => {
  const { kind, fatal } = problemOfError(error, tls);
  expect(fatal ? `${kind}!` : kind).toBe(expected);
});

test('a connection that is ended at once may be one that expects TLS', () => {
  const reset = { code: 'ECONNRESET', message: 'read ECONNRESET' };
  expect(problemOfError(reset, false).text).toContain('If it expects TLS, write rediss://');
  expect(problemOfError(reset, true).text).not.toContain('expects TLS');
});
