import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import type { Call } from '../../demo/wire.ts';
import type { Timing } from '../../src/runtime/timing.ts';
import { startReceiver } from '../support/flows/receiver.ts';
import { addSite } from '../support/flows/site.ts';
import { stageOf } from '../support/flows/stage.ts';
import { holdAt, lose } from '../support/flows/strike-at.ts';
import type { Place } from '../support/flows/trouble.ts';
import { createWorld, type World } from '../support/flows/world.ts';

/** The calls of a deployment to each side, in order; the callback comes in. */
const calls = {
  production: ['/bundle', 'webhook', 'chat.postMessage', 'chat.update', 'callback', 'chat.delete'],
  staging: ['/dispatches', '/runs/{run}', 'chat.postMessage', 'chat.update', 'chat.delete'],
};
const QUESTION = 'Did the workflow for staging start?';
const phases = ['before', 'after'] as const;
const moments = (['production', 'staging'] as const).flatMap((name) =>
  calls[name].flatMap((call) => phases.map((phase) => ({ name, call, phase }))),
);
type Moment = (typeof moments)[number];

/** What befalls Docket while calls stand still; `goOn` lets them go on, or be lost. Another Docket starts with `start`. */
type Strike = (world: World, goOn: () => void, start: () => Promise<unknown>) => Promise<unknown>;

const LONG_MS = 120_000;
/** What Docket has until a call is struck: all stand still by then. Who lives waits as long for a call that was lost. */
const patientFor = (slackCallMs: number): Partial<Timing> => ({
  ...{ slackCallMs, docsCallMs: LONG_MS, deploymentCallMs: LONG_MS, callMarginMs: 2000 },
});

const strikes: Record<string, { timing: Partial<Timing>; strike: Strike }> = {
  'kill -9': {
    timing: patientFor(LONG_MS),
    async strike({ bots }, goOn, start) {
      await bots[0]?.kill();
      goOn();
      await start();
    },
  },
  SIGTERM: {
    timing: patientFor(LONG_MS),
    async strike({ bots: [bot] }, goOn, start) {
      const ended = bot?.terminate();
      await vi.waitFor(() => expect(bot?.output()).toContain('"msg":"stopping"'), { timeout: 10_000 });
      goOn();
      expect(await ended).toBe(0);
      await start();
    },
  },
  'a restart of Redis': {
    // On a busy machine the locks of who lives must not lapse.
    timing: { ...patientFor(12_000), deploymentCallMs: 8000, lockMs: 30_000 },
    async strike({ redis }, goOn) {
      await redis.kill();
      goOn();
      await redis.start();
    },
  },
};

