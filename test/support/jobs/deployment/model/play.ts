import type { Redis } from 'ioredis';
import { closeOpenWork } from '../../../../../src/after-restore/main.ts';
import { createDeployments } from '../../../../../src/deployments/deployment.ts';
import { DocsApiError } from '../../../../../src/docs-api/errors.ts';
import { deployButtons } from '../../../../../src/jobs/deployment/view.ts';
import { rootKey } from '../../../../../src/jobs/export/view.ts';
import type { Deployment } from '../../../../../src/projects.ts';
import { message } from '../../../../../src/slack/blocks.ts';
import { createRunStore } from '../../../../../src/store/runs.ts';
import { aProject } from '../../../commands/builders.ts';
import { anOutbox } from '../../../slack/world.ts';
import { anEnding, ended } from '../../export/builders.ts';
import { createEngine, type Process } from '../../faults/engine.ts';
import { createUpstreams } from '../../faults/upstreams.ts';
import { createJudge } from './judge.ts';
import { createPeople } from './people.ts';
import { createReceiver, type Receiver, SECRET } from './receivers.ts';
import { read, type Seen, type SeenButton } from './shown.ts';

/** Monday, 2035-01-08 06:00 UTC: later than the real time, by which Redis lets keys expire. */
const START_MS = Date.UTC(2035, 0, 8, 6);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const domain = 'docs.acme.com';
const webhook = {
  url: 'https://deploy.test/docket',
  secrets: [{ secret: SECRET, name: 'HOOK' }],
  includeLink: true,
};
const github = { apiUrl: 'https://github.test', repository: 'acme/infra', workflow: 'update.yml' };
const targets: Record<string, Deployment> = {
  production: { name: 'production', webhook },
  staging: {
    name: 'staging',
    github: { ...github, ref: 'main', token: { secret: 'ghp_1', name: 'GITHUB_TOKEN' } },
  },
};

