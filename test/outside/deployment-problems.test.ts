import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { freePort } from '../../demo/ports.ts';
import { listenLocally } from '../../demo/wire.ts';
import { keys } from '../../src/store/keys.ts';
import type { DeploymentTrouble } from '../../src/store/values.ts';
import { proxyTo, tlsBefore, trust } from '../support/docs-api/tls.ts';
import { plain, until } from '../support/flows/reading.ts';
import { deploymentStage } from '../support/flows/receiver.ts';
import { openWay } from '../support/flows/redis-way.ts';
import { stageOf } from '../support/flows/stage.ts';
import { statusDetails } from '../support/flows/status.ts';
import { createWorld, temporaryFolder, type World } from '../support/flows/world.ts';
import { scrape } from '../support/metrics.ts';
import { makeCertificates } from '../support/store/certificates.ts';

const MINUTE_MS = 60_000;
const always = Number.POSITIVE_INFINITY;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** What operators and people see of problems. */
function readers(world: () => World) {
  const bot = () => world().bots.at(-1);
  const readyz = async (port = bot()?.port) => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    return ((await answer.json()) as { problems: { name: string; level: string; text: string }[] }).problems;
  };
  return {
    readyz,
    texts: async (port?: number) => (await readyz(port)).map(({ text }) => text),
    ofMetric: async () =>
      (await scrape(bot()?.port ?? 0)).flatMap(({ name, labels }) =>
        name === 'docket_problems' ? [labels] : [],
      ),
    /** The lines of the log about a problem: that it began with its fix, and that it ended. */
    logged: (problem: string) =>
      (bot()?.output() ?? '')
        .split('\n')
        .filter((line) => line.includes(`"problem":"${problem}"`))
        .map((line) => JSON.parse(line))
        .map(({ level, msg, of }) => `${level} ${of}: ${msg}`),
    async status() {
      const { ephemeral } = await world().slack.person('ana').types('#docs', '/docs-status');
      return ephemeral === undefined ? '' : plain(world().slack.read(ephemeral));
    },
  };
}