describe.each(Object.entries(strikes))('%s', (_, { timing, strike }) => {
  let world: World;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  const scene = stageOf(() => world);
  const github = createStandInGitHub();
  const ends: (() => unknown)[] = [];
  /** Each moment has a site, a channel, and a project with a deployment. */
  const places = new Map<Moment, Place>();

  const placeOf = (moment: Moment) => places.get(moment) as Place;
  const messagesOf = (moment: Moment) => {
    const { id } = world.slack.channel(placeOf(moment).where);
    return world.slack.messages.filter(({ channel }) => channel === id);
  };
  const sees = (moment: Moment) => scene.sees(placeOf(moment).where);
  // Longer than a lost call may keep its deployment busy.
  const until = (moment: Moment, part: string) =>
    world.slack.until(() => sees(moment).some((text) => text.includes(part)), 60_000, part);
  const exportOf = (moment: Moment) =>
    world.platform.starts.find(({ domain }) => domain === placeOf(moment).domain)?.jobId;
  const runsOf = (moment: Moment) => github.runs.filter(({ given }) => given.job_id === exportOf(moment));
  const webhooksOf = (moment: Moment) =>
    receiver.received.filter(({ data }) => data.jobId === exportOf(moment));
  const callsBack = (moment: Moment) => receiver.callsBack({ state: 'live' }, webhooksOf(moment)[0]?.id);
  async function clicks(moment: Moment, part: string, button: string) {
    const shown = messagesOf(moment).filter(({ deleted }) => !deleted);
    const target = shown.findLast((message) => world.slack.read(message).includes(part));
    if (target === undefined) throw new Error(`Nothing in ${placeOf(moment).where} says ${part}`);
    return world.slack.person('ana').clicks(target, button);
  }

  /** Whether a call is the one of a moment. */
  function isAt(moment: Moment, { name, detail }: Call) {
    const { inputs } = (detail.body ?? {}) as { inputs?: Record<string, unknown> };
    const isMine =
      detail.channel === world.slack.channel(placeOf(moment).where).id ||
      [detail.jobId, inputs?.job_id].includes(exportOf(moment)) ||
      runsOf(moment).some(({ id }) => String(id) === detail.run);
    return isMine && name.endsWith(moment.call);
  }

  /** Starts a Docket with all the deployments; another one starts with what is returned. */
  async function startBot(apiUrl: string) {
    const workflow = `github: { apiUrl: ${apiUrl}, repository: acme/infra, workflow: update-docs.yml, token: { env: TOKEN } }`;
    const webhook = `webhook: { url: ${receiver.url}/hook, secret: { env: DEPLOY_SECRET }, includeLink: true }`;
    const projects = moments.map(({ name }, n) => {
      const target = `{ ${name}: { ${name === 'production' ? webhook : workflow} } }`;
      return `  p${n}: { projectId: ${world.platform.projectId}, domains: [site-${n}.acme.com], deployments: ${target} }`;
    });
    const limits = 'limits: { exportStatusPerSecond: 100, exportsPerPerson: 100 }';
    const config = ['projects:', ...projects, 'allow: { deploy: [U0ANA] }', limits, ''].join('\n');
    const many = { postsPerMinute: 6000, editsPerMinute: 6000, readsPerMinute: 6000 };
    const env = { DEPLOY_SECRET: receiver.secret, TOKEN: github.token };
    await world.startBot({ config, env, timing: { ...many, ...timing } });
    return () => world.startBot({ config, env, timing: many });
  }

  /** Exports the site of a moment; nothing of that is left to do when it returns. */
  async function exports(moment: Moment) {
    const { where, domain } = placeOf(moment);
    await scene.asks(`/docs-export ${domain} --version v1`, { where });
    await until(moment, '42%');
    world.platform.finish(domain);
    const isEnding = (text: string) => text.includes('Exported · ') && text.includes('job se_');
    // Else the deletion of the export's progress may be the one that is struck.
    const isDone = () => sees(moment).some(isEnding) && messagesOf(moment).some(({ deleted }) => deleted);
    await world.slack.until(isDone, 60_000, `the export of ${domain}`);
  }

  /** Has the webhook of each moment that is one stand still, and others taken. */
  function holdWebhooks() {
    const held = new Map<Moment, () => void>();
    receiver.answers(async (response) => {
      const arrived = receiver.received.length - 1;
      const { jobId } = receiver.received[arrived]?.data ?? {};
      const moment = moments.find((one) => one.call === 'webhook' && exportOf(one) === jobId);
      if (moment === undefined || held.has(moment)) return void response.writeHead(204).end();
      if (moment.phase === 'before') receiver.received.splice(arrived, 1);
      const gate = Promise.withResolvers<void>();
      held.set(moment, gate.resolve);
      await gate.promise;
      if (moment.phase === 'before') response.destroy();
      else response.writeHead(204).end();
    });
    return held;
  }

  beforeAll(async () => {
    world = await createWorld({
      processes: true,
      slack: { rateLimits: false },
      // What a bot owes that is killed, or whose Redis is.
      mayViolate: /: no answer (?:in time|within 3000 ms)$/,
    });
    receiver = await startReceiver(() => scene);
    const api = await github.listen();
    ends.push(world.close, receiver.close, api.close);
    for (const [n, moment] of moments.entries()) places.set(moment, addSite(world, `site-${n}`));
    const startAnother = await startBot(api.url);
    await Promise.all(moments.map(exports));
    for (let n = 0; n < moments.length; n += 1) github.plan({ durationMs: 300 });

    const webhooks = holdWebhooks();
    const outside = [world.slack, world.platform, github];
    const { held, allStand, goOn } = holdAt(
      outside,
      moments.map((moment) => [moment, { call: (one) => isAt(moment, one), phase: moment.phase }]),
    );
    const isOfSlack = ({ call }: Moment) => call.startsWith('chat.');
    const callsFirst = ({ name, call }: Moment) => name === 'production' && call === 'chat.delete';
    // Calls to Slack have the least time.
    for (const some of [moments.filter((one) => !isOfSlack(one)), moments.filter(isOfSlack)]) {
      await Promise.all(
        some.map(async (moment) => {
          await clicks(moment, `[Deploy to ${moment.name}]`, `Deploy to ${moment.name}`);
          if (moment.call === 'callback' || callsFirst(moment)) await until(moment, 'Sent to production');
          if (callsFirst(moment)) expect(await callsBack(moment)).toBe('204');
        }),
      );
      await allStand(some.filter(({ call }) => !['callback', 'webhook'].includes(call)));
    }
    const wanted = moments.filter(({ call }) => call === 'webhook');
    await vi.waitFor(() => expect(wanted.filter((one) => !webhooks.has(one))).toEqual([]), 60_000);
    const [called] = moments.filter(({ call, phase }) => call === 'callback' && phase === 'after');
    if (called) expect(await callsBack(called)).toBe('204');
    await strike(
      world,
      () => {
        lose(
          outside,
          [...held].flatMap(([{ phase }, one]) => (phase === 'before' ? [one] : [])),
        );
        goOn();
        for (const goesOn of webhooks.values()) goesOn();
      },
      startAnother,
    );
  }, 180_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test.each(moments)('$phase $call of a deployment to $name', async (moment) => {
    const { name, call, phase } = moment;
    if (name === 'production') {
      if (call !== 'callback' && call !== 'chat.delete') await until(moment, 'Sent to production');
      // A receiver calls back until it is heard.
      const isTaken = async () => expect(await callsBack(moment)).toBe('204');
      await vi.waitFor(isTaken, { timeout: 30_000, interval: 50 });
      await until(moment, 'Live on production');
      expect(new Set(webhooksOf(moment).map(({ id }) => id)).size).toBe(1);
      expect(new Set(webhooksOf(moment).map(({ body }) => body)).size).toBe(1);
    } else {
      const texts = await world.slack.until(
        () => {
          const all = sees(moment).join('\n');
          return (all.includes('its workflow succeeded') || all.includes(QUESTION)) && all;
        },
        60_000,
        'an ending',
      );
      const isAsked = texts.includes(QUESTION);
      const hasRun = runsOf(moment).length > 0;
      if (call === '/dispatches') expect(hasRun).toBe(phase === 'after' || !isAsked);
      else expect(isAsked).toBe(false);
      if (isAsked) await clicks(moment, QUESTION, hasRun ? 'It started: watch it' : 'Start anyway');
      await until(moment, hasRun && isAsked ? 'Sent to staging' : 'its workflow succeeded');
      expect(runsOf(moment)).toHaveLength(1);
    }
    // A message that was replaced is gone, and its replacement is there once.
    const isOfDeployment = (text: string) =>
      /^[^\n]* · site-\d+\.acme\.com v1\n/.test(text) && !/exported|link expired/i.test(text);
    await world.slack.until(() => sees(moment).filter(isOfDeployment).length === 1, 30_000, 'one message');
    const keys = messagesOf(moment).map(({ metadata }) => metadata?.event_payload.key);
    expect(keys).toEqual([...new Set(keys)]);
    const mentioning = keys.filter((key) => /\.(?:question|end|trouble)\.\d+$/.test(String(key)));
    const { id } = world.slack.person('ana');
    const mentions = messagesOf(moment).filter(({ notifies }) => notifies.includes(id));
    // The ending of the export has another key.
    expect(mentions).toHaveLength(1 + mentioning.length);
  });
});
