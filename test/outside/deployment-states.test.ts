import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { deploymentStage, exportedText } from '../support/flows/receiver.ts';
import { startsElsewhere } from '../support/flows/site.ts';
import { temporaryFolder } from '../support/flows/world.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const site = 'docs.acme.com v1';
const HANDLED = 'Already handled: see the latest message in this thread.';

describe('a webhook', async () => {
  const { scene, receiver, exports, deploys, asksFor, shown, formOf, bot, configOf } = await deploymentStage({
    allow: 'deploy: [U0ANA, U0BEN]',
  });
  const { until, clicks, notified, audit, toldLast } = scene;

  test('that is taken is shown, and its callbacks say what came of it', async () => {
    await deploys('v1');
    await until([
      `📨 Sent to production · ${site}\nTIME · Requested by ana · production hasn't confirmed that it's live\n[Deploy again]`,
    ]);
    expect(notified('ana')).toBe(1);
    expect(await receiver.callsBack({ state: 'failed', message: 'No space left on device' })).toBe('204');
    await until([
      `❌ @ana production couldn't use this export · ${site}\nIt said: "No space left on device"\nRequested by ana\n[Try again]`,
    ]);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([`✅ @ana Live on production · ${site}\nsince TIME · Requested by ana\n[Deploy again]`]);
    await scene.slack.until(() => shown().length === 1);
    expect(notified('ana')).toBe(2);
    expect((await audit()).slice(2)).toEqual([
      `ana deployment.update_1 production · ${site} → accepted`,
      `ana deployment production · ${site} → notified`,
      `ana deployment production · ${site} → reported: failed`,
      `ana deployment production · ${site} → reported: live`,
    ]);
  });

  test('is what the package standardwebhooks accepts, and has no link unless it is configured', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    const [{ headers, body } = expect.fail('nothing came')] = receiver.received;
    const [jobId] = scene.platform.exports.keys();
    expect(new Webhook(receiver.secret).verify(body, headers)).toMatchObject({
      type: 'export.ready',
      data: { deployment: 'production', domain: 'docs.acme.com', jobId, version: 'v1', pages: 12 },
    });
    expect(body).not.toMatch(/bundleUrl|https?:/);
  });

  test('that is refused says why, and [Try again] sends it once', async () => {
    receiver.answers(410, `This site is gone, see ${receiver.url}/?token=5ecret\nmore`);
    await deploys('v1');
    await until([
      `❌ @ana Not deployed to production · ${site}\nproduction rejected it. It said: "This site is gone, see …"\nRequested by ana · HTTP 410\n[Try again]`,
    ]);
    receiver.answers(204);
    const late = structuredClone(scene.messageWith('Not deployed to production'));
    await clicks('ben', 'Not deployed to production', 'Try again');
    await until([`📨 Sent to production · ${site}\nTIME · Requested by ben`]);
    await scene.person('ana').clicks(late, 'Try again');
    expect(toldLast('ana')).toBe(HANDLED);
    expect(receiver.received.map(({ nth }) => nth)).toEqual(['1_0', '2_0']);
    // The link that it names is one of the export, which may have ended since.
    expect(receiver.received[1]?.data.expiresAt).toBeUndefined();
    expect(await audit()).toContain(`ben deployment production · ${site} → notified`);
  });

  test('is sent once, however often the button is clicked', async () => {
    const held = Promise.withResolvers<void>();
    receiver.answers((response) => void held.promise.then(() => response.writeHead(204).end()));
    await exports('v1');
    const offer = structuredClone(scene.messageWith(exportedText('v1')));
    await asksFor('v1');
    await until([`⏳ Deploying to production… · ${site}`]);
    await scene.person('ben').clicks(offer, 'Deploy to production');
    expect(toldLast('ben')).toBe(HANDLED);
    held.resolve();
    await until(['Sent to production']);
    await scene.person('ben').clicks(offer, 'Deploy to production');
    expect(toldLast('ben')).toMatch(/^Sent to production · TIME\. See the thread of docs/);
    expect(receiver.received).toHaveLength(1);
  });

  test('for an earlier version again takes the newer one’s place', async () => {
    await deploys('v1');
    await until([`📨 Sent to production · ${site}`]);
    await exports('v2');
    const offer = structuredClone(scene.messageWith(exportedText('v2')));
    await asksFor('v2');
    await until(['📨 Sent to production · docs.acme.com v2']);
    const replaced = `➖ Replaced on production by v2 · ${site}`;
    await until([`${replaced}\nTIME · Requested by ana\n[Go back to v1]`]);
    await clicks('ben', replaced, 'Go back to v1');
    expect(formOf('ben')).toBe(
      `Go back?\nproduction may have v2 now, which was asked for later than ${site}. Going back replaces it.\n[Go back] [Cancel]`,
    );
    expect(receiver.received).toHaveLength(2);
    await scene.person('ben').submits();
    await until([
      `📨 Sent to production · ${site}\nTIME · Requested by ben`,
      '➖ Replaced on production by v1 · docs.acme.com v2',
    ]);
    const sent = receiver.received.map(({ data }) => [data.version, data.jobId] as const);
    expect(sent.map(([version]) => version)).toEqual(['v1', 'v2', 'v1']);
    expect(sent[2]).toEqual(sent[0]);
    // The newer one's own button does not say what it replaces, so the form asks.
    await scene.person('ana').clicks(offer, 'Deploy to production');
    expect(formOf('ana')).toContain('production may have v1 now');
    await scene.slack.until(() => receiver.received.length === 3);
    await scene.person('ana').submits();
    await until(['📨 Sent to production · docs.acme.com v2', replaced]);
    expect(receiver.received.at(-1)?.data.version).toBe('v2');
  });

  test('of an attempt that is over changes nothing by its callback', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    await clicks('ana', 'Sent to production', 'Deploy again');
    await scene.slack.until(() => receiver.received.length === 2);
    expect(await receiver.callsBack({ state: 'failed' }, receiver.received[0]?.id)).toBe('204');
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    expect((await until(['Live on production'])).join('\n')).not.toContain("couldn't use");
  });

  test('for which the settings have no deployment any more is not sent', async () => {
    receiver.answers(410);
    await deploys('v1');
    await until(['Not deployed to production']);
    receiver.answers(204);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot({ ...bot, config: configOf('').replace('    deployments:\n', '') });
    await asksFor('v1');
    expect(toldLast('ana')).toBe('My settings no longer have this deployment. Ask your Docket admins.');
    await clicks('ana', 'Not deployed to production', 'Try again');
    await until([
      `❌ @ana Not deployed to production · ${site}\nMy settings no longer have production, so I couldn't send it this export. Ask your Docket admins.\nRequested by ana\n[Try again]`,
    ]);
    expect(receiver.received).toHaveLength(1);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot(bot);
    await clicks('ana', 'My settings no longer have', 'Try again');
    await until(['Sent to production']);
  });
});

