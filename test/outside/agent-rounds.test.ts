import { describe, expect, test } from 'vitest';
import { agentsOn, LOOK } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

describe('a round of the agent', () => {
  const scene = stage();
  const { clicks, notified } = scene;
  const { follows, plan, finish, replies, takes, sent, below, untilBelow, card, read } = agentsOn(scene);

  test('that opens a pull request: a line while it works, which its result replaces, and the card', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, 'Also add error handling');
    await takes(reply);
    expect(await untilBelow(root, '⏳')).toEqual([
      'Also add error handling',
      '⏳ Working · "Also add error handling"\nRequested by ana · sent TIME',
    ]);
    await card('#docs', 'Working');
    expect(notified('ana')).toBe(0);

    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @ana Pull request · ');
    await scene.slack.until(() => below(root).length === 2, 20_000, 'the line goes');
    expect(below(root)).toEqual([
      'Also add error handling',
      '✅ @ana Pull request · acme/docs#101\nFor "Also add error handling" · requested by ana · took 1 s\n[Open pull request] [Build preview]',
    ]);
    await card('#docs', 'Ready');
    expect(read(root)).toBe(
      '✅ Ready · acme/docs @ agent/quickstart · acme/docs#101\nFollowed by ana · reply in the thread to ask the agent; start with "aside" to talk among yourselves\n[Open pull request] [Build preview] [⋯ Details] [⋯ Listen only to @Docket] [⋯ Listen to all replies] [⋯ Stop following]',
    );
    expect(notified('ana')).toBe(1);
    expect(await sent(1)).toEqual(['Also add error handling']);
    expect(
      await scene.person('ana').clicks(scene.messageWith('@ana Pull request · '), 'Open pull request'),
    ).toMatchObject({
      ok: true,
    });
    // The status said it all.
    expect(reply.reactions).toEqual([]);
  });

  test.each([
    [
      'same_pr',
      '✅ @ana Pull request updated · acme/docs#100\nFor "Mend the broken links" · requested by ana · took 1 s\n[Open pull request] [Build preview]',
    ],
    [
      'no_pr',
      '➖ @ana No pull request · "Mend the broken links"\nThe agent finished without one. It may have pushed to agent/quickstart, or answered in its dashboard.\nRequested by ana · took 1 s',
    ],
    [
      'failed',
      '❌ @ana The agent couldn\'t finish · "Mend the broken links"\nRequested by ana · took 1 s\n[Try again]',
    ],
  ] as const)('that ends with %s says so', async (outcome, text) => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Mend the broken links');
    await untilBelow(root, '⏳');
    finish(jobId, outcome);
    expect((await untilBelow(root, text)).at(-1)).toBe(text);
    await card('#docs', outcome === 'failed' ? 'Failed' : 'Ready');
  });

  test('that failed is sent again by a click, once only', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Mend the broken links');
    await untilBelow(root, '⏳');
    finish(jobId, 'failed');
    await untilBelow(root, "couldn't finish");
    plan(jobId);
    await Promise.all([
      clicks('ben', "couldn't finish", 'Try again'),
      clicks('ana', "couldn't finish", 'Try again'),
    ]);
    expect(await sent(2)).toEqual(['Mend the broken links', 'Mend the broken links']);
    await untilBelow(root, '⏳ Working · "Mend the broken links"');
    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @ana Pull request · ');
    expect(await sent(2)).toHaveLength(2);
  });

  test('is not judged by a state that was there before it: the grace period', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId, { idleMs: 250, hold: true });
    await replies(root, 'Take your time with this');
    await untilBelow(root, '⏳');
    const looks = () => scene.platform.wire.calls.filter(({ name }) => name === LOOK).length;
    const before = looks();
    await scene.slack.until(() => scene.platform.agent.jobs.get(jobId)?.status === 'active');
    await scene.slack.until(() => looks() > before + 3);
    expect(below(root)).toHaveLength(2);
    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @ana Pull request · ');
  });

  test('that never reads active ends once the grace period is over', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId, { idleMs: 60_000 });
    await replies(root, 'A tiny change only');
    await untilBelow(root, '✅ @ana Pull request updated · acme/docs#100\nFor "A tiny change only"');
  });

  test('whose job is archived during it ends, and the next instruction is refused with the day', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Work on the changelog');
    await untilBelow(root, '⏳');
    scene.platform.agent.archive(jobId);
    await untilBelow(
      root,
      '📁 @ana Job archived · "Work on the changelog"\nThis job was archived on TIME, so it takes no more requests.',
    );
    await card('#docs', 'Archived');
    await replies(root, 'One more thing there');
    await untilBelow(
      root,
      '❌ @ana Not sent · "One more thing there"\nThis job was archived on TIME, so it takes no more requests.',
    );
    expect(await sent(1)).toEqual(['Work on the changelog']);
  });

  test('whose job the platform forgets ends so, and [Stop following] ends the thread', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Work on the changelog');
    await untilBelow(root, '⏳');
    scene.platform.agent.forget(jobId);
    await untilBelow(
      root,
      '❌ @ana Job not found · "Work on the changelog"\nThe platform doesn\'t know this job.\nRequested by ana · HTTP 404\n[Stop following]',
    );
    await card('#docs', 'Not found');
    await clicks('ben', 'Job not found · "Work', 'Stop following');
    await card('#docs', 'Stopped following');
    await scene.until(['Stopped by ben.']);
  });

  test('that somebody started elsewhere mentions the person who followed', async () => {
    const jobId = scene.platform.agent.add({ status: 'active', prLink: null });
    const { card: root } = await follows({ jobId, state: 'Working' });
    finish(jobId, 'new_pr');
    await untilBelow(
      root,
      '✅ @ana Pull request · acme/docs#',
      'For acme/docs @ agent/quickstart · someone asked the agent outside this thread · took',
    );
    expect(below(root)).toHaveLength(1);
  });

  test.each(['https://github.com@evil.example/acme/docs/pull/1', 'https://:x@evil.example/'])(
    'has no button for an address that pretends another host: %s',
    async (prLink) => {
      const jobId = scene.platform.agent.add({ status: 'active', prLink });
      const { card: root } = await follows({ jobId, state: 'Working' });
      expect(JSON.stringify(root.blocks)).not.toContain('"url"');
    },
  );

  test('while the platform cannot be reached: the card says so, and the result still comes', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Survive an outage please');
    await untilBelow(root, '⏳');
    scene.platform.wire.order(LOOK, { kind: 'answer', status: 503 }, 1000);
    await scene.until(["I can't reach the platform. I'll keep trying; the job itself may be fine."]);
    scene.platform.wire.clear();
    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @ana Pull request · ');
    await scene.slack.until(() => !read(root).includes("can't reach"));
  });
});

