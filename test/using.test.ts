import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readCommand, usageOf } from '../src/commands/command.ts';
import { registry } from '../src/commands/index.ts';

const page = readFileSync(new URL('../docs/using.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (.+?) \| (.*) \|$/gm)].map(([, what = '', effect = '']) => ({
  what,
  effect,
}));

describe.each(registry.commands.map((command) => [command.name, command] as const))('%s', (name, command) => {
  const offered = command.subcommands.filter(({ hidden }) => !hidden);
  const usages = offered.map((one) => [`${name} ${usageOf(one)}`.trim(), one] as const);

  test.each(usages)('has a row in docs/using.md: %s', (usage, { summary }) => {
    const effects = rows.filter(({ what }) => what === `\`${usage}\``).map(({ effect }) => effect);
    expect(effects).toEqual([expect.stringMatching(new RegExp(`^${RegExp.escape(summary)}`))]);
  });

  test('is understood wherever docs/using.md has somebody type it', () => {
    const typed = [...page.matchAll(/`(\/docs-\w+[^`]*)`/g)]
      .map(([, code = '']) => code)
      .filter((code) => code.split(' ')[0] === name && !usages.some(([usage]) => usage === code));
    for (const code of typed)
      expect([code, readCommand(name, command.subcommands, code.slice(name.length))]).toEqual([
        code,
        expect.objectContaining({ kind: 'subcommand' }),
      ]);
  });
});

test('every option of an export has a row, and no other', () => {
  const options = rows.flatMap(({ what }) => /^… `(--.+)`$/.exec(what)?.[1] ?? []);
  const flags = registry.commands
    .flatMap(({ subcommands }) => subcommands)
    .flatMap(({ flags }) => Object.entries(flags));
  expect(options.toSorted()).toEqual(
    [...new Set(flags.map(([name, { usage }]) => `--${name} ${usage}`.trim()))].toSorted(),
  );
});
