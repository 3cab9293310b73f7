import { afterAll, describe, expect, test } from 'vitest';
import { createStandInGitHub } from '../../demo/github/github.ts';
import type { Call, Phase, Wire } from '../../demo/wire.ts';
import { deploymentStage } from '../support/flows/receiver.ts';
import type { BotOptions, World } from '../support/flows/world.ts';

const github = createStandInGitHub();
const api = await github.listen();
afterAll(() => api.close());

/** What befalls Docket while a call stands still; `goOn` lets the call go on. */
type Strike = (world: World, bot: BotOptions, goOn: () => void) => Promise<unknown>;

const strikes: Record<string, Strike> = {
  async 'kill -9'(world, bot, goOn) {
    await world.bots.at(-1)?.kill();
    goOn();
    await world.startBot(bot);
  },
  async SIGTERM(world, bot, goOn) {
    const ended = world.bots.at(-1)?.terminate();
    goOn();
    expect(await ended).toBe(0);
    await world.startBot(bot);
  },
  async 'a restart of Redis'({ redis }, _, goOn) {
    await redis.kill();
    goOn();
    await redis.start();
  },
};

/** The calls of a deployment to each side, in order; the callback comes in. */
const calls = {
  production: ['/bundle', 'webhook', 'chat.postMessage', 'chat.update', 'callback', 'chat.delete'],
  staging: ['/dispatches', '/runs/{run}', 'chat.postMessage', 'chat.update', 'chat.delete'],
};
const QUESTION = 'Did the workflow for staging start?';
const phases = ['before', 'after'] as const;
const moments = Object.entries(calls).flatMap(([name, of]) =>
  of.flatMap((call) => phases.map((phase) => ({ name, call, phase }))),
);

describe.each(Object.keys(strikes))('%s', async (kind) => {
  const workflow = `{ apiUrl: ${api.url}, repository: acme/infra, workflow: update-docs.yml, token: { env: TOKEN } }`;
  const { scene, receiver, bot, exports, asksFor, shown } = await deploymentStage({
    processes: true,
    link: true,
    deployments: `      staging: { github: ${workflow} }\n`,
    env: { TOKEN: github.token },
  });
  const { clicks, until, sees } = scene;

  test.each(moments)('$phase $call of a deployment to $name', async ({ name, call, phase }) => {
    const { slack, platform } = scene.world;
    const struck = Promise.withResolvers<void>();
    const clicked = Promise.withResolvers<void>();
    let isStruck = false;
    /** Strikes once. A call that does not take effect never arrives. */
    async function strike() {
      isStruck = true;
      await clicked.promise;
      const gate = Promise.withResolvers<void>();
      const over = strikes[kind]?.(scene.world, bot, gate.resolve);
      struck.resolve(over as Promise<void>);
      await gate.promise;
    }
    const armed = (wire: Wire) =>
      wire.onCall((one: Call, now: Phase) => {
        if (isStruck || now !== phase || !one.name.endsWith(call)) return undefined;
        if (phase === 'before') wire.order((other) => other === one, { kind: 'reset', when: 'before' });
        return strike();
      });
    await exports('v1');
    // Else the deletion of the export's progress may be the one that is struck.
    await slack.until(() => slack.messages.some(({ deleted }) => deleted));
    const [runs, before] = [github.runs.length, slack.messages.length];
    github.plan({ durationMs: 300 });
    const stops = [slack, platform, github].map(({ wire }) => armed(wire));
    receiver.answers(async (response) => {
      if (call !== 'webhook' || isStruck) return void response.writeHead(204).end();
      if (phase === 'before') receiver.received.pop();
      await strike();
      if (phase === 'before') response.destroy();
      else response.writeHead(204).end();
    });
    await asksFor('v1', 'ana', name);
    clicked.resolve();

    if (name === 'production') {
      const isLater = call === 'callback' || call === 'chat.delete';
      if (isLater) await until(['Sent to production']);
      if (call === 'chat.delete' || (call === 'callback' && phase === 'after'))
        expect(await receiver.callsBack({ state: 'live' })).toBe('204');
      if (call === 'callback') await strike();
      await struck.promise;
      if (!isLater) await until(['Sent to production']);
      // A receiver calls back until it is heard.
      const callsBack = () => receiver.callsBack({ state: 'live' }).catch(() => '');
      await expect.poll(callsBack, { timeout: 10_000 }).toBe('204');
      await until(['Live on production']);
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    } else {
      await struck.promise;
      const texts = await slack.until(
        () => {
          const all = sees().join('\n');
          return (all.includes('its workflow succeeded') || all.includes(QUESTION)) && all;
        },
        20_000,
        'an ending',
      );
      const hasRun = github.runs.length > runs;
      if (call === '/dispatches') expect(hasRun).toBe(phase === 'after' || !texts.includes(QUESTION));
      // A kill at a message may also be one at the dispatch, which goes on beside it.
      if (texts.includes(QUESTION))
        await clicks('ana', QUESTION, hasRun ? 'It started: watch it' : 'Start anyway');
      await until([hasRun && texts.includes(QUESTION) ? 'Sent to staging' : 'its workflow succeeded']);
      expect(github.runs).toHaveLength(runs + 1);
    }
    for (const stop of stops) stop();
    expect(isStruck).toBe(true);
    // A message that was replaced is gone, and its replacement is there once.
    await slack.until(() => shown().length === 1);
    const keys = slack.messages.slice(before).map(({ metadata }) => metadata?.event_payload.key);
    expect(keys).toEqual([...new Set(keys)]);
    const mentioning = keys.filter((key) => /\.(?:question|end|trouble)\.\d+$/.test(String(key)));
    expect(scene.notified('ana')).toBe(1 + mentioning.length);
  });
});
