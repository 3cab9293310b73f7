import { describe, expect, test } from 'vitest';
import { agentsOn, LOOK } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const HOW = 'reply in the thread to ask the agent; start with "aside" to talk among yourselves';
const IDLE = `✅ Ready · acme/docs @ agent/quickstart · acme/docs#100\nFollowed by ana · ${HOW}\n[Open pull request] [Build preview] [⋯ Details] [⋯ Listen only to @Docket] [⋯ Listen to all replies] [⋯ Stop following]`;

describe('following a job', () => {
  const scene = stage();
  const { asks, exporting, person, toldLast, sees, until, audit } = scene;
  const {
    follows,
    plan,
    finish,
    replies,
    sent,
    instructions,
    untilBelow,
    below,
    card,
    read,
    note,
    takes,
    sendsAlone,
    stops,
  } = agentsOn(scene);
  const seedOf = () => scene.platform.agent.add();

  test('is one card, which says how to instruct, and mentions nobody', async () => {
    const { card: root } = await follows();
    expect(sees()).toEqual([IDLE]);
    expect(root.notifies).toEqual([]);
    expect(root.threadTs).toBeUndefined();
    expect(scene.platform.wire.calls.map(({ name }) => name)).toEqual([LOOK, LOOK]);
  });

  test('with an instruction sends it once the card is there', async () => {
    const jobId = seedOf();
    plan(jobId);
    await asks(`/docs-agent follow ${jobId} Use *short* sentences & <https://acme.com|our> style`);
    expect(await sent(1)).toEqual(['Use **short** sentences & [our](https://acme.com) style']);
    const root = await card('#docs', 'Working');
    await untilBelow(root, '⏳ Working · "Use short sentences & our style"');
    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @ana Pull request · ');
    expect(await audit()).toEqual(
      expect.arrayContaining([
        `ana agent ${jobId} → accepted`,
        expect.stringMatching(`ana instruction ${jobId} → sent · \\d+ characters`),
      ]),
    );
    expect((await audit()).join()).not.toContain('sentences');
  });

  test.each(['#private', '@ana'])('in %s: replies there go to the job', async (where) => {
    const { jobId, card: root } = await follows({ where });
    expect(sees(where)).toEqual([IDLE]);
    plan(jobId);
    const reply = await replies(root, 'Shorten the introduction');
    expect(await sent(1)).toEqual(['Shorten the introduction']);
    await takes(reply);
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @ana No pull request · "Shorten the introduction"');
  });

  test('from a conversation that the app cannot be in: the card is in direct messages, and works there', async () => {
    const jobId = seedOf();
    await asks(`/docs-agent follow ${jobId}`, { where: 'ana+ben' });
    const root = await card('@ana', 'Ready');
    expect(sees('ana+ben')).toEqual([]);
    plan(jobId);
    await replies(root, 'Shorten the introduction');
    expect(await sent(1)).toEqual(['Shorten the introduction']);
    await untilBelow(root, '⏳');
  });

  test.each(['#elsewhere', '#secret'])('in %s, without the app: says how to invite it', async (where) => {
    await asks(`/docs-agent follow ${seedOf()} Do something here`, { where });
    await scene.slack.until(() => toldLast('ana', where), 20_000, 'an answer');
    expect(toldLast('ana', where)).toBe(
      "I can't post here yet, so nothing was sent. Type /invite @Docket, then run the command again.",
    );
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls.map(({ name }) => name)).toEqual([LOOK]);
    await scene.person('ana').types(where, '/invite @docket');
    await follows({ where });
  });

  test.each(['', ' Write something anyway'])(
    'of a job that the platform does not know is refused privately, and shows nothing: "follow nope%s"',
    async (instruction) => {
      await asks(`/docs-agent follow nope${instruction}`);
      await scene.slack.until(() => toldLast('ana') === 'No agent job has the ID "nope".');
      expect(scene.slack.messages).toEqual([]);
      expect(scene.platform.wire.calls.map(({ name }) => name)).toEqual([LOOK]);
    },
  );

  test('of an archived job: the card says so, and an instruction is answered with the day', async () => {
    const { card: root } = await follows({ seed: { status: 'archived' }, state: 'Archived' });
    expect(read(root)).toBe(
      '📁 Archived · acme/docs @ agent/quickstart\nFollowed by ana · it takes no more requests\n[Check now] [⋯ Details] [⋯ Stop following]',
    );
    await replies(root, 'Write something anyway');
    await untilBelow(
      root,
      '❌ @ana Not sent · "Write something anyway"\nThis job was archived on TIME, so it takes no more requests.',
    );
    expect(instructions()).toEqual([]);
  });

  test('of a job whose status nobody knows: printed as it is', async () => {
    const jobId = seedOf();
    const body = { ...scene.platform.agent.jobs.get(jobId), status: 'reviewing <!here>' };
    scene.platform.wire.order(LOOK, { kind: 'answer', status: 200, body }, 1000);
    const { card: root } = await follows({ jobId, state: 'reviewing <!here>' });
    expect(root.notifies).toEqual([]);
  });

  test('in several threads: the one that asked shows the result, the others show it on their card', async () => {
    const { jobId, card: one } = await follows();
    const { card: other } = await follows({ jobId, where: '#private', who: 'ben' });
    plan(jobId);
    await replies(one, 'Also mention the limits');
    await untilBelow(one, '⏳ Working · "Also mention the limits"');
    await card('#private', 'Working');
    finish(jobId, 'new_pr');
    await untilBelow(one, 'For "Also mention the limits" · requested by ana');
    await scene.slack.until(() =>
      read(other).startsWith('✅ Ready · acme/docs @ agent/quickstart · acme/docs#'),
    );
    expect(below(other)).toEqual([]);
    expect(scene.notified('ben')).toBe(0);
  });

  test('in a thread that follows another job: refused privately, and that one goes on', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, `@Docket follow ${seedOf()}`);
    await note('ana', 'This thread follows job aj_…. Type @Docket stop first.').catch(() => {});
    expect(read(await note('ana', 'This thread follows'))).toBe(
      'This thread follows job aj_…. Type @Docket stop first.',
    );
    expect(below(root)).toHaveLength(1);
    expect(reply.reactions).toEqual([]);
    await replies(root, 'Still the first job');
    await sent(1);
    expect(scene.platform.agent.messages[0]?.jobId).toBe(jobId);
  });

  test('with @Docket in any thread: the card is in that thread, and its replies count', async () => {
    const jobId = seedOf();
    const question = await scene.person('ben').says('#docs', 'Who knows why the quickstart fails?');
    await replies(question, `@Docket follow ${jobId}`);
    await untilBelow(question, '✅ Ready · acme/docs @ agent/quickstart');
    plan(jobId);
    await replies(question, 'Explain why it fails, please');
    await sendsAlone();
    expect(await sent(1)).toEqual(['Explain why it fails, please']);
    await untilBelow(question, '⏳ Working · "Explain why it fails, please"');
    finish(jobId, 'new_pr');
    await untilBelow(question, '✅ @ana Pull request · ');
  });

  test('with @Docket under another message of the bot: what was said there before is no instruction', async () => {
    await exporting('/docs-export docs.acme.com');
    const root = scene.messageWith('Requested by');
    const talk = await replies(root, 'This takes a long time today');
    const jobId = seedOf();
    await replies(root, `@Docket follow ${jobId}`);
    await untilBelow(root, '✅ Ready · acme/docs @ agent/quickstart');
    await replies(root, 'Explain why it takes long');
    await sendsAlone();
    expect(await sent(1)).toEqual(['Explain why it takes long']);
    expect(talk.reactions).toEqual([]);
  });

  test('with @Docket outside of a thread: the message becomes the root', async () => {
    const jobId = seedOf();
    const asked = await scene.person('ana').says('#docs', `@docket follow ${jobId}`);
    await untilBelow(asked, '✅ Ready · acme/docs @ agent/quickstart');
    plan(jobId);
    await replies(asked, 'Begin with the overview');
    expect(await sent(1)).toEqual(['Begin with the overview']);
  });

  test('after [Stop following] its pull request can be opened, and it can be followed again there', async () => {
    const { jobId, card: root } = await follows();
    await stops(root, 'ben');
    await scene.slack.until(() => read(root).startsWith('➖ Stopped following'));
    expect(read(root)).toMatch(/\n\[Open pull request\] \[Follow again\] \[Details\]$/);
    await person('ben').clicks(root, 'Follow again');
    await untilBelow(root, '✅ Ready · ');
    plan(jobId);
    await replies(root, 'Fix the title', { who: 'ben' });
    expect(await sent(1)).toEqual(['Fix the title']);
    await person('ana').clicks(root, 'Follow again');
    await note('ana', 'This thread already follows a job');
  });

  test('ends by [Stop following]; then replies are talk, and another job can be followed there', async () => {
    const { card: root } = await follows();
    await stops(root, 'ben');
    await card('#docs', 'Stopped following');
    expect(read(root)).toBe(
      '➖ Stopped following · acme/docs @ agent/quickstart · acme/docs#100\nStopped by ben.\nFollowed by ana\n[Open pull request] [Follow again] [Details]',
    );
    const talk = await replies(root, 'So what do we do now?');
    const jobId = seedOf();
    await replies(root, `@Docket follow ${jobId}`);
    await untilBelow(root, '✅ Ready · acme/docs @ agent/quickstart');
    plan(jobId);
    await replies(root, 'Continue with this one');
    await sendsAlone();
    expect(await sent(1)).toEqual(['Continue with this one']);
    expect(scene.platform.agent.messages[0]?.jobId).toBe(jobId);
    expect(talk.reactions).toEqual([]);
  });

  test.each(['@Docket stop', '@docket Stop.'])(
    'ends by "%s", and says how many were not sent',
    async (words) => {
      const { card: root } = await follows();
      await replies(root, 'And what would you say?', { who: 'ben' });
      await note('ben', 'Is this for the agent?');
      await replies(root, words);
      await card('#docs', 'Stopped following');
      await until(["Stopped by ana. 1 request wasn't sent."]);
      await note('ana', "I stopped following job aj_… here. 1 request wasn't sent.");
      expect(instructions()).toEqual([]);
    },
  );
});
