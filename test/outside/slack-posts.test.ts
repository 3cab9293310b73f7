import { expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

const DOMAINS = ['docs.acme.com', 'api.acme.com'];

const scene = stage({
  slack: { rateLimits: 1 },
  platform: { domains: DOMAINS },
  bot: { timing: { postsPerMinute: 60 } },
});

test('at the pace of Slack itself, what two exports post in one channel waits, and none of it is refused', async () => {
  const posts = () => scene.slack.wire.calls.filter(({ name }) => name === 'chat.postMessage');
  await Promise.all(DOMAINS.map((domain) => scene.asks(`/docs-export ${domain}`)));
  await scene.slack.until(() => scene.sees().filter((text) => text.includes('42%')).length === 2);
  for (const domain of DOMAINS) scene.platform.finish(domain);
  await scene.until(['Exported · docs.acme.com · 12 pages, ', 'Exported · api.acme.com · 12 pages, ']);
  expect(posts()).toHaveLength(6);
  expect(scene.slack.limited).toEqual([]);
  // Two may go at once; the other four come a second apart.
  const [first, last] = [posts().at(0), posts().at(-1)];
  expect((last?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(3500);
});
