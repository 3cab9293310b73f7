import { expect, test } from 'vitest';
import { stopFollowing } from '../../../src/commands/agent/threads.ts';
import { agentActions } from '../../../src/jobs/agent/thread/buttons.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const stop = (jobId?: string, caller = aCaller()) =>
  stopFollowing({ jobId, project: undefined }, caller, world.tools);
const other = {
  id: 'another',
  agentJobId: 'aj_other',
  asked: { channel: 'C0ELSE', joinable: true, isPublic: true },
  place: { channel: 'C0ELSE', rootTs: '1.1' },
};
const stopped = [
  { kind: 'clicked', action: 'stop', by: { id: 'U0BEN', name: 'ben' }, about: [], attempt: 1 },
];

test('stops the one in this channel, and leaves those elsewhere', async () => {
  const here = await world.followed(aThread());
  const there = await world.followed(aThread(other));
  const told = await stop(undefined, aCaller({ user: ben }));
  expect(told.text).toBe('I no longer follow acme/docs @ agent/quickstart.');
  expect(await world.inbox(here)).toEqual(stopped);
  expect(await world.inbox(there)).toEqual([]);
  expect(world.woken).toEqual([here.id]);
  expect(world.audited).toEqual([
    { subject: 'aj_3f9a77bd04c24a06', job: 'aj_3f9a77bd04c24a06', result: 'stopped' },
  ]);
});

test('stops the one that follows the job, wherever it is', async () => {
  const here = await world.followed(aThread());
  const there = await world.followed(aThread(other));
  await stop('aj_other', aCaller({ user: ben }));
  expect(await world.inbox(there)).toEqual(stopped);
  expect(await world.inbox(here)).toEqual([]);
});

test('of several asks which, with a button for each', async () => {
  const one = await world.followed(aThread());
  const two = await world.followed(aThread({ id: 'another', place: { channel: 'C0DOCS', rootTs: '1.1' } }));
  const told = await stop();
  expect(told.text).toMatch(/^Which one\?\n✅ Ready · acme\/docs/);
  const clicks = told.blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  expect(clicks).toMatchObject([{ action_id: agentActions.stop }, { action_id: agentActions.stop }]);
  expect(JSON.stringify(clicks)).toContain(one.id);
  expect(JSON.stringify(clicks)).toContain(two.id);
  expect(await world.inbox(one)).toEqual([]);
});

test('says so when there is none', async () => {
  await world.followed(aThread({ ...other, asked: { ...other.asked, isPublic: false } }));
  const caller = aCaller({ user: ben });
  expect((await stop(undefined, caller)).text).toMatch(/^This channel has no followed agent job/);
  expect((await stop('aj_other', caller)).text).toMatch(/^No thread that you can see follows this job\./);
});

test('does not stop the one in a channel that has become private since', async () => {
  const there = await world.followed(aThread(other));
  const what = { jobId: 'aj_other', project: undefined };
  const tools = { ...world.tools, isPublic: async () => false };
  const told = await stopFollowing(what, aCaller({ user: ben }), tools);
  expect(told.text).toMatch(/^No thread that you can see follows this job\./);
  expect(await world.inbox(there)).toEqual([]);
});

test('sent twice by Slack stops once', async () => {
  const here = await world.followed(aThread());
  await stop();
  await stop();
  expect(await world.inbox(here)).toHaveLength(1);
});