/** Refusals of a link by the platform. */
const REFUSALS = [
  ['key_rejected', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['server', 500],
  ['rate_limited', 429],
] as const;

/** Plays one story. The seed decides all of it. Returns what happened, and what is wrong. */
export async function playDeployments(redis: Redis, clock: { ms: number }, seed: number) {
  await redis.flushall();
  clock.ms = START_MS;
  const engine = createEngine(redis, clock, { seed, maxFaults: seed % 5 });
  const upstreams = createUpstreams(engine);
  const { random, now, plan, problems, faults } = engine;
  const { platform, messages } = upstreams;
  const one = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
  const say = (what: string) => faults.push(`${((now() - START_MS) / 1000).toFixed(1)} s: ${what}`);

  const names = one([['production'], ['staging'], ['production', 'staging']]);
  const deployments = names.flatMap((name) => targets[name] ?? []);
  const project = aProject({ name: 'acme', deployments });
  const people = createPeople(engine, [project]);
  const receivers = new Map<string, Receiver>(
    names.map((name) => [
      name,
      createReceiver(name, engine, (id, body) => {
        say(`${name} calls back about ${id.slice(-8)}: ${JSON.stringify(body)}`);
        return people.callBack(id, body);
      }),
    ]),
  );
  let mayDeploy = true;
  let isInSettings = true;
  let goneAtMs = -Infinity;
  let linksRefusedUntilMs = 0;
  platform.linkMs = one([2, 4, 7, 7]) * DAY_MS;
  let refusal: (typeof REFUSALS)[number] = REFUSALS[0];
  platform.refusalOfLinks = () => {
    const isOnce = random() < 0.06;
    const [kind, status] = isOnce ? one(REFUSALS) : refusal;
    if (now() > linksRefusedUntilMs && !isOnce) return undefined;
    return new DocsApiError('createBundle', kind, { happened: 'no', what: `status ${status}`, status });
  };
  const contextOf = (process: Process) =>
    Object.assign(upstreams.contextOf(process), {
      projects: [project],
      deployment: (of: string, name: string) => {
        const send = isInSettings ? receivers.get(name)?.sender(process) : undefined;
        return send && createDeployments([project], send, now, () => {})(of, name);
      },
      policy: {
        check: async () =>
          mayDeploy ? { kind: 'allowed', person: {} } : { kind: 'refused', contacts: '@ben' },
        permissionsOf: async () => ['export', 'deploy'],
      },
    });
  engine.setContext(contextOf as unknown as typeof upstreams.contextOf);
  const outside = { redis, cross: async <T>({ call }: { call: () => T }) => call() } as Process;
  const home = () => people.home(contextOf(outside) as unknown as ReturnType<typeof upstreams.contextOf>);

  const posted = (some = messages): Seen[] =>
    some.map(({ content, ts, threadTs, channel }) => {
      const root = messages.find((message) => message.ts === threadTs);
      const seen = { ...read(content, { root: root?.content.text }), ts, content };
      // What only Ana reads is no state of the deployment.
      return channel.startsWith('D') ? { ...seen, kind: 'other' } : seen;
    });
  const shown = () => posted(messages.filter(({ isRemoved }) => !isRemoved));
  const judge = createJudge(engine, receivers, {
    ...{ shown, say, posted },
    troubleUntilMs: () => Math.max(linksRefusedUntilMs, isInSettings ? goneAtMs + platform.linkMs : Infinity),
  });
  const everSeen: SeenButton[] = [];

  /** Clicks a button that is shown, or that once was. */
  async function click(kind: 'shown' | 'card' | 'stale' | 'home') {
    const view = kind === 'home' ? await home() : undefined;
    const fresh = (view ? [view] : shown()).flatMap(({ buttons }) => buttons);
    const known = fresh.filter(({ action }) => /^(?:deployment|home)\./.test(action));
    everSeen.push(...known);
    const cards = known.filter(({ isCard }) => isCard);
    const button = one(kind === 'stale' ? everSeen : kind === 'card' ? cards : known);
    if (button === undefined) return;
    const before = judge.before(button);
    const clicked = await people.click(button);
    say(
      `click [${button.label}] in "${button.text.replaceAll('\n', ' ').slice(0, 90)}"${clicked.isTaken ? ', taken' : ''}`,
    );
    const { deployment, version } = button;
    const own = clicked.reply?.buttons ?? [];
    const replied = view ? own : own.map((other) => ({ ...other, deployment, version }));
    everSeen.push(...replied);
    before(clicked);
    // On Home, the question opens first; a form is submitted, or not.
    const choice = one(replied);
    if (choice && (kind === 'home' || random() < 0.7)) {
      const next = judge.before(choice);
      const answered = await people.click(choice);
      say(`click [${choice.label}] there${answered.isTaken ? ', taken' : ''}: ${answered.reply?.text}`);
      next(answered);
    }
  }

  function changeAnswers() {
    const receiver = one([...receivers.values()]);
    const lastsMs = one([0, 0, 0, 0, 2 * MINUTE_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 70 * MINUTE_MS, DAY_MS]);
    say(
      `${receiver.name} does ${JSON.stringify(receiver.changeMode(lastsMs))} for ${lastsMs / MINUTE_MS} min`,
    );
  }

  function refuseLinks() {
    refusal = one(REFUSALS);
    linksRefusedUntilMs = now() + one([MINUTE_MS, 5 * MINUTE_MS, 3 * HOUR_MS, DAY_MS]);
    say(`the platform refuses links (${refusal}) for ${(linksRefusedUntilMs - now()) / MINUTE_MS} min`);
  }

  function changePermission() {
    mayDeploy = !mayDeploy;
    say(mayDeploy ? 'ana may deploy' : 'ana may not deploy');
  }

  /** Two people are in a hurry, and something breaks in between. */
  async function hurry() {
    if (random() < 0.4) engine.strike(/deployment\.send$/, 0);
    else engine.strike(/^deployment /, Math.floor(random() * 30));
    for (let n = 0; n < 2; n += 1) plan(now() + Math.round(random() * 3000), () => click('card'));
  }

  /** As with a restart with other settings. */
  function changeSettings() {
    isInSettings = !isInSettings;
    goneAtMs = now();
    Object.assign(project, { deployments: isInSettings ? deployments : [] });
    say(`the settings have ${isInSettings ? 'all' : 'no'} deployments`);
  }

  let backup: { atMs: number; records: Map<string, Buffer> } | undefined;
  async function backUp() {
    backup ??= { atMs: now(), records: await copyOf(redis) };
  }

  async function restore() {
    if (backup === undefined) return;
    const { atMs, records } = backup;
    engine.stopAll();
    clock.ms += MINUTE_MS;
    say(`restore of the data of ${((atMs - START_MS) / 1000).toFixed(1)} s`);
    for (const key of await redis.keys('*')) if (!records.has(key)) await redis.del(key);
    const batch = redis.pipeline();
    for (const [key, record] of records) batch.restore(key, 0, record, 'REPLACE');
    await batch.exec();
    await closeOpenWork(redis);
    judge.restored(atMs);
    backup = undefined;
  }

  const acts: [weight: number, act: () => unknown][] = [
    [8, () => click('shown')],
    [3, () => click('stale')],
    [3, hurry],
    [2, () => click('home')],
    [4, changeAnswers],
    [1, refuseLinks],
    [1, changePermission],
    [1, changeSettings],
    [1, backUp],
  ];
  const drawn = acts.flatMap(([weight, act]) => Array<typeof act>(weight).fill(act));
  const pass = async (ms: number) => {
    plan(now() + ms, () => {});
    await engine.untilIdle(now() + ms);
  };

  const runs = createRunStore(redis);
  const versions = one([2, 2, 3]);
  for (let n = 1; n <= versions; n += 1) {
    const about = { id: `${n}`.repeat(24), jobId: `se_${n}`, version: `v${n}`, project: 'acme', domain };
    const run = ended(anEnding.done, { ...about, deployments: names, rev: 1, claim: undefined });
    await runs.accept(run);
    await runs.markIdle(run, false);
    const card = message([`${domain} (v${n}) is exported`], deployButtons(run, names));
    const place = { channel: run.asked.channel };
    await anOutbox(redis).publish(run.teamId, { key: rootKey(run), place, kind: 'state', message: card }, 1);
  }
  await pass(MINUTE_MS);

  const bursts = 2 + Math.floor(random() * 4);
  for (let burst = 0; burst < bursts && problems.length === 0; burst += 1) {
    const count = 1 + Math.floor(random() * 4);
    for (let n = 0; n < count; n += 1)
      plan(now() + Math.round(random() * one([2000, 30_000, 5 * MINUTE_MS])), one(drawn));
    if (backup !== undefined && random() < 0.4) plan(now() + 6 * MINUTE_MS, restore);
    await pass(one([MINUTE_MS, 10 * MINUTE_MS, 7 * HOUR_MS, 7 * HOUR_MS]));
    judge.always();
    if (random() < 0.4) await pass(random() * 8 * DAY_MS);
  }
  // In the end everything works, and everybody waits.
  mayDeploy = true;
  if (!isInSettings) changeSettings();
  linksRefusedUntilMs = Math.min(linksRefusedUntilMs, now());
  for (const receiver of receivers.values()) receiver.heal();
  await pass(8 * HOUR_MS);
  judge.settled(await home());
  await pass(platform.linkMs * 1.5);
  judge.settled(await home());
  return { name: names.join(' and '), faults, problems };
}

/** Returns all data but the clock of the test. */
async function copyOf(redis: Redis) {
  const records = new Map<string, Buffer>();
  for (const key of await redis.keys('*'))
    if (!key.endsWith('test-clock')) records.set(key, await redis.dumpBuffer(key));
  return records;
}
