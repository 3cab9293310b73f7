import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startDeployment } from '../../demo/deployment/deployment.ts';
import type { Chosen } from '../../demo/slack/choice.ts';
import { stage } from '../support/flows/stage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
/** The next Monday, 04:00: Redis' own clock must not be ahead, or it drops links. */
const MONDAY = Math.ceil(Date.now() / WEEK) * WEEK + 4 * DAY + 4 * HOUR;
const WHEN = 'every day 06:00 UTC · set up by ana · /docs-export schedule list';
const MENU = '[⋯ Run now] [⋯ Change] [⋯ Pause]';

describe('a scheduled export', () => {
  const scene = stage({
    startMs: MONDAY,
    platform: { exportPlan: { durationMs: 40 } },
    bot: { env: { DOCS_DOMAIN: 'docs.acme.com' } },
  });
  const { asks, told, toldLast, person, clicks, sees, until, messageWith, notified } = scene;

  /** Sets up a schedule: every day 06:00, in #docs, unless the fields say else. */
  async function schedules(values: Record<string, Chosen> = {}) {
    await asks('/docs-export schedule');
    const zone = { Day: 'Every day', Time: '06:00', 'Time zone': 'UTC' };
    const answer = await person('ana').submits({
      Domain: 'docs.acme.com',
      Channel: '#docs',
      ...zone,
      ...values,
    });
    expect(answer.errors).toBeUndefined();
    await until(['not exported yet', MENU]);
  }
  /** Goes on to the next 06:00, or to some milliseconds after it. */
  async function due(plusMs = 1000) {
    const days = Math.ceil((scene.world.now() - MONDAY - 2 * HOUR) / DAY);
    await scene.world.jumpTo(MONDAY + 2 * HOUR + days * DAY + plusMs);
  }
  beforeEach(async () => {
    const weeks = Math.ceil((scene.world.now() - MONDAY) / WEEK);
    await scene.world.jumpTo(MONDAY + weeks * WEEK);
  });
  const standing = () =>
    sees()
      .find((text) => text.includes(WHEN))
      ?.split('\n')[0];
  const starts = () => scene.platform.starts.length;

  test('edits one message, with each export in its thread, and mentions nobody', async () => {
    await schedules({ Label: 'nightly-{date}', Pages: '/guides, /api' });
    expect(sees()[0]).toBe(
      `🕒 docs.acme.com · not exported yet · next: TIME\nevery day 06:00 UTC · "nightly-{date}" · only /guides and 1 more · set up by ana · /docs-export schedule list\n${MENU}`,
    );
    expect(told(await asks('/docs-export schedule list'))).toContain('next TIME · every day 06:00');
    const labels: string[] = [];
    for (const day of [1, 2]) {
      await due();
      labels.push(`nightly-${new Date(scene.world.now()).toISOString().slice(0, 10)}`);
      await until([
        `(${labels[day - 1]}) is exported`,
        '✅ docs.acme.com · exported TIME · 2 pages · next: TIME',
      ]);
    }
    expect(scene.platform.starts.map(({ version, paths }) => ({ version, paths }))).toEqual(
      labels.map((version) => ({ version, paths: ['guides', 'api'] })),
    );
    expect(sees('#docs', 'ben').slice(1)).toEqual(
      ['🔒 The link ended TIME', 'The link works until TIME'].map((link, index) =>
        expect.stringContaining(
          `✅ docs.acme.com (${labels[index]}) is exported · 2 pages · 1 byte · took 1 s\n${link}`,
        ),
      ),
    );
    const [root, ...others] = scene.slack.messages;
    expect(others.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
    expect(notified('ana')).toBe(0);
  });

  test('mentions the owner if the number of pages changes by more than a fifth', async () => {
    await schedules();
    for (const [pages, mentions, text] of [
      [100, 0, '100 pages · '],
      [120, 0, '120 pages (+20)'],
      [95, 1, '95 pages (−25)'],
    ] as const) {
      scene.platform.plan({ pages, durationMs: 40 });
      await due();
      await until([text]);
      await scene.slack.until(() => notified('ana') === mentions, 20_000, `${mentions} mentions`);
    }
    await until(['⚠️ @ana docs.acme.com has 95 pages now. The export before had 120.']);
  });

  test('joins the same export if somebody has it running', async () => {
    await schedules();
    scene.platform.plan({ holdAt: 0.42 });
    await asks('/docs-export docs.acme.com', { who: 'ben' });
    await until(['42%']);
    await due();
    await until([
      'The same export was running already, so I wait',
      '⏳ docs.acme.com · exporting · next: TIME',
    ]);
    scene.platform.finish('docs.acme.com');
    await until([
      '✅ docs.acme.com · exported TIME',
      'The same export was running already. Its result: exported.',
    ]);
    expect(starts()).toBe(1);
    expect(notified('ana')).toBe(0);
  });

  test('fails with one mention; started again, it counts; after three failures in a row it pauses', async () => {
    await schedules();
    for (const failures of [1, 2, 3]) {
      scene.platform.plan({ failAt: 0.5, durationMs: 40, error: `no ${failures}` });
      await due();
      const state =
        failures < 3 ? '❌ docs.acme.com · export failed TIME' : '⏸ docs.acme.com · paused after 3';
      await until([`The platform said: "no ${failures}"`, state]);
      if (failures > 1) continue;
      expect(notified('ana')).toBe(1);
      await clicks('ben', 'no 1', 'Start again');
      await until(['✅ docs.acme.com · exported TIME']);
      scene.platform.plan({ failAt: 0.5, durationMs: 40, error: 'no 0' });
      await due();
      await until(['The platform said: "no 0"']);
    }
    await until(['⏸ @ana Paused after 3 failures in a row']);
    expect(notified('ana')).toBe(5);
    const before = starts();
    await due(2 * DAY);
    await clicks('ben', 'Paused after 3', 'Run now');
    await until(['✅ docs.acme.com · exported TIME · 12 pages · next: TIME']);
    expect(starts()).toBe(before + 1);
  });

  test('asks whether it started, and goes on after the answer', async () => {
    await schedules();
    scene.platform.wire.order(({ name }) => name === 'POST /v1/static-export/jobs', {
      kind: 'reset',
      when: 'after',
    });
    await due();
    await until(['⚠️ @ana Did the export of docs.acme.com start?', '⚠️ docs.acme.com · needs an answer']);
    // The next one is not started beside it.
    await due();
    expect(starts()).toBe(1);
    await clicks('ana', 'Did the export', 'Leave it');
    await until(['✅ docs.acme.com · exported TIME']);
    expect(starts()).toBe(2);
    expect(notified('ana')).toBe(1);
  });

  test('of several missed times, makes up for the last, up to a day late', async () => {
    await schedules({ Day: 'Tuesday' });
    await due(DAY + 23 * HOUR);
    await until(['✅ docs.acme.com · exported TIME']);
    await due(6 * DAY + 25 * HOUR);
    await until(['➖ Left out: 1 export, last due TIME']);
    expect(starts()).toBe(1);
  });

  test('is paused, resumed, run and removed by anybody who may export; a second click does nothing', async () => {
    await schedules();
    await asks('/docs-export schedule pause', { who: 'ben' });
    await until(['⏸ docs.acme.com · paused by ben']);
    await due();
    await due(-60_000);
    expect(told(await asks('/docs-export schedule pause'))).toContain('It is already paused.');
    expect(told(await asks('/docs-export schedule resume'))).toContain('Scheduled · docs.acme.com in #docs');
    scene.platform.plan({ holdAt: 0.42 });
    expect(told(await asks('/docs-export schedule run'))).toContain('On its way · docs.acme.com');
    expect(told(await asks('/docs-export schedule run'))).toContain('Exporting already · docs.acme.com');
    await until(['⏳ docs.acme.com · exporting', '⏳ Exporting · docs.acme.com']);
    // What is due now is the same: only the next time changes.
    const shown = () => scene.slack.read(messageWith('docs.acme.com · exporting'));
    const before = shown();
    await due();
    await scene.slack.until(() => shown() !== before, 20_000, 'the next time');
    scene.platform.finish('docs.acme.com');
    await until(['✅ docs.acme.com · exported TIME']);
    expect(starts()).toBe(1);
    const { ephemeral } = await asks('/docs-export schedule remove');
    if (ephemeral === undefined) throw new Error('nothing was listed');
    await person('ana').clicks(ephemeral, 'Remove');
    await until(['💤 docs.acme.com · no longer exported on schedule']);
    await due(DAY);
    expect(told(await asks('/docs-export schedule list'))).toContain('There are no scheduled exports');
    expect(starts()).toBe(1);
  });

  test('is changed in a modal, once in a channel for each site, and stays within it', async () => {
    await schedules();
    await asks('/docs-export schedule');
    const again = await person('ana').submits({
      Domain: 'docs.acme.com',
      Channel: '#docs',
      'Time zone': 'UTC',
    });
    expect(JSON.stringify(again.errors)).toContain('already has a schedule of docs.acme.com');
    await person('ana').closes();
    await person('ben').clicks(messageWith('not exported yet'), 'Change');
    const wrong = await person('ben').submits({
      Pages: 'https://docs.beta.io/x',
      Label: `${'x'.repeat(95)}{date}`,
    });
    expect(JSON.stringify(wrong.errors)).toContain("isn't a page of docs.acme.com");
    await person('ben').submits({ Pages: '', Label: '', Day: 'Friday', Time: '07:30' });
    await until(['Fridays 07:30 UTC']);
    expect(standing()).toBeUndefined();
    expect(toldLast('ben')).toContain('Scheduled · docs.acme.com in #docs');
  });

  test('says privately if it cannot post in the channel', async () => {
    await asks('/docs-export schedule', { where: '#elsewhere' });
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#elsewhere', 'Time zone': 'UTC' });
    await scene.slack.until(() => toldLast('ana', '#elsewhere') !== undefined, 20_000, 'an answer');
    expect(toldLast('ana', '#elsewhere')).toContain("I can't post in #elsewhere yet, so nothing was set up.");
  });
});

describe('a scheduled export after each update from here', () => {
  const scene = stage({
    platform: { exportPlan: { durationMs: 40 } },
    bot: { env: { DOCS_DOMAIN: 'docs.acme.com' } },
  });
  const { asks, told, person, until, sees } = scene;
  const AFTER = 'After each update from here';
  const starts = () => scene.platform.starts.length;
  const exported = (times: number) =>
    scene.slack.until(() => sees().filter((text) => text.includes('is exported')).length === times);

  async function follows() {
    await asks('/docs-export schedule');
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#docs', Day: AFTER });
    await until(['🕒 docs.acme.com · not exported yet\nafter each update from here · set up by ana', MENU]);
  }

  test('starts once an update has succeeded, and at no other time', async () => {
    await follows();
    const listed = told(await asks('/docs-export schedule list'));
    expect(listed).toContain('docs.acme.com in #docs\nafter each update from here');
    await asks('/docs-site preview main');
    await until(['The preview of main is ready.']);
    scene.platform.site.plan({ logs: ['Error in guides/x.mdx'] });
    await asks('/docs-site update');
    await until(['The update of docs.acme.com failed.']);
    expect(starts()).toBe(0);
    for (const times of [1, 2]) {
      await asks('/docs-site update');
      await exported(times);
    }
    await until(['✅ docs.acme.com · exported TIME · 12 pages\nafter each update from here']);
    expect(starts()).toBe(2);
  });

  test('waits for its own export, and follows none that began before the update', async () => {
    await follows();
    scene.platform.plan({ holdAt: 0.42 });
    await asks('/docs-export docs.acme.com', { who: 'ben' });
    await until(['42%']);
    scene.platform.plan({ holdAt: 0.5 });
    await asks('/docs-site update');
    await until(['Static export · scheduled by ana']);
    await scene.slack.until(() => starts() === 2);
    await asks('/docs-site update');
    await scene.slack.until(() => sees().filter((text) => text.includes('is done.')).length === 2);
    expect(starts()).toBe(2);
    scene.platform.finish('docs.acme.com');
    await scene.slack.until(() => starts() === 3);
  });
});

let clock = Date.now;
describe('a scheduled export whose deployment left the settings', () => {
  const configOf = (deployments: string) => `
projects:
  acme:
    domains: [docs.acme.com]
${deployments}
allow: { deploy: [U0ANA] }
`;
  const bot = {
    config: configOf(`    deployments:
      production: { webhook: { url: http://127.0.0.1:9, secret: { env: DEPLOY_SECRET } } }`),
    env: { DEPLOY_SECRET: `whsec_${'A'.repeat(32)}` },
  };
  const scene = stage({ startMs: MONDAY, platform: { exportPlan: { durationMs: 40 } }, bot });
  const { asks, person, until, clicks, sees } = scene;

  test('no longer names it once it was changed', async () => {
    await asks('/docs-export schedule');
    const field = { 'Update after each export': ['production'] };
    await person('ana').submits({ ...field, 'Time zone': 'UTC' });
    await until(['not exported yet', MENU]);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot({ ...bot, config: configOf('') });
    await clicks('ana', 'not exported yet', 'Change');
    await person('ana').submits({ Label: 'v2' });
    await scene.world.jumpTo(MONDAY + 2 * HOUR + 1000);
    await until(['12 pages · next: TIME']);
    expect(sees().join()).not.toContain('production');
  });
});

const deployment = await startDeployment({ nowMs: () => clock() });
afterAll(() => deployment.stop());

describe('a scheduled export that updates a deployment', () => {
  const scene = stage({
    startMs: MONDAY,
    platform: { exportPlan: { durationMs: 40 } },
    bot: {
      config: `
projects:
  acme:
    domains: [docs.acme.com]
    deployments:
      production:
        webhook: { url: ${deployment.webhookUrl}, secret: { env: DEPLOY_SECRET }, includeLink: true }
allow: { deploy: [U0ANA], admin: [U0BEN] }
`,
      env: { DEPLOY_SECRET: deployment.secret },
    },
  });
  const { asks, person, until, told, toldLast, messageWith } = scene;
  const field = 'Update after each export';
  const REFUSED = "You can't update deployments";

  test('updates it to each; who may not update it neither sees the choice nor may change the schedule', async () => {
    clock = scene.world.now;
    deployment.docketUrl = `http://127.0.0.1:${scene.world.bots.at(-1)?.port}`;
    await asks('/docs-export schedule', { who: 'ben' });
    expect(JSON.stringify(person('ben').modal())).not.toContain(field);
    await person('ben').closes();
    await asks('/docs-export schedule');
    await person('ana').submits({ Label: 'v-{date}', [field]: ['production'], 'Time zone': 'UTC' });
    await until(['not exported yet', MENU]);
    await scene.world.jumpTo(MONDAY + 2 * HOUR + 1000);
    const day = new Date(scene.world.now()).toISOString().slice(0, 10);
    await until(['12 pages · production serves it since TIME · next: TIME']);
    expect(deployment.serves()).toMatchObject({ domain: 'docs.acme.com', version: `v-${day}` });

    expect(told(await asks('/docs-export schedule run', { who: 'ben' }))).toContain(REFUSED);
    for (const button of ['Run now', 'Change']) {
      await person('ben').clicks(messageWith('12 pages · production'), button);
      expect(toldLast('ben')).toContain(REFUSED);
    }
    expect(person('ben').modal()).toBeUndefined();
    expect(scene.platform.starts).toHaveLength(1);

    // Who names the job of an unclear start decides what the deployment gets.
    scene.platform.wire.order(({ name }) => name === 'POST /v1/static-export/jobs', {
      kind: 'reset',
      when: 'after',
    });
    await scene.world.jumpTo(MONDAY + DAY + 2 * HOUR + 1000);
    await until(['Did the export of docs.acme.com']);
    await scene.clicks('ben', 'Did the export', "It's there: watch it");
    expect(person('ben').modal()).toBeUndefined();
    expect(toldLast('ben')).toContain(REFUSED);
    await scene.clicks('ana', 'Did the export', "It's there: watch it");
    expect(person('ana').modal()).toBeDefined();
  });
});
