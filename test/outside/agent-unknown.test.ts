import { describe, expect, test } from 'vitest';
import type { Fault } from '../../demo/wire.ts';
import { agentsOn, LOOK, SEND } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const asked = (words: string) =>
  `⚠️ @ana Did "${words}" reach the agent? The platform gave no clear answer.\nThe job's state: completed, seen TIME\n[Check now] [Send again] [Leave it]`;

describe('an instruction whose answer is lost', () => {
  const scene = stage({ bot: { timing: { docsCallMs: 700, callMarginMs: 100 } } });
  const { clicks, audit } = scene;
  const { follows, plan, finish, replies, takes, sent, instructions, untilBelow, below } = agentsOn(scene);
  const lost = (when: 'before' | 'after') => scene.platform.wire.order(SEND, { kind: 'reset', when });

  test('becomes a question, holds what comes later, and is never sent again by itself', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    lost('before');
    const first = await replies(root, 'Add a section about errors');
    await untilBelow(root, asked('Add a section about errors'));
    const later = await replies(root, 'And one about retries');
    await takes(later);
    await takes(first);
    await scene.until(['1 instruction waiting']);
    expect(instructions()).toEqual([]);

    await clicks('ben', 'no clear answer', 'Send again');
    expect(await sent(2)).toEqual(['Add a section about errors', 'And one about retries']);
    await untilBelow(
      root,
      'ben chose to send "Add a section about errors" again. It got no clear answer at first.',
    );
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
    await untilBelow(root, '[Check now] [Send again] [Leave it]');
    await replies(root, 'And one about retries');
    await scene.until(['1 instruction waiting']);
    await clicks('ana', 'no clear answer', 'Leave it');
    expect(await sent(2)).toEqual(['Add a section about errors', 'And one about retries']);
    await untilBelow(
      root,
      'ana chose not to send it again: "Add a section about errors" got no clear answer.',
    );
    expect(
      await scene.person('ben').clicks(scene.messageWith('chose not to send it'), 'Leave it').catch(String),
    ).toContain('No button');
    finish(jobId, 'no_pr');
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
    await clicks('ben', 'no clear answer', 'Leave it');
    finish(jobId, 'new_pr');
    await untilBelow(root, 'The agent opened a pull request');
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
    await untilBelow(root, '[Check now] [Send again] [Leave it]');
    expect(instructions()).toHaveLength(1);
    expect(below(root)).toHaveLength(2);
  });

  test('clicks of two people on different answers: one of the two', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    lost('before');
    await replies(root, 'Add a section about errors');
    await untilBelow(root, '[Leave it]');
    await Promise.all([
      clicks('ana', 'no clear answer', 'Leave it'),
      clicks('ben', 'no clear answer', 'Send again'),
    ]);
    const [, settled = ''] = await untilBelow(root, '"Add a section about errors"', 'got no clear answer');
    if (settled.includes('chose to send')) await sent(1);
    await replies(root, 'Next one, in any case');
    await sent(settled.includes('chose to send') ? 2 : 1);
    expect(instructions().filter((text) => text.startsWith('Add'))).toHaveLength(
      settled.includes('chose to send') ? 1 : 0,
    );
  });
});
