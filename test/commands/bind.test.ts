import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { exportCommand } from '../../src/commands/export/command.ts';
import type { GateParts } from '../../src/commands/gate.ts';
import { homeEvents } from '../../src/commands/home/home.ts';
import { registry } from '../../src/commands/index.ts';
import type { Caller, CommandTools } from '../../src/commands/intake.ts';
import type { EventTools, Registry } from '../../src/commands/registry.ts';
import { type Message, message } from '../../src/slack/blocks.ts';
import { answersWith, type BindChanges, bindForTest, type Payload } from '../support/commands/bind.ts';
import {
  aButton,
  aCommand,
  aModal,
  ana,
  anEventListener,
  aProject,
  aShortcut,
  counted,
  done,
} from '../support/commands/builders.ts';

describe('a name that two entries have', () => {
  const anEvent = anEventListener('a.b', async () => {});

  test.each<[string, Partial<Registry>]>([
    ['two commands', { commands: [aCommand(), aCommand({ summary: 'Other.' })] }],
    ['a button and a link', { buttons: [aButton('a.b')], urlActions: ['a.b'] }],
    ['two dialogs', { modals: [aModal(undefined, 'a.b'), aModal(undefined, 'a.b')] }],
    [
      'a shortcut and a dialog',
      { shortcuts: [aShortcut(undefined, 'a.b')], modals: [aModal(undefined, 'a.b')] },
    ],
    ['two events', { events: [anEvent, anEvent] }],
  ])('stops the start: %s', (_, entries) => {
    expect(() => bindForTest(entries)).toThrow(
      /^Two entries of the registry are called (?:\/docs-test|a\.b)$/,
    );
  });
});

test.each(['""', '“”', '\u202E', '<>', '\u0000', '<!channel>', `${'x'.repeat(5000)}`, '\uD83D'])(
  'a command is answered with something that Slack takes, whatever was typed: %j',
  async (typed) => {
    const opened: unknown[] = [];
    const tools = {
      projects: [aProject()],
      links: 'thread',
      openModal: async (_caller: Caller, view: unknown) => void opened.push(view),
    } as unknown as CommandTools;
    const bound = bindForTest({ commands: [exportCommand], tools });
    const [answer] = (await bound.types('/docs-export', typed)) as [Message | undefined];
    if (answer === undefined) {
      expect(opened).toHaveLength(1);
      expect(() => checkView(opened[0], 'modal', (prefix) => prefix)).not.toThrow();
      return;
    }
    expect(mistakesIn(answer.blocks, 'message')).toEqual([]);
    expect(answer.text).toContain("isn't a host name");
  },
);

