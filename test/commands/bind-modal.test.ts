import { describe, expect, test } from 'vitest';
import type { BindParts } from '../../src/commands/bind.ts';
import type { SubmitResult } from '../../src/commands/registry.ts';
import { message } from '../../src/slack/blocks.ts';
import { bindForTest } from '../support/commands/bind.ts';
import { aModal, counted, done } from '../support/commands/builders.ts';

describe('a modal', () => {
  const submitted = (answer: SubmitResult) => aModal(async () => answer);
  const notice = (text: string) => ({
    response_action: 'update',
    view: expect.objectContaining({
      type: 'modal',
      title: { type: 'plain_text', text: 'Test' },
      blocks: message([[text]]).blocks,
    }),
  });

  test.each<[string, Partial<BindParts>]>([
    ['whose answer does not arrive', { postEphemeral: async () => false }],
  ])('%s shows the answer itself', async (_, parts) => {
    const { submits, log } = bindForTest({
      modals: [submitted({ kind: 'message', message: done })],
      ...parts,
    });
    expect(await submits('test.dialog')).toEqual([notice('Done')]);
    expect(log()).not.toContain('hooks.example');
  });

  test('that breaks shows a reference', async () => {
    const dialog = aModal(() => Promise.reject(new Error('s3cret trouble')));
    const acknowledged = await bindForTest({ modals: [dialog] }).submits('test.dialog');
    expect(acknowledged).toEqual([notice('Something broke on my side. ref 7f3c1d')]);
  });

  test.each(['', 'no json', '{}', '{"channel":"C0DOCS","request":"1"}'])(
    'of another version (%j) does nothing and says so',
    async (meta) => {
      const { run, ran } = counted({ kind: 'closed' as const });
      const [answer] = await bindForTest({ modals: [aModal(run)] }).submits('test.dialog', {
        private_metadata: meta,
      });
      expect(JSON.stringify(answer)).toContain('another version of me');
      expect(ran()).toBe(0);
    },
  );
});
