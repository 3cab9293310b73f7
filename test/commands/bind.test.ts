import type { App } from '@slack/bolt';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { type BindParts, bind } from '../../src/commands/bind.ts';
import { type Caller, defineButton, type SlashCommand } from '../../src/commands/command.ts';
import { exportCommand } from '../../src/commands/export.ts';
import { buttons, linkActions, slashCommands } from '../../src/commands/index.ts';
import { createIntake } from '../../src/commands/intake.ts';
import { createLog } from '../../src/log.ts';
import type { Verdict } from '../../src/policy.ts';
import { type Message, message } from '../../src/slack/blocks.ts';
import type { RunStore } from '../../src/store/runs.ts';

type Heard = Record<string, unknown>;
type Listener = (heard: Heard) => Promise<void>;

/** As much of Bolt as `bind` touches: who listens to what, and requests that reach them. */
function fakeBolt() {
  const commands = new Map<string, Listener>();
  const actions: [string | RegExp, Listener][] = [];
  const app = {
    command: (name: string, listener: Listener) => void commands.set(name, listener),
    action: (id: string | RegExp, listener: Listener) => void actions.push([id, listener]),
  };
  const listening = (id: string) =>
    actions.filter(([wanted]) => (typeof wanted === 'string' ? wanted === id : wanted.test(id)));

  async function types(name: string, text: string, body: Heard = {}) {
    const acknowledged: unknown[] = [];
    await commands.get(name)?.({
      ack: async (answer?: unknown) => void acknowledged.push(answer),
      body: { ...from, text, ...body },
    });
    return acknowledged;
  }
  async function clicks(id: string, value?: string, body: Heard = {}) {
    let acknowledged = 0;
    const heard = {
      ack: async () => void acknowledged++,
      body: { ...fromClick, ...body },
      action: { type: 'button', action_id: id, ...(value !== undefined && { value }) },
    };
    for (const [, listener] of listening(id)) await listener(heard);
    return acknowledged;
  }
  return { app: app as unknown as App, types, clicks, listening };
}

const from = {
  team_id: 'T0ACME',
  user_id: 'U0ANA',
  user_name: 'ana.typed',
  channel_id: 'C0DOCS',
  channel_name: 'docs',
  trigger_id: 'trigger.1',
  response_url: 'https://hooks.example/1',
};
const fromClick = {
  team: { id: 'T0ACME' },
  user: { id: 'U0ANA', username: 'ana.clicked' },
  channel: { id: 'C0DOCS', name: 'docs' },
  trigger_id: 'trigger.2',
  response_url: 'https://hooks.example/2',
};
const ana = { id: 'U0ANA', name: 'Ana', fullMember: true };
const done = message([['Done']]);

const aCommand = (changes: Partial<SlashCommand> = {}): SlashCommand => ({
  name: '/docs-test',
  usage: '[domain]',
  summary: 'Tests.',
  examples: ['/docs-test docs.acme.com'],
  may: 'export',
  run: async () => done,
  ...changes,
});
const aButton = (action = 'test.go', run: () => Promise<Message | undefined> = async () => done) =>
  defineButton({ action, may: 'export', value: z.object({ v: z.literal(1) }), run });

