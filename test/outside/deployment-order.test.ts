import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { plain } from '../support/flows/reading.ts';
import { deploymentStage } from '../support/flows/receiver.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const v1 = 'docs.acme.com v1';
const v2 = 'docs.acme.com v2';
const STAYS = 'The site still has the version before.';
const sentTo = (name: string, site: string) => `📨 Sent to ${name} · ${site}`;
const live = (site: string) => `✅ @ana Live on production · ${site}`;
const replacedBy = (version: string, site: string) => `Replaced on production by ${version} · ${site}`;

describe('a deployment that has one version and is asked to take another', async () => {
  const { scene, receiver, exports, deploys, asksFor, shown, formOf, isIdle } = await deploymentStage({
    link: true,
    allow: 'deploy: [U0ANA, U0BEN], admin: [U0BEN]',
    startMs: Date.now(),
    timing: { deploymentCallMs: 20_000 },
  });
  const { until, clicks, notified } = scene;
  const { received } = receiver;
  const sent = () => received.map(({ nth, data }) => `${data.version} ${nth}`);
  const endMs = () => Date.parse(received.at(-1)?.data.expiresAt ?? '');
  const isRenewed = async () => {
    const before = received.length;
    await scene.world.jumpTo(endMs());
    await scene.slack.until(() => received.length > before);
    return sent().at(-1);
  };

  test('keeps it, with fresh links, if it refuses the other', async () => {
    await deploys('v1');
    await until([sentTo('production', v1)]);
    const firstEndMs = endMs();
    receiver.answers(400, 'no');
    await deploys('v2');
    await until([
      `❌ @ana Not deployed to production · ${v2}\nproduction rejected it. It said: "no"\n${STAYS}\nRequested by ana · HTTP 400\n[Try again]`,
      sentTo('production', v1),
    ]);
    receiver.answers(204);
    await scene.world.jumpTo(firstEndMs);
    await scene.slack.until(() => sent().length === 3);
    expect(sent()).toEqual(['v1 1_0', 'v2 1_0', 'v1 1_1']);
    await clicks('ana', `Not deployed to production · ${v2}`, 'Try again');
    await until([replacedBy('v2', v1), sentTo('production', v2)]);
    // The trouble is no longer the news, and one message shows each version.
    await scene.slack.until(() => shown().length === 2);
    expect(shown().join('\n')).not.toContain('❌');
    expect(await isRenewed()).toBe('v2 2_1');
  });

  test('has the one before again if it could not use the other, until that one works', async () => {
    await deploys('v1');
    await until([sentTo('production', v1)]);
    await deploys('v2');
    await until([replacedBy('v2', v1)]);
    expect(await receiver.callsBack({ state: 'failed', message: 'checksum' })).toBe('204');
    await until([
      `❌ @ana production couldn't use this export · ${v2}\nIt said: "checksum"\n${STAYS}\nRequested by ana\n[Try again]`,
      sentTo('production', v1),
    ]);
    const second = received.at(-1)?.id;
    expect(await isRenewed()).toBe('v1 1_1');
    expect(await receiver.callsBack({ state: 'live' }, second)).toBe('204');
    await until([live(v2), replacedBy('v2', v1)]);
    // Its own link had to be renewed meanwhile.
    await scene.slack.until(() => sent().at(-1) === 'v2 1_1');
  });

  test('is still known to have it if the same one is refused later', async () => {
    await deploys('v1');
    await until([sentTo('production', v1)]);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([live(v1)]);
    receiver.answers(422, 'busy');
    await clicks('ana', 'Live on production', 'Deploy again');
    await until([
      `❌ @ana Not deployed to production again · ${v1}\nproduction rejected it. It said: "busy"\nThe site still has it from before.\nRequested by ana · HTTP 422\n[Try again]`,
    ]);
    receiver.answers(204);
    await scene.world.jumpTo(Date.parse(received[0]?.data.expiresAt ?? ''));
    await scene.slack.until(() => sent().length === 3);
    expect(sent()).toEqual(['v1 1_0', 'v1 2_0', 'v1 1_1']);
    const asked = received.map(({ askedAt }) => askedAt);
    expect(asked[2]).toBe(asked[0]);
    expect(Date.parse(asked[1] ?? '')).toBeGreaterThan(Date.parse(asked[0] ?? ''));
  });

  test('gets one call after the other, and the older one is not sent any more', async () => {
    const held = Promise.withResolvers<void>();
    receiver.answers((response) => void held.promise.then(() => response.writeHead(204).end()));
    for (const version of ['v1', 'v2', 'v3']) await exports(version);
    await asksFor('v1');
    await scene.slack.until(() => received.length === 1);
    for (const version of ['v2', 'v3']) await asksFor(version);
    await until([`➖ Not deployed to production · v3 was asked for later · ${v2}`]);
    expect(sent()).toEqual(['v1 1_0']);
    receiver.answers(204);
    held.resolve();
    await until([sentTo('production', 'docs.acme.com v3')]);
    expect(sent()).toEqual(['v1 1_0', 'v3 1_0']);
    // It did take the first one, but no click goes back to it without the newer name.
    await until([replacedBy('v3', v1)]);
    await clicks('ana', replacedBy('v3', v1), 'Go back to v1');
    expect(formOf('ana')).toContain(`production may have v3 now, which was asked for later than ${v1}.`);
    expect(sent()).toEqual(['v1 1_0', 'v3 1_0']);
  });

  test('whose reports come and go has one message', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    const id = received[0]?.id ?? '';
    for (let turn = 0; turn < 6; turn += 1) {
      const state = turn % 2 === 0 ? 'failed' : 'live';
      expect(await receiver.callsBack({ state }, id, { own: `${id}_${turn}` })).toBe('204');
      await until([state === 'failed' ? "❌ @ana production couldn't use this export" : live(v1)]);
      await scene.slack.until(() => shown().length === 1);
    }
    expect(notified('ana')).toBe(2);
  });

  test('that a proxy refused for it is believed when it calls back', async () => {
    receiver.answers(410, 'proxy');
    await deploys('v1');
    await until(['❌ @ana Not deployed to production']);
    expect(await receiver.callsBack({ state: 'live' })).toBe('204');
    await until([live(v1)]);
    await scene.slack.until(() => shown().length === 1);
  });

  test('is not believed about a message that was never sent', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    const [, update, atMs] = (received[0]?.id ?? '').split('_');
    for (const never of [`${atMs}_1`, `${Number(atMs) + 1}_0`, `${Number(atMs) - 1}_0`, '2_0'])
      expect([never, await receiver.callsBack({ state: 'live' }, `msg_${update}_${never}`)]).toEqual([
        never,
        '401',
      ]);
  });

  test('can be updated again while its link is renewed', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    receiver.answers(500);
    await isRenewed();
    receiver.answers(204);
    await clicks('ben', 'Sent to production', 'Deploy again');
    await until([`${sentTo('production', v1)}\nTIME · Requested by ben`]);
    expect(sent().at(-1)).toBe('v1 2_0');
  });

  test.each([401, 404])(
    'keeps its link if the platform answers %i for a while, but not for ever',
    async (status) => {
      scene.platform.linkLifeMs = HOUR_MS;
      await deploys('v1');
      await until(['Sent to production']);
      const bundle = 'POST /v1/static-export/jobs/{jobId}/bundle';
      const refuses = (times: number) =>
        scene.platform.wire.order(bundle, { kind: 'answer', status, body: { error: 'no' } }, times);
      const refused = () => scene.platform.wire.calls.filter(({ outcome }) => outcome === `${status}`).length;
      const firstMs = endMs();
      refuses(1);
      await scene.world.jumpTo(firstMs - 9 * MINUTE_MS);
      await expect.poll(async () => refused() === 1 && (await isIdle())).toBe(true);
      await scene.world.jumpTo(firstMs - 5 * MINUTE_MS);
      await scene.slack.until(() => received.length === 2, 10_000, 'the fresh link');
      if (status === 401) await until(['🔑 DOCS_API_KEY has been rejected'], '@ben', 'ben');
      refuses(1000);
      for (const minute of [9, 0]) {
        const before = refused();
        await scene.world.jumpTo(endMs() - minute * MINUTE_MS);
        await expect.poll(async () => refused() > before && (await isIdle())).toBe(true);
      }
      await until([
        `No fresh link for production · ${v1}\nI couldn't get a link to the bundle. The platform said: "no"`,
      ]);
    },
  );
});

