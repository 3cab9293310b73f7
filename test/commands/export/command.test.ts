import { expect, test } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { exportCommand } from '../../../src/commands/export/command.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [aProject({ name: 'acme' })] },
);

/** What somebody is told who typed this, and the value of [Use it] in it. */
async function typed(text: string): Promise<{ told: Message; value: string | undefined }> {
  const told = await exportCommand.run(text, aCaller(), world.tools);
  if (told === undefined) throw new Error(`was not answered: ${text}`);
  expect(mistakesIn(told.blocks, 'message')).toEqual([]);
  const values = told.blocks.flatMap((block) =>
    block.type === 'actions'
      ? block.elements.map((element) => ('value' in element ? element.value : undefined))
      : [],
  );
  return { told, value: values[0] };
}

test('[Use it] is left out where its value is longer than Slack takes; the domain is still suggested', async () => {
  const paths = Array.from({ length: 60 }, (_, index) => `/${'x'.repeat(40)}${index}`).join(',');
  const { told, value } = await typed(`https://docs.acme.com/v2 --paths ${paths}`);
  expect(value).toBeUndefined();
  expect(told.text).toMatch(/Did you mean docs\.acme\.com\?$/);
});
