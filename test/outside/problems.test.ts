import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { Fault } from '../../demo/wire.ts';
import { type Outside, openOutside } from '../support/flows/outside.ts';
import { plain, until } from '../support/flows/reading.ts';
import { statusDetails } from '../support/flows/status.ts';
import { type BotOptions, createWorld, type World } from '../support/flows/world.ts';
import { scrape } from '../support/metrics.ts';
import { ALERTS } from '../support/prometheus.ts';
import type { TestRedis } from '../support/redis.ts';
import { fill, smallDisk } from '../support/small-disk.ts';

const answers = (status: number): Fault => ({
  kind: 'answer',
  status,
  ...(status === 429 && { headers: { 'retry-after': '1' } }),
});
const hangs: Fault = { kind: 'hang', when: 'before' };
const always = Number.POSITIVE_INFINITY;

const platform = (fault: Fault) => ({
  strike: async ({ platform: { wire } }: World) => void wire.order(() => true, fault, always),
  heal: async ({ platform: { wire } }: World) => wire.clear(),
});
/** An answer of Slack's own kind is one with status 200. */
const slack = (fault: Fault) => ({
  strike: async ({ slack: { wire } }: World) =>
    void wire.order(({ name }) => /^(?:auth|chat|reactions)\./.test(name), fault, always),
  heal: async ({ slack: { wire } }: World) => wire.clear(),
});

interface Blow {
  /** Returns what the bot is started with; nothing where this machine cannot have it. */
  prepare?(world: World): Promise<BotOptions | undefined>;
  strike(world: World): Promise<void>;
  heal(world: World): Promise<void>;
}
interface Cause extends Blow {
  name: string;
  /** What /docs-status says. */
  status: string;
  /** What it must not say, since that isn't true. */
  lie?: RegExp;
  /** What Ana reads when she then asks for an export. */
  refusal?: RegExp;
  /** The code in the log, where it says more. */
  code?: string;
  /** Left out for `error`. */
  level?: 'warn';
}

function outside(strike: (parts: Outside) => Promise<void>): Blow {
  let parts: Outside;
  return {
    async prepare(world) {
      parts = await openOutside(world);
      // Nothing here waits for the time limit, and a handshake has to be in time on a busy machine.
      return { env: parts.env, timing: { ...timing, docsCallMs: 10_000 } };
    },
    strike: () => strike(parts),
    heal: () => parts.heal(),
  };
}

/** The folder into whose place no snapshot can be put. */
const blockedSnapshot = async ({ client }: TestRedis) =>
  join((await client.config('GET', 'dir'))[1] ?? '', 'dump.rdb');

async function takeSnapshot({ client }: TestRedis, status: 'ok' | 'err') {
  await client.bgsave('SCHEDULE');
  await expect
    .poll(() => client.info('persistence'), { timeout: 20_000 })
    .toContain(`rdb_last_bgsave_status:${status}`);
}

/** Docket's own Redis, on a disk that can be filled. */
function fullDisk(): Blow {
  let disk: string | undefined;
  let ballast: string;
  return {
    async prepare() {
      disk = smallDisk();
      return disk === undefined ? undefined : { dataDir: disk };
    },
    async strike() {
      ballast = fill(String(disk));
    },
    heal: async () => rmSync(ballast),
  };
}

/** Docket's user of Redis loses a right, or the keys that it may use. */
function lacking(lost: string, given: string, what: string): Cause {
  const setUser = async ({ redis }: World, ...rules: string[]) =>
    void (await redis.client.acl('SETUSER', 'docket', ...rules));
  return {
    async prepare(world) {
      await setUser(world, ...leastRights);
      return { env: { REDIS_URL: world.redis.url.replace('redis://', 'redis://docket:password@') } };
    },
    strike: (world) => setUser(world, ...lost.split(' ')),
    heal: (world) => setUser(world, given),
    name: 'redis_rights',
    status: `lacks rights (${what}): requests are refused`,
    lie: NOT_ANSWERING,
  };
}

/** Scripts of others keep Redis busy, one after the other. */
function busy(): Blow {
  let isBusy = false;
  let last: Promise<unknown> = Promise.resolve();
  const script = `local function now() local time = redis.call('TIME') return time[1] * 1000 + time[2] / 1000 end
    local startedAt = now() while now() - startedAt < 400 do end`;
  return {
    async strike({ redis }) {
      isBusy = true;
      const other = redis.client.duplicate();
      const keepBusy = async () => {
        while (isBusy) await other.eval(script, 0);
        other.disconnect();
      };
      last = keepBusy();
    },
    async heal() {
      isBusy = false;
      await last;
    },
  };
}

const NOT_ANSWERING = /isn't answering|not answering/;

