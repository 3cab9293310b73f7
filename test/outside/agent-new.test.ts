import { describe, expect, test } from 'vitest';
import { agentsOn, CREATE } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

describe('a new job', () => {
  const scene = stage();
  const { asks, clicks, told, person, until } = scene;
  const {
    follows,
    plan,
    finish,
    replies,
    takes,
    sent,
    instructions,
    note,
    notes,
    untilBelow,
    below,
    card,
    read,
  } = agentsOn(scene);
  const newest = () => [...scene.platform.agent.jobs.keys()].at(-1) ?? '';

  test('by command: the card comes first, then the job, and replies follow up on it', async () => {
    scene.platform.agent.plan({ hold: true });
    await asks('/docs-agent new Write a "quickstart" for *beginners*');
    expect(await sent(1)).toEqual(['Write a "quickstart" for **beginners**']);
    const root = await card('#docs', 'Working');
    await untilBelow(root, `⏳ Working · "Write a 'quickstart' for beginners"\nRequested by ana`);
    await replies(root, 'With code for each step');
    await untilBelow(root, '🕒 Waiting · "With code for each step" goes to the agent when ');
    scene.platform.agent.plan({ hold: true });
    finish(newest(), 'no_pr');
    await sent(2);
    await untilBelow(root, '⏳ Working · "With code for each step"');
    expect(new Set(scene.platform.agent.messages.map(({ jobId }) => jobId))).toEqual(new Set([newest()]));
    finish(newest(), 'new_pr');
    await untilBelow(root, 'For "With code for each step" · requested by ana');
    await until(['✅ Ready · Write a "quickstart" for beginners · acme/docs#', '\nRequested by ana · reply']);
    expect(await scene.audit()).toEqual(
      expect.arrayContaining([
        'ana agent new agent job → accepted',
        expect.stringMatching(/^ana instruction aj_\w+ → sent · \d+ characters$/),
      ]),
    );
  });

  test('is named by its first instruction on card, list, modal and Home, which stands once in its thread', async () => {
    const instruction =
      'Add **error handling** to the [quickstart](https://acme.com/q), with an example for each of the errors';
    const title = 'Add error handling to the quickstart, with an example for…';
    await asks(`/docs-agent new ${instruction}`);
    const root = await card('#docs', 'Working');
    expect(read(root)).toMatch(new RegExp(`^⏳ Working · ${title}\n`));
    await untilBelow(root, instruction);
    expect(told(await asks('/docs-agent list'))).toContain(`Working · ${title} · followed by you`);
    await replies(root, 'With code for each step');
    await sent(2);
    finish(newest(), 'no_pr');
    const texts = await untilBelow(root, 'No pull request · ');
    expect(texts.filter((text) => text.includes('**error handling**'))).toEqual([instruction]);
  });

  test('without an answer: nobody knows; it is made again only by a click', async () => {
    scene.platform.wire.order(CREATE, { kind: 'reset', when: 'before' });
    await asks('/docs-agent new Write a quickstart guide');
    const root = await card('#docs', 'Needs an answer');
    await untilBelow(
      root,
      '❔ @ana Was the agent job for "Write a quickstart guide" created? The platform gave no clear answer.',
      "choose [Don't send again], then type /docs-agent follow <job id>.\n[Send anyway] [Don't send again]",
    );
    expect(instructions()).toEqual([]);
    await clicks('ben', 'no clear answer', 'Send anyway');
    expect(await sent(1)).toEqual(['Write a quickstart guide']);
    await card('#docs', 'Working');
  });

  test('without an answer, left at that: the thread ends, since there is no job to follow', async () => {
    scene.platform.wire.order(CREATE, { kind: 'reset', when: 'after' });
    await asks('/docs-agent new Write a quickstart guide');
    await card('#docs', 'Needs an answer');
    await until(["[Send anyway] [Don't send again]"]);
    await clicks('ana', 'no clear answer', "Don't send again");
    await card('#docs', 'Not sent again');
    expect(instructions()).toHaveLength(1);
  });

  test('from a mention in a channel: offered privately, and started under that message', async () => {
    const asked = await person('ana').says('#docs', '@Docket write a page about webhooks');
    const offer = await note('ana', 'Start an agent job');
    expect(read(offer)).toBe(
      'Start an agent job with "write a page about webhooks"?\nTo follow an existing job, reply @Docket follow <job id>.\n[Start a job]',
    );
    expect(scene.slack.messages).toHaveLength(1);
    scene.platform.agent.plan({ hold: true });
    await Promise.all([
      person('ana').clicks(offer, 'Start a job'),
      person('ana').clicks(offer, 'Start a job'),
    ]);
    expect(await sent(1)).toEqual(['write a page about webhooks']);
    await untilBelow(
      asked,
      '⏳ Working · write a page about webhooks',
      '⏳ Working · "write a page about webhooks"',
    );
    await takes(asked);
    finish(newest(), 'no_pr');
    await replies(asked, 'And one about retries');
    expect(await sent(2)).toEqual(['write a page about webhooks', 'And one about retries']);
    expect(scene.platform.agent.jobs.size).toBe(1);
  });

  test('from a mention in a thread of people: in that thread, with nothing else of it', async () => {
    const question = await person('ben').says('#docs', 'Who could write about webhooks?');
    await replies(question, 'I am busy this week');
    await replies(question, '@Docket write about webhooks', { who: 'ben' });
    const offer = await note('ben', 'Start an agent job');
    expect(offer.threadTs).toBe(question.ts);
    await expect(person('ana').clicks(offer, 'Send only mine')).rejects.toThrow('does not see');
    await person('ben').clicks(offer, 'Send only mine');
    expect(await sent(1)).toEqual(['write about webhooks']);
    await untilBelow(question, 'Details]');
    expect(below(question).filter((text) => text.includes('Details]'))).toHaveLength(1);
  });

  test('in direct messages no mention is needed', async () => {
    const asked = await person('ana').says('@ana', 'Write a page about webhooks');
    await person('ana').clicks(await note('ana', 'Start an agent job'), 'Start a job');
    expect(await sent(1)).toEqual(['Write a page about webhooks']);
    await untilBelow(asked, 'Details]');
  });

  test.each(['@Docket', '@Docket help', '@Docket hi', '@Docket thanks!', '@Docket ?', '@docket aside'])(
    '"%s" outside offers nothing',
    async (words) => {
      await person('ana').says('#docs', words);
      await person('ben').says('#docs', '@Docket help');
      await note('ben', 'Start a job in a thread: @Docket Add a quickstart');
      if (words !== '@docket aside') await note('ana', 'Export a site: /docs-export docs.acme.com');
      expect(notes('ana').join()).not.toContain('[Start');
    },
  );

  test('"@Docket export docs.acme.com" in a followed thread: a button exports it, once', async () => {
    const { card: root } = await follows();
    await replies(root, '@Docket export docs.acme.com');
    const offer = await note('ana', 'Export docs.acme.com now?');
    await Promise.all([
      person('ana').clicks(offer, 'Export docs.acme.com'),
      person('ana').clicks(offer, 'Export docs.acme.com'),
    ]);
    await until(['Exporting · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(1);
    expect(instructions()).toEqual([]);
    expect(notes('ana').join()).not.toContain('[Export docs.acme.com]');
  });

  test('"@Docket stop" where nothing is followed says so', async () => {
    const question = await person('ben').says('#docs', 'Who could write about webhooks?');
    await replies(question, '@Docket stop');
    await note('ana', "This thread follows no agent job, so there's nothing to change.");
  });

  test('without words: a modal asks, whose job gets a card where the command was typed', async () => {
    await asks('/docs-agent');
    expect(
      person('ana')
        .fields()
        .map(({ label }) => label),
    ).toEqual(['What should the agent do?', 'Job ID']);
    await person('ana').submits({ 'What should the agent do?': 'Write a quickstart' });
    expect(await sent(1)).toEqual(['Write a quickstart']);
    await card('#docs', 'Working');
  });

  test('list and stop: the threads that one may see', async () => {
    expect(told(await asks('/docs-agent list'))).toContain('No agent job is followed that you can see here.');
    const one = await follows();
    const other = await follows({ where: '#private', seed: { ref: 'agent/limits' } });
    const listed = told(await asks('/docs-agent list')) ?? '';
    expect(listed.split('\n')).toEqual([
      '✅ Ready · acme/docs @ agent/limits · followed by you · Open thread',
      '✅ Ready · acme/docs @ agent/quickstart · followed by you · Open thread',
    ]);
    // Of a private channel, only those hear who are in it or followed there.
    expect(told(await asks('/docs-agent list', { who: 'ben' }))).toBe(
      '✅ Ready · acme/docs @ agent/quickstart · followed by ana · Open thread',
    );
    expect(told(await asks(`/docs-agent stop ${other.jobId}`, { who: 'ben' }))).toContain(
      'No thread that you can see follows this job.',
    );
    expect(told(await asks('/docs-agent stop', { who: 'ben' }))).toBe(
      'I stopped following acme/docs @ agent/quickstart.',
    );
    await scene.slack.until(() => read(one.card).includes('Stopped by ben.'));
    expect(told(await asks('/docs-agent list'))).toBe(
      '✅ Ready · acme/docs @ agent/limits · followed by you · Open thread',
    );
    plan(other.jobId);
    await replies(other.card, 'This one still counts');
    expect(await sent(1)).toEqual(['This one still counts']);
  });

  test('stop with several in a channel asks which one', async () => {
    const one = await follows();
    await follows({ seed: { ref: 'agent/limits' } });
    const { ephemeral } = await asks('/docs-agent stop');
    if (ephemeral === undefined) throw new Error('no answer');
    expect(read(ephemeral).split('\n')[0]).toBe('Which one?');
    await asks(`/docs-agent stop ${one.jobId}`);
    await scene.slack.until(() => read(one.card).includes('Stopped by ana.'));
  });
});

describe('a job that the platform refuses to make', () => {
  const scene = stage();
  const { note, read } = agentsOn(scene);

  test.each([
    [400, 'The platform refused to create the job.\nThe platform said: "Prompt too long"'],
    [403, 'The platform doesn\'t let me create agent jobs.\nThe platform said: "Prompt too long"\nHTTP 403'],
  ])('with %i is shown only to the person who asked, who can try again', async (status, why) => {
    const body = { error: 'Prompt too long' };
    scene.platform.wire.order(CREATE, { kind: 'answer', status, body });
    await scene.asks('/docs-agent new Write a quickstart guide');
    const answer = await note('ana', 'Job not created');
    expect(read(answer)).toBe(`❌ Job not created · "Write a quickstart guide"\n${why}\n[Try again]`);
    await scene.slack.until(() => scene.sees('#docs', 'ben').length === 0);
    expect(scene.notified('ana')).toBe(0);
    await scene.person('ana').clicks(answer, 'Try again');
    await scene.until(['✅ Ready · Write a quickstart guide']);
    expect(scene.platform.wire.calls.filter(({ name }) => name === CREATE)).toHaveLength(2);
  });
});

for (const status of [404, 405] as const)
  describe(`a platform that cannot make jobs (${status})`, () => {
    const scene = stage({ platform: { createAgentJobs: status } });
    const { person } = scene;
    const { below, instructions, note, notes, read, replies, sendsAlone } = agentsOn(scene);
    const answer =
      '❌ Job not created · "Write a quickstart guide"\nThis platform doesn\'t let me create agent jobs. Create one in its dashboard, then type /docs-agent follow <job id>.\n[Try again]';

    test('says so only to the person who asked, with what to do instead, and nothing stays in the channel', async () => {
      await scene.asks('/docs-agent new Write a quickstart guide');
      expect(read(await note('ana', 'Job not created'))).toBe(answer);
      const isGone = () => scene.sees('#docs', 'ben').length === 0;
      await scene.slack.until(isGone);
      const first = await note('ana', 'Job not created');
      await person('ana').clicks(first, 'Try again');
      await scene.slack.until(() => first.deleted && notes('ana').length === 1 && isGone());
      expect(scene.notified('ana')).toBe(0);
      expect(instructions()).toEqual([]);
    });

    test('says so only to the person whose mention asked for it', async () => {
      const question = await scene.person('ben').says('#docs', 'Who could write about webhooks?');
      const reply = await replies(question, '@Docket Write a quickstart guide');
      await sendsAlone();
      expect(read(await note('ana', 'Job not created'))).toBe(answer);
      await scene.slack.until(() => below(question).length === 1 && reply.reactions.length === 0);
      expect(instructions()).toEqual([]);
    });
  });
