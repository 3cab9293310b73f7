import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { ExportPlan } from '../../demo/docs-platform/export-jobs.ts';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { agentsOn, SEND } from '../support/flows/agent-stage.ts';
import { keyOf } from '../support/flows/chaos-world.ts';
import { releasedProgram } from '../support/flows/released.ts';
import { stageOf } from '../support/flows/stage.ts';
import { type BotOptions, createWorld, type World } from '../support/flows/world.ts';

const program = releasedProgram();
if (program === undefined)
  console.warn('Tests with the last release are left out: its history is not here, as in a shallow clone.');

const START = 'POST /v1/static-export/jobs';
const BUNDLE = 'POST /v1/static-export/jobs/{jobId}/bundle';
const TOO_MANY = { kind: 'answer', status: 429, headers: { 'retry-after': '2' } } as const;

/** Every state of a run, and of an instruction, that the last release knows. */
function releasedStates(): string[] {
  const schemas = JSON.parse(
    readFileSync(new URL('../fixtures/stored-schemas.json', import.meta.url), 'utf8'),
  );
  const statesOf = (job: string) =>
    schemas[job].shape.properties.state.enum.map((state: string) => `${job} ${state}`);
  const { items } = schemas['agent-thread'].shape.properties.instructions;
  return [
    ...['export', 'link', 'agent-thread'].flatMap(statesOf),
    ...items.properties.state.enum.map((state: string) => `instruction ${state}`),
    'agent-watch',
    'agent-mention',
  ];
}

async function records({ redis: { client } }: World): Promise<Map<string, string>> {
  const keys = await client.keys('{docket}:run:*');
  const found = await Promise.all(
    keys.map(async (key) => [key, (await client.hget(key, 'json')) ?? 'null'] as const),
  );
  return new Map(found);
}

async function statesIn(world: World): Promise<Set<string>> {
  const runs = [...(await records(world)).values()]
    .map((json) => JSON.parse(json))
    .filter((run) => run !== null);
  return new Set(
    runs.flatMap(({ job, state, instructions = [] }) => [
      state === undefined ? job : `${job} ${state}`,
      ...instructions.map((one: { state: string }) => `instruction ${one.state}`),
    ]),
  );
}

const NAMES = [
  'done',
  'mine',
  'expired',
  'refused',
  'making',
  'running',
  'unclear',
  'bundling',
  'starting',
  'carding',
  'accepted',
] as const;
const site = (name: (typeof NAMES)[number]) => `${name}.acme.com`;

