import { describe, expect, test } from 'vitest';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import type { BindParts } from '../../src/commands/bind.ts';
import type { SubmitResult } from '../../src/commands/registry.ts';
import { message } from '../../src/slack/blocks.ts';
import { formView } from '../../src/slack/modals.ts';
import { answersWith, bindForTest } from '../support/commands/bind.ts';
import { aCaller, aModal, ana, counted, done, origin } from '../support/commands/builders.ts';

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

  test('hears what was entered, where it was opened, and by whom', async () => {
    const received: unknown[] = [];
    const dialog = aModal(async (entered, caller, _tools, details) => {
      received.push(entered, caller, details);
      return { kind: 'closed' };
    });
    const values = {
      channel: { channel: { type: 'conversations_select', selected_conversation: 'C0DOCS' } },
      nowhere: { channel: { type: 'conversations_select', selected_conversation: null } },
      time: { time: { type: 'timepicker', selected_time: '09:30' } },
      sections: { ticked: { type: 'checkboxes', selected_options: [{ value: 'pages' }, { value: 'csv' }] } },
      alerts: { ticked: { type: 'checkboxes', selected_options: [] } },
      domain: { text: { type: 'plain_text_input', value: ' docs.acme.com ' } },
      link: { choice: { type: 'radio_buttons', selected_option: { value: 'requester' } } },
      version: { text: { type: 'plain_text_input', value: null } },
      paths: { text: { type: 'plain_text_input', value: ' \n' } },
      project: { choice: { type: 'static_select', selected_option: null } },
    };
    const private_metadata = JSON.stringify({ ...origin, about: 'r1' });
    const { submits } = bindForTest({ modals: [dialog] });
    expect(await submits('test.dialog', { state: { values }, private_metadata })).toEqual([undefined]);
    expect(received).toEqual([
      { domain: ' docs.acme.com ', link: 'requester', channel: 'C0DOCS', time: '09:30' },
      aCaller({
        user: { id: 'U0ANA', name: 'Ana', fullMember: true },
        channel: origin.channel,
        requestId: 'view V01',
        triggerId: 'trigger.3',
        responseUrl: 'https://hooks.example/1',
        receivedAtMs: 5000,
      }),
      { ticked: { sections: ['pages', 'csv'], alerts: [] }, about: 'r1' },
    ]);
  });

  test('stays open with the problem at its field', async () => {
    const problems = { domain: 'Type it like docs.acme.com.' };
    const { submits } = bindForTest({ modals: [submitted({ kind: 'problems', problems })] });
    expect(await submits('test.dialog')).toEqual([{ response_action: 'errors', errors: problems }]);
  });

  test('closes with its answer where it was opened: the buttons work there', async () => {
    const asked: string[] = [];
    const { submits, answers } = bindForTest({
      modals: [submitted({ kind: 'message', message: done })],
      responseUrlOf: async (request) => {
        asked.push(request);
        return 'https://hooks.example/opener';
      },
    });
    expect(await submits('test.dialog')).toEqual([undefined]);
    expect(asked).toEqual(['trigger.1']);
    expect(answers).toEqual([{ responseUrl: 'https://hooks.example/opener', text: 'Done' }]);
  });

  test.each<[string, Partial<BindParts>]>([
    ['whose address is no longer known', { responseUrlOf: async () => undefined }],
    ['whose answer does not arrive', { postEphemeral: async () => false }],
  ])('%s shows the answer itself', async (_, parts) => {
    const { submits, log } = bindForTest({
      modals: [submitted({ kind: 'message', message: done })],
      ...parts,
    });
    expect(await submits('test.dialog')).toEqual([notice('Done')]);
    expect(log()).not.toContain('hooks.example');
  });

  test('of somebody who may not does nothing, and says so', async () => {
    const { run, ran } = counted({ kind: 'closed' as const });
    const policy = answersWith({ kind: 'refused', person: ana, ask: [] });
    const text = "You can't start exports here, so nothing was started. Ask a full member of this workspace.";
    expect(await bindForTest({ modals: [aModal(run)], policy }).submits('test.dialog')).toEqual([
      notice(text),
    ]);
    expect(ran()).toBe(0);
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

  test('shows its next view, which keeps where it was opened', async () => {
    const view = formView({ title: 'Next', submit: 'Go', callback: 'test.next', fields: [] });
    const { submits } = bindForTest({
      modals: [submitted({ kind: 'view', view, about: '{"page":"/a"}' })],
    });
    const next = { ...view, private_metadata: JSON.stringify({ ...origin, about: '{"page":"/a"}' }) };
    expect(await submits('test.dialog')).toEqual([{ response_action: 'update', view: next }]);
    expect(() => checkView(next, 'modal', (prefix) => prefix)).not.toThrow();
  });

  test('whose notice replaces it is a view that Slack takes', async () => {
    const { submits } = bindForTest({
      modals: [submitted({ kind: 'message', message: done })],
      responseUrlOf: async () => undefined,
    });
    const [answer] = (await submits('test.dialog')) as [{ view: unknown }];
    expect(() => checkView(answer.view, 'modal', (prefix) => prefix)).not.toThrow();
  });
});
