import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { agentsOn, CREATE, SEND } from '../support/flows/agent-stage.ts';
import { dayAfter, digestStage, digestWorld } from '../support/flows/digest-stage.ts';
import { plain } from '../support/flows/reading.ts';
import { stage, stageOf } from '../support/flows/stage.ts';
import { createWorld } from '../support/flows/world.ts';

const HOUR_MS = 3_600_000;
const BETA_KEY = `adm_${randomUUID()}`;

describe('our own limit of instructions an hour', () => {
  const scene = stage({ bot: { config: 'whileWorking: send\nlimits: { followUpsPerHour: 1 }\n' } });
  const { clicks, until } = scene;
  const { follows, plan, replies, reacted, takes, sent, instructions, untilBelow, below } = agentsOn(scene);

  /** The use of the budget was so long ago that it is over in `leftMs`. */
  async function usedLongAgo(leftMs: number) {
    const { client } = scene.world.redis;
    const key = (await client.keys('{docket}:limit:*')).find((name) => name.endsWith('follow-ups:default'));
    const [use = ''] = await client.zrange(key ?? '', '0', '-1');
    await client.zadd(key ?? '', String(Date.now() - HOUR_MS + leftMs), use);
  }

  test('keeps what is too much, says until when, and sends it by itself', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'The first one goes out');
    await untilBelow(root, '⏳');
    await usedLongAgo(6000);
    const kept = await replies(root, 'The second one is kept');
    await untilBelow(
      root,
      '🕒 Waiting · "The second one is kept" · I\'ll send it from about TIME\nRequested by ana\nThis project has used its 1 request to the agent for this hour\n[Discard]',
    );
    await takes(kept);
    await untilBelow(root, '1 request waiting');
    await until(['Followed by ana · 1 request waiting']);
    expect(instructions()).toHaveLength(1);
    expect((await sent(2))[1]).toBe('The second one is kept');
    await untilBelow(root, '⏳ Working · "The second one is kept" and 1 more');
    await scene.slack.until(() => !below(root).join().includes('Waiting'), 20_000, 'the delay goes');
    expect(scene.notified('ana')).toBe(0);
  });

  test('[Discard] takes back what waits, and nothing of it goes out', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'The first one goes out');
    await untilBelow(root, '⏳');
    const one = await replies(root, 'The second one is kept');
    await untilBelow(root, '🕒 Waiting · "The second one is kept" · I');
    const other = await replies(root, 'The third one is kept');
    await untilBelow(
      root,
      "🕒 Waiting · 2 requests · I'll send them from about TIME\nThis project has used its 1 request to the agent for this hour\n[Discard]",
    );
    await clicks('ana', '2 requests', 'Discard');
    await untilBelow(root, 'ana discarded what was waiting.');
    await reacted(one, 'none');
    await reacted(other, 'none');
    expect(instructions()).toEqual(['The first one goes out']);
    expect((await scene.audit()).filter((line) => line.includes('discarded'))).toHaveLength(2);
  });

  test('what waits can be changed and withdrawn until it goes out', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'The first one goes out');
    await untilBelow(root, '⏳');
    await usedLongAgo(6000);
    const gone = await replies(root, 'This will be deleted');
    const changed = await replies(root, 'This will be chnaged');
    await untilBelow(root, '🕒 Waiting · 2 requests');
    await scene.person('ana').deletes(gone);
    await scene.person('ana').edits(changed, 'This was changed in time');
    await untilBelow(root, '🕒 Waiting · "This was changed in time"');
    expect((await sent(2))[1]).toBe('This was changed in time');
  });
});

describe('the limit of new jobs an hour', () => {
  const scene = stage({ bot: { config: 'limits: { followUpsPerHour: 1 }\n' } });
  const { follows, plan, replies, sent, instructions, untilBelow, card } = agentsOn(scene);

  test('is another one, of the same number', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'A follow-up takes no slot of it');
    await sent(1);
    await scene.asks('/docs-agent new Write about limits');
    expect(await sent(2)).toContain('Write about limits');
    const before = [...scene.slack.messages];
    await scene.asks('/docs-agent new Write about webhooks');
    const waiting = await card('#docs', 'Starting…', before);
    await untilBelow(
      waiting,
      '🕒 Waiting · "Write about webhooks" · I\'ll send it from about TIME\nRequested by ana\nThis project has used its 1 new agent job for this hour\n[Discard]',
    );
    expect(scene.platform.wire.calls.filter(({ name }) => name === CREATE)).toHaveLength(1);
    expect(instructions()).toHaveLength(2);
  });
});

