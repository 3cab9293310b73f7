import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import { keys } from '../../src/store/keys.ts';
import { agentsOn, SEND } from '../support/flows/agent-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';
const SITES = ['docs.acme.com', 'waits.acme.com', 'cardless.acme.com', 'notified.acme.com'] as const;
const [RUNS, WAITS, CARDLESS, NOTIFIED] = SITES;
const DISPATCH = 'POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches';

/** It certainly did not happen. */
const TOO_MANY = { kind: 'answer', status: 429, headers: { 'retry-after': '3' } } as const;

const program = new URL('../../src/after-restore/main.ts', import.meta.url).pathname;

/** The texts that stand more than once in one place. */
function doubled(world: World): string[] {
  const posts = world.slack.messages
    .filter(({ from, deleted }) => from === 'docket' && !deleted)
    .map(({ channel, threadTs, text }) => JSON.stringify([channel, threadTs, text]));
  return posts.filter((post, index) => posts.indexOf(post) !== index);
}

/** Waits until the export and the round that were under way have ended here too, and everything is shown. */
async function settled(dataDir: string) {
  const redis = new Redis(join(dataDir, 'redis', 'redis.sock'));
  onTestFinished(() => redis.disconnect());
  const open = async () => {
    const found = await redis.keys(keys.run('*'));
    const runs = await Promise.all(
      found.map(async (key) => JSON.parse((await redis.hget(key, 'json')) ?? '{}')),
    );
    const exports = runs.filter(({ domain, state }) => domain === RUNS && state !== 'ended');
    const threads = runs.filter(({ job }) => job === 'agent-thread');
    const rounds = threads.flatMap((run) => run.rounds).filter(({ ending }) => ending === undefined);
    return [exports.length, rounds.length, await redis.zcard(keys.undelivered())];
  };
  await expect.poll(open, { timeout: 20_000 }).toEqual([0, 0, 0]);
}

test('after a restore people are asked, and nothing is started, sent or posted twice', async () => {
  const world = await createWorld({ processes: true });
  const folder = temporaryFolder();
  const [dataDir, copy] = [join(folder.path, 'data'), join(folder.path, 'copy')];
  const github = createStandInGitHub();
  const api = await github.listen();
  onTestFinished(api.close);
  const workflow = `{ apiUrl: ${api.url}, repository: acme/infra, workflow: update-docs.yml, token: { env: TOKEN } }`;
  const project = `{ projectId: ${world.platform.projectId}, domains: [${SITES}], deployments: { staging: { github: ${workflow} } } }`;
  const config = `projects: { acme: ${project} }\nallow: { deploy: [U0ANA] }\n`;
  const start = () => world.startBot({ dataDir, config, env: { TOKEN: github.token } });
  const scene = stageOf(() => world);
  const { slack, platform } = world;
  const { follows, replies, untilBelow, sent, instructions, plan, finish } = agentsOn(scene);
  const outcomes = () => platform.wire.calls.filter(({ outcome }) => outcome === '429').length;
  const starts = () => platform.starts.map(({ domain }) => domain).toSorted();
  platform.domains.push(WAITS, CARDLESS, NOTIFIED);
  for (const domain of [WAITS, CARDLESS, NOTIFIED]) platform.plan({ domain, durationMs: 10 });

  // One export and one round are under way, two exports, one instruction and one update wait.
  const first = await start();
  await scene.asks(`/docs-export ${NOTIFIED}`);
  await scene.until([`Exported · ${NOTIFIED} · 12 pages, `]);
  github.wire.order(DISPATCH, TOO_MANY, 1000);
  await scene.clicks('ana', `Exported · ${NOTIFIED} · 12 pages, `, 'Deploy to staging');
  await slack.until(() => github.wire.calls.length > 0);
  const working = await follows();
  plan(working.jobId);
  await replies(working.card, 'Add a quickstart');
  await sent(1);
  await untilBelow(working.card, 'Add a quickstart');
  const waiting = await follows();
  plan(waiting.jobId);
  platform.wire.order(SEND, TOO_MANY, 1000);
  await replies(waiting.card, 'Rewrite the quickstart');
  await untilBelow(waiting.card, "The platform's limit is reached");
  await scene.exporting(`/docs-export ${RUNS}`);
  platform.wire.order(START, TOO_MANY, 1000);
  await scene.asks(`/docs-export ${WAITS}`);
  await slack.until(() => outcomes() > 1);
  slack.wire.order('chat.postMessage', TOO_MANY, 1000);
  await scene.asks(`/docs-export ${CARDLESS}`);
  await slack.until(() => slack.wire.calls.some(({ outcome }) => outcome === '429'));
  await first.terminate();
  cpSync(dataDir, copy, { recursive: true });

  // All of it is done, and then forgotten.
  for (const { wire } of [platform, slack, github]) wire.clear();
  const second = await start();
  platform.finish(RUNS);
  finish(working.jobId, 'new_pr');
  for (const site of [RUNS, WAITS, CARDLESS]) await scene.until([`Exported · ${site} · 12 pages, `]);
  await untilBelow(working.card, 'Pull request · acme/docs#');
  await scene.until(['Sent to staging · its workflow succeeded · notified.acme.com']);
  await sent(2);
  finish(waiting.jobId, 'no_pr');
  await second.terminate();
  rmSync(dataDir, { recursive: true });
  cpSync(copy, dataDir, { recursive: true });

  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const printed = execFileSync(process.execPath, [program], { env, encoding: 'utf8' });
  expect(printed).toMatch(/start people are asked about: 2\nInstructions .* asked about: 1\n/);

  await start();
  for (const site of [WAITS, CARDLESS]) await scene.until([`Did the export of ${site} start?`]);
  await untilBelow(waiting.card, 'reach the agent?');
  await settled(dataDir);
  await scene.until(['Did the workflow for staging start?']);
  expect(github.runs).toHaveLength(1);
  expect(starts()).toEqual([CARDLESS, RUNS, NOTIFIED, WAITS]);
  expect(instructions()).toEqual(['Add a quickstart', 'Rewrite the quickstart']);
  expect(doubled(world)).toEqual([]);

  // What people decide is done at once.
  await scene.clicks('ana', `Did the export of ${WAITS} start?`, 'Start anyway');
  await scene.until(['ana started it anyway']);
  await scene.clicks('ana', 'Did the workflow for staging start?', 'It started: watch it');
  await scene.until(['Sent to staging · notified.acme.com']);
  const question = slack.messages.findLast((one) => slack.read(one).includes('reach the agent?'));
  if (question) await slack.person('ana').clicks(question, 'Send anyway');
  await sent(3);
  expect(doubled(world)).toEqual([]);
  await world.close();
  folder.remove();
});
