import { expect, test } from 'vitest';
import { stopFollowing } from '../../../src/commands/agent/command.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const other = {
  id: 'another',
  agentJobId: 'aj_other',
  asked: { channel: 'C0ELSE', joinable: true, isPublic: true },
  place: { channel: 'C0ELSE', rootTs: '1.1' },
};

test('does not stop the one in a channel that has become private since', async () => {
  const there = await world.followed(aThread(other));
  const what = { jobId: { kind: 'id' as const, id: 'aj_other' }, project: undefined };
  const tools = { ...world.tools, isPublic: async () => false };
  const told = await stopFollowing(what, aCaller({ user: ben }), tools);
  expect(told.text).toMatch(/^No thread that you can see follows this job\./);
  expect(await world.inbox(there)).toEqual([]);
});