describe("the platform's own limit", () => {
  const scene = stage({
    platform: { others: [{ apiKey: BETA_KEY, domains: ['docs.beta.com'] }] },
    bot: ({ slack, platform }) => ({
      env: { BETA_KEY },
      config: `
projects:
  acme:
    projectId: ${platform.projectId}
  beta:
    projectId: ${platform.projectId}
    apiKey: { env: BETA_KEY }
    channels: [${slack.channel('#private').id}]
`,
    }),
  });
  const { asks } = scene;
  const { follows, plan, replies, sent, instructions, untilBelow, card } = agentsOn(scene);
  const limited = (seconds: number) =>
    ({ kind: 'answer', status: 429, headers: { 'retry-after': String(seconds) } }) as const;
  /** With two projects, the one has to be named. */
  async function followsAcme() {
    const jobId = scene.platform.agent.add();
    await asks(`/docs-agent follow ${jobId} --project acme`);
    return { jobId, card: await card('#docs', 'Ready') };
  }

  test('keeps what was refused, says until when, and sends it by itself once', async () => {
    const { jobId, card: root } = await followsAcme();
    plan(jobId);
    // Longer than it takes to show that it waits.
    scene.platform.wire.order(SEND, limited(3));
    await replies(root, 'Try this in a while');
    await untilBelow(
      root,
      '🕒 Waiting · "Try this in a while" · I\'ll send it from about TIME\nRequested by ana\nThe platform\'s limit is reached\n[Discard]',
    );
    expect(await sent(1)).toEqual(['Try this in a while']);
    await untilBelow(root, '⏳');
    expect(scene.platform.wire.calls.filter(({ name }) => name === SEND)).toHaveLength(2);
  });

  test('holds up all threads of that project, and no other project', async () => {
    const { card: root } = await followsAcme();
    scene.platform.wire.order(SEND, limited(3600));
    await replies(root, 'This one has to wait');
    await untilBelow(root, "The platform's limit is reached");
    const { card: other } = await follows({ where: '#private' });
    await replies(other, 'This one is not delayed');
    expect(await sent(1)).toEqual(['This one is not delayed']);
    const second = await scene.person('ana').says('#docs', 'Another thread');
    await replies(second, `@Docket follow ${scene.platform.agent.add()}`);
    // Which project it is in, only a command can ask.
    expect((await asks('/docs-agent follow aj_1234')).ephemeral).toBeUndefined();
    expect(plain(scene.person('ana').reads(scene.person('ana').modal()))).toContain('Which project?');
    expect(scene.person('ana').fields()).toMatchObject([{ label: 'Project', options: ['acme', 'beta'] }]);
    expect(instructions()).toHaveLength(1);
  });
});

describe('a limit of the threads that one person has follow jobs', () => {
  const scene = stage({ bot: { config: 'limits: { threadsPerPerson: 1 }\n' } });
  const { asks, told, person } = scene;
  const { follows, note, read, stops } = agentsOn(scene);
  const FULL = 'You follow 1 agent job already. Stop following one first. /docs-agent list shows them.';

  test('holds for commands and mentions, whatever the threads do, and ends with them', async () => {
    const { card: root } = await follows();
    const another = scene.platform.agent.add({});
    expect(told(await asks(`/docs-agent follow ${another}`))).toBe(FULL);
    await person('ana').says('#docs', `@Docket follow ${another}`);
    expect(read(await note('ana', 'You follow'))).toBe(FULL);
    await follows({ who: 'ben', jobId: another });
    await stops(root);
    await scene.until(['Stopped by ana']);
    await follows();
  });
});

describe('the same limit for [Ask the agent] under a digest', () => {
  const config = 'limits: { threadsPerPerson: 1, analyticsPerHour: 10000 }\n';
  const { scene, person, asksAgent, creates, digest, quiet, reads, toBerlin, toSunday } = digestStage({
    ...digestWorld,
    bot: { ...digestWorld.bot, config },
  });
  const { follows, instructions, note, untilBelow } = agentsOn(scene);

  test('no job is made beyond it, and whoever asked reads why', async () => {
    const week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', week, { human: 770, ai: 140 });
    reads('/guides/webhooks', week, { human: 70, ai: 0 });
    await creates();
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['.csv'] });
    await follows();
    await asksAgent('ana', root, 'pages');
    await person('ana').submits({ Page: '/quickstart · 910 views' });
    await person('ana').submits();
    await untilBelow(root, '❌ Request not sent · /quickstart\nRequested by ana');
    await note('ana', 'You follow 1 agent job already. Stop following one first.');
    expect(instructions()).toEqual([]);
  });
});

describe.skipIf(!canMoveClocks)('after a month', () => {
  test('the threads that one person has follow jobs still count', async () => {
    const clock = movedClock(0);
    const world = await createWorld({ redisEnv: clock.redisEnv });
    onTestFinished(() => world.close());
    await world.startBot({ config: 'limits: { threadsPerPerson: 1 }\n' });
    const scene = stageOf(() => world);
    await agentsOn(scene).follows();
    const another = world.platform.agent.add({});
    clock.move(31 * 86_400_000);
    await expect
      .poll(async () => Number((await world.redis.client.time())[0]), { timeout: 10_000 })
      .toBeGreaterThan(Date.now() / 1000 + 30 * 86_400);
    const answer = await scene.asks(`/docs-agent follow ${another}`);
    expect(scene.told(answer)).toContain('You follow 1 agent job already.');
  });
});
