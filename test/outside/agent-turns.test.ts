import { describe, expect, test } from 'vitest';
import { agentsOn, LOOK, SEND } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const CONFIG = 'allow: { agent: [U0ANA, U0BEN] }\n';

describe('a request that comes while the agent works', () => {
  const scene = stage({ bot: { config: CONFIG } });
  const { clicks, person } = scene;
  const { follows, plan, finish, replies, sent, instructions, untilBelow, below, card, reacted, sendsAlone } =
    agentsOn(scene);
  const whileActive = () => scene.platform.agent.messages.filter((one) => one.whileActive);
  const lines = (root: Parameters<typeof below>[0], icon: string) =>
    below(root).filter((text) => text.startsWith(icon));

  /** A job that was seen idle longer ago is polled before a send. */
  async function notSeenLately() {
    const sinceMs = Date.now();
    await scene.slack.until(() => Date.now() - sinceMs > 150);
  }

  /** The agent works on the first of these, and the others wait. */
  async function waiting(first: string, ...others: string[]) {
    const { jobId, card: root } = await follows();
    for (const _ of [first, ...others]) plan(jobId);
    await replies(root, first);
    await untilBelow(root, '⏳ Working');
    const waits = [];
    for (const text of others) waits.push(await replies(root, text));
    const behind = others.length > 1 ? ` · ${others.length - 1} more request` : '';
    await untilBelow(
      root,
      `🕒 Waiting · "${others[0]}" goes to the agent when "${first}" (ana) is done\nRequested by ana${behind}`,
    );
    return { jobId, root, waits };
  }

  test('waits until it is done, in order, and each ending is about one request', async () => {
    const { jobId, root, waits } = await waiting('Add a quickstart', 'Also add error handling');
    expect(lines(root, '🕒')).toEqual([
      '🕒 Waiting · "Also add error handling" goes to the agent when "Add a quickstart" (ana) is done\nRequested by ana\n[Send now] [Discard]',
    ]);
    if (waits[0]) await reacted(waits[0], 'eyes');
    plan(jobId);
    await replies(root, '@Docket and a diagram', { who: 'ben' });
    await untilBelow(root, 'Requested by ana · 1 more request waits behind it');
    expect(instructions()).toEqual(['Add a quickstart']);

    finish(jobId, 'new_pr');
    await untilBelow(
      root,
      '✅ @ana Pull request · acme/docs#101\nFor "Add a quickstart" · requested by ana',
      '⏳ Working · "Also add error handling"',
      '🕒 Waiting · "and a diagram" goes to the agent when "Also add error handling" (ana) is done\nRequested by ben\n[Send now]',
    );
    finish(jobId, 'same_pr');
    await untilBelow(
      root,
      'For "Also add error handling" · requested by ana',
      '⏳ Working · "and a diagram"',
    );
    await scene.slack.until(() => lines(root, '🕒').length === 0, 20_000, 'nothing waits');
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @ben No pull request · "and a diagram"\n');
    expect(await sent(3)).toEqual(['Add a quickstart', 'Also add error handling', 'and a diagram']);
    expect(whileActive()).toEqual([]);
    // One message of each request stays, and one mention.
    await scene.slack.until(() => below(root).length === 6, 20_000, 'the lines go');
    expect([scene.notified('ana'), scene.notified('ben')]).toEqual([2, 1]);
  });

  test('is changed or withdrawn with its reply', async () => {
    const { jobId, root, waits } = await waiting('Add a quickstart', 'Mend the links', 'Mend teh titles');
    const [links, titles] = waits;
    if (!links || !titles) throw new Error('two wait');
    await person('ana').edits(titles, 'Mend the titles');
    await person('ana').deletes(links);
    await untilBelow(root, '🕒 Waiting · "Mend the titles" goes to the agent when');
    finish(jobId);
    expect(await sent(2)).toEqual(['Add a quickstart', 'Mend the titles']);
  });

  test('goes at once with [Send now], after a confirmation; the others wait', async () => {
    const { jobId, root } = await waiting('Add a quickstart', 'Stop, only an overview', 'Then the links');
    const message = scene.messageWith('🕒 Waiting · "Stop');
    expect(person('ben').asked(message, 'Send now')).toMatchObject({
      title: 'Send it now?',
      text: 'The agent may stop what it is doing.',
    });
    await clicks('ben', '🕒 Waiting · "Stop', 'Send now');
    expect(await sent(2)).toEqual(['Add a quickstart', 'Stop, only an overview']);
    await untilBelow(
      root,
      '⏳ Working · "Stop, only an overview" and 1 more',
      '🕒 Waiting · "Then the links" goes to the agent when "Stop, only an overview" (ana) is done',
    );
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @ana No pull request · "Stop, only an overview" and 1 more');
    expect(await sent(3)).toContain('Then the links');
    const lines = (await scene.audit()).filter((line) => line.includes('send now'));
    expect(lines).toEqual([expect.stringMatching(/^ben instruction .*send now · 22 characters$/)]);
  });

  test('waits without [Send now] while it is unclear whether another one reached the agent', async () => {
    const { jobId, root } = await waiting('Add a quickstart', 'Mend the links', 'Mend the titles');
    scene.platform.wire.order(SEND, { kind: 'reset', when: 'before' });
    const before = structuredClone(scene.messageWith('🕒 Waiting · "Mend the links"'));
    await person('ben').clicks(before, 'Send now');
    await untilBelow(
      root,
      'Did "Mend the links" reach the agent?',
      '🕒 Waiting · "Mend the titles" waits until it\'s clear whether "Mend the links" reached the agent\nRequested by ana\n[Discard]',
    );
    await clicks('ben', 'no clear answer', "Don't send again");
    await untilBelow(root, '🕒 Waiting · "Mend the titles" goes to the agent when "Add a quickstart" (ana)');
    expect(instructions()).toEqual(['Add a quickstart']);
    finish(jobId);
    expect(await sent(2)).toEqual(['Add a quickstart', 'Mend the titles']);
  });

  test('is dropped with [Discard], and a click that comes later says so', async () => {
    const { jobId, root, waits } = await waiting('Add a quickstart', 'Mend the links', 'Mend the titles');
    const message = scene.messageWith('🕒 Waiting · "Mend the links"');
    expect(person('ana').asked(message, 'Discard')?.title).toBe('Discard all?');
    const before = structuredClone(message);
    await person('ben').clicks(message, 'Discard');
    await untilBelow(root, 'ben discarded what was waiting.');
    for (const one of waits) await reacted(one, 'none');
    for (const button of ['Send now', 'Discard']) {
      await person('ana').clicks(before, button);
      expect(scene.toldLast('ana')).toContain('Already handled');
    }
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @ana No pull request · "Add a quickstart"');
    expect(instructions()).toEqual(['Add a quickstart']);
    expect((await scene.audit()).filter((line) => line.includes('discarded'))).toHaveLength(2);
  });

  test('is not for somebody without the permission to send or discard', async () => {
    const { root } = await waiting('Add a quickstart', 'Mend the links');
    for (const button of ['Send now', 'Discard']) await clicks('gus', '🕒 Waiting', button);
    expect((await scene.audit()).filter((line) => line.includes('refused: not permitted'))).toEqual([
      expect.stringContaining('gus agent.send_now '),
      expect.stringContaining('gus agent.discard '),
    ]);
    expect(instructions()).toEqual(['Add a quickstart']);
    await untilBelow(root, '🕒 Waiting');
  });

  test('waits for work that was begun in the dashboard', async () => {
    const { jobId, card: root } = await follows();
    scene.platform.agent.begin(jobId);
    await notSeenLately();
    await replies(root, 'Also add error handling');
    await untilBelow(
      root,
      '🕒 Waiting · "Also add error handling" goes to the agent when work from outside this thread is done\n',
    );
    await card('#docs', 'Working');
    expect(instructions()).toEqual([]);
    plan(jobId);
    finish(jobId, 'new_pr');
    await untilBelow(root, 'someone asked the agent outside this thread', '⏳ Working · "Also add');
    finish(jobId, 'same_pr');
    await untilBelow(root, 'For "Also add error handling" · requested by ana');
    expect(whileActive()).toEqual([]);
  });

  test('has its author asked about the other messages of its thread at once', async () => {
    const { root } = await waiting('Add a quickstart', 'Mend the links');
    const talk = await person('ben').says('#docs', 'The limits are old');
    await person('ana').usesShortcut('Send to the docs agent', await replies(talk, 'All of them'));
    await person('ana').submits({ Job: 'acme/docs @ agent/quickstart · Working' });
    await sendsAlone();
    await untilBelow(root, '1 more request waits behind it');
    expect(instructions()).toEqual(['Add a quickstart']);
  });

  test('waits for another thread of the same job; of two that wait, one goes and then the other', async () => {
    const { jobId, root } = await waiting('Add a quickstart', 'Mend the links');
    const { card: other } = await follows({ where: '#private', who: 'ben', jobId, state: 'Working' });
    plan(jobId);
    await replies(other, 'Mend the titles', { who: 'ben' });
    await untilBelow(other, '🕒 Waiting · "Mend the titles" goes to the agent when work from outside');
    finish(jobId, 'new_pr');
    const [, second = ''] = await sent(2);
    const isLinks = second === 'Mend the links';
    const [first, last] = isLinks ? [root, other] : [other, root];
    const third = isLinks ? 'Mend the titles' : 'Mend the links';
    await untilBelow(root, 'For "Add a quickstart" · requested by ana');
    await untilBelow(first, `⏳ Working · "${second}"`);
    await untilBelow(
      last,
      `🕒 Waiting · "${third}" goes to the agent when work from outside this thread is done`,
    );
    finish(jobId, 'same_pr');
    await untilBelow(first, `For "${second}" · requested by`);
    expect((await sent(3))[2]).toBe(third);
    finish(jobId, 'no_pr');
    await untilBelow(last, `No pull request · "${third}"`);
    expect(whileActive()).toEqual([]);
  });

  test('is sent although the platform does not say what the agent does', async () => {
    const { card: root } = await follows();
    scene.platform.wire.order(LOOK, { kind: 'answer', status: 503 }, 1000);
    await notSeenLately();
    await replies(root, 'Also add error handling');
    expect(await sent(1)).toEqual(['Also add error handling']);
    scene.platform.wire.clear();
  });
});

