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
const MENU = '[Run now] [⋯ Change] [⋯ Pause] [⋯ Remove]';
/** The end of its message, once it is set up. */
const ACTIVE = `/docs-export schedule list\n${MENU}`;

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
    await until([ACTIVE]);
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
    await schedules({ Version: 'nightly-{date}', Paths: '/guides, /api' });
    expect(sees()[0]).toBe(
      `🕒 Not exported yet · docs.acme.com\nNext: TIME\nevery day 06:00 UTC · "nightly-{date}" · only /guides and 1 more · set up by ana · /docs-export schedule list\n${MENU}`,
    );
    expect(told(await asks('/docs-export schedule list'))).toContain('next TIME · every day 06:00');
    const labels: string[] = [];
    for (const day of [1, 2]) {
      await due();
      labels.push(`nightly-${new Date(scene.world.now()).toISOString().slice(0, 10)}`);
      await until([
        `Exported · docs.acme.com ${labels[day - 1]} · 2 pages, `,
        '✅ Exported TIME · docs.acme.com · 2 pages\nNext: TIME',
      ]);
    }
    expect(scene.platform.starts.map(({ version, paths }) => ({ version, paths }))).toEqual(
      labels.map((version) => ({ version, paths: ['guides', 'api'] })),
    );
    expect(sees('#docs', 'ben').slice(1)).toEqual([
      `⌛ Link expired · docs.acme.com ${labels[0]}\nThe export still exists, so a new link takes a second.\n[New link]`,
      expect.stringContaining(
        `✅ Exported · docs.acme.com ${labels[1]} · 2 pages, 1 byte, took 1 s\nScheduled by ana · only /guides and 1 more · job se_… · the link works until TIME`,
      ),
    ]);
    const [root, ...others] = scene.slack.messages;
    expect(others.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
    expect(notified('ana')).toBe(0);
  });

  test('mentions the owner if the number of pages changes by more than a fifth', async () => {
    await schedules();
    for (const [pages, mentions, text] of [
      [100, 0, '100 pages\n'],
      [120, 0, '120 pages (+20)'],
      [95, 1, '95 pages (−25)'],
    ] as const) {
      scene.platform.plan({ pages, durationMs: 40 });
      await due();
      await until([text]);
      await scene.slack.until(() => notified('ana') === mentions, 20_000, `${mentions} mentions`);
    }
    await until(['⚠️ @ana docs.acme.com lost 25 pages (120 → 95)\nCheck them before you publish.']);
  });

  test('joins the same export if somebody has it running', async () => {
    await schedules();
    scene.platform.plan({ holdAt: 0.42 });
    await asks('/docs-export docs.acme.com', { who: 'ben' });
    await until(['42%']);
    await due();
    await until([
      'The same export was running already, so I wait',
      '⏳ Exporting · docs.acme.com\nNext: TIME',
    ]);
    scene.platform.finish('docs.acme.com');
    await until([
      '✅ Exported TIME · docs.acme.com',
      'The same export was running already. Its result: exported.',
    ]);
    expect(starts()).toBe(1);
    expect(notified('ana')).toBe(0);
  });

  test('joins no private export: the channel gets a link of its own', async () => {
    await schedules();
    scene.platform.plan({ holdAt: 0.42 });
    await asks('/docs-export docs.acme.com --private', { who: 'ben' });
    await until(['42%']);
    await due();
    await until(['✅ Exported TIME · docs.acme.com', 'Exported · docs.acme.com · 12 pages, ', '[Download']);
    expect(starts()).toBe(2);
  });

  test('compares no pages if their choice changes while it exports', async () => {
    await schedules();
    scene.platform.plan({ holdAt: 0.42, pages: 100, durationMs: 40 });
    await due();
    await scene.slack.until(() => starts() === 1);
    await clicks('ana', 'Exporting · docs.acme.com\nNext', 'Change');
    await person('ana').submits({ Paths: '/guides' });
    await until(['only /guides']);
    scene.platform.finish('docs.acme.com');
    await until(['✅ Exported TIME · docs.acme.com\nNext: TIME']);
    await due();
    await until(['✅ Exported TIME · docs.acme.com · 1 page\nNext: TIME']);
    expect(notified('ana')).toBe(0);
  });

  test('fails with one mention; started again, it counts; after three failures in a row it pauses', async () => {
    await schedules();
    for (const failures of [1, 2, 3]) {
      scene.platform.plan({ failAt: 0.5, durationMs: 40, error: `no ${failures}` });
      await due();
      const state =
        failures < 3
          ? '❌ Export failed TIME · docs.acme.com'
          : '⏸ Schedule paused · docs.acme.com\nPaused after 3';
      await until([`The platform said: "no ${failures}"`, state]);
      if (failures > 1) continue;
      expect(notified('ana')).toBe(1);
      await clicks('ben', 'no 1', 'Try again');
      await until(['✅ Exported TIME · docs.acme.com']);
      scene.platform.plan({ failAt: 0.5, durationMs: 40, error: 'no 0' });
      await due();
      await until(['The platform said: "no 0"']);
    }
    await until(['⏸ @ana Paused after 3 failures in a row']);
    expect(notified('ana')).toBe(5);
    const before = starts();
    await due(2 * DAY);
    await clicks('ben', 'Paused after 3', 'Run now');
    await until(['✅ Exported TIME · docs.acme.com · 12 pages\nNext: TIME']);
    expect(starts()).toBe(before + 1);
  });

  test('asks whether it started, and goes on after the answer', async () => {
    await schedules();
    scene.platform.wire.order(({ name }) => name === 'POST /v1/static-export/jobs', {
      kind: 'reset',
      when: 'after',
    });
    await due();
    await until(['❔ @ana Did the export of docs.acme.com start?', '❔ Needs an answer · docs.acme.com']);
    // The next one is not started beside it.
    await due();
    expect(starts()).toBe(1);
    await clicks('ana', 'Did the export', "Don't start again");
    await until(['✅ Exported TIME · docs.acme.com']);
    expect(starts()).toBe(2);
    expect(notified('ana')).toBe(1);
  });

  test('of several missed times, makes up for the last, up to a day late', async () => {
    await schedules({ Day: 'Tuesday' });
    await due(DAY + 23 * HOUR);
    await until(['✅ Exported TIME · docs.acme.com']);
    await due(6 * DAY + 25 * HOUR);
    await until(['➖ Skipped 1 missed export (last due TIME)']);
    expect(starts()).toBe(1);
  });

  test('is paused, resumed, run and removed by anybody who may export; a second click does nothing', async () => {
    await schedules();
    await asks('/docs-export schedule pause', { who: 'ben' });
    await until(['⏸ Schedule paused · docs.acme.com\nPaused by ben']);
    await due();
    await due(-60_000);
    expect(told(await asks('/docs-export schedule pause'))).toContain("It's already paused.");
    expect(told(await asks('/docs-export schedule resume'))).toContain(
      'Active · scheduled export of docs.acme.com in #docs',
    );
    scene.platform.plan({ holdAt: 0.42 });
    expect(told(await asks('/docs-export schedule run'))).toContain('On its way · docs.acme.com');
    expect(told(await asks('/docs-export schedule run'))).toContain('Exporting already · docs.acme.com');
    await until(['⏳ Exporting · docs.acme.com\nNext', '⏳ Exporting · docs.acme.com\nSch']);
    // What is due now is the same: only the next time changes.
    const shown = () => scene.slack.read(messageWith('Exporting · docs.acme.com\nNext'));
    const before = shown();
    await due();
    await scene.slack.until(() => shown() !== before, 20_000, 'the next time');
    scene.platform.finish('docs.acme.com');
    await until(['✅ Exported TIME · docs.acme.com']);
    expect(starts()).toBe(1);
    const { ephemeral } = await asks('/docs-export schedule remove');
    if (ephemeral === undefined) throw new Error('nothing was listed');
    await person('ana').clicks(ephemeral, 'Remove');
    await until(['➖ No longer exported on schedule · docs.acme.com']);
    await due(DAY);
    expect(told(await asks('/docs-export schedule list'))).toContain('There are no scheduled exports');
    expect(starts()).toBe(1);
  });

  test('a change while it is being set up is not lost silently', async () => {
    scene.slack.wire.order('chat.postMessage', { kind: 'answer', status: 503 }, Infinity);
    await asks('/docs-export schedule');
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#docs', 'Time zone': 'UTC' });
    for (const verb of ['pause', 'resume'])
      expect(told(await asks(`/docs-export schedule ${verb}`))).toBe(
        "It's still being set up, so I changed nothing. Try again in a moment.",
      );
    scene.slack.wire.clear();
    await until([ACTIVE]);
    expect(told(await asks('/docs-export schedule pause'))).toContain('Paused');
  });

  test('is changed in a modal, once in a channel for each site, and stays within it', async () => {
    await schedules();
    await asks('/docs-export schedule');
    const again = await person('ana').submits({
      Domain: 'docs.acme.com',
      Channel: '#docs',
      'Time zone': 'UTC',
    });
    expect(JSON.stringify(again.errors)).toContain('already has a scheduled export of docs.acme.com');
    await person('ana').closes();
    await person('ben').clicks(messageWith('Not exported yet'), 'Change');
    const wrong = await person('ben').submits({
      Paths: 'https://docs.beta.io/x',
      Version: `${'x'.repeat(95)}{date}`,
    });
    expect(JSON.stringify(wrong.errors)).toContain("isn't a page of docs.acme.com");
    await person('ben').submits({ Paths: '', Version: '', Day: 'Friday', Time: '07:30' });
    await until(['Fridays 07:30 UTC']);
    expect(standing()).toBeUndefined();
    expect(toldLast('ben')).toContain('Active · scheduled export of docs.acme.com in #docs');
  });

  test('says privately if it cannot post in the channel', async () => {
    await asks('/docs-export schedule', { where: '#elsewhere' });
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#elsewhere', 'Time zone': 'UTC' });
    await scene.slack.until(() => toldLast('ana', '#elsewhere') !== undefined, 20_000, 'an answer');
    expect(toldLast('ana', '#elsewhere')).toContain("I can't post in #elsewhere yet, so nothing was set up.");
  });
});

