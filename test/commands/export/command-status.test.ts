import { expect, test } from 'vitest';
import { exportStatus } from '../../../src/commands/export/command.ts';
import type { Caller } from '../../../src/commands/intake.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aRun } from '../../support/jobs/export/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const given = (name: string, changes: Partial<ExportRun> = {}) =>
  world.given(aRun({ rev: 1, id: name, claim: name, domain: `${name}.acme.com`, ...changes }));
const inPublic = { channel: 'C0DOCS', joinable: true, isPublic: true, atMs: 0 };

/** The exports that are listed, by their names. */
async function listed(user: Caller['user'], channel = 'C0OTHER', tools = world.tools): Promise<string[]> {
  const { text } = await exportStatus(aCaller({ user, channel: { id: channel, name: 'x' } }), tools);
  return [...text.matchAll(/(\w+)\.acme\.com/g)].map(([, name = '']) => name).sort();
}

test('guests see what runs in a public channel only from there, and their own from everywhere', async () => {
  await given('public', { asked: inPublic });
  await given('own', { asked: inPublic, requester: { id: gus.id, name: gus.name } });
  expect(await listed(gus)).toEqual(['own']);
  expect(await listed(gus, 'C0DOCS')).toEqual(['own', 'public']);
});

test('what runs in a channel that has become private since is seen from there, and by whoever asked', async () => {
  await given('public', { asked: inPublic });
  const tools = { ...world.tools, isPublic: async () => false };
  expect(await listed(ben, 'C0OTHER', tools)).toEqual([]);
  expect(await listed(ben, 'C0DOCS', tools)).toEqual(['public']);
  expect(await listed(aCaller().user, 'C0OTHER', tools)).toEqual(['public']);
});
