import { beforeEach, describe, expect, test } from 'vitest';
import { sendShortcut } from '../../../src/commands/agent/shortcut.ts';
import type { ShortcutMessage } from '../../../src/commands/registry.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const chosen: ShortcutMessage = { ts: '1.2', content: { text: '*Ask* <@U0BEN> about it' } };
let abouts: (string | undefined)[];
beforeEach(() => {
  abouts = [];
});
const choose = (changes: Partial<ShortcutMessage> = {}, tools = world.tools) =>
  sendShortcut.run({ ...chosen, ...changes }, aCaller(), {
    ...tools,
    openModal: async (_caller, view, about) => {
      world.opened.push(view);
      abouts.push(about);
    },
  });
const withAgent = () => ({ ...world.tools, projects: [aProject({ projectId: 'prj_1' })] });

test('opens a modal with the message as Markdown', async () => {
  await world.followed(aThread());
  const names = async () => ({
    users: new Map([['U0BEN', 'ben']]),
    channels: new Map(),
    groups: new Map(),
  });
  expect(await choose({}, { ...world.tools, names })).toBeUndefined();
  expect(world.opened).toHaveLength(1);
  expect(JSON.stringify(world.opened)).toContain('**Ask** @ben about it');
});

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

test.each<[string, Partial<ShortcutMessage>]>([
  ['a reply in a followed thread', { threadTs: '1.1' }],
  ['the message that began it', { ts: '1.1' }],
])('of %s means that thread', async (_, changes) => {
  await world.followed(aThread({ id: 'other', place: { channel: 'C0DOCS', rootTs: '9.9' } }));
  await world.followed(aThread({ id: 'here', place: { channel: 'C0DOCS', rootTs: '1.1' } }));
  await choose(changes);
  expect(world.opened[0]?.blocks[0]).toMatchObject({ element: { initial_option: { value: 'here' } } });
});

test('offers no job that takes no more instructions, nor a new one where one is followed', async () => {
  await world.followed(aThread({ id: 'gone', gone: true, place: { channel: 'C0DOCS', rootTs: '9.9' } }));
  const seen = { status: 'archived' as const, rawStatus: 'archived', atMs: 1 };
  await world.followed(aThread({ id: 'archived', seen, place: { channel: 'C0DOCS', rootTs: '1.2' } }));
  expect((await choose({}, withAgent()))?.text).toMatch(
    /^No followed job that you can see here takes instructions/,
  );
  await world.followed(aThread({ id: 'open', place: { channel: 'C0DOCS', rootTs: '3.3' } }));
  await choose({}, withAgent());
  expect(JSON.parse(abouts[0] ?? '')).toMatchObject({ to: 'open' });
});

describe('where nothing is followed in the thread', () => {
  test('offers a new job there, with the message', async () => {
    expect(await choose({ threadTs: '1.1' }, withAgent())).toBeUndefined();
    expect(JSON.parse(abouts[0] ?? '')).toEqual({ v: 1, ts: '1.2', rootTs: '1.1', to: 'new' });
    expect(world.opened[0]?.blocks.at(-1)).toMatchObject({
      element: { initial_value: '**Ask** @someone about it' },
    });
  });

  test('offers jobs that are followed elsewhere, too', async () => {
    await world.followed(aThread({ id: 'other', place: { channel: 'C0DOCS', rootTs: '9.9' } }));
    await choose({}, withAgent());
    expect(world.opened[0]?.blocks[0]).toMatchObject({
      element: { options: [{ value: 'new' }, { value: 'other' }], initial_option: { value: 'new' } },
    });
    expect(JSON.parse(abouts[0] ?? '')).not.toHaveProperty('to');
  });

  test('says what is missing where no project has an agent', async () => {
    expect((await choose())?.text).toMatch(/^I don't know the project's id, so nothing was sent\./);
    expect(world.opened).toEqual([]);
  });

  test('says what instructs the agent under a digest', async () => {
    await world.threads.close({ teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.2' });
    expect((await choose({}, withAgent()))?.text).toMatch(/^Replies here don't go to the docs agent\./);
    expect(world.opened).toEqual([]);
  });
});
