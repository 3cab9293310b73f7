import { expect, test } from 'vitest';
import { createStandInGitHost } from '../git-host/git-host.ts';
import { openStandIns } from '../test-support/browser.ts';
import { HOUR_MS, standIn } from '../test-support/platform.ts';

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

test('a merge has readers find what the pull request was asked for', async ({ onTestFinished }) => {
  const demo = await openStandIns();
  onTestFinished(() => demo.close());
  const { platform, clock, call, job, readers } = standIn();
  const gitHost = createStandInGitHost();
  Object.assign(demo.world, { platform, gitHost });
  const unclicked = async () => {
    const { body } = await readers('searches', 'dateFrom=2026-09-28&dateTo=2026-10-05&limit=100');
    return body.searches.filter(({ ctr }: { ctr: number }) => ctr === 0);
  };
  const [began, later] = [clock.ms, clock.ms + 14 * 24 * HOUR_MS];
  clock.ms = later;
  const [first, ...others] = await unclicked();
  clock.ms = began;
  for (const prompt of [`Readers searched "${first.searchQuery}"`, `Mention "${others[0].searchQuery}"`]) {
    const { body } = await call('POST', job, { body: { prompt } });
    platform.agent.finish(body.id, 'new_pr');
    const link = platform.agent.jobs.get(body.id)?.prLink ?? '';
    gitHost.pull('acme/docs', Number(link.split('/').at(-1)));
    expect(await demo.trouble({ do: 'pull-request', change: 'merge' })).toEqual({ ok: true });
  }
  clock.ms = later;
  expect(await unclicked()).toEqual(others);
});
