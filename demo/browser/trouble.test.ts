import { expect, test } from 'vitest';
import { openStandIns } from '../test-support/browser.ts';

test('limits of calls end by themselves', async ({ onTestFinished }) => {
  const demo = await openStandIns({ limitMs: 50 });
  onTestFinished(() => demo.close());
  const page = await demo.open('ana');
  for (const name of ['platform-429', 'slack-429', 'platform-500'] as const)
    await demo.trouble({ do: 'switch', name, on: true });
  await page.until(() => Object.keys(page.one('switches')?.on ?? {}).join() === 'platform-500');
  expect(demo.world.platform.wire.waiting).toBe(Number.POSITIVE_INFINITY);
  await demo.trouble({ do: 'switch', name: 'platform-500', on: false });
  expect([demo.world.platform.wire.waiting, demo.world.slack.wire.waiting]).toEqual([0, 0]);
});
