import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { deploymentStage } from '../support/flows/receiver.ts';

const site = 'docs.acme.com (v1)';
const HANDLED = 'Already handled: see the latest message in this thread.';

describe('a webhook', async () => {
  const { scene, receiver, updates, bot, configOf } = await deploymentStage({
    allow: 'deploy: [U0ANA, U0BEN]',
  });
  const { until, clicks, notified, audit, toldLast } = scene;

  test('that is taken is shown, and its callbacks say what came of it', async () => {
    await updates('v1');
    await until([`✅ production notified TIME · ${site}\nAsked for by ana\n[⋯ Update again]`]);
    expect(await receiver.callsBack({ state: 'failed', message: 'No space left on device' })).toBe('204');
    await until([
      `❌ production failed · ${site}\nAsked for by ana`,
      `❌ @ana production could not use ${site}.\nIt said: "No space left on device"\n[Update again]`,
    ]);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([`✅ production serves it since TIME · ${site}`]);
    expect(notified('ana')).toBe(2);
    expect((await audit()).slice(2)).toEqual([
      `ana deployment.update_1 production · ${site} → accepted`,
      `ana deployment production · ${site} → notified`,
      `ana deployment production · ${site} → reported: failed`,
      `ana deployment production · ${site} → reported: live`,
    ]);
  });

  test('is what the package standardwebhooks accepts, and has no link unless it is configured', async () => {
    await updates('v1');
    await until(['production notified']);
    const [{ headers, body } = expect.fail('nothing came')] = receiver.received;
    const [jobId] = scene.platform.exports.keys();
    expect(new Webhook(receiver.secret).verify(body, headers)).toMatchObject({
      type: 'export.ready',
      data: { deployment: 'production', domain: 'docs.acme.com', jobId, version: 'v1', pages: 12 },
    });
    expect(body).not.toMatch(/bundleUrl|https?:/);
  });

  test('that is refused says why, and [Update again] sends it once', async () => {
    receiver.answers(410, `This site is gone, see ${receiver.url}/?token=5ecret\nmore`);
    await updates('v1');
    await until([
      `❌ production was not notified · ${site}\nAsked for by ana`,
      `❌ @ana production refused ${site} (410).\nIt said: "This site is gone, see …"\n[Update again]`,
    ]);
    receiver.answers(204);
    const late = structuredClone(scene.messageWith('production refused'));
    await clicks('ben', 'production refused', 'Update again');
    await until([`✅ production notified TIME · ${site}\nAsked for by ben`]);
    await scene.person('ana').clicks(late, 'Update again');
    expect(toldLast('ana')).toBe(HANDLED);
    expect(receiver.received.map(({ id }) => id.slice(-4))).toEqual(['_1_0', '_2_0']);
    // The link that it names is one of the export, which may have ended since.
    expect(receiver.received[1]?.data.expiresAt).toBeUndefined();
    expect(await audit()).toContain(`ben deployment production · ${site} → notified`);
  });

  test('is sent once, however often the button is clicked', async () => {
    const held = Promise.withResolvers<void>();
    receiver.answers((response) => void held.promise.then(() => response.writeHead(204).end()));
    await updates('v1');
    await until([`⏳ production is being notified… · ${site}`]);
    await clicks('ben', 'is exported', 'Update production');
    expect(toldLast('ben')).toBe(HANDLED);
    held.resolve();
    await until(['production notified']);
    await clicks('ben', 'is exported', 'Update production');
    expect(toldLast('ben')).toMatch(/^Already done: production notified TIME\. See the thread of docs/);
    expect(receiver.received).toHaveLength(1);
  });

  test('for an earlier version again takes the newer one’s place', async () => {
    await updates('v1');
    await until([`production notified TIME · ${site}`]);
    await updates('v2');
    await until(['✅ production notified TIME · docs.acme.com (v2)']);
    const replaced = 'production was notified of another export since';
    await until([`➖ ${replaced} · ${site}\nAsked for by ana\n[Use this version again]`]);
    await clicks('ben', replaced, 'Use this version again');
    await until([
      `✅ production notified TIME · ${site}\nAsked for by ben`,
      `${replaced} · docs.acme.com (v2)`,
    ]);
    const sent = receiver.received.map(({ data }) => [data.version, data.jobId] as const);
    expect(sent.map(([version]) => version)).toEqual(['v1', 'v2', 'v1']);
    expect(sent[2]).toEqual(sent[0]);
    // The newer one's button does the same.
    await clicks('ana', '(v2) is exported', 'Update production');
    await until(['✅ production notified TIME · docs.acme.com (v2)', `${replaced} · ${site}`]);
    expect(receiver.received.at(-1)?.data.version).toBe('v2');
  });

  test('of an attempt that is over changes nothing by its callback', async () => {
    await updates('v1');
    await until(['production notified']);
    await clicks('ana', 'production notified', 'Update again');
    await scene.slack.until(() => receiver.received.length === 2);
    expect(await receiver.callsBack({ state: 'failed' }, receiver.received[0]?.id)).toBe('204');
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    expect((await until(['production serves it since'])).join('\n')).not.toContain('could not use');
  });

  test('for which the settings have no deployment any more is not sent', async () => {
    receiver.answers(410);
    await updates('v1');
    await until(['production refused']);
    receiver.answers(204);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot({ ...bot, config: configOf('').replace('    deployments:\n', '') });
    await clicks('ana', 'is exported', 'Update production');
    expect(toldLast('ana')).toBe(
      'My settings no longer have this deployment. Ask the people who run Docket.',
    );
    await clicks('ana', 'production refused', 'Update again');
    await until([
      `❌ @ana My settings no longer have production, so it was not notified of ${site}. Ask the people who run Docket.\n[Update again]`,
      `❌ production was not notified · ${site}`,
    ]);
    expect(receiver.received).toHaveLength(1);
    await scene.world.bots.at(-1)?.end();
    await scene.world.startBot(bot);
    await clicks('ana', 'My settings no longer have', 'Update again');
    await until(['production notified']);
  });
});

