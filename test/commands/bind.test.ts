import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { exportCommand } from '../../src/commands/export/command.ts';
import type { GateParts } from '../../src/commands/gate.ts';
import { registry } from '../../src/commands/index.ts';
import type { Caller, CommandTools } from '../../src/commands/intake.ts';
import type { ButtonAction } from '../../src/commands/registry.ts';
import type { Message } from '../../src/slack/blocks.ts';
import { type BindChanges, bindForTest } from '../support/commands/bind.ts';
import { aButton, aProject, counted, done } from '../support/commands/builders.ts';

describe('a command', () => {
  test.each(registry.commands.map((command) => [command.name, command] as const))(
    '%s can be helped with',
    async (name, command) => {
      const [help] = (await bindForTest({ commands: [command] }).types(name, 'help')) as [Message];
      expect(help.text).toContain(command.subcommands[0]?.summary);
      expect(mistakesIn(help.blocks, 'message')).toEqual([]);
    },
  );

  test.each(['""', '“”', '\u202E', '<>', '\u0000', '<!channel>', `${'x'.repeat(5000)}`, '\uD83D'])(
    'is answered with something that Slack takes, whatever was typed: %j',
    async (typed) => {
      const opened: unknown[] = [];
      const tools = {
        projects: [aProject()],
        links: 'thread',
        openModal: async (_caller: Caller, view: unknown) => void opened.push(view),
      } as unknown as CommandTools;
      const [answer] = (await bindForTest({ commands: [exportCommand], tools }).types(
        '/docs-export',
        typed,
      )) as [Message | undefined];
      if (answer === undefined) {
        expect(opened).toHaveLength(1);
        expect(() => checkView(opened[0], 'modal', (prefix) => prefix)).not.toThrow();
        return;
      }
      expect(mistakesIn(answer.blocks, 'message')).toEqual([]);
      expect(answer.text).toContain("isn't a host name");
    },
  );
});

describe('a button', () => {
  test.each([undefined, '', 'no json', '{"v":2}', 'null'])(
    'with a value of another version (%j) does nothing and says so',
    async (value) => {
      const { run, ran } = counted(done);
      const { clicks, answers } = bindForTest({ buttons: [aButton('test.go', run)] });
      expect(await clicks('test.go', value)).toBe(1);
      expect(answers.map(({ text }) => text)).toEqual([
        'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
      ]);
      expect(ran()).toBe(0);
    },
  );

  test('whose answer does not arrive is acknowledged all the same', async () => {
    const { clicks, log } = bindForTest({ buttons: [aButton()], postEphemeral: async () => false });
    expect(await clicks('test.go', '{"v":1}')).toBe(1);
    expect(log()).toContain('an ephemeral answer did not arrive');
    expect(log()).not.toContain('hooks.example');
  });
});

describe('a click where there is no conversation', () => {
  const onHome = { channel: undefined, response_url: undefined, view: { id: 'V0HOME', type: 'home' } };
  const title = { type: 'plain_text', text: 'Needs you' };
  const inModal = { ...onHome, view: { id: 'V1', type: 'modal', title } };

  function setting(run: ButtonAction['run']) {
    const opened: { modalId: string | undefined; title: string; text: string }[] = [];
    const openModal: BindChanges['openModal'] = async ({ modalId }, { title, blocks }) =>
      void opened.push({ modalId, title: title.text, text: JSON.stringify(blocks) });
    const tools = { openModal } as GateParts['tools'];
    return { opened, ...bindForTest({ buttons: [{ ...aButton('test.go'), run }], openModal, tools }) };
  }

  test('in a modal, whose answer is elsewhere, says so', async () => {
    const { opened, clicks } = setting(async () => undefined);
    await clicks('test.go', '{"v":1}', inModal);
    expect(opened.map(({ text }) => text)).toEqual([
      expect.stringContaining('The result appears in its thread'),
    ]);
  });
});