describe('the limits of exports', () => {
  const limits = 'limits: { exportsPerPerson: 1, exportSchedulesPerPerson: 2 }\n';
  const scene = stage({ startMs: MONDAY, bot: { config: limits } });
  const { asks, person, clicks, until } = scene;

  async function schedules(where: string, domain = 'docs.acme.com') {
    await asks('/docs-export schedule');
    const values = { Day: 'Every day', Time: '06:00', 'Time zone': 'UTC', Channel: where };
    return person('ana').submits({ Domain: domain, Version: where.slice(1), ...values });
  }

  test('count for schedules and for their exports, which wait for a place and are not lost', async () => {
    for (const where of ['#docs', '#private']) {
      expect((await schedules(where)).errors).toBeUndefined();
      await until([ACTIVE], where);
    }
    const { errors } = await schedules('#docs', 'api.acme.com');
    expect(errors).toEqual({
      channel:
        'You have 2 export schedules, and nobody may have more. Remove one that you no longer need: /docs-export schedule list shows them.',
    });
    scene.platform.plan({ holdAt: 0.42 });
    await clicks('ana', '"docs"', 'Run now');
    await until(['⏳ Exporting · docs.acme.com\n']);
    await scene.world.jumpTo(MONDAY + 2 * HOUR + 1000);
    const waits = '🕒 Waiting · docs.acme.com\nana has 1 export running, so this one waits until one ends.';
    await until([waits], '#private');
    const labels = () => scene.platform.starts.map(({ version }) => version);
    await expect.poll(labels, { timeout: 10_000 }).toEqual(['docs']);
    scene.platform.finish('docs.acme.com');
    await until(['⏳ Exporting · docs.acme.com\n'], '#private');
    await expect.poll(labels, { timeout: 10_000 }).toEqual(['docs', 'private']);
  });

  test('a schedule that is paused while its export waits for a place does not start that export', async () => {
    for (const where of ['#docs', '#private']) {
      await schedules(where);
      await until([ACTIVE], where);
    }
    scene.platform.plan({ holdAt: 0.42 });
    await clicks('ana', '"docs"', 'Run now');
    await until(['⏳ Exporting · docs.acme.com\n']);
    await clicks('ana', '"private"', 'Run now');
    await until(['waits until one ends'], '#private');
    await clicks('ana', '"private"', 'Pause');
    await until(['⏸ Schedule paused · docs.acme.com\nPaused by ana'], '#private');
    const started = () => scene.platform.starts.length;
    await expect.poll(started, { timeout: 10_000 }).toBe(1);
    scene.platform.finish('docs.acme.com');
    await until(['✅ Exported TIME · docs.acme.com']);
    expect(started()).toBe(1);
  });
});

