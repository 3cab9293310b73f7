import { describe, expect, test } from 'vitest';
import { clientOf } from '../../demo/test-support/bot.ts';
import { connected } from '../support/server/socket.ts';

describe('the end', () => {
  test('waits for what is in work and takes nothing new', async () => {
    const finish = Promise.withResolvers<void>();
    let taken = 0;
    const { slack, ana, receiver } = await connected(async ({ ack }) => {
      taken += 1;
      await finish.promise;
      await ack();
    });
    const first = ana.types('#docs', '/docs-export');
    await expect.poll(() => taken).toBe(1);
    const stopped = receiver.stop();
    const second = ana.types('#docs', '/docs-export');
    await slack.until(() => slack.sockets.envelopes.length === 2);
    await clientOf(slack).auth.test();
    finish.resolve();
    expect(await first).toMatchObject({ ok: true });
    expect(await second).toMatchObject({ failed: 'dispatch_failed' });
    await stopped;
    expect(taken).toBe(1);
    await slack.until(() => slack.sockets.open === 0);
  });

  test('does not wait longer than 2 s for what never finishes', async () => {
    const working = Promise.withResolvers<void>();
    const { ana, receiver } = await connected(() => {
      working.resolve();
      return new Promise(() => {});
    });
    void ana.types('#docs', '/docs-export');
    await working.promise;
    const startMs = performance.now();
    await receiver.stop();
    expect(performance.now() - startMs).toBeLessThan(2000);
  });
});
