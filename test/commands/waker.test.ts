import { expect, test } from 'vitest';
import { createWaker } from '../../src/commands/intake.ts';
import { createShutdownHooks } from '../../src/runtime/stopping.ts';
import { keptLog } from '../support/runtime/log.ts';

const run = { job: 'export', id: 'r1' };

test('all that is being queued has an end, also while Redis hangs', async () => {
  const kept = keptLog();
  const { wake, settled } = createWaker(() => new Promise(() => {}), createShutdownHooks(kept.log), kept.log);
  wake(run);
  wake({ ...run, id: 'r2' });
  await settled();
  expect(kept.text().match(/sweeper will retry/g)).toHaveLength(2);
});

test('a process that stops queues what it has answered before it closes what was opened earlier', async () => {
  const { log } = keptLog();
  const closers = createShutdownHooks(log);
  const order: string[] = [];
  closers.add(() => order.push('the queues are closed'));
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const enqueue = async () => {
    asked.resolve();
    await answered.promise;
    order.push('queued');
  };
  createWaker(enqueue, closers, log).wake(run);
  const closed = closers.closeAll();
  await asked.promise;
  answered.resolve();
  await closed;
  expect(order).toEqual(['queued', 'the queues are closed']);
});