describe('a question about a start', async () => {
  const github = createStandInGitHub();
  const api = await github.listen();
  afterAll(() => api.close());
  afterEach(() => github.wire.clear());
  const workflow = `{ apiUrl: ${api.url}, repository: acme/infra, workflow: update-docs.yml, token: { env: GITHUB_TOKEN } }`;
  const { scene, deploys, formOf } = await deploymentStage({
    deployments: `      staging: { github: ${workflow} }`,
    env: { GITHUB_TOKEN: github.token },
  });
  const { until, person } = scene;
  const question = '❔ @ana Did the workflow for staging start?';
  const home = () => plain(person('ana').reads(person('ana').home()));
  const unclear = async () => {
    const kind = { kind: 'reset', when: 'after' } as const;
    github.wire.order('POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches', kind);
    await deploys('v1', '', 'staging');
    await until([question]);
  };

  test('ends when a newer version has started, and a late click changes nothing', async () => {
    await person('ana').opensHome();
    await unclear();
    await scene.slack.until(() => home().includes('Start unclear'));
    const late = structuredClone(scene.messageWith(question));
    await deploys('v2', '', 'staging');
    await until([`➖ @ana Not deployed to staging · v2 was asked for later · ${v1}`]);
    await scene.slack.until(() => !home().includes('Start unclear'));
    for (const button of ['Start anyway', 'It started: watch it', "Don't start again"]) {
      await person('ana').clicks(late, button);
      expect(formOf('ana')).toContain(`staging may have v2 now, which was asked for later than ${v1}.`);
      await person('ana').closes();
    }
    expect(github.runs.map(({ given }) => given.version)).toEqual(['v1', 'v2']);
  });

  test.each([
    ['It started: watch it', 'It had: ana found it.'],
    ["Don't start again", 'ana chose not to start it again.'],
    ['Start anyway', `Deploying ${v1} to staging`],
  ])('is answered on Home by [%s] with what it did', async (button, answer) => {
    await person('ana').opensHome();
    await unclear();
    await scene.slack.until(() => home().includes('Start unclear'));
    await person('ana').clicks(person('ana').home() ?? expect.fail('no Home'), 'Answer');
    await person('ana').clicks(person('ana').modal() ?? expect.fail('no form'), button);
    expect(formOf('ana')).toContain(answer);
  });
});
