import { describe, expect, test } from 'vitest';
import { deploymentStage } from '../support/flows/receiver.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const site = 'docs.acme.com (v1)';

describe('the link of a deployment', async () => {
  const { scene, receiver, updates, isIdle } = await deploymentStage({ link: true, startMs: Date.now() });
  const { until, clicks, sees, notified, audit } = scene;
  const { received } = receiver;
  const links = () => received.map(({ data }) => data.bundleUrl);
  const versions = () => received.map(({ data }) => data.version);
  const bundles = () =>
    scene.platform.wire.calls.filter(({ name }) => name.endsWith('/{jobId}/bundle')).length;
  const endMs = () => Date.parse(received.at(-1)?.data.expiresAt ?? '');

  /** Updates production to v1, with links that live so long. */
  async function updatesWith(lifeMs: number) {
    scene.platform.linkLifeMs = lifeMs;
    await updates('v1');
    await until(['production notified']);
  }

  /** Jumps to a time, and returns whether the deployment has another link then. */
  async function renewedAt(ms: number) {
    const [before, calls] = [received.length, bundles()];
    await scene.world.jumpTo(ms);
    await expect.poll(async () => received.length > before || (await isIdle())).toBe(true);
    const shown = received.length > before;
    expect(bundles() - calls).toBe(shown ? 1 : 0);
    return shown;
  }

  test.each([
    ['5 min', 5 * MINUTE_MS, 2.5 * MINUTE_MS],
    ['an hour', HOUR_MS, 10 * MINUTE_MS],
    ['7 days', 7 * DAY_MS, 0.7 * DAY_MS],
  ])('that lives %s is renewed in time, quietly', async (_, lifeMs, aheadMs) => {
    await updatesWith(lifeMs);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([`✅ production serves it since TIME · ${site}`]);
    const { ts } = scene.messageWith('serves it since');
    const calls = () => scene.slack.wire.calls.filter(({ detail }) => detail.ts === ts).length;
    const shown = async () => ({ calls: calls(), posts: scene.slack.messages.length, audit: await audit() });
    const before = await shown();
    for (let renewal = 1; renewal <= 3; renewal += 1) {
      const dueMs = endMs() - aheadMs;
      expect(await renewedAt(dueMs - 5000)).toBe(false);
      expect(await renewedAt(dueMs + 5000)).toBe(true);
      expect(received.at(-1)?.id.endsWith(`_1_${renewal}`)).toBe(true);
      expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    }
    expect(new Set(links()).size).toBe(4);
    for (const link of links().slice(-1)) expect((await fetch(link ?? '')).status).toBe(200);
    // What is in its place since then shows that no edit is on its way.
    await renewedAt(scene.world.now() + 1000);
    expect(await shown()).toEqual(before);
    expect(notified('ana')).toBe(1);
  });

  test('is renewed for a deployment that failed, without a further mention', async () => {
    await updatesWith(HOUR_MS);
    expect(await receiver.callsBack({ state: 'failed', message: 'No space' })).toBe('204');
    const failed = `❌ @ana production could not use ${site}.\nIt said: "No space"\n[Update again]`;
    await until([failed]);
    for (let renewal = 1; renewal <= 2; renewal += 1) {
      expect(await renewedAt(endMs())).toBe(true);
      expect(await receiver.callsBack({ state: 'failed', message: 'No space' })).toBe('204');
    }
    await renewedAt(scene.world.now() + 5000);
    expect(sees().filter((text) => text.includes('could not use'))).toEqual([failed]);
    expect(notified('ana')).toBe(2);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until(['production serves it since']);
  });

  test('is renewed no more once the deployment is notified of another export', async () => {
    await updatesWith(HOUR_MS);
    const dueMs = endMs();
    await updates('v2');
    await until([
      'production was notified of another export since',
      'production notified TIME · docs.acme.com (v2)',
    ]);
    await renewedAt(dueMs);
    await renewedAt(endMs());
    expect(versions()).toEqual(['v1', 'v2', 'v2', 'v2']);
    // Back to the first: only that one's link is fresh from then on.
    await clicks('ana', 'production was notified of another export since', 'Use this version again');
    await until([`production notified TIME · ${site}`]);
    await renewedAt(endMs());
    expect(versions().slice(4)).toEqual(['v1', 'v1']);
  });

  test('is renewed for 30 days after somebody asked for it', async () => {
    await updatesWith(7 * DAY_MS);
    const startMs = scene.world.now();
    for (let day = 6.4; day < 30; day += 6.4)
      expect([day, await renewedAt(startMs + day * DAY_MS)]).toEqual([day, true]);
    expect(received).toHaveLength(5);
    for (const day of [30.5, 32, 36]) expect(await renewedAt(startMs + day * DAY_MS)).toBe(false);
    await clicks('ana', 'production notified', 'Update again');
    await scene.slack.until(() => received.length === 6);
    expect(await renewedAt(scene.world.now() + 6.4 * DAY_MS)).toBe(true);
  });

  test('that the deployment does not take is reported once', async () => {
    await updatesWith(HOUR_MS);
    receiver.answers(403, 'paused');
    await renewedAt(endMs());
    await until([
      `❌ production has no fresh link · ${site}`,
      `❌ @ana production refused the fresh link to ${site} (403).\nIt said: "paused"\nIf it restarts now, it may find no bundle.\n[Update again]`,
    ]);
    expect(await renewedAt(endMs() + HOUR_MS)).toBe(false);
    receiver.answers(204);
    await clicks('ana', 'production refused', 'Update again');
    await until([`✅ production notified TIME · ${site}`]);
  });
});
