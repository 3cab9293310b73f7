import { expect, test } from 'vitest';
import { isFatal, problemsOf, type RedisProblem } from '../../../src/store/redis/check.ts';

const info = { redis_version: '7.0.15', role: 'master', maxmemory_policy: 'noeviction', aof_enabled: '1' };
const single = { url: 'redis://127.0.0.1' };

const labelOf = (problem: RedisProblem) => (isFatal(problem) ? `${problem.kind}!` : problem.kind);

const found = (changes: Record<string, string>, url = single.url) =>
  problemsOf({ ...info, ...changes }, { url }).map(labelOf);

test.each([
  [{}, []],
  [{ redis_mode: 'sentinel' }, ['address!']],
  [{ server_mode: 'cluster' }, ['address!']],
  [{ maxmemory_policy: 'allkeys-lru' }, ['eviction!']],
  [{ aof_enabled: '0' }, ['volatile!']],
  [{ aof_enabled: '0', loading: '1' }, []],
  [{ redis_version: '6.0.16' }, ['too-old!']],
  [{ redis_version: '6.2.0' }, []],
  [{ redis_version: '10.0.1' }, []],
  [{ redis_version: 'unheard-of' }, []],
  [{ role: 'slave', slave_read_only: '1' }, ['read-only']],
  [{ role: 'slave', slave_read_only: '0' }, []],
  [{ connected_slaves: '2' }, ['min-replicas']],
  [{ connected_slaves: '2', min_slaves_good_slaves: '2' }, []],
])('INFO with %o', (changes, expected) => {
  expect(found(changes)).toEqual(expected);
});

test('a text repeats nothing of a server but words', () => {
  const policy = `evil](https://evil.example) ${'x'.repeat(100)}`;
  const [problem] = problemsOf({ ...info, maxmemory_policy: policy }, single);
  expect(problem?.text).not.toMatch(/[()[\]/]evil|x{60}/);
});