describe('a workflow', async () => {
  const github = createStandInGitHub();
  const api = await github.listen();
  afterAll(() => api.close());
  const target = (name: string) =>
    `{ apiUrl: ${api.url}, repository: acme/infra, ${name}, token: { env: GITHUB_TOKEN } }`;
  const { scene, updates } = await deploymentStage({
    deployments: `      staging: { github: ${target('workflow: update-docs.yml')} }
      preview: { github: ${target('event: docs-export')} }
      wrong: { github: ${target('workflow: none.yml')} }`,
    env: { GITHUB_TOKEN: github.token },
  });
  const { until, clicks, sees, toldLast, audit, notified } = scene;
  afterEach(() => {
    github.wire.clear();
  });
  const runs = () => github.runs.length;
  const lost = () =>
    github.wire.order('POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches', {
      kind: 'reset',
      when: 'after',
    });

  test.each([
    ['staging', 'success', '✅ staging notified, and its workflow succeeded'],
    ['staging', 'timed_out', '❌ staging notified, but its workflow failed'],
    // GitHub does not name the run of an event.
    ['preview', 'failure', '✅ preview notified TIME'],
  ] as const)('of %s that ends with %s says so', async (name, conclusion, words) => {
    github.plan({ durationMs: 300, conclusion });
    await updates('v1', '', name);
    const isNamed = name === 'staging';
    await until([`${words} · ${site}\nAsked for by ana\n${isNamed ? '[Open run] ' : ''}[⋯ Update again]`]);
    const mention = `❌ @ana The workflow of ${name} ended: ${conclusion.replace('_', ' ')}.\nSee its run`;
    if (isNamed && conclusion !== 'success') await until([mention]);
    expect(notified('ana')).toBe(conclusion === 'timed_out' ? 2 : 1);
    const [jobId] = scene.platform.exports.keys();
    expect(github.runs.at(-1)?.given).toEqual({ domain: 'docs.acme.com', version: 'v1', job_id: jobId });
    expect((await audit()).includes(`ana deployment ${name} · ${site} → workflow: ${conclusion}`)).toBe(
      isNamed,
    );
  });

  test('that GitHub refuses says why', async () => {
    await updates('v1', '', 'wrong');
    await until([`❌ @ana wrong refused ${site} (404).\nIt said: "Not Found"\n[Update again]`]);
  });

  const question = `⚠️ @ana Did GitHub start the workflow that updates staging to ${site}? It gave no clear answer.\nLook at its Actions first: updating again could run it twice.\n[It ran] [Update again] [Leave it]`;
  test.each([
    ['It ran', 'It had: ana found it.', 1, '✅ staging notified'],
    ['Update again', 'ana started it again.', 2, '✅ staging notified'],
    ['Leave it', 'ana chose not to start it again.', 1, '➖ staging was not notified again'],
  ])('that may have started is a question; [%s]', async (button, answer, dispatched, words) => {
    const before = runs();
    lost();
    await updates('v1', '', 'staging');
    await until([question, `⚠️ staging may have been notified · ${site}`]);
    const late = structuredClone(scene.messageWith('Did GitHub start'));
    // No way around the question, which warns.
    await clicks('ana', 'is exported', 'Update staging');
    expect(toldLast('ana')).toBe(`staging may have been notified. See the thread of ${site}.`);
    expect(runs()).toBe(before + 1);
    await clicks('ana', 'Did GitHub start', button);
    const unclear = 'It was unclear whether the workflow that updates staging had started.';
    await until([`${unclear} ${answer}`, words]);
    for (const other of ['It ran', 'Update again', 'Leave it']) {
      await scene.person('ana').clicks(late, other);
      expect(toldLast('ana')).toBe(HANDLED);
    }
    await scene.slack.until(() => runs() === before + dispatched);
    expect(sees().join('\n')).not.toContain('Did GitHub start');
  });
});
