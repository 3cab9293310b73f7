import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { readCommand } from '../../src/commands/args.ts';
import { helpMessage, usageOf } from '../../src/commands/command.ts';
import { registry } from '../../src/commands/index.ts';

describe.each(registry.commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const { text, blocks } = helpMessage(command);
  const lines = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').split('\n');

  test('has a line of help for each of its subcommands, and an example of each that takes an argument', () => {
    for (const one of command.subcommands) {
      const typed = `${name} ${usageOf(one)}`.trim();
      expect(lines).toContain(`${one.summary}: ${typed}`);
      if (Object.keys(one.args).length > 0) expect(lines).toContain(`For example: ${one.example}`);
    }
    expect(lines[0]).toBe(command.summary);
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
