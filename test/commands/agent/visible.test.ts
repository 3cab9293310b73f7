import { expect, test } from 'vitest';
import { threadButtons } from '../../../src/commands/agent/buttons.ts';
import { listThreads } from '../../../src/commands/agent/command.ts';
import { agentActions } from '../../../src/jobs/agent/thread/buttons.ts';
import type { ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds((fresh) => {
  world = fresh;
});

const everything = { project: undefined };
const elsewhere = { id: 'C0ELSE', name: 'else' };
const listed = async (caller = aCaller()) => (await listThreads(everything, caller, world.tools)).text;

const inPublic = { asked: { channel: 'C0DOCS', joinable: true, isPublic: true } };
const inPrivate = { asked: { channel: 'C0DOCS', joinable: true, isPublic: false } };

test.each<[string, Partial<ThreadRun>, typeof ben, { id: string; name: string }, boolean]>([
  ['one in a public channel, from elsewhere', inPublic, ben, elsewhere, true],
  ['the same, as a guest', inPublic, gus, elsewhere, false],
  ['the same, as a guest in that channel', inPublic, gus, { id: 'C0DOCS', name: 'docs' }, true],
  ['one in a private channel, from elsewhere', inPrivate, ben, elsewhere, false],
  ['one in a private channel, from there', inPrivate, ben, { id: 'C0DOCS', name: 'docs' }, true],
  ["one in somebody's direct messages", { ...inPublic, inDirectMessage: true }, ben, elsewhere, false],
  ["one's own, from anywhere", { ...inPrivate, owner: { id: 'U0BEN', name: 'ben' } }, ben, elsewhere, true],
  ['one that has ended', { state: 'ended' }, ben, elsewhere, false],
])('%s is shown to those who can read it', async (_, changes, user, channel, shown) => {
  await world.followed(aThread(changes));
  expect((await listed(aCaller({ user, channel }))).includes('acme/docs')).toBe(shown);
});

test('a channel that has become private since is not shown from elsewhere', async () => {
  await world.followed(aThread(inPublic));
  const tools = { ...world.tools, isPublic: async () => false };
  const { text } = await listThreads(everything, aCaller({ user: ben, channel: elsewhere }), tools);
  expect(text).toMatch(/^There are no followed agent jobs that you can see here/);
});

test('nor may somebody elsewhere click there', async () => {
  const { id } = await world.followed(aThread(inPublic));
  const stop = threadButtons.find(({ action }) => action === agentActions.stop);
  world.tools.isPublic = async () => false;
  const click = stop?.run(
    { v: 1, run: id, about: [], attempt: 1 },
    aCaller({ user: ben, channel: elsewhere }),
    world.tools,
  );
  await expect(click).rejects.toThrow(/^This thread is somebody else's/);
});

test('reads the records of those that it shows, however many are followed', async () => {
  for (let n = 0; n < 3000; n += 1)
    await world.followed(aThread({ id: `run${n}`, place: { channel: 'C0DOCS', rootTs: `1.${n}` } }));
  await redis.client.config('RESETSTAT');
  expect((await listed()).split('\n').at(-1)).toBe('and 2,985 more');
  const [, reads] = /cmdstat_hget:calls=(\d+)/.exec(await redis.client.info('commandstats')) ?? [];
  expect(Number(reads)).toBe(15);
});
