import type { InputBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { agentModals, sendModalView } from '../../../src/commands/agent/modal.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, noDetails } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { now: () => NOW_MS },
);

const threads = (many: number) =>
  Array.from({ length: many }, (_, index) =>
    aThread({ id: `run${index}`, agentJobId: `job_${index + 1000}` }),
  );
const fieldsOf = (what: Pick<Parameters<typeof sendModalView>[0], 'threads' | 'here' | 'text'>) => {
  const view = sendModalView({ projects: [], project: undefined, ...what });
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
  const blocks = view.blocks.filter(({ type }) => type === 'input');
  // biome-ignore lint/suspicious/noExplicitAny: read as a test wants it
  return blocks.map((block) => (block as InputBlock).element as any);
};

describe('the modal', () => {
  test('keeps to the limits of Slack', () => {
    const seen = {
      status: 'completed',
      rawStatus: 'completed',
      ref: 'x'.repeat(200),
      repository: 'acme/docs',
      atMs: 1,
    } as const;
    const many = threads(120).map((thread) => ({ ...thread, seen }));
    const [choice, text] = fieldsOf({ threads: many, here: many[119], text: '𝒳'.repeat(2000) });
    expect(choice.options).toHaveLength(100);
    expect(choice.options[0]).toMatchObject({ value: 'run119' });
    expect(choice.options[0].text.text).toMatch(/ · ana · 1119$/);
    expect(new Set(choice.options.map(({ text: { text: label } }: typeof choice) => label)).size).toBe(100);
    expect(choice.options[0].text.text.length).toBeLessThanOrEqual(75);
    expect(text.initial_value.length).toBeLessThanOrEqual(3000);
    expect(text.initial_value.isWellFormed()).toBe(true);
    expect(text.initial_value.endsWith('…')).toBe(true);
  });
});

describe('submitted', () => {
  const submit = (entered: Record<string, string>, caller = aCaller({ requestId: 'view V1' })) =>
    agentModals[0]?.submit(entered, caller, world.tools, noDetails);

  test('sends what the modal shows, and nothing that nobody sees', async () => {
    const thread = await world.followed(aThread());
    const typed = 'Add it\u200B\u{E0064}\u{E0065}\u{E006C} \r\nنمی‌خواهم 👩‍💻\u202E';
    const sent = 'Add it \nنمی‌خواهم 👩‍💻';
    expect(fieldsOf({ threads: [thread], here: undefined, text: typed })[0].initial_value).toBe(sent);
    await submit({ thread: thread.id, text: typed });
    expect(await world.inbox(thread)).toMatchObject([{ text: sent }]);
    const cutInside = fieldsOf({ threads: [thread], here: undefined, text: '👩‍'.repeat(1500) })[0]
      .initial_value;
    await submit({ thread: thread.id, text: cutInside }, aCaller({ requestId: 'view V2' }));
    expect(await world.inbox(thread)).toMatchObject([{}, { text: cutInside }]);
  });
});
