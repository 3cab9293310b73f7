import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { registry } from '../../src/commands/index.ts';
import { defineButton, type Registry } from '../../src/commands/registry.ts';
import { type Message, message } from '../../src/slack/blocks.ts';
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

const echoing = defineButton({
  action: 'a.echo',
  may: 'status',
  value: z.object({ about: z.string() }),
  run: async ({ about }) => message([[about]]),
});

describe('every click reaches what it is for', () => {
  const policy = answersWith({ kind: 'refused', person: ana, ask: [] });

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

  test('one in a menu reaches the button that it stands for, with what the block is about', async () => {
    const { opensMenu, answers } = bindForTest({ buttons: [aButton('a.b'), echoing] });
    expect(await opensMenu('{"about":"run 1"}', 'a.echo')).toBe(1);
    expect(answers).toEqual([{ responseUrl: 'https://hooks.example/2', text: 'run 1' }]);
  });

  test.each([
    ['an entry of an older version', '{"about":"run 1"}', 'a.gone'],
    ['a block that is about nothing', 'b123', 'a.echo'],
  ])('in a menu, %s says so, and is acknowledged', async (_, blockId, entry) => {
    const { opensMenu, answers } = bindForTest({ buttons: [echoing] });
    expect(await opensMenu(blockId, entry)).toBe(1);
    expect(answers).toMatchObject([{ text: expect.stringContaining('no longer works') }]);
  });

  test('one that nobody knows any more says so, and is acknowledged', async () => {
    const { clicks, answers } = bindForTest();
    expect(await clicks('export.long_gone')).toBe(1);
    expect(answers).toEqual([
      {
        responseUrl: 'https://hooks.example/2',
        text: 'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
      },
    ]);
  });

  test('an unknown command says so', async () => {
    const [answer, ...more] = (await bindForTest().types('/docs-long-gone', '')) as [Message];
    expect(answer.text).toMatch(/^This command is from another version of me/);
    expect(more).toEqual([]);
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

  test('an unknown message shortcut says so', async () => {
    const { chooses, answers } = bindForTest({ shortcuts: [aShortcut()] });
    expect(await chooses('long_gone')).toBe(1);
    expect(answers.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^This shortcut is from another version of me/),
    ]);
  });

  test('an unknown shortcut of the whole workspace, which has no address for answers, is acknowledged', async () => {
    const { chooses, answers } = bindForTest();
    expect(await chooses('long_gone', { response_url: undefined, channel: undefined })).toBe(1);
    expect(answers).toEqual([]);
  });

  test('a link is acknowledged and nothing else', async () => {
    const { clicks, answers } = bindForTest({ urlActions: ['a.b'] });
    expect(await clicks('a.b')).toBe(1);
    expect(answers).toEqual([]);
  });
});