describe('a click', () => {
  const policy = answersWith({ kind: 'refused', person: ana, ask: 'ana' });

  test.each(registry.buttons.map(({ action }) => action))('reaches its button: %s', async (action) => {
    const { clicks, answers, log } = bindForTest({ ...registry, policy });
    expect(await clicks(action)).toBe(1);
    expect(answers).toMatchObject([{ text: expect.stringMatching(/^You can't /) }]);
    expect(log()).toContain(`"what":"${action}"`);
  });

  test.each(['export.of_an_older_version', 'exportXdownload', ''])(
    'on no button of today: %j',
    async (action) => {
      const { clicks, answers } = bindForTest({ ...registry, policy });
      expect(await clicks(action)).toBe(1);
      expect(answers).toMatchObject([{ text: expect.stringContaining('no longer works') }]);
    },
  );

  test.each([undefined, '', 'no json', '{"v":2}', 'null'])(
    'with a value of another version: %j',
    async (value) => {
      const { run, ran } = counted(done);
      const { clicks, answers } = bindForTest({ buttons: [aButton('test.go', run)] });
      expect(await clicks('test.go', value)).toBe(1);
      expect(answers).toMatchObject([
        { text: expect.stringMatching(/^This button is from another version of me/) },
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

  test('in a modal, whose answer is elsewhere, says so', async () => {
    const title = { type: 'plain_text', text: 'Needs you' };
    const inModal = { channel: undefined, response_url: undefined, view: { id: 'V1', type: 'modal', title } };
    const opened: string[] = [];
    const openModal: BindChanges['openModal'] = async (_, { blocks }) =>
      void opened.push(JSON.stringify(blocks));
    const button = { ...aButton('test.go'), run: async () => undefined };
    const tools = { openModal } as GateParts['tools'];
    await bindForTest({ buttons: [button], openModal, tools }).clicks('test.go', '{"v":1}', inModal);
    expect(opened).toEqual([expect.stringContaining('The result appears in its thread')]);
  });
});

describe('a modal', () => {
  const notice = (text: string) => ({
    response_action: 'update',
    view: expect.objectContaining({
      type: 'modal',
      title: { type: 'plain_text', text: 'Test' },
      blocks: message([[text]]).blocks,
    }),
  });

  test('whose answer does not arrive shows the answer itself', async () => {
    const modal = aModal(async () => ({ kind: 'message', message: done }));
    const { submits, log } = bindForTest({ modals: [modal], postEphemeral: async () => false });
    expect(await submits('test.dialog')).toEqual([notice('Done')]);
    expect(log()).not.toContain('hooks.example');
  });

  test('that breaks shows a reference', async () => {
    const modal = aModal(() => Promise.reject(new Error('s3cret trouble')));
    const acknowledged = await bindForTest({ modals: [modal] }).submits('test.dialog');
    expect(acknowledged).toEqual([notice('Something broke on my side. ref 7f3c1d')]);
  });

  test.each(['', 'no json', '{}', '{"channel":"C0DOCS","request":"1"}'])(
    'of another version: %j',
    async (meta) => {
      const { run, ran } = counted({ kind: 'closed' as const });
      const bound = bindForTest({ modals: [aModal(run)] });
      const [answer] = await bound.submits('test.dialog', { private_metadata: meta });
      expect(JSON.stringify(answer)).toContain('another version of me');
      expect(ran()).toBe(0);
    },
  );

  test.each(['Export', 'X'.repeat(25)])('that is unknown says so in its place: %s', async (text) => {
    const { submits } = bindForTest({ modals: [aModal()] });
    const [answer] = await submits('long_gone', { title: { type: 'plain_text', text } });
    const { view } = answer as { view: unknown };
    expect(JSON.stringify(view)).toContain('This dialog is from another version of me');
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
  });
});

describe('an event', () => {
  function setting(identity?: BindChanges['identity']) {
    const kept: unknown[][] = [];
    const listener = anEventListener('message', async (...what) => void kept.push(what));
    const eventTools = { replyMode: 'all' } as EventTools;
    return { kept, ...bindForTest({ events: [listener], eventTools, ...(identity && { identity }) }) };
  }
  const event = { type: 'message', ts: '1.1' };

  test.each<[string, Payload]>([
    ['by its team', { team_id: 'T0OTHER' }],
    ['by the workspace that it came through', { team_id: 'T0OTHER', context_team_id: 'T0OTHER' }],
    ['by the installation that it is for', { team_id: 'T0ACME', authorizations: [{ team_id: 'T0OTHER' }] }],
    ['since it names none', {}],
  ])('of another workspace is acknowledged and ignored: %s', async (_, envelope) => {
    const { kept, happens, log } = setting();
    await happens('message', event, envelope);
    expect(kept).toEqual([]);
    expect(log()).toContain('an event of another workspace was ignored');
  });

  test('of our installation is handled with the tools, also from a shared channel', async () => {
    const { kept, happens } = setting();
    const envelope = { team_id: 'T0OTHER', authorizations: [{ team_id: 'T0ACME' }] };
    await happens('message', event, envelope);
    const tools = { replyMode: 'all', identity: expect.objectContaining({ teamId: 'T0ACME' }) };
    expect(kept).toEqual([[event, envelope, tools]]);
  });

  test('that comes too early, or cannot be kept, fails towards Slack, which sends it again', async () => {
    await expect(setting(() => undefined).happens('message', event)).rejects.toThrow('before the identity');
    const eventTools = { updateHome: () => Promise.reject(new Error('away')) } as unknown as EventTools;
    const { happens } = bindForTest({ events: homeEvents, eventTools });
    await expect(happens('app_home_opened', { tab: 'home', user: 'U0ANA' })).rejects.toThrow('away');
    await happens('app_home_opened', { tab: 'messages', user: 'U0ANA' });
  });
});
