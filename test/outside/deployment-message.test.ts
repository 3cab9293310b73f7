import { afterEach, describe, expect, test } from 'vitest';
import { deploymentStage, exportedText } from '../support/flows/receiver.ts';

const MINUTE_MS = 60_000;
const SITE_URL = 'https://docs.acme.com/en';
const v1 = 'docs.acme.com v1';
const NOT_CONFIRMED = "production hasn't confirmed that it's live";

describe('the one message of a deployment', async () => {
  const { scene, receiver, exports, asksFor, deploys, shown, formOf, isIdle } = await deploymentStage({
    siteUrl: SITE_URL,
    allow: 'deploy: [U0ANA, U0BEN]',
    startMs: Date.now(),
  });
  const { until, clicks, messageWith, notified, sees } = scene;
  afterEach(() => {
    delete scene.slack.refuses.deletions;
  });
  const later = async (ms: number) => {
    await scene.world.jumpTo(scene.world.now() + ms);
    await expect.poll(isIdle).toBe(true);
  };

  test('is posted once more, with a mention, after ten minutes without a report, which it then shows', async () => {
    await deploys('v1');
    await until([`📨 Sent to production · ${v1}`]);
    const line = messageWith('Sent to production');
    await later(9 * MINUTE_MS);
    expect([notified('ana'), line.deleted]).toEqual([1, false]);
    await later(2 * MINUTE_MS);
    await until([`📨 @ana Sent to production · ${v1}\nTIME · Requested by ana · ${NOT_CONFIRMED}`]);
    await scene.slack.until(() => shown().length === 1 && line.deleted);
    const { ts } = messageWith('Sent to production');
    expect([notified('ana'), ts === line.ts]).toEqual([2, false]);
    await later(60 * MINUTE_MS);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([`✅ @ana Live on production · ${v1}\nsince TIME · Requested by ana\n`]);
    expect([notified('ana'), messageWith('Live on production').ts]).toEqual([2, ts]);
    expect(shown()).toHaveLength(1);
  });

  test('leads to the site of the settings', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([
      `✅ @ana Live on production · ${v1}\nsince TIME · Requested by ana\n[Open site] [Deploy again]`,
    ]);
    const { blocks } = messageWith('Live on production');
    expect(JSON.stringify(blocks)).toContain(`"url":"${SITE_URL}"`);
    // Its click changes nothing, and is answered.
    await clicks('ben', 'Live on production', 'Open site');
    await scene.slack.until(() => shown().length === 1);
  });

  test.each(['compliance_exports_prevent_deletion', 'cant_delete_message'] as const)(
    'leaves a short line above it where Slack refuses deletions: %s',
    async (code) => {
      scene.slack.refuses.deletions = code;
      await deploys('v1');
      await until(['Sent to production']);
      const line = messageWith('Sent to production');
      expect(await receiver.callsBack({ state: 'live' })).toBe('204');
      await until([`✅ @ana Live on production · ${v1}`, 'production · see the latest message below']);
      expect(messageWith('see the latest message below').ts).toBe(line.ts);
      expect(sees().filter((text) => text.includes('production') && !/exported/i.test(text))).toHaveLength(2);
      expect(notified('ana')).toBe(2);
    },
  );

  test('of an older export leads to a form that names what production has now, and asks again after a change', async () => {
    for (const version of ['v1', 'v2', 'v3']) await exports(version);
    for (const version of ['v1', 'v2']) {
      await asksFor(version);
      await until([`Sent to production · docs.acme.com ${version}`]);
    }
    const replaced = `➖ Replaced on production by v2 · ${v1}`;
    await until([replaced]);
    await clicks('ana', replaced, 'Go back to v1');
    expect(formOf('ana')).toBe(
      `Go back?\nproduction may have v2 now, which was asked for later than ${v1}. Going back replaces it.\n[Go back] [Cancel]`,
    );
    await asksFor('v3', 'ben');
    await until(['Sent to production · docs.acme.com v3', 'Replaced on production by v3 · docs.acme.com v2']);
    await scene.person('ana').submits();
    expect(formOf('ana')).toContain('production may have v3 now');
    const versions = () => receiver.received.map(({ data }) => data.version);
    expect(versions()).toEqual(['v1', 'v2', 'v3']);
    await scene.person('ana').submits();
    await until([`📨 Sent to production · ${v1}`, 'Replaced on production by v1 · docs.acme.com v3']);
    expect(versions()).toEqual(['v1', 'v2', 'v3', 'v1']);
    await scene.slack.until(() => shown().length === 3);
  });

  test('is asked for in a question of Slack, which names the version and the deployment', async () => {
    await exports('v1');
    const { blocks } = messageWith(exportedText('v1'));
    expect(JSON.stringify(blocks)).toContain('Deploy v1 to production?');
  });
});
