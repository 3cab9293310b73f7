import { describe, expect, test } from 'vitest';
import type { Fault } from '../../demo/wire.ts';
import { agentsOn, LOOK, SEND } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const asked = (words: string) =>
  `❔ @ana Did "${words}" reach the agent? The platform gave no clear answer.\nThe job's state: completed, seen TIME\n[Check now] [Send anyway] [Don't send again]`;

describe('an instruction whose answer is lost', () => {
  const scene = stage({ bot: { timing: { docsCallMs: 700, callMarginMs: 100 } } });
  const { clicks, audit } = scene;
  const { follows, plan, finish, replies, takes, sent, instructions, untilBelow, below } = agentsOn(scene);
  const lost = (when: 'before' | 'after') => scene.platform.wire.order(SEND, { kind: 'reset', when });

  test('becomes a question, holds what comes later, and is never sent again by itself', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId, {});
    lost('before');
    const first = await replies(root, 'Add a section about errors');
    await untilBelow(root, asked('Add a section about errors'));
    const later = await replies(root, 'And one about retries');
    await takes(later);
    await takes(first);
    await scene.until(['1 request waiting']);
    expect(instructions()).toEqual([]);

    await clicks('ben', 'no clear answer', 'Send anyway');
    expect(await sent(2)).toEqual(['Add a section about errors', 'And one about retries']);
    await untilBelow(root, 'It was unclear whether the agent got this request. ben sent it anyway.');
    expect(await audit()).toEqual(
      expect.arrayContaining([
        `ana instruction ${jobId} → unclear · 26 characters`,
        `ana instruction ${jobId} → sent · 26 characters`,
      ]),
    );
  });

  test('left at that: it is never sent, and what waited goes out', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    lost('after');
    await replies(root, 'Add a section about errors');
    await untilBelow(root, "[Check now] [Send anyway] [Don't send again]");
    await replies(root, 'And one about retries');
    await scene.until(['1 request waiting']);
    await clicks('ana', 'no clear answer', "Don't send again");
    await untilBelow(
      root,
      '➖ Not sent again · it\'s unclear whether the agent got "Add a section about errors"\nDecided by ana',
    );
    expect(
      await scene.person('ben').clicks(scene.messageWith('Not sent again'), "Don't send again").catch(String),
    ).toContain('No button');
    // It did reach the agent, which works on it.
    await untilBelow(root, '🕒 Waiting · "And one about retries" goes to the agent when work from outside');
    finish(jobId, 'no_pr');
    expect(await sent(2)).toEqual(['Add a section about errors', 'And one about retries']);
    await untilBelow(root, '➖ @');
  });

  test('[Check now] looks at once and says how it reads now', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    lost('after');
    await replies(root, 'Add a section about errors');
    await untilBelow(root, '[Check now]');
    const looks = () => scene.platform.wire.calls.filter(({ name }) => name === LOOK).length;
    const before = looks();
    await clicks('ben', 'no clear answer', 'Check now');
    await untilBelow(root, "The job's state: active, seen TIME");
    expect(looks()).toBeGreaterThan(before);
    expect(scene.toldLast('ben')).toBe('Checking now.');
    await clicks('ben', 'no clear answer', "Don't send again");
    finish(jobId, 'new_pr');
    await untilBelow(root, 'Pull request · ');
    expect(instructions()).toHaveLength(1);
  });

  test.each<Fault>([
    { kind: 'garbage', when: 'after' },
    { kind: 'hang', when: 'after' },
    ...[500, 408, 409].map((status) => ({ kind: 'answer', status, when: 'after' }) as const),
  ])('%j for an answer is as unknown', async (fault) => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    scene.platform.wire.order(SEND, fault);
    await replies(root, 'Add a section about errors');
    await untilBelow(root, "[Check now] [Send anyway] [Don't send again]");
    expect(instructions()).toHaveLength(1);
    expect(below(root)).toHaveLength(2);
  });

  test('clicks of two people on different answers: one of the two', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    lost('before');
    await replies(root, 'Add a section about errors');
    await untilBelow(root, "[Don't send again]");
    await Promise.all([
      clicks('ana', 'no clear answer', "Don't send again"),
      clicks('ben', 'no clear answer', 'Send anyway'),
    ]);
    const answer = /It was unclear|Not sent again/;
    await scene.slack.until(() => below(root).some((text) => answer.test(text)));
    const isSent = below(root).join().includes('sent it anyway');
    if (isSent) await sent(1);
    await replies(root, 'Next one, in any case');
    await sent(isSent ? 2 : 1);
    expect(instructions().filter((text) => text.startsWith('Add'))).toHaveLength(isSent ? 1 : 0);
  });
});