describe('an agent that works for too long', () => {
  const scene = stage({ bot: { timing: { watchMs: 1200 } } });
  const { clicks, person } = scene;
  const { follows, plan, finish, replies, sent, instructions, untilBelow, below } = agentsOn(scene);

  const questions = () =>
    scene.slack.messages.filter((one) => scene.slack.read(one).includes('The agent has worked for')).length;

  async function asked() {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2]) plan(jobId);
    await replies(root, 'Write a whole book');
    await untilBelow(root, '⏳ Working');
    await replies(root, 'Mend the links');
    await untilBelow(root, '❔ @ana The agent has worked for ', QUESTION);
    return { jobId, root };
  }
  const QUESTION =
    ' s · "Mend the links" waits for it\nRequested by ana\n[Send now] [Keep waiting] [Discard]';

  test('people are asked in a new message, and again after [Keep waiting]; then it is sent at the end', async () => {
    const { jobId, root } = await asked();
    await scene.slack.until(() => !below(root).join().includes('🕒'), 20_000, 'the question replaces it');
    expect(scene.notified('ana')).toBe(1);
    const question = scene.messageWith('❔ @ana The agent');
    const before = structuredClone(question);
    await person('ben').clicks(question, 'Keep waiting');
    // In between, the first message is there again, if only for a moment.
    await scene.slack.until(() => questions() === 2, 20_000, 'a second question');
    await person('ana').clicks(before, 'Keep waiting');
    expect(scene.toldLast('ana')).toContain('Already handled');
    expect(below(root).join()).not.toContain('No longer watched');
    expect(instructions()).toEqual(['Write a whole book']);
    finish(jobId, 'new_pr');
    expect(await sent(2)).toEqual(['Write a whole book', 'Mend the links']);
    await untilBelow(root, 'For "Write a whole book"', '⏳ Working · "Mend the links"');
    await scene.slack.until(() => !below(root).join().includes('❔'), 20_000, 'the question goes');
    finish(jobId, 'no_pr');
    await untilBelow(root, 'No pull request · "Mend the links"');
  });

  test('[Send now] sends it at once, if the person may ask the agent', async () => {
    const { root } = await asked();
    for (const button of ['Keep waiting', 'Send now']) await clicks('gus', 'The agent has worked', button);
    expect((await scene.audit()).filter((line) => line.includes('refused: not permitted'))).toEqual([
      expect.stringContaining('gus agent.keep_waiting '),
      expect.stringContaining('gus agent.send_now '),
    ]);
    expect([questions(), instructions()]).toEqual([1, ['Write a whole book']]);
    await clicks('ben', 'The agent has worked', 'Send now');
    expect(await sent(2)).toEqual(['Write a whole book', 'Mend the links']);
    await untilBelow(root, '⏳ Working · "Mend the links" and 1 more');
    await scene.slack.until(() => !below(root).join().includes('❔'), 20_000, 'the question goes');
  });

  test('after [Discard], the job is no longer watched', async () => {
    const { root } = await asked();
    await clicks('ben', 'The agent has worked', 'Discard');
    await untilBelow(
      root,
      'ben discarded what was waiting.',
      '⌛ @ana No longer watched · "Write a whole book"',
    );
    expect(instructions()).toEqual(['Write a whole book']);
  });

  test('a request for a job that is no longer watched waits as well, if the agent still works', async () => {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2]) plan(jobId);
    await replies(root, 'Write a whole book');
    await untilBelow(root, '⌛ @ana No longer watched');
    await replies(root, 'Mend the links');
    await scene.slack.until(() => /Waiting · |waits for it/.test(below(root).join()), 20_000, 'the wait');
    expect(instructions()).toEqual(['Write a whole book']);
    finish(jobId, 'new_pr');
    expect(await sent(2)).toEqual(['Write a whole book', 'Mend the links']);
  });
});

describe('with whileWorking: send', () => {
  const scene = stage({ bot: { config: 'whileWorking: send\n' } });
  const { follows, plan, replies, sent, untilBelow } = agentsOn(scene);

  test('it goes to the agent at once, and shares the message of the request before', async () => {
    const { jobId, card: root } = await follows();
    for (const _ of [1, 2]) plan(jobId);
    await replies(root, 'Add a quickstart');
    await untilBelow(root, '⏳ Working');
    await replies(root, 'Also add error handling');
    expect(await sent(2)).toEqual(['Add a quickstart', 'Also add error handling']);
    await untilBelow(root, '⏳ Working · "Also add error handling" and 1 more');
    expect(scene.platform.agent.messages.map(({ whileActive }) => whileActive)).toEqual([false, true]);
  });
});