describe('a scheduled export after each site update started in Slack', () => {
  const scene = stage({
    platform: { exportPlan: { durationMs: 40 } },
    bot: { env: { DOCS_DOMAIN: 'docs.acme.com' } },
  });
  const { asks, told, person, until, sees } = scene;
  const AFTER = 'After each site update started in Slack';
  const starts = () => scene.platform.starts.length;
  const exported = (times: number) =>
    scene.slack.until(() => sees().filter((text) => text.includes(', took')).length === times);

  async function follows() {
    await asks('/docs-export schedule');
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#docs', Day: AFTER });
    await until([
      '🕒 Not exported yet · docs.acme.com\nafter each site update started in Slack · set up by ana',
      ACTIVE,
    ]);
  }

  test('starts once an update has succeeded, and at no other time', async () => {
    await follows();
    const listed = told(await asks('/docs-export schedule list'));
    expect(listed).toContain(
      'docs.acme.com in #docs\nnot exported yet · after each site update started in Slack',
    );
    await asks('/docs-site preview main');
    await until(['Preview ready · main']);
    scene.platform.site.plan({ logs: ['Error in guides/x.mdx'] });
    await asks('/docs-site update');
    await until(['Update failed · docs.acme.com']);
    expect(starts()).toBe(0);
    for (const times of [1, 2]) {
      await asks('/docs-site update');
      await exported(times);
    }
    await until(['✅ Exported TIME · docs.acme.com · 12 pages\nafter each site update started in Slack']);
    expect(starts()).toBe(2);
  });

  test('waits for its own export, and follows none that began before the update', async () => {
    await follows();
    scene.platform.plan({ holdAt: 0.42 });
    await asks('/docs-export docs.acme.com', { who: 'ben' });
    await until(['42%']);
    scene.platform.plan({ holdAt: 0.5 });
    await asks('/docs-site update');
    await until(['Scheduled by ana']);
    await scene.slack.until(() => starts() === 2);
    await asks('/docs-site update');
    await scene.slack.until(() => sees().filter((text) => text.includes('✅ @ana Updated · ')).length === 2);
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
    const field = { 'Then deploy to': ['production'] };
    await person('ana').submits({ ...field, 'Time zone': 'UTC' });
    await until([ACTIVE]);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot({ ...bot, config: configOf('') });
    await clicks('ana', 'Not exported yet', 'Change');
    await person('ana').submits({ Version: 'v2' });
    await scene.world.jumpTo(MONDAY + 2 * HOUR + 1000);
    await until(['12 pages\nNext: TIME']);
    // The answer from when it was set up still names it.
    expect(sees()[0]).not.toContain('production');
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
  const field = 'Then deploy to';
  const REFUSED = "You can't deploy";

  test('updates it to each; who may not update it neither sees the choice nor may change the schedule', async () => {
    clock = scene.world.now;
    deployment.docketUrl = `http://127.0.0.1:${scene.world.bots.at(-1)?.port}`;
    await asks('/docs-export schedule', { who: 'ben' });
    expect(JSON.stringify(person('ben').modal())).not.toContain(field);
    await person('ben').closes();
    await asks('/docs-export schedule');
    await person('ana').submits({ Version: 'v-{date}', [field]: ['production'], 'Time zone': 'UTC' });
    await until([ACTIVE]);
    await scene.world.jumpTo(MONDAY + 2 * HOUR + 1000);
    const day = new Date(scene.world.now()).toISOString().slice(0, 10);
    const live = '✅ Live on production since TIME';
    await until([`${live}\nNext: TIME`, `12 pages, 1 byte, took 1 s\n${live}\nScheduled by ana`]);
    // Nothing else was posted, and nobody was mentioned.
    expect(scene.slack.messages).toHaveLength(2);
    expect(scene.notified('ana')).toBe(0);
    expect(deployment.serves()).toMatchObject({ domain: 'docs.acme.com', version: `v-${day}` });

    expect(told(await asks('/docs-export schedule run', { who: 'ben' }))).toContain(REFUSED);
    for (const button of ['Run now', 'Change']) {
      await person('ben').clicks(messageWith('12 pages\n✅ Live on production'), button);
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
    await scene.clicks('ben', 'Did the export', 'It started: watch it');
    expect(person('ben').modal()).toBeUndefined();
    expect(toldLast('ben')).toContain(REFUSED);
    await scene.clicks('ana', 'Did the export', 'It started: watch it');
    expect(person('ana').modal()).toBeDefined();
  });

  test('is resumed and taken over only by people who may update it; others may pause and remove it', async () => {
    const BECAUSE = `This schedule deploys to production.\n${REFUSED}`;
    await asks('/docs-export schedule');
    await person('ana').submits({ [field]: ['production'], 'Time zone': 'UTC' });
    await until([ACTIVE]);
    expect(told(await asks('/docs-export schedule pause', { who: 'ben' }))).toContain('Paused');
    await until(['Paused by ben']);
    expect(told(await asks('/docs-export schedule resume', { who: 'ben' }))).toContain(BECAUSE);
    await person('ben').clicks(messageWith('Paused by ben'), 'Resume');
    expect(toldLast('ben')).toContain(BECAUSE);
    await person('ana').clicks(messageWith('Paused by ben'), 'Resume');
    await until(['Not exported yet']);

    const ana = scene.slack.workspace.users.find(({ name }) => name === 'ana');
    Object.assign(ana ?? {}, { deleted: true });
    await scene.world.jumpTo(scene.world.now() + DAY);
    await until(['has left', "It's paused until someone who may deploy takes it over."]);
    await person('ben').clicks(messageWith('has left'), 'Take over');
    expect(toldLast('ben')).toContain(BECAUSE);
    Object.assign(ana ?? {}, { deleted: false });
    expect(scene.platform.starts).toEqual([]);
    const { ephemeral } = await asks('/docs-export schedule remove', { who: 'ben' });
    await person('ben').clicks(ephemeral as never, 'Remove');
    await until(['No longer exported on schedule']);
  });

  test('mentions the owner once if it is not deployed', async () => {
    clock = scene.world.now;
    const weeks = Math.ceil((scene.world.now() - MONDAY) / WEEK);
    await scene.world.jumpTo(MONDAY + weeks * WEEK);
    await asks('/docs-export schedule');
    await person('ana').submits({ Version: 'v3', [field]: ['production'], 'Time zone': 'UTC' });
    await until([ACTIVE]);
    deployment.wire.order('POST /docket', { kind: 'answer', status: 422, text: 'checksum differs' });
    await scene.world.jumpTo(MONDAY + weeks * WEEK + 2 * HOUR + 1000);
    const failed = '❌ Not deployed to production';
    await until([
      `${failed}\nNext: TIME`,
      `12 pages, 1 byte, took 1 s\n${failed}\nScheduled by ana`,
      '❌ @ana Not deployed to production · docs.acme.com v3\nproduction rejected it. It said: "checksum differs"',
    ]);
    expect(scene.slack.messages).toHaveLength(3);
    expect(scene.notified('ana')).toBe(1);
  });

  test('mentions the owner at the first of several failures, and once when it works again', async () => {
    clock = scene.world.now;
    deployment.docketUrl = `http://127.0.0.1:${scene.world.bots.at(-1)?.port}`;
    const weeks = Math.ceil((scene.world.now() - MONDAY) / WEEK);
    const dayMs = (day: number) => MONDAY + weeks * WEEK + day * DAY + 2 * HOUR + 1000;
    await scene.world.jumpTo(MONDAY + weeks * WEEK);
    await asks('/docs-export schedule');
    await person('ana').submits({ Version: 'v-{date}', [field]: ['production'], 'Time zone': 'UTC' });
    await until([ACTIVE]);
    const versionOf = (day: number) => `v-${new Date(dayMs(day)).toISOString().slice(0, 10)}`;
    const endsOn = async (day: number, line: string) => {
      const version = versionOf(day);
      await scene.world.jumpTo(dayMs(day));
      const isEnding = (text: string) =>
        text.includes(` ${version} · `) && text.includes(`\n${line}\nScheduled`);
      await scene.slack.until(() => scene.sees().some(isEnding), undefined, version);
      await until([`${line}\nNext: TIME`]);
      return version;
    };
    const posts = (part: string) => scene.sees().filter((text) => text.includes(part));
    const refuses = (day: number) =>
      deployment.wire.order(({ detail }) => JSON.stringify(detail).includes(versionOf(day)), {
        ...{ kind: 'answer', status: 422, text: 'checksum differs' },
      });
    for (const day of [0, 1, 2]) {
      refuses(day);
      await endsOn(day, '❌ Not deployed to production');
      await until(['❌ @ana Not deployed to production']);
      expect([day, posts('@ana').length, scene.notified('ana')]).toEqual([day, 1, 1]);
    }
    const version = await endsOn(3, '✅ Live on production since TIME');
    await until([
      `✅ @ana Live on production · docs.acme.com ${version}\nDeploying to production works again.\nsince TIME · On schedule, for ana`,
    ]);
    expect(scene.notified('ana')).toBe(2);
    await endsOn(4, '✅ Live on production since TIME');
    expect(posts('@ana')).toHaveLength(2);
    expect(scene.notified('ana')).toBe(2);
    refuses(5);
    await endsOn(5, '❌ Not deployed to production');
    await scene.slack.until(() => scene.notified('ana') === 3);
  });

  /** A schedule is due while an export of a person in another channel is unclear, so it joins that one. */
  async function joins(who: 'ana' | 'ben', version: string) {
    clock = scene.world.now;
    await person('ana').types('#elsewhere', '/invite @Docket');
    const weeks = Math.ceil((scene.world.now() - MONDAY) / WEEK);
    await scene.world.jumpTo(MONDAY + weeks * WEEK);
    await asks('/docs-export schedule');
    await person('ana').submits({ Version: version, [field]: ['production'], 'Time zone': 'UTC' });
    await until([ACTIVE]);
    const lost = { kind: 'reset', when: 'after' } as const;
    scene.platform.wire.order(({ name }) => name === 'POST /v1/static-export/jobs', lost);
    await asks(`/docs-export docs.acme.com --version ${version}`, { who, where: '#elsewhere' });
    await until(['Did the export of docs.acme.com'], '#elsewhere');
    await scene.world.jumpTo(MONDAY + weeks * WEEK + 2 * HOUR + 1000);
    await until(['so I wait for it']);
    await scene.clicks(who, 'Did the export', 'It started: watch it');
    await person(who).submits({ 'Job ID': [...scene.platform.exports.keys()].at(-1) ?? '' });
  }

  test('deploys no job that somebody who may not deploy named, and tells the owner', async () => {
    const served = deployment.serves();
    await joins('ben', 'v1');
    await until([
      "⚠️ @ana Not deployed · docs.acme.com\nIt was unclear whether the export had started. ben named its job by hand, but can't deploy.",
    ]);
    expect(deployment.serves()).toEqual(served);
  });

  test('that another channel shows says so under the export', async () => {
    await joins('ana', 'v2');
    await until(['Live on production since']);
    const card =
      '✅ Exported · docs.acme.com v2 · 12 pages\n✅ Live on production since TIME\nRequested by ana\n[Download]';
    const exported = 'Exported · docs.acme.com v2 · 12 pages, ';
    // What is done has no button in the thread; the form has one.
    await until([card, 'for anyone who has it\n[Download] [⋯ New link] [⋯ Helm values]'], '#elsewhere');
    await scene.clicks('ana', exported, 'Helm values');
    const form = await scene.slack.until(() => person('ana').modal());
    await person('ana').clicks(form, 'Deploy to production');
    expect(person('ana').reads(person('ana').modal())).toMatch(
      /\nLive on production since [-\d]+ [:\d]+ UTC\. See the thread of docs\.acme\.com v2 in #docs\.\n/,
    );
    expect(deployment.serves()).toMatchObject({ domain: 'docs.acme.com', version: 'v2' });
  });
});
