import { expect, test } from 'vitest';
import { sendShortcut } from '../../../src/commands/agent/shortcut.ts';
import type { ShortcutMessage } from '../../../src/commands/registry.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const chosen: ShortcutMessage = { ts: '1.2', content: { text: '*Ask* <@U0BEN> about it' } };
const choose = (changes: Partial<ShortcutMessage> = {}, tools = world.tools) =>
  sendShortcut.run({ ...chosen, ...changes }, aCaller(), tools);

test('leaves out the mention of the bot, what nobody sees, and the name of a private channel', async () => {
  await world.followed(aThread());
  const content = { text: '<@U0BOT> see <#C0SECRET|secret-merger>\u{E0064}\u{E0065}\u{E006C} 👩‍💻' };
  await choose({ content });
  expect(world.opened[0]?.blocks.at(-1)).toMatchObject({
    element: { initial_value: 'see #some-channel 👩‍💻' },
  });
});

test.each([
  ['breaks', () => Promise.reject(new Error('away'))],
  ['does not answer', () => new Promise<never>(() => {})],
])('does without names when Slack %s', async (_, names) => {
  await world.followed(aThread());
  await choose({}, { ...world.tools, names });
  expect(JSON.stringify(world.opened)).toContain('**Ask** @someone about it');
});
