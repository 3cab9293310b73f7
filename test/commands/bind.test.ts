import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import type { SlashCommand } from '../../src/commands/command.ts';
import { exportCommand } from '../../src/commands/export/command.ts';
import type { GateParts } from '../../src/commands/gate.ts';
import { registry } from '../../src/commands/index.ts';
import type { ButtonAction, ShortcutMessage } from '../../src/commands/registry.ts';
import type { Caller, CommandTools } from '../../src/commands/tools.ts';
import type { Message } from '../../src/slack/blocks.ts';
import { noticeView } from '../../src/slack/modals.ts';
import { answersWith, type BindChanges, bindForTest, type Payload } from '../support/commands/bind.ts';
import {
  aButton,
  aCaller,
  aCommand,
  ana,
  aProject,
  aShortcut,
  counted,
  done,
} from '../support/commands/builders.ts';

/** Ana in #docs, by the name that Slack confirmed. */
const anaBy = (trigger: string, responseUrl: string): Caller =>
  aCaller({
    user: { id: 'U0ANA', name: 'Ana', fullMember: true },
    requestId: trigger,
    triggerId: trigger,
    responseUrl,
    receivedAtMs: 5000,
  });

describe('a command', () => {
  test('is answered in its acknowledgement, to the person alone', async () => {
    expect(await bindForTest().types('/docs-test', 'x')).toEqual([{ response_type: 'ephemeral', ...done }]);
  });

  test('without an answer is acknowledged without one', async () => {
    const commands = [aCommand({ run: async () => undefined })];
    expect(await bindForTest({ commands }).types('/docs-test', 'x')).toEqual([undefined]);
  });

  test('hears who asked, where, when, and by the name that Slack confirmed', async () => {
    const received: [string, Caller, string][] = [];
    const run: SlashCommand['run'] = async (text, caller, { workspaceUrl }) => {
      received.push([text, caller, workspaceUrl]);
      return undefined;
    };
    await bindForTest({ commands: [aCommand({ run })] }).types('/docs-test', 'docs.acme.com');
    expect(received).toEqual([
      ['docs.acme.com', anaBy('trigger.1', 'https://hooks.example/1'), 'https://acme.example/'],
    ]);
  });

  test.each([' help ', 'Help', 'HELP'])('answers help by itself, from what it is: %j', async (typed) => {
    const [help] = (await bindForTest().types('/docs-test', typed)) as [Message];
    expect(help.text).toMatch(/^Test: \/docs-test docs\.acme\.com\n[\s\S]*\n\/docs-test \[domain\]$/);
  });

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

  test.each<[string, BindChanges, Payload, string]>([
    [
      'nobody who may',
      { policy: answersWith({ kind: 'refused', person: ana, ask: [] }) },
      {},
      "You can't start exports here, so nothing was started. Ask a full member of this workspace.",
    ],
    [
      'unknown to Slack in time',
      { policy: answersWith({ kind: 'unknown' }) },
      {},
      'Slack took too long to say who you are, so nothing was started. Try again in a moment.',
    ],
    [
      'from another workspace',
      {},
      { team_id: 'T0OTHER' },
      'This Docket belongs to another workspace. Nothing was started.',
    ],
    [
      'before Slack said who the bot is',
      { identity: () => undefined },
      {},
      "I can't reach Slack's API right now, so nothing was started. Try again in a minute.",
    ],
  ])('from somebody %s does not run, and says why', async (_, parts, body, text) => {
    const { run, ran } = counted(done);
    const { types } = bindForTest({ ...parts, commands: [aCommand({ run })] });
    expect(await types('/docs-test', 'x', body)).toEqual([expect.objectContaining({ text })]);
    expect(await types('/docs-test', 'help', body)).toEqual([expect.objectContaining({ text })]);
    expect(ran()).toBe(0);
  });

  test('that breaks shows a reference, which the log has too, and nothing of the error', async () => {
    const run = async () => {
      throw new Error('s3cret trouble');
    };
    const { types, log } = bindForTest({ commands: [aCommand({ run })] });
    const [answer] = (await types('/docs-test', 'x')) as [Message];
    expect(answer.text).toBe('Something broke on my side. ref 7f3c1d');
    expect(log()).toContain('"ref":"7f3c1d"');
    expect(log()).toContain('s3cret trouble');
  });
});

