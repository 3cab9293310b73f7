import { Queue } from 'bullmq';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultTiming, type Timing } from '../../src/runtime/timing.ts';
import { keys, PREFIX } from '../../src/store/keys.ts';
import { until } from '../support/flows/reading.ts';
import {
  type Bot,
  type BotOptions,
  createWorld,
  type World,
  type WorldOptions,
} from '../support/flows/world.ts';
import { scrape } from '../support/metrics.ts';

const always = Number.POSITIVE_INFINITY;
/** `npm run bench -- causes` has the durations of production, and these limits. */
const isReal = process.env.REAL_SECONDS !== undefined;
/** Where nobody works, the cause is found by a question that is asked once a minute. */
const SEEN_S = isReal ? 60 + 45 : 15;
const OVER_S = isReal ? 60 : 15;
const timing: Partial<Timing> = isReal
  ? defaultTiming
  : { problemAfterMs: 200, problemCheckMs: 50, notDrainingMs: 300, probeMs: 300 };
vi.setConfig({ testTimeout: isReal ? 300_000 : 60_000 });

/** Waits until `check` passes, at most for so many seconds. Prints how long that took. */
async function within(seconds: number, what: string, check: () => Promise<void>) {
  const startMs = performance.now();
  await vi.waitFor(check, { timeout: seconds * 1000, interval: 50 });
  if (isReal) console.log(`${what}: ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
}

const problemsOf = async ({ port }: Bot) => {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return ((await answer.json()) as { problems: { name: string; level: string; text: string }[] }).problems;
};
const linesOf = (bot: Bot, name: string) =>
  bot
    .output()
    .split('\n')
    .filter((line) => line.includes(`"problem":"${name}"`))
    .map((line) => JSON.parse(line) as { level: number; msg: string });

/** Expects the problem in every place where operators look, its text with the fix, and one line in the log. */
async function isSeen(bot: Bot, name: string, level: 'error' | 'warn', fix: RegExp) {
  await within(SEEN_S, `${name} is seen`, async () =>
    expect(await problemsOf(bot)).toContainEqual({ name, level, text: expect.stringMatching(fix) }),
  );
  const ofMetric = (await scrape(bot.port)).filter(({ labels }) => labels.name === name);
  expect(ofMetric.map(({ name: metric, labels, value }) => [metric, labels, value])).toEqual([
    ['docket_problems', { name, level }, 1],
  ]);
  await within(SEEN_S, 'the log has it', async () =>
    expect(linesOf(bot, name).map((line) => line.level)).toEqual([level === 'error' ? 50 : 40]),
  );
}

/** Expects that it ends by itself, and that the log says so. */
async function isOver(bot: Bot, name: string) {
  await within(OVER_S, `${name} is over`, async () =>
    expect((await problemsOf(bot)).map((problem) => problem.name)).not.toContain(name),
  );
  await within(OVER_S, 'the log says so', async () =>
    expect(linesOf(bot, name).at(-1)?.msg).toBe('a problem is over'),
  );
}

async function begin(options: BotOptions = {}, worldOptions: WorldOptions = {}) {
  const world = await createWorld(worldOptions);
  onTestFinished(() => world.close());
  const bot = await world.startBot({ timing, ...options });
  return { world, bot };
}

interface Cause {
  name: string;
  level?: 'warn';
  fix: RegExp;
  strike(world: World): unknown;
  heal(world: World): unknown;
}

const refusal = (error: string) => ({ kind: 'answer', status: 200, body: { ok: false, error } }) as const;
const platform = (name: string, status: number, fix: RegExp): Cause => ({
  name,
  fix,
  strike: ({ platform: { wire } }) => wire.order(() => true, { kind: 'answer', status }, always),
  heal: ({ platform: { wire } }) => wire.clear(),
});
let scopes: string[] = [];

const causes: Record<string, Cause> = {
  'a revoked bot token': {
    name: 'slack_token',
    fix: /set a new one and restart/,
    strike: ({ slack: { wire } }) => wire.order('auth.test', refusal('token_revoked'), always),
    heal: ({ slack: { wire } }) => wire.clear(),
  },
  'a scope that the app lost': {
    name: 'slack_scope',
    level: 'warn',
    fix: /^The app lacks files:read, so .* manifest\.yml, and install it again/,
    strike({ slack: { manifest } }) {
      scopes = manifest.scopes.splice(0);
      manifest.scopes.push(...scopes.filter((scope) => scope !== 'files:read'));
    },
    heal: ({ slack: { manifest } }) => manifest.scopes.splice(0, Infinity, ...scopes),
  },
  'a platform that is away': {
    name: 'docs_unreachable',
    fix: /check the address, the proxy and the network/,
    strike: ({ platform: { wire } }) => wire.order(() => true, { kind: 'reset', when: 'before' }, always),
    heal: ({ platform: { wire } }) => wire.clear(),
  },
  'a platform that fails': platform('docs_failing', 500, /See its status page/),
  'a key that the platform rejects': platform('docs_key', 401, /Set a key that it takes/),
  'a queue that somebody paused': {
    name: 'queue_paused',
    fix: /resume it/,
    strike: ({ redis }) => queueOf(redis.url).pause(),
    heal: ({ redis }) => queueOf(redis.url).resume(),
  },
};

function queueOf(url: string) {
  const queue = new Queue('docs-export', { connection: { url }, prefix: PREFIX });
  onTestFinished(() => queue.close());
  return queue;
}

test.for(Object.entries(causes))(
  'what fails while nobody works is a problem by name, and over by itself: %s',
  async ([, { name, level = 'error' as const, fix, strike, heal }]) => {
    const { world, bot } = await begin();
    expect(await problemsOf(bot)).toEqual([]);
    await strike(world);
    await isSeen(bot, name, level, fix);
    await heal(world);
    await isOver(bot, name);
  },
);

test('a platform that answers is asked once in a while, and reached by its answer about a job that is not there', async () => {
  const { world, bot } = await begin();
  const { calls } = world.platform.wire;
  await within(130, 'two questions', async () => expect(calls.length).toBeGreaterThan(1));
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['GET /v1/static-export/jobs/{jobId}']));
  expect(await problemsOf(bot)).toEqual([]);
});

test('work that no worker begins is a problem until one does', async () => {
  const { world, bot } = await begin({ timing, env: { DOCKET_ROLE: 'web' } });
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await isSeen(bot, 'no_worker', 'error', /role worker or all/);
  await world.startBot({ timing, env: { DOCKET_ROLE: 'worker', HEALTH_PORT: '0' } });
  await isOver(bot, 'no_worker');
});

test('a record that cannot be read is a problem until a version of Docket reads it, which goes on', async () => {
  const { world, bot } = await begin();
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  const run = await runOf(world);
  const damaged = '{"of":"another version"}';
  let json = '';
  // A step that is under way may save its run once more.
  const damage = async () => {
    const stored = (await world.redis.client.hget(run, 'json')) ?? '';
    if (stored !== damaged) json = stored;
    await world.redis.client.hset(run, 'json', damaged);
  };
  await within(SEEN_S, 'the damage lasts', async () => {
    await damage();
    expect(await world.redis.client.scard(keys.damaged())).toBe(1);
  });
  await isSeen(bot, 'record_damaged', 'error', /The log names them/);
  await world.redis.client.hset(run, { json, rev: JSON.parse(json).rev });
  await bot.end();
  const next = await world.startBot({ timing });
  for (const { jobId } of world.platform.starts) world.platform.release(jobId);
  await until(world, '#docs', ['Exported']);
  expect((await problemsOf(next)).map(({ name }) => name)).not.toContain('record_damaged');
});

async function runOf({ redis, platform }: World): Promise<string> {
  const [{ jobId = '' } = {}] = platform.starts;
  const all = await redis.client.keys(keys.run('*'));
  for (const key of all) if ((await redis.client.hget(key, 'json'))?.includes(jobId)) return key;
  return expect.fail('no run');
}

test.each([
  [
    'refuses',
    refusal('invalid_auth'),
    /^Slack doesn't reach this process .*\(invalid_auth\).* Check SLACK_APP_TOKEN/,
  ],
  ['cannot be reached for', { kind: 'reset', when: 'before' } as const, /Check the network, the proxy/],
])('Slack %s the connection of Socket Mode: a problem until there is one', async (_, fault, fix) => {
  const world = await createWorld({ transport: 'socket' });
  onTestFinished(() => world.close());
  world.slack.wire.order('apps.connections.open', fault, always);
  const bot = await world.startBot({ timing });
  await isSeen(bot, 'slack_socket', 'error', fix);
  world.slack.wire.clear();
  await isOver(bot, 'slack_socket');
});

test('a connection of Socket Mode that breaks, and does not come back, is a problem', async () => {
  const { world, bot } = await begin({}, { transport: 'socket' });
  await expect.poll(() => bot.output().split('connected to Slack').length).toBe(3);
  world.slack.wire.order('apps.connections.open', { kind: 'answer', status: 503 }, always);
  world.slack.sockets.cut();
  await isSeen(bot, 'slack_socket', 'error', /\(http_503\)/);
  world.slack.wire.clear();
  await isOver(bot, 'slack_socket');
});

test('a key that expires within a week is a problem that pages nobody', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const config = (days: number) =>
    `projects:\n  acme: { domains: [docs.acme.com], apiKey: { env: DOCS_API_KEY, expires: ${inDays(days)} } }\n`;
  const { world, bot } = await begin({ config: config(8) });
  expect(await problemsOf(bot)).toEqual([]);
  const next = await world.startBot({ timing, config: config(6) });
  await isSeen(next, 'key_expires', 'warn', /^DOCS_API_KEY expires on .*Create a new one/);
});
