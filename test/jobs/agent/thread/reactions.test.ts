import { describe, expect, test } from 'vitest';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import { reactionOf } from '../../../../src/jobs/agent/thread/reactions.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import { anInstruction } from '../../../support/jobs/agent/builders.ts';
import { ben, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

describe('the reaction on a reply', () => {
  const wasHeld = { reaction: 'double_vertical_bar' } as const;

  test.each<[Partial<Instruction>, Instruction['reaction']]>([
    [{ state: 'held' }, 'double_vertical_bar'],
    [{ state: 'waiting', ...wasHeld }, 'eyes'],
    [{ state: 'unknown' }, 'eyes'],
    [{ state: 'failed' }, 'eyes'],
    [{ state: 'working', round: 3 }, undefined],
    [{ state: 'working', round: 3, reaction: 'eyes' }, 'eyes'],
    [{ state: 'over', outcome: 'sent', round: 3, ...wasHeld }, undefined],
    [{ state: 'over', outcome: 'left' }, 'eyes'],
    [{ state: 'over', outcome: 'notForAgent', ...wasHeld }, undefined],
    [{ state: 'over', outcome: 'discarded', reaction: 'eyes' }, undefined],
    [{ state: 'over', outcome: 'withdrawn' }, undefined],
    [{ state: 'waiting', isReply: false }, undefined],
  ])('%j: %s', (changes, reaction) => {
    expect(reactionOf(anInstruction(changes))).toBe(reaction);
  });
});

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

/** Has Slack answer the next calls with errors, one after another. Returns a function that counts the calls. */
function failsWith(...errors: SlackApiError[]): () => number {
  const { slack } = world.context;
  const { addReaction } = slack;
  let calls = 0;
  slack.addReaction = async (...args) => {
    calls += 1;
    const error = errors.shift();
    if (error !== undefined) throw error;
    return addReaction(...args);
  };
  return () => calls;
}

const held = (second: number) => wrote(ben, second, 'What would you say?');

test('a reply that is held gets its reaction once, and a step that is repeated changes nothing', async () => {
  await world.follows();
  await world.receives(held(1));
  await world.step();
  await world.step();
  expect(world.reacted).toEqual([expect.stringMatching(/ \+double_vertical_bar$/)]);
});

test('what Slack limits comes later, and holds up nothing', async () => {
  await world.follows();
  const calls = failsWith(
    new SlackApiError('limited', 'reactions.add', 'ratelimited', { retryAfterMs: 60_000 }),
  );
  await world.receives(held(1));
  expect(await world.step()).toEqual({ kind: 'again', inMs: 60_000 });
  expect((await world.thread()).instructions).toMatchObject([{ state: 'held' }]);
  expect(world.ephemerals).toHaveLength(1);
  await world.step();
  expect([calls(), world.reacted.length]).toEqual([2, 1]);
});

test('what Slack refuses is tried once', async () => {
  await world.follows();
  const calls = failsWith(new SlackApiError('refused', 'reactions.add', 'missing_scope'));
  await world.receives(held(1));
  await world.step();
  await world.step();
  expect([calls(), world.reacted.length]).toEqual([1, 0]);
  expect(world.ephemerals).toHaveLength(1);
});
