import { describe, expect, test } from 'vitest';
import { agentsOn, LOOK } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

describe('a round of the agent', () => {
  const scene = stage();
  const { clicks, notified } = scene;
  const { follows, plan, finish, replies, takes, sent, below, untilBelow, card, read } = agentsOn(scene);

  test('that opens a pull request: one status that is edited, one ending, and the card', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, 'Also add error handling');
    await takes(reply);
    expect(await untilBelow(root, '⏳')).toEqual([
      'Also add error handling',
      '⏳ "Also add error handling" (ana) · the agent is working · sent TIME',
    ]);
    await card('#docs', 'Working');
    expect(notified('ana')).toBe(0);

    finish(jobId, 'new_pr');
    const texts = await untilBelow(root, '✅ @ana', 'finished');
    expect(texts).toEqual([
      'Also add error handling',
      '✅ "Also add error handling" (ana) · finished · took 1 s',
      '✅ @ana The agent opened a pull request for "Also add error handling": acme/docs#101\n[Open pull request] [Preview]',
    ]);
    await card('#docs', 'Ready');
    expect(read(root)).toBe(
      '✅ Ready · acme/docs @ agent/quickstart\nReply here to instruct the agent. Start with "aside" to talk among yourselves.\ndocs agent · job aj_… · followed by ana · model docs-agent-1 · pull request acme/docs#101\n[Open pull request] [Preview] [Stop following] [⋯ Listen only to @Docket] [⋯ Listen to all replies]',
    );
    expect(notified('ana')).toBe(1);
    expect(await sent(1)).toEqual(['Also add error handling']);
    expect(
      await scene.person('ana').clicks(scene.messageWith('opened a pull request'), 'Open pull request'),
    ).toMatchObject({
      ok: true,
    });
    // The status said it all.
    expect(reply.reactions).toEqual([]);
  });

  test.each([
    [
      'same_pr',
      '✅ @ana Done, in the same pull request: "Mend the broken links". See its latest commits: acme/docs#100\n[Open pull request] [Preview]',
    ],
    ['no_pr', '➖ @ana Done, without a pull request: "Mend the broken links". Naming the page helps.'],
    ['failed', '❌ @ana The agent could not finish "Mend the broken links".\n[Send again]'],
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
    await untilBelow(root, 'could not finish');
    plan(jobId);
    await Promise.all([
      clicks('ben', 'could not finish', 'Send again'),
      clicks('ana', 'could not finish', 'Send again'),
    ]);
    expect(await sent(2)).toEqual(['Mend the broken links', 'Mend the broken links']);
    await untilBelow(root, '⏳ "Mend the broken links" (');
    finish(jobId, 'new_pr');
    await untilBelow(root, 'opened a pull request');
    expect(await sent(2)).toHaveLength(2);
  });

  test('with several instructions of two people is one round: one status, one ending for both', async () => {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2, 3]) plan(jobId);
    await replies(root, 'First do the overview');
    await untilBelow(root, '⏳ "First do the overview" (ana)');
    await replies(root, '@Docket then the details', { who: 'ben' });
    await untilBelow(root, '⏳ "then the details" (ben) and 1 more · the agent is working');
    await replies(root, '@docket and the summary');
    await untilBelow(root, '⏳ "and the summary" (ana) and 2 more');
    expect(await sent(3)).toEqual(['First do the overview', 'then the details', 'and the summary']);
    finish(jobId, 'no_pr');
    const texts = await untilBelow(root, '➖ @', '· finished');
    expect(texts).toHaveLength(5);
    expect(texts[4]).toContain('➖ @ana @ben Done, without a pull request: "and the summary" and 2 more.');
    expect(notified('ana')).toBe(1);
    expect(notified('ben')).toBe(1);
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
    await untilBelow(root, 'opened a pull request');
  });

  test('that never reads active ends once the grace period is over', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId, { idleMs: 60_000 });
    await replies(root, 'A tiny change only');
    await untilBelow(root, '✅ @ana Done, in the same pull request: "A tiny change only"');
  });

  test('whose job is archived during it ends, and the next instruction is refused with the day', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Work on the changelog');
    await untilBelow(root, '⏳');
    scene.platform.agent.archive(jobId);
    await untilBelow(
      root,
      '📁 @ana The job of "Work on the changelog" was archived on TIME; it takes no more instructions.',
      'the job was archived',
    );
    await card('#docs', 'Archived');
    await replies(root, 'One more thing there');
    await untilBelow(
      root,
      '❌ @ana Not sent: "One more thing there"\nThis job was archived on TIME; it takes no more instructions.',
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
      '❌ @ana The platform does not know the job of "Work on the changelog" (404).\n[Stop following]',
    );
    await card('#docs', 'Not found');
    await clicks('ben', 'does not know the job of', 'Stop following');
    await card('#docs', 'Stopped following');
    await scene.until(['Stopped by ben.']);
  });

  test('that somebody started elsewhere mentions the person who followed', async () => {
    const jobId = scene.platform.agent.add({ status: 'active', prLink: null });
    const { card: root } = await follows({ jobId, state: 'Working' });
    finish(jobId, 'new_pr');
    await untilBelow(
      root,
      '✅ @ana The agent opened a pull request for acme/docs @ agent/quickstart: acme/docs#',
    );
    expect(below(root)).toHaveLength(1);
  });

  test('while the platform cannot be reached: the card says so, and the ending comes all the same', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    await replies(root, 'Survive an outage please');
    await untilBelow(root, '⏳');
    scene.platform.wire.order(LOOK, { kind: 'answer', status: 503 }, 1000);
    await scene.until(["⚠️ I can't reach the platform. I'll keep trying; the job itself may be fine."]);
    scene.platform.wire.clear();
    finish(jobId, 'new_pr');
    await untilBelow(root, 'opened a pull request');
    await scene.slack.until(() => !read(root).includes("can't reach"));
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
      '💤 @ana I stopped watching "Write a whole book" after 1 s. The agent may still finish it.\n[Check now]',
      'no longer watched after 1 s',
    );
    finish(jobId, 'new_pr');
    await scene.clicks('ben', 'I stopped watching', 'Check now');
    await scene.until(['[Open pull request]', '✅ Ready · ']);
  });
});