function bound(changes: Partial<BindParts> = {}) {
  const bolt = fakeBolt();
  const answers: { responseUrl: string; text: string }[] = [];
  const lines: string[] = [];
  bind(bolt.app, {
    commands: [aCommand()],
    buttons: [],
    linkActions: [],
    tools: {} as BindParts['tools'],
    policy: { check: async () => ({ kind: 'allowed', person: ana }) },
    identity: () => ({ teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' }),
    async answerPrivately(responseUrl, { text }) {
      answers.push({ responseUrl, text });
      return true;
    },
    answerMs: 100,
    monotonicMs: () => 5000,
    newRef: () => '7f3c1d',
    log: createLog('trace', [], { write: (line: string) => void lines.push(line) }),
    ...changes,
  });
  return { ...bolt, answers, log: () => lines.join('') };
}

describe('a name that two entries have', () => {
  test.each<[string, Partial<BindParts>]>([
    ['two commands', { commands: [aCommand(), aCommand({ summary: 'Other.' })] }],
    ['two buttons', { buttons: [aButton('a.b'), aButton('a.b')] }],
    ['two links', { linkActions: ['a.b', 'a.b'] }],
    ['a button and a link', { buttons: [aButton('a.b')], linkActions: ['a.b'] }],
  ])('stops the start: %s', (_, entries) => {
    expect(() => bound(entries)).toThrow(/^Two entries of the registry are called (?:\/docs-test|a\.b)$/);
  });

  test('is not in the registry of today', () => {
    expect(() => bound({ commands: slashCommands, buttons, linkActions })).not.toThrow();
  });
});

describe('every click reaches exactly one listener', () => {
  test.each([
    ...buttons.map(({ action }) => action),
    ...linkActions,
    'export.of_an_older_version',
    'exportXdownload',
    '',
  ])('%s', (action) => {
    expect(bound({ commands: slashCommands, buttons, linkActions }).listening(action)).toHaveLength(1);
  });

  test('one that nobody knows any more says so, and is acknowledged', async () => {
    const { clicks, answers } = bound();
    expect(await clicks('export.long_gone')).toBe(1);
    expect(answers).toEqual([
      {
        responseUrl: 'https://hooks.example/2',
        text: 'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
      },
    ]);
  });

  test('a link is acknowledged and nothing else', async () => {
    const { clicks, answers } = bound({ linkActions: ['a.b'] });
    expect(await clicks('a.b')).toBe(1);
    expect(answers).toEqual([]);
  });
});

describe('a command', () => {
  test('is answered in its acknowledgement, to the person alone', async () => {
    expect(await bound().types('/docs-test', 'x')).toEqual([{ response_type: 'ephemeral', ...done }]);
  });

  test('without an answer is acknowledged without one', async () => {
    const commands = [aCommand({ run: async () => undefined })];
    expect(await bound({ commands }).types('/docs-test', 'x')).toEqual([undefined]);
  });

  test('hears who asked, where, when, and by the name that Slack confirmed', async () => {
    const heard: [string, Caller, string][] = [];
    const run: SlashCommand['run'] = async (text, caller, { workspaceUrl }) => {
      heard.push([text, caller, workspaceUrl]);
      return undefined;
    };
    await bound({ commands: [aCommand({ run })] }).types('/docs-test', 'docs.acme.com');
    expect(heard).toEqual([
      [
        'docs.acme.com',
        {
          teamId: 'T0ACME',
          user: { id: 'U0ANA', name: 'Ana' },
          channel: { id: 'C0DOCS', name: 'docs' },
          requestId: 'trigger.1',
          responseUrl: 'https://hooks.example/1',
          receivedAtMs: 5000,
        },
        'https://acme.example/',
      ],
    ]);
  });

  test('answers help by itself, from what it is', async () => {
    const [help] = (await bound().types('/docs-test', ' help ')) as [Message];
    expect(help.text).toBe('/docs-test [domain]\nTests.\nFor example: /docs-test docs.acme.com');
  });

  test.each(slashCommands.map((command) => [command.name, command] as const))(
    '%s can be helped with',
    async (name, command) => {
      const [help] = (await bound({ commands: [command] }).types(name, 'help')) as [Message];
      expect(help.text).toContain(command.summary);
      expect(mistakesIn(help.blocks, 'message')).toEqual([]);
    },
  );

  test.each(['""', '“”', '\u202E', '<>', '\u0000', '<!channel>', `${'x'.repeat(5000)}`, '\uD83D'])(
    'is answered with something that Slack takes, whatever was typed: %j',
    async (typed) => {
      const [answer] = (await bound({ commands: [exportCommand] }).types('/docs-export', typed)) as [Message];
      expect(mistakesIn(answer.blocks, 'message')).toEqual([]);
      expect(answer.text).toMatch(/isn't a host name|^Which site/);
    },
  );

  test.each<[string, Partial<BindParts>, Heard, string]>([
    [
      'nobody who may',
      { policy: { check: async (): Promise<Verdict> => ({ kind: 'refused', person: ana }) } },
      {},
      "You can't start exports here, so nothing was started. Ask a full member of this workspace.",
    ],
    [
      'unknown to Slack in time',
      { policy: { check: async (): Promise<Verdict> => ({ kind: 'unknown' }) } },
      {},
      "Slack didn't tell me in time who you are, so nothing was started. Try again in a moment.",
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
    let ran = 0;
    const run = async () => {
      ran += 1;
      return done;
    };
    const { types } = bound({ ...parts, commands: [aCommand({ run })] });
    expect(await types('/docs-test', 'x', body)).toEqual([expect.objectContaining({ text })]);
    expect(await types('/docs-test', 'help', body)).toEqual([expect.objectContaining({ text })]);
    expect(ran).toBe(0);
  });

  test('that breaks shows a reference, which the log has too, and nothing of the error', async () => {
    const run = async () => {
      throw new Error('s3cret trouble');
    };
    const { types, log } = bound({ commands: [aCommand({ run })] });
    const [answer] = (await types('/docs-test', 'x')) as [Message];
    expect(answer.text).toBe('Something broke on my side. ref 7f3c1d');
    expect(log()).toContain('"ref":"7f3c1d"');
    expect(log()).toContain('s3cret trouble');
  });

  test('that Redis does not take tells the person so, without a reference', async () => {
    const away = new Error('Redis is away');
    const intake = createIntake({
      runs: { timeMs: () => Promise.reject(away) } as unknown as RunStore,
      wake: async () => {},
      limitMs: 1000,
      claimMs: 1000,
      monotonicMs: () => 5000,
      log: createLog('silent', []),
    });
    const run: SlashCommand['run'] = async (_, caller) => {
      await intake.start({ v: 1, id: 'r1', teamId: 'T0ACME', job: 'export', rev: 1 }, caller);
      return done;
    };
    const [answer] = (await bound({ commands: [aCommand({ run })] }).types('/docs-test', 'x')) as [Message];
    expect(answer.text).toBe(
      "I can't keep track of work right now, so I start nothing I might lose. Try again in a minute.",
    );
  });
});

describe('a button', () => {
  test('does its work, answers privately, and is acknowledged after that', async () => {
    const { clicks, answers } = bound({ buttons: [aButton()] });
    expect(await clicks('test.go', '{"v":1}')).toBe(1);
    expect(answers).toEqual([{ responseUrl: 'https://hooks.example/2', text: 'Done' }]);
  });

  test.each([undefined, '', 'no json', '{"v":2}', 'null'])(
    'with a value of another version (%j) does nothing and says so',
    async (value) => {
      let ran = 0;
      const run = async () => {
        ran += 1;
        return done;
      };
      const { clicks, answers } = bound({ buttons: [aButton('test.go', run)] });
      expect(await clicks('test.go', value)).toBe(1);
      expect(answers.map(({ text }) => text)).toEqual([
        'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
      ]);
      expect(ran).toBe(0);
    },
  );

  test('whose answer does not arrive is acknowledged all the same', async () => {
    const { clicks, log } = bound({ buttons: [aButton()], answerPrivately: async () => false });
    expect(await clicks('test.go', '{"v":1}')).toBe(1);
    expect(log()).toContain('a private answer did not arrive');
    expect(log()).not.toContain('hooks.example');
  });

  test('of somebody who may not does nothing', async () => {
    let ran = 0;
    const run = async () => {
      ran += 1;
      return done;
    };
    const policy = { check: async (): Promise<Verdict> => ({ kind: 'refused', person: ana }) };
    const { clicks, answers } = bound({ buttons: [aButton('test.go', run)], policy });
    await clicks('test.go', '{"v":1}');
    expect(ran).toBe(0);
    expect(answers[0]?.text).toMatch(/^You can't start exports here/);
  });
});
