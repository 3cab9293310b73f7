import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canMoveClocks, movedClock } from '../support/faketime.ts';
import { agentsOn, SEND } from '../support/flows/agent-stage.ts';
import { dayAfter, digestStage, digestWorld } from '../support/flows/digest-stage.ts';
import { stage, stageOf } from '../support/flows/stage.ts';
import { createWorld } from '../support/flows/world.ts';

const HOUR_MS = 3_600_000;
const BETA_KEY = `adm_${randomUUID()}`;

describe('our own limit of instructions an hour', () => {
  const scene = stage({ bot: { config: 'limits: { followUpsPerHour: 1 }\n' } });
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
      '🕒 Kept until about TIME · "The second one is kept" (ana)\n1 instruction an hour is used up for this project.\n[Discard]',
    );
    await takes(kept);
    await untilBelow(root, '1 instruction waiting');
    await until(['followed by ana · 1 instruction waiting']);
    expect(instructions()).toHaveLength(1);
    expect((await sent(2))[1]).toBe('The second one is kept');
    await untilBelow(
      root,
      'Nothing is waiting for the limit now.',
      '⏳ "The second one is kept" (ana) and 1 more',
    );
    expect(scene.notified('ana')).toBe(0);
  });

  test('[Discard] takes back what waits, and nothing of it goes out', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'The first one goes out');
    await untilBelow(root, '⏳');
    const one = await replies(root, 'The second one is kept');
    await untilBelow(root, 'Kept until about TIME · "The second one is kept" (ana)');
    const other = await replies(root, 'The third one is kept');
    await untilBelow(
      root,
      '🕒 Kept until about TIME · 2 instructions\n1 instruction an hour is used up for this project.\n[Discard all]',
    );
    await clicks('ana', 'Discard all', 'Discard all');
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
    await untilBelow(root, 'Kept until about TIME · 2 instructions');
    await scene.person('ana').deletes(gone);
    await scene.person('ana').edits(changed, 'This was changed in time');
    await untilBelow(root, 'Kept until about TIME · "This was changed in time" (ana)');
    expect((await sent(2))[1]).toBe('This was changed in time');
    expect(below(root).join()).not.toContain('Nothing is waiting for the limit now.\n[');
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
  const { asks, told } = scene;
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
      '🕒 Kept until about TIME · "Try this in a while" (ana)\nThe platform\'s limit is reached.\n[Discard]',
    );
    expect(await sent(1)).toEqual(['Try this in a while']);
    await untilBelow(root, 'Nothing is waiting for the limit now.', '⏳');
    expect(scene.platform.wire.calls.filter(({ name }) => name === SEND)).toHaveLength(2);
  });

  test('holds up all threads of that project, and no other project', async () => {
    const { card: root } = await followsAcme();
    scene.platform.wire.order(SEND, limited(3600));
    await replies(root, 'This one has to wait');
    await untilBelow(root, "The platform's limit is reached.");
    const { card: other } = await follows({ where: '#private' });
    await replies(other, 'This one is not delayed');
    expect(await sent(1)).toEqual(['This one is not delayed']);
    const second = await scene.person('ana').says('#docs', 'Another thread');
    await replies(second, `@Docket follow ${scene.platform.agent.add()}`);
    // Which project it is in, only a command can say.
    expect(told(await asks('/docs-agent follow aj_1234'))).toContain('Which project is it in: acme, beta?');
    expect(instructions()).toHaveLength(1);
  });
});

describe('a limit of the threads that one person has follow jobs', () => {
  const scene = stage({ bot: { config: 'limits: { threadsPerPerson: 1 }\n' } });
  const { asks, told, person } = scene;
  const { follows, note, read } = agentsOn(scene);
  const FULL = 'You follow 1 job already. Stop following one first. /docs-agent list shows them.';

  test('holds for commands and mentions, whatever the threads do, and ends with them', async () => {
    const { card: root } = await follows();
    const another = scene.platform.agent.add({});
    expect(told(await asks(`/docs-agent follow ${another}`))).toBe(FULL);
    await person('ana').says('#docs', `@Docket follow ${another}`);
    expect(read(await note('ana', 'You follow'))).toBe(FULL);
    await follows({ who: 'ben', jobId: another });
    await person('ana').clicks(root, 'Stop following');
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
    await untilBelow(root, '❌ The instruction about /quickstart was not sent.\nAsked by ana');
    await note('ana', 'You follow 1 job already. Stop following one first.');
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
    expect(scene.told(answer)).toContain('You follow 1 job already.');
  });
});
