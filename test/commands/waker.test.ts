import { expect, test } from 'vitest';
import { createWaker } from '../../src/commands/waker.ts';
import { keptLog } from '../support/runtime/log.ts';

const run = { job: 'export', id: 'r1' };

test('a run is queued after what its request has left to do, and nobody waits for it', async () => {
  const order: string[] = [];
  const { wake, settled } = createWaker(async ({ id }) => void order.push(id), keptLog().log);
  wake(run);
  await Promise.resolve();
  order.push('answered');
  await settled();
  expect(order).toEqual(['answered', 'r1']);
});

test('a run can be queued at once', async () => {
  const order: string[] = [];
  const { wakeNow, settled } = createWaker(async ({ id }) => void order.push(id), keptLog().log);
  wakeNow(run);
  order.push('sent together');
  await settled();
  expect(order).toEqual(['r1', 'sent together']);
});

test('what could not be queued is left to the sweeper, and says so in the log', async () => {
  const kept = keptLog();
  const { wake, settled } = createWaker(() => Promise.reject(new Error('away')), kept.log);
  wake(run);
  await settled();
  expect(kept.text()).toContain('the sweeper does it');
});

test('all that is being queued has an end, also while Redis hangs', async () => {
  const kept = keptLog();
  const { wake, settled } = createWaker(() => new Promise(() => {}), kept.log);
  wake(run);
  wake({ ...run, id: 'r2' });
  await settled();
  expect(kept.text().match(/the sweeper does it/g)).toHaveLength(2);
});