describe('a button', () => {
  test('does its work, answers with an ephemeral message, and is acknowledged after that', async () => {
    const { clicks, answers } = bindForTest({ buttons: [aButton()] });
    expect(await clicks('test.go', '{"v":1}')).toBe(1);
    expect(answers).toEqual([{ responseUrl: 'https://hooks.example/2', text: 'Done' }]);
  });

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

  test('of somebody who may not does nothing', async () => {
    const { run, ran } = counted(done);
    const policy = answersWith({ kind: 'refused', person: ana, ask: [] });
    const { clicks, answers } = bindForTest({ buttons: [aButton('test.go', run)], policy });
    await clicks('test.go', '{"v":1}');
    expect(ran()).toBe(0);
    expect(answers[0]?.text).toMatch(/^You can't start exports here/);
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

  test.each([
    ['on Home is answered by a modal', onHome, undefined, 'Docket'],
    ['in a modal is answered in its place', inModal, 'V1', 'Needs you'],
  ])('%s', async (_, body, modalId, title) => {
    const { opened, clicks, answers } = setting(async () => done);
    expect(await clicks('test.go', '{"v":1}', body)).toBe(1);
    expect(opened).toEqual([{ modalId, title, text: expect.stringContaining('Done') }]);
    expect(answers).toEqual([]);
  });

  test('in a modal, whose answer is elsewhere, says so', async () => {
    const { opened, clicks } = setting(async () => undefined);
    await clicks('test.go', '{"v":1}', inModal);
    expect(opened.map(({ text }) => text)).toEqual([
      expect.stringContaining('The result appears in its thread'),
    ]);
  });

  test('that opens a modal has no other answer', async () => {
    const { opened, clicks } = setting(async (_value, caller, tools) => {
      await tools.openModal(caller, noticeView('Next', done));
      return undefined;
    });
    await clicks('test.go', '{"v":1}', inModal);
    await clicks('test.go', '{"v":1}', onHome);
    expect(opened.map(({ title, modalId }) => [title, modalId])).toEqual([
      ['Next', 'V1'],
      ['Next', undefined],
    ]);
  });

  test('on Home without an answer opens nothing', async () => {
    const { opened, clicks } = setting(async () => undefined);
    await clicks('test.go', '{"v":1}', onHome);
    expect(opened).toEqual([]);
  });
});

describe('a message shortcut', () => {
  test('receives the message and who chose it, answers with an ephemeral message, and is acknowledged after that', async () => {
    const received: [ShortcutMessage, Caller][] = [];
    const shortcut = aShortcut(async (message, caller) => {
      received.push([message, caller]);
      return done;
    });
    const { chooses, answers } = bindForTest({ shortcuts: [shortcut] });
    expect(await chooses('test.message')).toBe(1);
    expect(received).toEqual([
      [
        { ts: '2.2', threadTs: '1.1', content: { text: 'Fix it' } },
        anaBy('trigger.4', 'https://hooks.example/4'),
      ],
    ]);
    expect(answers).toEqual([{ responseUrl: 'https://hooks.example/4', text: 'Done' }]);
  });

  test.each([
    ['one that has replies', { thread_ts: '2.2' }],
    ['one by itself', {}],
  ])('on a message that answers no other, %s, names no thread', async (_, fields) => {
    const received: ShortcutMessage[] = [];
    const shortcut = aShortcut(async (message) => {
      received.push(message);
      return undefined;
    });
    const { chooses, answers } = bindForTest({ shortcuts: [shortcut] });
    const blocks = [{ type: 'rich_text', elements: [] }];
    const message = { type: 'message', text: 'Fix it', blocks, attachments: [], ...fields };
    expect(await chooses('test.message', { message })).toBe(1);
    expect(received).toEqual([{ ts: '2.2', content: { text: 'Fix it', blocks, attachments: [] } }]);
    expect(answers).toEqual([]);
  });

  test('of somebody who may not does nothing', async () => {
    const { run, ran } = counted(done);
    const policy = answersWith({ kind: 'refused', person: ana, ask: [] });
    const { chooses, answers } = bindForTest({ shortcuts: [aShortcut(run)], policy });
    expect(await chooses('test.message')).toBe(1);
    expect(ran()).toBe(0);
    expect(answers[0]?.text).toMatch(/^You can't instruct the docs agent here/);
  });
});
