import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { helpMessage, readCommand, usageOf } from '../../src/commands/command.ts';
import { registry } from '../../src/commands/index.ts';
import { TASKS } from '../../src/jobs/help-view.ts';
import type { MessageBlock } from '../../src/store/messages.ts';

describe.each(registry.commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const { text, blocks } = helpMessage(command);
  const lines = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').split('\n');

  test('has a line of help for each of its tasks, with how it is typed', () => {
    for (const one of command.subcommands.filter(({ hidden }) => !hidden)) {
      const usage = `${one.summary}: ${name} ${usageOf(one)}`.trim();
      expect(lines.filter((line) => line === usage || `${line} [--project p]` === usage)).toHaveLength(1);
    }
  });

  test('has help that begins with its tasks, and names all other commands', () => {
    expect(lines[0]).toMatch(`${command.subcommands[0]?.summary}: ${name}`);
    for (const other of registry.commands) expect(text).toContain(`: ${other.name}`);
    expect(buttonsIn(blocks)).toEqual(['Export a site', 'Ask the agent']);
  });

  test('has help that Slack takes, whole', () => {
    expect(mistakesIn(blocks, 'message')).toEqual([]);
    expect(text).not.toContain('…');
  });

  test('has examples that it reads as what they are examples of', () => {
    for (const one of command.subcommands) {
      const read = readCommand(name, command.subcommands, one.example.slice(name.length));
      expect(read.kind === 'subcommand' && read.subcommand).toBe(one);
    }
  });
});

test('help has one task of each command, which that command reads', () => {
  expect(TASKS.map(({ command }) => command)).toEqual(registry.commands.map(({ name }) => name));
  for (const { command: name, example } of TASKS) {
    const command = registry.commands.find((one) => one.name === name);
    expect(example.split(' ')[0]).toBe(name);
    expect(readCommand(name, command?.subcommands ?? [], example.slice(name.length))).toMatchObject({
      kind: 'subcommand',
    });
  }
});

const buttonsIn = (blocks: readonly MessageBlock[]) =>
  blocks.flatMap((block) =>
    block.type === 'actions'
      ? block.elements.flatMap((one) => (one.type === 'button' ? [one.text.text] : []))
      : [],
  );
