import type { ActionsBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { applyToSchedule } from '../../../src/commands/digest/schedules.ts';
import { UserFacingError } from '../../../src/commands/intake.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { acmeDocs, betaDocs, onDigestWorlds } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs, betaDocs], (fresh) => {
  world = fresh;
});

const elsewhere = { id: 'C0ELSE', name: 'else' };
const type = (text: string, caller = aCaller()) => digestCommand.run(text, caller, world.tools);
const plain = (told: Message | undefined) => told?.text.replace(/<!date[^>]*>/g, 'TIME');
const said = async (text: string, caller = aCaller()) => plain(await type(text, caller));
const labels = (told: Message | undefined) =>
  told?.blocks.flatMap((block) => (block.type === 'actions' ? [block.elements.flatMap(labelsOf)] : []));
/** Of a button, or of the entries of a menu. */
const labelsOf = (one: ActionsBlock['elements'][number]): string[] => {
  if (one.type === 'overflow') return one.options.map(({ text }) => `⋯ ${text.text}`);
  return one.type === 'button' ? [one.text.text] : [];
};

describe('the list', () => {
  test.each<[string, Partial<ScheduleRun>, typeof ben, boolean]>([
    ['one in a public channel', {}, ben, true],
    ['the same, as a guest', {}, gus, false],
    ['one in a private channel', { isPublic: false }, ben, false],
    ["one's own, there", { isPublic: false, owner: { id: 'U0BEN', name: 'ben' } }, ben, true],
    ["another workspace's", { teamId: 'T0ELSE' }, ben, false],
  ])('%s is listed elsewhere for those who can read it', async (_, changes, user, isListed) => {
    await kept.scheduled(changes);
    const told = await said('list', aCaller({ user, channel: elsewhere }));
    expect(told?.startsWith('docs.acme.com')).toBe(isListed);
  });

  test('one in a channel that is private by now is neither listed elsewhere nor paused or removed from there', async () => {
    const schedule = await kept.scheduled();
    world.tools.isPublic = async () => false;
    const outside = aCaller({ user: ben, channel: elsewhere });
    expect(await said('list', outside)).not.toContain('docs.acme.com in');
    for (const name of ['pause', 'remove'] as const)
      await expect(applyToSchedule(name, schedule.id, outside, world.tools)).rejects.toThrow(UserFacingError);
    expect(await kept.latest(schedule)).toEqual(schedule);
  });

  test('stays within what a message takes, whatever is in it', async () => {
    for (let n = 1; n <= 20; n += 1)
      await kept.scheduled({ id: `s${n}`, channel: `C0${n}`, site: '<!channel>&'.repeat(4000) });
    const told = await type('list');
    if (told === undefined) throw new Error('nothing was said');
    expect(() => checkMessageBlocks(told.blocks, (prefix) => prefix)).not.toThrow();
    expect(told.text).not.toContain('<!channel>');
  });
});

describe('in a channel', () => {
  test.each([
    ['preview', 'Preview'],
    ['run', 'Send now'],
    ['pause', 'Pause'],
    ['resume', 'Resume'],
    ['remove', 'Remove'],
  ])('%s with several digests has one chosen', async (verb, label) => {
    const one = await kept.scheduled();
    const two = await kept.scheduled({ id: 's2', project: 'beta', site: 'docs.beta.io' });
    const told = await type(verb);
    expect(plain(told)?.split('\n')[0]).toBe('Which one?');
    expect(labels(told)).toEqual([[label], [label]]);
    expect([await kept.latest(one), await kept.latest(two)]).toEqual([one, two]);
    expect(await kept.editions()).toEqual([]);
  });
});
