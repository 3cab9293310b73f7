import { describe, expect, test } from 'vitest';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { registry } from '../../src/commands/index.ts';
import type { Registry } from '../../src/commands/registry.ts';
import { answersWith, bindForTest } from '../support/commands/bind.ts';
import { aButton, aCommand, aModal, ana, anEventListener, aShortcut } from '../support/commands/builders.ts';

describe('a name that two entries have', () => {
  test.each<[string, Partial<Registry>]>([
    ['two commands', { commands: [aCommand(), aCommand({ summary: 'Other.' })] }],
    ['two buttons', { buttons: [aButton('a.b'), aButton('a.b')] }],
    ['two links', { urlActions: ['a.b', 'a.b'] }],
    ['two dialogs', { modals: [aModal(undefined, 'a.b'), aModal(undefined, 'a.b')] }],
    ['a dialog and a button', { modals: [aModal(undefined, 'a.b')], buttons: [aButton('a.b')] }],
    ['two shortcuts', { shortcuts: [aShortcut(undefined, 'a.b'), aShortcut(undefined, 'a.b')] }],
    [
      'a shortcut and a dialog',
      { shortcuts: [aShortcut(undefined, 'a.b')], modals: [aModal(undefined, 'a.b')] },
    ],
    [
      'two events',
      { events: [anEventListener('a.b', async () => {}), anEventListener('a.b', async () => {})] },
    ],
    ['a button and a link', { buttons: [aButton('a.b')], urlActions: ['a.b'] }],
  ])('stops the start: %s', (_, entries) => {
    expect(() => bindForTest(entries)).toThrow(
      /^Two entries of the registry are called (?:\/docs-test|a\.b)$/,
    );
  });

  test('is not in the registry of today', () => {
    expect(() => bindForTest(registry)).not.toThrow();
  });
});

describe('every click reaches what it is for', () => {
  const policy = answersWith({ kind: 'refused', person: ana, ask: 'ana' });

  test.each(registry.buttons.map(({ action }) => action))('%s', async (action) => {
    const { clicks, answers, log } = bindForTest({ ...registry, policy });
    expect(await clicks(action)).toBe(1);
    expect(answers).toMatchObject([{ text: expect.stringMatching(/^You can't /) }]);
    expect(log()).toContain(`"what":"${action}"`);
  });

  test.each(['export.of_an_older_version', 'exportXdownload', ''])('not of today: %j', async (action) => {
    const { clicks, answers } = bindForTest({ ...registry, policy });
    expect(await clicks(action)).toBe(1);
    expect(answers).toMatchObject([{ text: expect.stringContaining('no longer works') }]);
  });

  test.each(['Export', 'X'.repeat(25)])('an unknown modal says so in its place: %s', async (text) => {
    const { submits } = bindForTest({ modals: [aModal()] });
    const answers = await submits('long_gone', { title: { type: 'plain_text', text } });
    expect(answers).toEqual([expect.objectContaining({ response_action: 'update' })]);
    const { view } = answers[0] as { view: unknown };
    expect(JSON.stringify(view)).toContain('This dialog is from another version of me');
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    expect(await submits('test.dialog')).toEqual([undefined]);
  });
});
