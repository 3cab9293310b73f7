import { expect, test } from 'vitest';
import { inLogScope, type LogScope, logScope } from '../../src/runtime/log-scope.ts';
import { keptLog } from '../support/runtime/log.ts';

test('every line in a scope carries it, also later and below, and what becomes known of it', async () => {
  const { log, lines } = keptLog();
  const scope: LogScope = { ref: '7f3c1d' };
  await inLogScope(scope, async () => {
    log.info('one');
    await new Promise((resolve) => setImmediate(resolve));
    scope.run = 'r1';
    log.child({ part: 'slack' }).warn('two');
  });
  log.info('outside');
  expect(lines.map((line) => JSON.parse(line)).map(({ msg, ref, run }) => [msg, ref, run])).toEqual([
    ['one', '7f3c1d', undefined],
    ['two', '7f3c1d', 'r1'],
    ['outside', undefined, undefined],
  ]);
  expect(logScope()).toBeUndefined();
});
