import { describe, expect, test } from 'vitest';
import { deploymentStage } from '../support/flows/receiver.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const site = 'docs.acme.com v1';

describe('the link of a deployment', async () => {
  const { scene, receiver, deploys, shown, isIdle } = await deploymentStage({
    link: true,
    startMs: Date.now(),
  });
  const { until, clicks, sees, notified, audit } = scene;
  const { received } = receiver;
  const links = () => received.map(({ data }) => data.bundleUrl);
  const versions = () => received.map(({ data }) => data.version);
  const bundles = () =>
    scene.platform.wire.calls.filter(({ name }) => name.endsWith('/{jobId}/bundle')).length;
  const endMs = () => Date.parse(received.at(-1)?.data.expiresAt ?? '');

  /** Deploys v1, with links that live so long. */
  async function deploysWith(lifeMs: number) {
    scene.platform.linkLifeMs = lifeMs;
    await deploys('v1');
    await until(['Sent to production']);
  }

  /** Jumps to a time, and returns whether the deployment has another link then. */
  async function renewedAt(ms: number) {
    const [before, calls] = [received.length, bundles()];
    await scene.world.jumpTo(ms);
    await expect.poll(async () => received.length > before || (await isIdle())).toBe(true);
    const isRenewed = received.length > before;
    expect(bundles() - calls).toBe(isRenewed ? 1 : 0);
    return isRenewed;
  }

  test.each([
    ['5 min', 5 * MINUTE_MS, 2.5 * MINUTE_MS],
    ['an hour', HOUR_MS, 10 * MINUTE_MS],
    ['7 days', 7 * DAY_MS, 0.7 * DAY_MS],
  ])('that lives %s is renewed in time, quietly', async (_, lifeMs, aheadMs) => {
    await deploysWith(lifeMs);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([`✅ @ana Live on production · ${site}`]);
    await scene.slack.until(() => shown().length === 1);
    const { ts } = scene.messageWith('Live on production');
    const calls = () => scene.slack.wire.calls.filter(({ detail }) => detail.ts === ts).length;
    const state = async () => ({ calls: calls(), posts: scene.slack.messages.length, audit: await audit() });
    const before = await state();
    for (let renewal = 1; renewal <= 3; renewal += 1) {
      const dueMs = endMs() - aheadMs;
      expect(await renewedAt(dueMs - 5000)).toBe(false);
      expect(await renewedAt(dueMs + 5000)).toBe(true);
      expect(received.at(-1)?.nth === `1_${renewal}`).toBe(true);
      expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    }
    expect(new Set(links()).size).toBe(4);
    for (const link of links().slice(-1)) expect((await fetch(link ?? '')).status).toBe(200);
    // What is in its place since then shows that no edit is on its way.
    await renewedAt(scene.world.now() + 1000);
    expect(await state()).toEqual(before);
    expect(notified('ana')).toBe(2);
  });

  test('is renewed for a deployment that failed, without a further mention', async () => {
    await deploysWith(HOUR_MS);
    expect(await receiver.callsBack({ state: 'failed', message: 'No space' })).toBe('204');
    const failed = `❌ @ana production couldn't use this export · ${site}\nIt said: "No space"\nRequested by ana\n[Try again]`;
    await until([failed]);
    for (let renewal = 1; renewal <= 2; renewal += 1) {
      expect(await renewedAt(endMs())).toBe(true);
      expect(await receiver.callsBack({ state: 'failed', message: 'No space' })).toBe('204');
    }
    await renewedAt(scene.world.now() + 5000);
    expect(shown()).toEqual([failed]);
    expect(notified('ana')).toBe(2);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until(['✅ @ana Live on production']);
  });

  test('is renewed no more once another export is sent to the deployment', async () => {
    await deploysWith(HOUR_MS);
    const dueMs = endMs();
    await deploys('v2');
    await until(['Replaced on production by v2 · docs.acme.com v1', 'Sent to production · docs.acme.com v2']);
    await renewedAt(dueMs);
    await renewedAt(endMs());
    expect(versions()).toEqual(['v1', 'v2', 'v2', 'v2']);
    // Back to the first: only that one's link is fresh from then on.
    await clicks('ana', 'Replaced on production by v2', 'Go back to v1');
    await scene.person('ana').submits();
    await until([`Sent to production · ${site}`]);
    await renewedAt(endMs());
    expect(versions().slice(4)).toEqual(['v1', 'v1']);
  });

  test('is renewed for 30 days after somebody asked for it', async () => {
    await deploysWith(7 * DAY_MS);
    const startMs = scene.world.now();
    for (let day = 6.4; day < 30; day += 6.4)
      expect([day, await renewedAt(startMs + day * DAY_MS)]).toEqual([day, true]);
    expect(received).toHaveLength(5);
    for (const day of [30.5, 32, 36]) expect(await renewedAt(startMs + day * DAY_MS)).toBe(false);
    await clicks('ana', 'Sent to production', 'Deploy again');
    await scene.slack.until(() => received.length === 6);
    expect(await renewedAt(scene.world.now() + 6.4 * DAY_MS)).toBe(true);
  });

  test('that the deployment does not take is sent until near its end, and that is reported once', async () => {
    await deploysWith(HOUR_MS);
    receiver.answers(403, 'paused');
    await renewedAt(endMs());
    const newEndMs = endMs();
    const repeatedAt = async (ms: number) => {
      const before = received.length;
      await scene.world.jumpTo(ms);
      await scene.slack.until(() => received.length > before);
      await expect.poll(isIdle).toBe(true);
    };
    for (const minutes of [40, 20, 2]) await repeatedAt(newEndMs - minutes * MINUTE_MS);
    expect(sees().join('\n')).not.toContain('rejected');
    const [{ id = '' } = {}] = received.slice(-1);
    await repeatedAt(newEndMs - 50_000);
    await until([
      `⚠️ @ana No fresh link for production · ${site}\nproduction rejected the fresh link. It said: "paused"\nThe site still works, but if production restarts, it may find no bundle.\nRequested by ana · HTTP 403\n[Try again]`,
    ]);
    expect(received.at(-1)?.id).toBe(id);
    expect(await renewedAt(newEndMs + HOUR_MS)).toBe(false);
    receiver.answers(204);
    await clicks('ana', 'No fresh link for production', 'Try again');
    await until([`📨 Sent to production · ${site}`]);
  });
});