/** Sets a stage whose time can jump, with production and these deployments; and how tests there speak of problems. */
async function troubleStage(deployments: string) {
  const { scene, receiver, deploys, isIdle } = await deploymentStage({
    startMs: Date.now(),
    allow: 'deploy: [U0ANA], admin: [U0ANA]',
    env: { OTHER_SECRET: secret },
    deployments,
  });
  const { readyz, texts, logged, ofMetric, status } = readers(() => scene.world);

  const later = (ms: number) => scene.world.jumpTo(scene.world.now() + ms);
  const isOver = () => expect.poll(() => readyz(), { timeout: 10_000 }).toEqual([]);
  /** What Docket keeps of a deployment's trouble. */
  const kept = async (name: string): Promise<Partial<DeploymentTrouble>> =>
    JSON.parse((await scene.world.redis.client.get(keys.trouble(`acme ${name}`))) ?? '{}');
  /** Waits until a problem is shown, and checks that it is in every place. */
  async function isShown(problem: string, text: string) {
    await expect
      .poll(() => readyz(), { timeout: 10_000 })
      .toEqual([{ name: problem, level: 'warn', text: expect.stringContaining(text) }]);
    expect(await ofMetric()).toEqual([{ name: problem, level: 'warn' }]);
    const [{ text: whole } = expect.fail('no problem')] = await readyz();
    const [, name = ''] = /deployment (\S+) of project acme/.exec(whole) ?? [];
    await expect.poll(() => logged(problem)).toContain(`40 acme ${name}: ${whole}`);
    expect(await status()).toContain(
      `⚠️ Needs attention\nDeploying has trouble: ${name} of acme. New exports may not get there.\n`,
    );
    expect(await statusDetails(scene.world)).toContain(`Deploying has trouble: ${whole}`);
    const words = / ([A-Z][^.]+.*)$/.exec(whole.slice(whole.indexOf('project acme')))?.[1];
    await until(scene.world, '@ana', [` · ${name} of acme\n`, words ?? '']);
    // A check that a jump overtakes counts from after the jump.
    await expect.poll(() => kept(name)).not.toMatchObject({ check: 'due' });
    return name;
  }
  async function hasEnded(problem: string, name: string) {
    await isOver();
    await expect.poll(() => logged(problem).at(-1)).toBe(`30 acme ${name}: a problem is over`);
    expect(await status()).toMatch(/^✅ All good/);
  }
  const alerts = () => scene.sees('@ana').filter((text) => /^⚠️ (?:Rejects|Can't|Workflow)/.test(text));

  return {
    scene,
    receiver,
    deploys,
    isIdle,
    readyz,
    texts,
    logged,
    later,
    kept,
    isOver,
    isShown,
    hasEnded,
    alerts,
  };
}

const whichOf = (name: string) => `deployment ${name} of project acme`;

describe('a webhook in trouble', async () => {
  const port = await freePort();
  const webhook = (url: string) => `{ webhook: { url: ${url}, secret: { env: OTHER_SECRET } } }`;
  const { scene, receiver, deploys, readyz, texts, logged, later, isOver, isShown, hasEnded, alerts } =
    await troubleStage(`      away: ${webhook(`http://127.0.0.1:${port}/hook`)}
      nowhere: ${webhook('https://nowhere.invalid/hook')}`);

  const hangs = () => {};
  test.each<[string, number | (() => void), string, string]>([
    [
      '401',
      401,
      'deployment_refused',
      `The ${whichOf('production')} rejects exports (status 401). Check that`,
    ],
    ['403', 403, 'deployment_refused', 'rejects exports (status 403). Check that its secret'],
    ['404', 404, 'deployment_refused', 'rejects exports (status 404). Check webhook.url.'],
    [
      '503',
      503,
      'deployment_unreachable',
      `The ${whichOf('production')} takes no exports (status 503). Check that it runs`,
    ],
    ['silence', hangs, 'deployment_unreachable', 'takes no exports (no answer in time)'],
  ])('is a problem after five minutes of %s, and until it takes an export', async (_, how, problem, text) => {
    receiver.answers(how);
    await deploys('v1');
    await scene.slack.until(() => receiver.received.length > 1);
    await later(4 * MINUTE_MS);
    const before = receiver.received.length;
    await scene.slack.until(() => receiver.received.length > before + 1);
    expect(await readyz()).toEqual([]);
    await later(2 * MINUTE_MS);
    const name = await isShown(problem, text);
    expect(alerts()).toHaveLength(1);
    receiver.answers(204);
    await hasEnded(problem, name);
    expect(logged(problem).slice(-2)[0]).toContain(text);
  });

  test.each([400, 422])('is none if it refuses one export: %i', async (status) => {
    receiver.answers(status);
    await deploys('v1');
    await scene.until(['Not deployed to production']);
    await later(MINUTE_MS);
    expect([await readyz(), alerts()]).toEqual([[], []]);
  });

  test('is a problem at once if it refuses an export for good, with one message', async () => {
    receiver.answers(410);
    await deploys('v1');
    const name = await isShown('deployment_refused', 'rejects exports (status 410). Check webhook.url.');
    await scene.until(['[Try again]']);
    const { ts } = scene.messageWith('[Try again]');
    await scene.clicks('ana', 'Not deployed to production', 'Try again');
    await scene.slack.until(
      () =>
        receiver.received.length === 2 &&
        scene.sees().join().includes('[Try again]') &&
        scene.messageWith('[Try again]').ts !== ts,
    );
    expect(alerts()).toHaveLength(1);
    receiver.answers(204);
    await scene.clicks('ana', 'Not deployed to production', 'Try again');
    await hasEnded('deployment_refused', name);
  });

  test('is a problem until somebody listens at its address', async () => {
    await deploys('v1', '', 'away');
    await until(scene.world, '#docs', ["It doesn't answer as it should"]);
    await later(6 * MINUTE_MS);
    const name = await isShown(
      'deployment_unreachable',
      `The ${whichOf('away')} takes no exports (ECONNREFUSED). Check that it runs, its address and the network.`,
    );
    const server = createServer((_, response) => void response.writeHead(204).end()).listen(
      port,
      '127.0.0.1',
    );
    await once(server, 'listening');
    await hasEnded('deployment_unreachable', name);
    server.close();
  });

  test('is a problem for an hour after the last call if nobody calls it any more', async () => {
    await deploys('v1', '', 'nowhere');
    await until(scene.world, '#docs', ["It doesn't answer as it should"]);
    await later(6 * MINUTE_MS);
    await isShown('deployment_unreachable', `The ${whichOf('nowhere')} takes no exports (E`);
    await later(55 * MINUTE_MS);
    await until(scene.world, '#docs', ['Not deployed to nowhere']);
    await later(58 * MINUTE_MS);
    await expect.poll(() => texts()).toEqual([expect.stringContaining('takes no exports')]);
    await later(3 * MINUTE_MS);
    await isOver();
  });
});

describe('a workflow in trouble', async () => {
  const inputs = { 'deploy.yml': { inputs: { job_id: {}, version: {}, domain: {} } } };
  const github = createStandInGitHub({
    nowMs: () => scene.world.now(),
    repositories: { 'acme/infra': inputs, 'acme/elsewhere': inputs },
  });
  const { path: folder, remove } = temporaryFolder();
  const api = await github.listen();
  afterAll(() => {
    remove();
    return api.close();
  });
  const file = join(folder, 'token');
  writeFileSync(file, github.token);
  const workflow = (more: string) =>
    `{ github: { apiUrl: ${api.url}, token: { file: ${file} }, repository: acme/infra, workflow: deploy.yml, ${more} } }`;
  const { scene, deploys, isIdle, readyz, texts, later, kept, isOver, isShown, hasEnded, alerts } =
    await troubleStage(`      staging: ${workflow('ref: main')}
      wrong: ${workflow('ref: other')}
      none: ${workflow('ref: main').replace('deploy.yml', 'none.yml')}
      gone: ${workflow('ref: main').replace('acme/infra', 'acme/gone')}`);
  afterEach(() => {
    github.wire.clear();
    github.limit('hourly', 0);
  });

  const CHECK = 'GET /repos/{owner}/{repo}';
  const checks = () => github.wire.calls.filter(({ name }) => name === CHECK).length;

  test('is one while GitHub refuses its token: it is asked again each minute', async () => {
    github.renewToken();
    await deploys('v1', '', 'staging');
    const name = await isShown('deployment_refused', `rejects exports (status 401). Put a new token into `);
    const before = checks();
    const atMs = scene.world.now() + MINUTE_MS;
    await scene.world.jumpTo(atMs);
    await expect.poll(async () => (await kept(name)).atMs).toBeGreaterThanOrEqual(atMs);
    expect(checks()).toBe(before + 1);
    writeFileSync(file, github.token);
    await later(MINUTE_MS);
    await hasEnded('deployment_refused', name);
    expect(alerts()).toHaveLength(1);
  });

  test('is one while GitHub forbids what it asks, but a limit is none', async () => {
    github.wire.order(() => true, { kind: 'answer', status: 403, body: { message: 'Forbidden' } }, always);
    await deploys('v1', '', 'staging');
    const name = await isShown(
      'deployment_refused',
      'Give its token the right Actions: write for acme/infra.',
    );
    github.wire.clear();
    await later(MINUTE_MS);
    await hasEnded('deployment_refused', name);
    github.limit('hourly', 9 * MINUTE_MS);
    await deploys('v2', '', 'staging');
    await until(scene.world, '#docs', ['Deploying to staging']);
    const before = checks();
    for (const minutes of [3, 3, 4]) {
      await expect.poll(isIdle).toBe(true);
      expect([await readyz(), checks()]).toEqual([[], before]);
      await later(minutes * MINUTE_MS);
    }
    await until(scene.world, '#docs', ['Sent to staging · its workflow succeeded']);
    expect(await readyz()).toEqual([]);
  });

  test('is one while its repository is not there', async () => {
    await deploys('v1', '', 'gone');
    const name = await isShown('deployment_refused', 'Check that acme/gone has this name and the workflow');
    github.rename('acme/elsewhere', 'acme/gone');
    await later(MINUTE_MS);
    await hasEnded('deployment_refused', name);
  });

  test.each([
    ['none', '404', 'Check that acme/infra has this name and the workflow'],
    ['wrong', '422', 'Check github.ref, and the trigger workflow_dispatch'],
  ])('is one for an hour if only the workflow of %s shows it, with %s', async (name, code, text) => {
    await deploys('v1', '', name);
    await isShown('deployment_refused', `(status ${code}). ${text}`);
    await later(5 * MINUTE_MS);
    await later(53 * MINUTE_MS);
    await expect.poll(() => texts()).toEqual([expect.stringContaining(text)]);
    await later(3 * MINUTE_MS);
    await isOver();
  });

  test('is none if only a run is not there: somebody may have deleted it', async () => {
    const READ = 'GET /repos/{owner}/{repo}/actions/runs/{run}';
    github.wire.order(READ, { kind: 'answer', status: 404, body: { message: 'Not Found' } });
    github.plan({ durationMs: 2 * MINUTE_MS });
    const before = checks();
    await deploys('v1', '', 'staging');
    await expect.poll(checks).toBe(before + 1);
    await later(6 * MINUTE_MS);
    await until(scene.world, '#docs', ['its workflow succeeded']);
    expect([await readyz(), alerts(), checks()]).toEqual([[], [], before + 1]);
  });

  test('is one once its workflow fails twice in a row, until it succeeds', async () => {
    const fails = () => github.plan({ durationMs: 100, conclusion: 'failure' });
    fails();
    await deploys('v1', '', 'staging');
    await until(scene.world, '#docs', ['The workflow for staging failed']);
    expect(await readyz()).toEqual([]);
    github.plan({ durationMs: 100, conclusion: 'cancelled' });
    await scene.clicks('ana', 'The workflow for staging failed', 'Try again');
    await until(scene.world, '#docs', ['The workflow for staging was cancelled']);
    expect(await readyz()).toEqual([]);
    fails();
    await scene.clicks('ana', 'The workflow for staging was cancelled', 'Deploy again');
    const name = await isShown(
      'deployment_workflow',
      `The workflow of ${whichOf('staging')} has failed twice in a row. Open its last run in GitHub`,
    );
    github.rerun({ durationMs: 0 });
    await scene.clicks('ana', 'The workflow for staging failed', 'Check now');
    await hasEnded('deployment_workflow', name);
  });
});

/** A receiver of webhooks that answers with a status, until the test ends. */
async function receiverOf(status: number) {
  const received: string[] = [];
  let answer = status;
  const server = createServer((request, response) => {
    received.push(request.url ?? '');
    response.writeHead(answer).end();
  });
  const { url, close } = await listenLocally(server);
  onTestFinished(close);
  const takes = () => {
    answer = 204;
  };
  return { url, received, takes };
}

const configOf = (url: string) =>
  `projects: { acme: { domains: [docs.acme.com], deployments: { production: { webhook: { url: ${url}, secret: { env: DEPLOY_SECRET } } } } } }
allow: { deploy: [U0ANA] }
`;

async function deploys(world: World) {
  const { exporting, until: seen, clicks } = stageOf(() => world);
  await exporting('/docs-export docs.acme.com');
  world.platform.finish('docs.acme.com');
  await seen(['[Deploy to production]']);
  await clicks('ana', '[Deploy to production]', 'Deploy to production');
}

test('a deployment whose certificate nobody trusts is a problem by name until it is replaced', async () => {
  const receiver = await receiverOf(204);
  const certificates = () => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    return makeCertificates(folder.path, { names: 'DNS:hook.test' });
  };
  const [trusted, foreign] = [certificates(), certificates()];
  trust(trusted);
  const behind = (port: number) => `http://127.0.0.1:${port}`;
  const portOf = Number(new URL(receiver.url).port);
  const good = behind(await tlsBefore(portOf, trusted));
  const way = await openWay(behind(await tlsBefore(portOf, foreign)));
  onTestFinished(() => way.close());
  const proxy = await proxyTo(way.port);
  const world = await createWorld();
  const env = { DEPLOY_SECRET: secret, HTTPS_PROXY: proxy.url };
  const timing = { deploymentProblemMs: 500, deploymentCallMs: 5000 };
  await world.startBot({ config: configOf('https://hook.test/hook'), env, timing });
  const { texts } = readers(() => world);
  await deploys(world);
  await expect
    .poll(() => texts(), { timeout: 20_000 })
    .toEqual([
      expect.stringMatching(
        /^The deployment production of project acme takes no exports \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)\. This machine does not trust the certificate of webhook\.url\. Set NODE_EXTRA_CA_CERTS/,
      ),
    ]);
  way.leadTo(good);
  way.cut();
  await expect.poll(() => texts(), { timeout: 20_000 }).toEqual([]);
  expect(receiver.received).toEqual(['/hook']);
  await world.close();
});

test('what one process finds, all show, and any of them ends it', async () => {
  const receiver = await receiverOf(410);
  const world = await createWorld();
  const start = (role: string) =>
    world.startBot({
      config: configOf(`${receiver.url}/hook`),
      env: { DEPLOY_SECRET: secret, DOCKET_ROLE: role },
    });
  const workers = [await start('all'), await start('all')];
  await start('web');
  const { texts, status } = readers(() => world);
  const ofWorkers = () => Promise.all(workers.map(({ port }) => texts(port)));
  await deploys(world);
  const text = [expect.stringContaining('production of project acme rejects exports (status 410)')];
  await expect.poll(ofWorkers).toEqual([text, text]);
  expect(await status()).toContain('Deploying has trouble: production of acme.');
  receiver.takes();
  await stageOf(() => world).clicks('ana', 'Not deployed to production', 'Try again');
  await expect.poll(ofWorkers).toEqual([[], []]);
  expect(await status()).toMatch(/^✅ All good/);
  await world.close();
});
