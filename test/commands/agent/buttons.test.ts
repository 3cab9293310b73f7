import { describe, expect, test } from 'vitest';
import { threadButtons } from '../../../src/commands/agent/buttons.ts';
import { agentActions } from '../../../src/jobs/agent/thread/buttons.ts';
import type { ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

type Name = Exclude<keyof typeof agentActions, 'openPullRequest' | 'startNew'>;

function click(name: Name, run: string, caller = aCaller(), about: string[] = [], attempt = 1) {
  const button = threadButtons.find(({ action }) => action === agentActions[name]);
  if (button === undefined) throw new Error(`nobody listens to ${name}`);
  return button.run({ v: 1, run, about, attempt }, caller, world.tools);
}
const text = (told: Message | undefined) => told?.text;
const clicksOf = async (thread: ThreadRun) => (await world.inbox(thread)) ?? [];

describe('a thread that has ended', () => {
  test.each<[Name, string]>([
    ['stop', 'This thread no longer follows a job, so nothing was done.'],
    ['checkJob', 'This thread no longer follows a job, so nothing was done.'],
    ['onlyMentioned', 'This thread no longer follows a job, so nothing was done.'],
    ['send', 'This thread no longer follows a job, so nothing was done.'],
    ['sendAgain', 'This thread no longer follows a job, so nothing was done.'],
    ['leave', 'This thread no longer follows a job, so nothing was done.'],
  ])('takes no %s', async (name, told) => {
    const thread = await world.followed(aThread({ state: 'ended' }));
    expect(text(await click(name, thread.id, aCaller(), ['i1']))).toBe(told);
    expect(await clicksOf(thread)).toEqual([]);
  });
});

test('nor may somebody elsewhere once its channel has become private', async () => {
  const thread = await world.followed(aThread());
  const caller = aCaller({ user: ben, channel: { id: 'C0ELSE', name: 'else' } });
  world.tools.isPublic = async () => false;
  await expect(click('stop', thread.id, caller)).rejects.toThrow(/^This thread is somebody else's/);
  expect(await clicksOf(thread)).toEqual([]);
});