function storyIn(world: World) {
  const scene = stageOf(() => world);
  const { platform, slack } = world;
  const { replies, reacted, untilBelow, plan, finish, sent } = agentsOn(scene);
  const bot = (of: string | undefined, env: Record<string, string> = {}, timing: BotOptions['timing'] = {}) =>
    world.startBot({ ...(of !== undefined && { program: of }), env, timing });
  const read = (message: SentMessage) => slack.read(message);
  const shown = (...texts: string[]) =>
    slack.until(
      () => slack.messages.findLast((one) => !one.deleted && texts.some((text) => read(one).includes(text))),
      20_000,
      texts.join(' or '),
    );
  const isReady = (name: (typeof NAMES)[number]) =>
    shown(`export of ${site(name)} is ready`, `${site(name)} is exported`);
  const until = (state: string) =>
    vi
      .waitUntil(async () => (await statesIn(world)).has(state), { timeout: 20_000, interval: 20 })
      .catch(() => {
        throw new Error(`nothing is ${state}`);
      });
  const exporting = (name: (typeof NAMES)[number], how: ExportPlan = {}, more = '') => {
    platform.plan({ domain: site(name), durationMs: 10, ...how });
    return scene.asks(`/docs-export ${site(name)} ${more}`);
  };
  const ownLink = async (name: (typeof NAMES)[number]) => {
    const hasButton = (one: SentMessage) =>
      [site(name), '[Get my own link]'].every((part) => read(one).includes(part));
    const ending = await slack.until(
      () => slack.messages.find(hasButton),
      20_000,
      'an ending with the button',
    );
    await slack.person('ben').clicks(ending, 'Get my own link');
  };

  async function follows(where = '#docs') {
    const jobId = platform.agent.add();
    const before = new Set(slack.messages);
    await scene.asks(`/docs-agent follow ${jobId}`, { where });
    const isCard = (one: SentMessage) =>
      !before.has(one) && /^(?:✅ Ready · |🤖 .* · Idle$)/mu.test(read(one));
    return { jobId, card: await slack.until(() => slack.messages.find(isCard), 20_000, 'a card') };
  }

  /** Has the program leave work in every state, and ends. Returns what it left. */
  async function leaves(of: string | undefined) {
    const { wire } = platform;
    // It is killed while it waits for an answer.
    const worker = await bot(of, {}, { docsCallMs: 60_000 });
    await exporting('done');
    await isReady('done');
    for (const name of ['mine', 'expired', 'refused', 'making'] as const) {
      await exporting(name, {}, '--private');
      await isReady(name);
    }
    await ownLink('mine');
    await until('link sent');
    platform.linkLifeMs = 1000;
    await ownLink('expired');
    await until('link over');
    platform.linkLifeMs = 3_600_000;
    wire.order(BUNDLE, { kind: 'answer', status: 404, body: { error: 'not found' } });
    await ownLink('refused');
    await until('link failed');
    await exporting('running', { holdAt: 0.42 });
    await until('export watching');
    wire.order(START, { kind: 'reset', when: 'after' });
    await exporting('unclear', { holdAt: 0.42 });
    await until('export unknown');

    const working = await follows();
    plan(working.jobId);
    await replies(working.card, 'Works on it');
    await until('instruction working');
    const over = await follows();
    await replies(over.card, 'Is finished');
    await until('instruction over');
    const asking = await follows('#private');
    wire.order(SEND, { kind: 'reset', when: 'before' });
    await replies(asking.card, 'May have arrived');
    await until('instruction unknown');
    await replies(asking.card, 'Waits behind it');
    await until('instruction waiting');
    const failing = await follows();
    wire.order(SEND, { kind: 'answer', status: 403, body: { error: 'no' } });
    await replies(failing.card, 'Is refused');
    await until('instruction failed');
    const held = await follows();
    await reacted(await replies(held.card, 'What would you say?', { who: 'ben' }), 'double_vertical_bar');
    const stopped = await follows();
    await scene.asks(`/docs-agent stop ${stopped.jobId}`);
    await until('agent-thread ended');
    const lastSend = await follows();
    await slack.person('ana').says('#docs', '@Docket rewrite the page on webhooks');
    await until('agent-mention');

    wire.order(BUNDLE, TOO_MANY, 1000);
    await exporting('bundling');
    await until('export bundling');
    await ownLink('making');
    await until('link making');
    wire.order(START, TOO_MANY, 1000);
    await exporting('starting');
    await until('export starting');
    slack.wire.order('chat.postMessage', TOO_MANY, 1000);
    await exporting('carding');
    await scene.asks(`/docs-agent follow ${platform.agent.add()}`);
    await until('export carding');
    await until('agent-thread carding');
    wire.order(SEND, { kind: 'hang', when: 'after' });
    const sends = () => wire.calls.filter(({ name }) => name === SEND).length;
    const before = sends();
    await replies(lastSend.card, 'Is under way');
    await until('instruction sending');
    await vi.waitUntil(() => sends() > before, 20_000);
    await worker.kill();

    const web = await bot(of, { DOCKET_ROLE: 'web' });
    await exporting('accepted');
    await scene.asks(`/docs-agent follow ${platform.agent.add()}`);
    const left = await statesIn(world);
    await web.kill();
    wire.clear();
    slack.wire.clear();
    return { left, working, lastSend };
  }

  /** The program that runs brings all of it to its end. */
  async function ends({ working, lastSend }: Awaited<ReturnType<typeof leaves>>) {
    for (const name of ['bundling', 'starting', 'carding', 'accepted'] as const) await isReady(name);
    platform.finish(site('running'));
    await isReady('running');
    await slack.until(() =>
      slack.messages.some(
        (one) => one.channel === slack.channel('@ben').id && read(one).includes(site('making')),
      ),
    );
    await untilBelow(lastSend.card, '[Leave it]');
    finish(working.jobId, 'new_pr');
    await untilBelow(working.card, 'opened a pull request');
    const question = await shown('may or may not have arrived', 'reach the agent?');
    expect(read(question)).toContain('[Send again]');
    expect((await sent(3)).toSorted()).toEqual(['Is finished', 'Is under way', 'Works on it']);
    const starts = platform.starts.map(({ domain }) => domain);
    expect(starts.toSorted()).toEqual(NAMES.map(site).toSorted());
    const posts = slack.messages.filter(({ from, deleted }) => from === 'docket' && !deleted).map(keyOf);
    expect(posts.filter((key, index) => posts.indexOf(key) !== index).join()).toBe('');
    const isOpen = (state: string) =>
      /^export (?:accepted|carding|starting|bundling)|^link making|^agent-thread (?:accepted|carding)|^instruction sending/.test(
        state,
      );
    await vi.waitUntil(async () => ![...(await statesIn(world))].some(isOpen), {
      timeout: 20_000,
      interval: 20,
    });
  }

  return { bot, leaves, ends };
}

describe.skipIf(program === undefined)('work in every state that the last release knows', () => {
  test('left by it, is brought to its end by this program', async () => {
    const world = await createWorld({ processes: true });
    world.platform.domains.push(...NAMES.map(site));
    const { bot, leaves, ends } = storyIn(world);
    const work = await leaves(program);
    expect(
      releasedStates()
        .filter((state) => !work.left.has(state))
        .join(),
    ).toBe('');
    await bot(undefined);
    await ends(work);
    await world.close();
  });

  test('left by this program, is kept as it is by the last release, which says what it cannot read', async () => {
    const world = await createWorld({ processes: true });
    world.platform.domains.push(...NAMES.map(site));
    const { bot, leaves, ends } = storyIn(world);
    const work = await leaves(undefined);
    expect(
      releasedStates()
        .filter((state) => !work.left.has(state))
        .join(),
    ).toBe('');
    const isNewer = (json: string) =>
      ['export', 'agent-thread', 'agent-mention'].includes(JSON.parse(json)?.job);
    const before = [...(await records(world))].filter(([, json]) => isNewer(json));
    expect(before.length).toBeGreaterThan(15);
    const old = await bot(program);
    const listed = await world.redis.client.zrange('{docket}:runs:active', '0', '-1');
    const unread = listed
      .filter((member) => /^(?:export|agent-thread) /.test(member))
      .map((member) => member.split(' ')[1] ?? '');
    expect(unread.length).toBeGreaterThan(3);
    await world.slack.until(
      () =>
        unread.every((id) =>
          old
            .output()
            .split('\n')
            .some((line) => line.includes('left to that one') && line.includes(id)),
        ),
      20_000,
      'a line for each',
    );
    const after = await records(world);
    expect(before.filter(([key, json]) => after.get(key) !== json).map(([key]) => key)).toEqual([]);
    await old.kill();
    await bot(undefined);
    await ends(work);
    await world.close();
  });
});