describe('a workflow', async () => {
  const github = createStandInGitHub({ nowMs: () => scene.world.now() });
  const { path: folder, remove } = temporaryFolder();
  const api = await github.listen();
  afterAll(() => {
    remove();
    return api.close();
  });
  const target = (name: string) =>
    `{ apiUrl: ${api.url}, repository: acme/infra, ${name}, token: { env: GITHUB_TOKEN } }`;
  const file = join(folder, 'token');
  writeFileSync(file, github.token);
  const { scene, deploys, asksFor, formOf, shown, isIdle } = await deploymentStage({
    startMs: Date.now(),
    allow: 'deploy: [U0ANA], admin: [U0ANA]',
    deployments: `      staging: { github: ${target('workflow: update-docs.yml')} }
      preview: { github: ${target('event: docs-export')} }
      wrong: { github: ${target('workflow: none.yml')} }
      filed: { github: { apiUrl: ${api.url}, repository: acme/infra, workflow: update-docs.yml, token: { file: ${file} } } }`,
    env: { GITHUB_TOKEN: github.token },
  });
  const { until, clicks, sees, toldLast, audit, notified } = scene;
  afterEach(() => {
    github.wire.clear();
    // The clock is set back.
    github.limit('hourly', 0);
  });
  const SUCCEEDED = '📨 @ana Sent to staging · its workflow succeeded';
  const FAILED = '❌ @ana The workflow for staging failed';
  const question = `❔ @ana Did the workflow for staging start? · ${site}\nGitHub gave no clear answer. Look at its Actions first.\nRequested by ana\n[It started: watch it] [Start anyway] [Don't start again]`;
  const runs = () => github.runs.length;
  const lost = () =>
    github.wire.order('POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches', {
      kind: 'reset',
      when: 'after',
    });

  test.each([
    [
      'staging',
      'success',
      `📨 @ana Sent to staging · its workflow succeeded · ${site}\nTIME · Requested by ana\n[Open run] [Deploy again]`,
    ],
    [
      'staging',
      'timed_out',
      `❌ @ana The workflow for staging failed · ${site}\nIts result: timed out.\nRequested by ana\n[Try again] [Open run] [Check now]`,
    ],
    // GitHub does not name the run of an event.
    [
      'preview',
      'failure',
      `📨 Sent to preview · ${site}\nTIME · Requested by ana · preview hasn't confirmed that it's live\n[Deploy again]`,
    ],
  ] as const)('of %s that ends with %s says so', async (name, conclusion, text) => {
    github.plan({ durationMs: 300, conclusion });
    await deploys('v1', '', name);
    const isNamed = name === 'staging';
    await until([text]);
    expect(notified('ana')).toBe(isNamed ? 2 : 1);
    const [jobId] = scene.platform.exports.keys();
    expect(github.runs.at(-1)?.given).toEqual({ domain: 'docs.acme.com', version: 'v1', job_id: jobId });
    expect((await audit()).includes(`ana deployment ${name} · ${site} → workflow: ${conclusion}`)).toBe(
      isNamed,
    );
  });

  const unnamed = "preview gets no domain, because the platform doesn't name the site of this job";
  test.each([
    [
      'staging',
      { domain: 'docs.acme.com' },
      '✅ Exported · docs.acme.com',
      `docs.acme.com\nTIME · Requested by ana`,
    ],
    [
      'preview',
      {},
      '✅ Exported · job se_…',
      `job se_…\nTIME · Requested by ana · preview hasn't confirmed that it's live · ${unnamed}`,
    ],
    ['preview', { domain: 'a/../b?' }, '✅ Exported · job se_…', unnamed],
  ])('of %s for a job that was started elsewhere gets %j', async (name, more, card, update) => {
    const jobId = await startsElsewhere(scene);
    scene.platform.finish(jobId);
    const body = { jobId, status: 'completed', ...more };
    scene.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', status: 200, body }, 9);
    await scene.asks(`/docs-export watch ${jobId}`);
    await until([card, `@ana ${exportedText()}`]);
    await asksFor(undefined, 'ana', name);
    await until([update]);
    const { domain } = more as { domain?: string };
    const wanted = domain === 'docs.acme.com' ? { job_id: jobId, domain } : { job_id: jobId };
    await scene.slack.until(() => github.runs.at(-1)?.given.job_id === jobId);
    expect(github.runs.at(-1)?.given).toEqual(wanted);
  });

  test('that GitHub refuses says why', async () => {
    await deploys('v1', '', 'wrong');
    await until([
      `❌ @ana Not deployed to wrong · ${site}\nwrong rejected it. It said: "Not Found"\nRequested by ana · HTTP 404\n[Try again]`,
    ]);
  });

  const DISPATCH = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches';
  const READ = 'GET /repos/{owner}/{repo}/actions/runs/{run}';
  const calls = (name: string) => github.wire.calls.filter((call) => call.name === name).length;

  /** Jumps, and waits until all that was due is done. */
  async function later(ms: number) {
    await scene.world.jumpTo(scene.world.now() + ms);
    await expect.poll(isIdle).toBe(true);
  }

  test.each([
    ['secondary', MINUTE_MS],
    ['hourly', 15 * MINUTE_MS],
  ] as const)('waits for a %s limit of GitHub as long as it says', async (kind, waitMs) => {
    github.limit(kind, waitMs);
    const before = [calls(DISPATCH), runs()];
    await deploys('v1', '', 'staging');
    await scene.slack.until(() => calls(DISPATCH) > (before[0] ?? 0));
    await expect.poll(isIdle).toBe(true);
    await later(waitMs - 5000);
    expect([calls(DISPATCH), runs()]).toEqual([(before[0] ?? 0) + 1, before[1]]);
    await later(7000);
    await until(['Sent to staging']);
    expect(runs()).toBe((before[1] ?? 0) + 1);
  });

  test('of a repository that was renamed is started and read at its new place', async () => {
    github.rename('acme/infra', 'acme/platform');
    try {
      await deploys('v1', '', 'staging');
      await until([SUCCEEDED]);
    } finally {
      github.rename('acme/platform', 'acme/infra');
    }
    github.wire.order(DISPATCH, {
      kind: 'answer',
      status: 301,
      headers: { location: 'https://git.other.example/repositories/1/dispatches?token=5ecret' },
    });
    await deploys('v2', '', 'staging');
    await until([
      '❌ @ana Not deployed to staging · docs.acme.com v2\nThe repository of staging has moved, so your Docket admins have to change it in my settings.',
    ]);
  });

  test('whose start is answered by the page of a single sign-on is a question', async () => {
    const page = '<!doctype html><title>Sign in</title>';
    github.wire.order(DISPATCH, { kind: 'answer', status: 200, text: page });
    await deploys('v1', '', 'staging');
    await until([question]);
  });

  test.each(['cancelled', 'skipped'] as const)(
    'that was %s has not failed, and mentions once who asked',
    async (end) => {
      github.plan({ durationMs: 100, conclusion: end });
      await deploys('v1', '', 'staging');
      await until([
        `➖ @ana The workflow for staging was ${end} · ${site}\nRequested by ana\n[Open run] [Check now] [Deploy again]`,
      ]);
      expect(notified('ana')).toBe(2);
    },
  );

  test.each(['Check now', 'Open run', 'nobody'])(
    'that succeeds in a second attempt says so: %s',
    async (how) => {
      github.plan({ durationMs: 100, conclusion: 'failure' });
      await deploys('v1', '', 'staging');
      await until([FAILED]);
      github.rerun({ durationMs: 0 });
      const before = calls(READ);
      if (how !== 'nobody') await clicks('ben', FAILED, how);
      else await later(61 * MINUTE_MS);
      await until([`${SUCCEEDED} · ${site}`]);
      expect(calls(READ)).toBe(before + 1);
    },
  );

  describe('that waits for an approval', () => {
    const HOUR_MS = 60 * MINUTE_MS;
    const WAITS = `🕒 Sent to staging · its workflow waits for an approval on GitHub · ${site}`;
    async function waits(waitsMs: number, durationMs = MINUTE_MS) {
      github.plan({ waitsMs, durationMs });
      await deploys('v1', '', 'staging');
      await until([`${WAITS}\nTIME · Requested by ana\n[Open run] [Check now] [Deploy again]`]);
      return calls(READ);
    }

    test('says so without a mention, is read ever more slowly, and its end mentions who asked', async () => {
      const before = await waits(3 * DAY_MS, 4 * HOUR_MS);
      expect(notified('ana')).toBe(1);
      await later(HOUR_MS);
      await later(7 * MINUTE_MS);
      await later(2 * DAY_MS);
      const half = calls(READ);
      for (const minutes of [30, 30, 30, 30]) await later(minutes * MINUTE_MS);
      expect(calls(READ) - half).toBeLessThanOrEqual(3);
      expect(half).toBeGreaterThan(before);
      expect(sees().join('\n')).toContain(WAITS);
      await later(DAY_MS);
      await until([`Sent to staging · its workflow runs · ${site}`]);
      expect(notified('ana')).toBe(1);
      await later(HOUR_MS);
      await until([`${SUCCEEDED} · ${site}`]);
      expect(notified('ana')).toBe(2);
      expect((await audit()).filter((line) => line.includes('workflow: '))).toEqual(
        ['waits', 'runs', 'success'].map((word) => `ana deployment staging · ${site} → workflow: ${word}`),
      );
    });

    test('is read at once after [Check now], which anybody may click', async () => {
      await waits(2 * HOUR_MS);
      await later(HOUR_MS);
      await later(59 * MINUTE_MS);
      await later(3 * MINUTE_MS);
      await clicks('ben', WAITS, 'Check now');
      await until([`${SUCCEEDED} · ${site}`]);
    });

    test('is watched for almost 30 days, and then no more', async () => {
      await waits(40 * DAY_MS);
      for (const days of [10, 10, 9]) await later(days * DAY_MS);
      expect(notified('ana')).toBe(1);
      await later(DAY_MS - 30 * MINUTE_MS);
      await until([
        `⌛ @ana Sent to staging · I stopped watching its workflow · ${site}\nThe workflow still waited for an approval on GitHub.\nTIME · Requested by ana\n[Open run] [Check now]`,
      ]);
      const before = calls(READ);
      await later(6 * HOUR_MS);
      expect(calls(READ)).toBe(before);
      expect(notified('ana')).toBe(2);
    });
  });

  test('that failed is read hourly for a day', async () => {
    github.plan({ durationMs: 100, conclusion: 'failure' });
    await deploys('v1', '', 'staging');
    await until([FAILED]);
    const before = calls(READ);
    const reads: number[] = [];
    for (const hours of [0.9, 0.2, 1, 0.5, 20, 3, 1]) {
      await later(hours * 60 * MINUTE_MS);
      reads.push(calls(READ) - before);
    }
    expect(reads).toEqual([0, 1, 2, 2, 3, 3, 3]);
  });

  test('whose run GitHub does not let me read keeps to the wait, and its result is unclear at last', async () => {
    github.plan({ durationMs: 10 * MINUTE_MS });
    const before = calls(READ);
    const limited = { kind: 'answer', status: 403, headers: { 'retry-after': '60' } } as const;
    github.wire.order(READ, limited);
    await deploys('v1', '', 'staging');
    await scene.slack.until(() => calls(READ) > before);
    await expect.poll(isIdle).toBe(true);
    await later(55_000);
    expect(calls(READ)).toBe(before + 1);
    github.wire.order(READ, { kind: 'answer', status: 404, body: { message: 'Not Found' } }, 3);
    for (let poll = 0; poll < 6; poll += 1) await later(90_000);
    await until([
      `❔ @ana Sent to staging · its workflow's result is unclear · ${site}\nGitHub doesn't let me read its run. It said: "Not Found"\nTIME · Requested by ana\n[Open run] [Check now] [Deploy again]`,
    ]);
    expect(calls(READ)).toBe(before + 4);
    await later(10 * MINUTE_MS);
    await clicks('ana', 'result is unclear', 'Check now');
    await until([`${SUCCEEDED} · ${site}`]);
  });

  test.each([
    ['It started: watch it', 1, '📨 @ana Sent to staging'],
    ['Start anyway', 2, SUCCEEDED],
    [
      "Don't start again",
      1,
      `➖ @ana Not started again · it's unclear whether the workflow for staging started · ${site}`,
    ],
  ])('that may have started is a question; [%s]', async (button, dispatched, words) => {
    const before = runs();
    lost();
    await deploys('v1', '', 'staging');
    await until([question]);
    const late = structuredClone(scene.messageWith(question));
    // No way around the question, which warns.
    await asksFor('v1', 'ana', 'staging');
    expect(formOf('ana')).toContain(
      `Start unclear · did the workflow for staging start? See the thread of ${site}.`,
    );
    await scene.person('ana').closes();
    expect(runs()).toBe(before + 1);
    await clicks('ana', question, button);
    await until([words]);
    for (const other of ['It started: watch it', 'Start anyway', "Don't start again"]) {
      await scene.person('ana').clicks(late, other);
      expect(toldLast('ana')).toBe(HANDLED);
    }
    await scene.slack.until(() => runs() === before + dispatched);
    await scene.slack.until(() => !sees().join('\n').includes(question));
    await scene.slack.until(() => shown().length === 1);
  });

  // The tests before use the token that ends here.
  test('takes a new token from its file, and the admins hear when that one expires', async () => {
    const expires = new Date(scene.world.now() + 20 * DAY_MS).toISOString();
    github.renewToken(expires.replace(/T(.{8}).*/, ' $1 UTC'));
    writeFileSync(file, github.token);
    await deploys('v1', '', 'filed');
    await until(['📨 @ana Sent to filed · its workflow succeeded']);
    expect(scene.world.bots.at(-1)?.output()).not.toContain(github.token);
    expect(scene.sees('@ana')).toEqual([]);
    await scene.world.jumpTo(scene.world.now() + 14 * DAY_MS);
    const reminder = `🔑 ${file} expires on TIME.\nCreate a new token and put it into the file; that needs no restart.`;
    await until([reminder], '@ana');
  });
});