const causes: Record<string, Cause> = {
  'no right to eval': lacking('-eval', '+eval', 'eval'),
  'no right to bzpopmin': lacking('-bzpopmin', '+bzpopmin', 'bzpopmin'),
  'no right to xadd': lacking('-xadd', '+xadd', 'xadd'),
  'no right to the keys': {
    ...lacking('resetkeys ~other:*', '~{docket}:*', "Docket's keys"),
    refusal: /^My database doesn't let me save your request, so nothing was started/,
  },
  'Redis slow': {
    ...busy(),
    name: 'redis_slow',
    status: 'Redis is slow',
    lie: NOT_ANSWERING,
    level: 'warn',
  },
  'Redis full': {
    strike: async ({ redis }) => void (await redis.client.config('SET', 'maxmemory', '1')),
    heal: async ({ redis }) => void (await redis.client.config('SET', 'maxmemory', '0')),
    name: 'redis_full',
    status: 'Redis is full: nothing can be saved',
    refusal: /^My database is full, so I can't save your request, and nothing was started/,
  },
  'Redis refuses writes': {
    strike: async ({ redis }) => void (await redis.client.config('SET', 'min-replicas-to-write', '1')),
    heal: async ({ redis }) => void (await redis.client.config('SET', 'min-replicas-to-write', '0')),
    name: 'redis_refuses-writes',
    status: 'Redis refuses writes (NOREPLICAS)',
    refusal: /^My database doesn't let me save your request/,
  },
  'Redis read-only': {
    strike: async ({ redis }) => void (await redis.client.replicaof('127.0.0.1', '9')),
    heal: async ({ redis }) => void (await redis.client.replicaof('NO', 'ONE')),
    name: 'redis_read-only',
    status: 'Redis is a read-only replica',
    lie: NOT_ANSWERING,
    refusal: /^(?:My database is read-only right now, so nothing was started|I can't keep track of work)/,
  },
  'Redis without room for its snapshots': {
    async strike({ redis }) {
      mkdirSync(join(await blockedSnapshot(redis), 'something'), { recursive: true });
      await redis.client.config('SET', 'save', '3600 1');
      await takeSnapshot(redis, 'err');
    },
    async heal({ redis }) {
      rmSync(await blockedSnapshot(redis), { recursive: true });
      await takeSnapshot(redis, 'ok');
    },
    name: 'redis_refuses-writes',
    status: 'Redis refuses writes (MISCONF)',
  },
  "Docket's own Redis, its disk full": {
    ...fullDisk(),
    name: 'disk',
    status: 'the disk of DATA_DIR is full',
  },
  'Redis frozen': {
    strike: async ({ redis }) => redis.freeze(),
    heal: async ({ redis }) => redis.thaw(),
    name: 'redis_unreachable',
    status: "My database isn't answering",
  },
  'Redis away': {
    strike: ({ redis }) => redis.kill(),
    heal: ({ redis }) => redis.start(),
    name: 'redis_unreachable',
    status: "My database isn't answering",
  },
  'the platform 401': { ...platform(answers(401)), name: 'docs_key', status: 'has been rejected since TIME' },
  'the platform 403': {
    ...platform(answers(403)),
    name: 'docs_forbidden',
    status: 'forbids what Docket asks',
  },
  'the platform 429': { ...platform(answers(429)), name: 'docs_limited', status: 'limits Docket (429)' },
  'the platform 500': { ...platform(answers(500)), name: 'docs_failing', status: 'fails (5xx)' },
  'the platform 503': { ...platform(answers(503)), name: 'docs_failing', status: "isn't answering" },
  'the platform silent': { ...platform(hangs), name: 'docs_unreachable', status: "isn't answering" },
  'the way to the platform cut': {
    ...platform({ kind: 'reset', when: 'before' }),
    name: 'docs_unreachable',
    status: "isn't answering",
  },
  'the platform with a certificate that nobody trusts': {
    ...outside(({ loseTrust }) => loseTrust()),
    name: 'docs_unreachable',
    status: "isn't answering",
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  },
  'the platform behind a proxy that refuses': {
    ...outside(({ proxyRefuses }) => proxyRefuses()),
    name: 'docs_unreachable',
    status: "isn't answering",
    code: 'PROXY_403',
  },
  'the platform behind a proxy that is away': {
    ...outside(({ proxyGoes }) => proxyGoes()),
    name: 'docs_unreachable',
    status: "isn't answering",
    code: 'ECONNREFUSED',
  },
  'Slack refuses the token': {
    ...slack({ kind: 'answer', status: 200, body: { ok: false, error: 'token_revoked' } }),
    name: 'slack_token',
    status: 'Slack refuses my token',
  },
  'Slack 429': { ...slack(answers(429)), name: 'slack_limited', status: 'Slack limits Docket (429)' },
  'Slack 500': { ...slack(answers(500)), name: 'slack_unreachable', status: "Slack isn't answering" },
  'Slack silent': { ...slack(hangs), name: 'slack_unreachable', status: "Slack isn't answering" },
  'the clock off': {
    strike: async (world) =>
      void (await world.slack.sendRaw({ body: '{}', timestampSec: Math.floor(Date.now() / 1000) - 900 })),
    // The request that asks how things are is in order.
    heal: async () => {},
    name: 'clock',
    status: "behind this machine's clock",
  },
};

const timing = {
  problemAfterMs: 200,
  redisPingMs: 50,
  redisCheckMs: 200,
  redisSlowMs: 3000,
  docsCallMs: 600,
  slackCallMs: 600,
  // A lock that is lost is another problem.
  lockMs: 30_000,
};

const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
const leastRights = (/^ACL SETUSER docket (.+)$/m.exec(page)?.[1] ?? '').split(' ');

const rules = parse(readFileSync(ALERTS, 'utf8')).groups.flatMap(
  ({ rules }: { rules: { alert: string; expr: string }[] }) => rules,
);

test.for(Object.entries(causes))(
  'what keeps people from working is a problem by name, in every place, and over by itself: %s',
  { timeout: 90_000 },
  async (
    [, { prepare = async () => ({}), strike, heal, name, status, lie, refusal, code, level = 'error' }],
    { skip },
  ) => {
    const world = await createWorld();
    const prepared = await prepare(world);
    if (prepared === undefined) return skip('no disk may be mounted here');
    const bot = await world.startBot({ timing, ...prepared });
    const ana = world.slack.person('ana');
    const says = async (between?: () => Promise<void>) =>
      (await statusDetails(world, 'ana', plain, between)).join('\n');
    let struck = 0;
    const strikes = async () => {
      struck += 1;
      await strike(world);
    };
    const summary = async () => {
      const { ephemeral } = await ana.types('#docs', '/docs-status');
      return ephemeral && plain(world.slack.read(ephemeral));
    };
    const readyz = async () => {
      const answer = await fetch(`http://127.0.0.1:${bot.port}/readyz`);
      return ((await answer.json()) as { problems: { name: string; level: string }[] }).problems;
    };
    const names = async () => (await readyz()).map((problem) => problem.name);
    const ofMetric = async () =>
      (await scrape(bot.port)).filter((one) => one.name === 'docket_problems' && one.labels.name === name);

    await ana.types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    // Who Ana is stays known for some minutes.
    await says();
    expect(await readyz()).toEqual([]);

    await strikes();
    // A request that is in order ends that one.
    if (name !== 'clock') await ana.types('#docs', '/docs-export docs.acme.com --version 2');
    await expect.poll(names, { timeout: 20_000 }).toContain(name);
    expect(await ofMetric()).toEqual([expect.objectContaining({ labels: { name, level }, value: 1 })]);
    await expect.poll(summary, { timeout: 20_000 }).toMatch(/^⚠️ Needs attention\n/);
    // Each request that is in order ends that one, so it is back before [Details] is clicked.
    await expect
      .poll(() => says(name === 'clock' ? strikes : undefined), { timeout: 20_000 })
      .toMatch(new RegExp(`Needs attention[^]*${RegExp.escape(status)}`));
    // Redis answers, even if it refuses all that it is asked.
    if (name === 'redis_rights')
      expect(await scrape(bot.port)).toContainEqual(
        expect.objectContaining({ name: 'docket_redis_up', value: 1 }),
      );
    if (lie !== undefined) expect(`${await summary()}\n${await says()}`).not.toMatch(lie);
    if (refusal !== undefined) {
      const { ephemeral } = await ana.types('#docs', '/docs-export docs.acme.com --version 4');
      expect(ephemeral && plain(world.slack.read(ephemeral))).toMatch(refusal);
    }
    const ofLog = () =>
      bot
        .output()
        .split('\n')
        .filter((line) => line.includes(`"problem":"${name}"`))
        .map((line) => JSON.parse(line))
        .filter(({ level: number }) => number === (level === 'warn' ? 40 : 50));
    const logged = expect.objectContaining(code === undefined ? {} : { code });
    await expect.poll(ofLog).toEqual(Array.from({ length: struck }, () => logged));
    // test/metrics/alerts.process.ts has Prometheus try it.
    expect(rules.find(({ alert }: { alert: string }) => alert === 'DocketProblem')?.expr).toContain(
      'docket_problems{job="docket",level="error"',
    );

    await heal(world);
    await ana.types('#docs', '/docs-export docs.acme.com --version 3');
    await expect.poll(() => says(), { timeout: 30_000 }).toMatch(/^✅ All good/);
    await expect.poll(names, { timeout: 30_000 }).toEqual([]);
    expect(await ofMetric()).toEqual([]);
    await world.close();
  },
);

const START = 'POST /v1/static-export/jobs';
const READ = 'GET /v1/static-export/jobs/{jobId}';
const PREVIEW = 'POST /v1/project/preview/{projectId}';

/** A world of a platform, the names of its present problems, and a read that it answers with 404 if all is well. */
async function worldOfPlatform() {
  const world = await createWorld();
  onTestFinished(() => world.close());
  const bot = await world.startBot({ timing });
  const ana = world.slack.person('ana');
  const { wire } = world.platform;
  let read = 0;
  return {
    ...{ world, wire },
    async reads() {
      read += 1;
      const before = wire.calls.filter(({ name }) => name === READ).length;
      await ana.types('#docs', `/docs-export watch se_${read}`);
      await world.slack.until(() => wire.calls.filter(({ name }) => name === READ).length > before);
    },
    asks: (text: string) => ana.types('#docs', text),
    async names() {
      const answer = await fetch(`http://127.0.0.1:${bot.port}/readyz`);
      return ((await answer.json()) as { problems: { name: string }[] }).problems.map(({ name }) => name);
    },
    /** How often the log says that a problem began. */
    begun: (name: string) =>
      bot
        .output()
        .split(`"level":50`)
        .filter((line) => line.includes(`"problem":"${name}"`)),
    calls: (name: string) => wire.calls.filter((call) => call.name === name).length,
  };
}

test.each([
  [401, 'docs_key'],
  [403, 'docs_forbidden'],
  [429, 'docs_limited'],
  [500, 'docs_failing'],
  [503, 'docs_failing'],
  ['silence', 'docs_unreachable'],
] as const)(
  'a platform that is good again after %s is so at its next answer, without another start',
  async (how, name) => {
    const { wire, asks, names, reads } = await worldOfPlatform();
    wire.order(() => true, how === 'silence' ? hangs : answers(how), always);
    await asks('/docs-export docs.acme.com --version 2');
    await expect.poll(names, { timeout: 20_000 }).toEqual([name]);
    await reads();
    wire.clear();
    wire.order(({ name }) => name === START, hangs, always);
    await reads();
    await expect.poll(names, { timeout: 20_000 }).toEqual([]);
  },
);

test('an address that answers 404 to all is not the platform, until an answer has the form of its errors', async () => {
  const { wire, asks, names, reads } = await worldOfPlatform();
  wire.order(() => true, { kind: 'answer', status: 404, text: 'no such page' }, always);
  await asks('/docs-export docs.acme.com --version 2');
  await expect.poll(names).toEqual(['docs_unreachable']);
  await reads();
  expect(await names()).toEqual(['docs_unreachable']);
  wire.clear();
  await reads();
  await expect.poll(names).toEqual([]);
});

test('a platform that fails each start is failing, whatever else works', async () => {
  const { wire, asks, names, calls, reads, begun } = await worldOfPlatform();
  const fails: Fault = { kind: 'answer', status: 500, body: { error: 'Internal error' } };
  wire.order(({ name }) => name === START, fails, always);
  await asks('/docs-export docs.acme.com --version 2');
  await expect.poll(names).toEqual(['docs_failing']);
  const starts = calls(START);
  while (calls(START) < starts + 5) await reads();
  expect([await names(), begun('docs_failing').length]).toEqual([['docs_failing'], 1]);
  wire.clear();
  await expect.poll(names, { timeout: 20_000 }).toEqual([]);
});

test('a platform that failed one start is good again once other calls have worked for a while', async () => {
  const { wire, asks, names, reads } = await worldOfPlatform();
  wire.order(({ name }) => name === START, answers(500));
  await asks('/docs-export docs.acme.com --version 2');
  await expect.poll(names).toEqual(['docs_failing']);
  const namesAfterRead = async () => {
    await reads();
    return names();
  };
  await expect.poll(namesAfterRead, { timeout: 20_000 }).toEqual([]);
});

test('a preview that the plan does not have is no problem, but a key that is forbidden everything is one', async () => {
  const { world, wire, asks, names, reads } = await worldOfPlatform();
  wire.order(({ name }) => name === PREVIEW, answers(403), always);
  await asks('/docs-site preview main');
  await until(world, '#docs', ["The platform doesn't allow it"]);
  await reads();
  expect(await names()).toEqual([]);
  wire.order(() => true, answers(403), always);
  const namesAfterRead = async () => {
    await reads();
    return names();
  };
  await expect.poll(namesAfterRead, { timeout: 20_000 }).toEqual(['docs_forbidden']);
  wire.clear();
  await expect.poll(namesAfterRead, { timeout: 20_000 }).toEqual([]);
});
