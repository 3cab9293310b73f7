import { expect, test } from 'vitest';
import { listThreads } from '../../../src/commands/agent/threads.ts';
import { UserFacingError } from '../../../src/commands/user-facing-error.ts';
import type { ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import { keys } from '../../../src/store/keys.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds((fresh) => {
  world = fresh;
});

const elsewhere = { id: 'C0ELSE', name: 'else' };
const listed = async (caller = aCaller()) => (await listThreads(undefined, caller, world.tools)).text;

test('has a line for each thread, with the way to it', async () => {
  await world.followed(aThread());
  expect(await listed()).toBe(
    '✅ Ready · acme/docs @ agent/quickstart · followed by you · <https://acme.example/archives/C0DOCS/p1789912800000100|Open thread>',
  );
});

test('says so when nothing is followed, with how', async () => {
  await world.given(aThread({ state: 'ended' }));
  expect(await listed()).toBe(
    'There are no followed agent jobs that you can see here. Follow one with \n/docs-agent follow &lt;job id&gt;',
  );
});

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
  const { text } = await listThreads(undefined, aCaller({ user: ben, channel: elsewhere }), tools);
  expect(text).toMatch(/^There are no followed agent jobs that you can see here/);
});

test('counts what is too much for one message', async () => {
  for (let n = 10; n < 27; n += 1)
    await world.followed(aThread({ id: `run${n}`, place: { channel: 'C0DOCS', rootTs: `1.${n}` } }));
  const lines = (await listed()).split('\n');
  expect(lines).toHaveLength(16);
  expect(lines.at(-1)).toBe('and 2 more');
});

test('reads the records of those that it shows, however many are followed', async () => {
  for (let n = 0; n < 3000; n += 1)
    await world.followed(aThread({ id: `run${n}`, place: { channel: 'C0DOCS', rootTs: `1.${n}` } }));
  await redis.client.config('RESETSTAT');
  expect((await listed()).split('\n').at(-1)).toBe('and 2,985 more');
  const [, reads] = /cmdstat_hget:calls=(\d+)/.exec(await redis.client.info('commandstats')) ?? [];
  expect(Number(reads)).toBe(15);
});

test('leaves out what it cannot read', async () => {
  const thread = await world.followed(aThread());
  await redis.client.hset(keys.run(thread.id), 'json', JSON.stringify({ ...thread, state: 'unheard of' }));
  expect(await listed()).toMatch(/^There are no followed/);
});

test('says so while Redis is away', async () => {
  const { intake } = world.tools;
  const away = {
    ...intake,
    listFollowed: () => Promise.reject(new UserFacingError({ text: 'away', blocks: [] })),
  };
  await expect(listThreads(undefined, aCaller(), { ...world.tools, intake: away })).rejects.toThrow('away');
});