describe('a round in which requests are sent at once', () => {
  const scene = stage({ bot: { config: 'whileWorking: send\n' } });
  const { notified } = scene;
  const { follows, plan, finish, replies, sent, below, untilBelow } = agentsOn(scene);

  test('with several instructions of two people is one round: one line, one result for both', async () => {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2, 3]) plan(jobId);
    await replies(root, 'First do the overview');
    await untilBelow(root, '⏳ Working · "First do the overview"');
    await replies(root, '@Docket then the details', { who: 'ben' });
    await untilBelow(root, '⏳ Working · "then the details" and 1 more\nRequested by ben');
    await replies(root, '@docket and the summary');
    await untilBelow(root, '⏳ Working · "and the summary" and 2 more');
    expect(await sent(3)).toEqual(['First do the overview', 'then the details', 'and the summary']);
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @');
    await scene.slack.until(() => below(root).length === 4, 20_000, 'the line goes');
    expect(below(root).at(-1)).toMatch(
      /^➖ @ana @ben No pull request · "and the summary" and 2 more\n.*\nRequested by ana, ben · took/,
    );
    expect(notified('ana')).toBe(1);
    expect(notified('ben')).toBe(1);
  });
});

describe('a round that takes too long', () => {
  const scene = stage({ bot: { timing: { watchMs: 1500 } } });
  const { follows, plan, finish, replies, untilBelow } = agentsOn(scene);

  test('is given up, and [Check now] finds its end', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Write a whole book');
    await untilBelow(
      root,
      '⌛ @ana No longer watched · "Write a whole book"\nI stopped watching after 1 s. The agent may still finish it.\nRequested by ana\n[Check now]',
    );
    finish(jobId, 'new_pr');
    await scene.clicks('ben', 'I stopped watching', 'Check now');
    await scene.until(['[Open pull request]', '✅ Ready · ']);
  });
});
