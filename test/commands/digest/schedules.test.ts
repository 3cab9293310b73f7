import type { ActionsBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { applyToSchedule } from '../../../src/commands/digest/change.ts';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
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
const LINE = 'docs.acme.com in <#C0DOCS> · Mondays 09:00 Europe/Berlin';
const NONE =
  'No digest is scheduled in this channel. /docs-digest list shows the others, and /docs-digest create sets one up.';

describe('the list', () => {
  test('says so when nothing is scheduled, with how', async () => {
    await kept.scheduled({ state: 'removed' });
    expect(await said('list')).toBe(
      'There are no scheduled digests that you can see here. Set one up with /docs-digest create.',
    );
  });

  test.each<[Partial<ScheduleRun>, string, string[]]>([
    [{}, 'next TIME', ['Preview', 'Send now', 'Remove', '⋯ Pause', '⋯ Change']],
    [{ state: 'testing' }, 'being set up', ['Preview', 'Change', 'Remove']],
    [
      { state: 'paused', pausedBy: { id: 'U0BEN', name: 'ben' } },
      'paused by ben',
      ['Preview', 'Resume', 'Remove', '⋯ Send now', '⋯ Change'],
    ],
    [
      { state: 'paused', pausedByFailures: true, failures: 3 },
      'paused after 3 failures',
      ['Preview', 'Resume', 'Remove', '⋯ Send now', '⋯ Change'],
    ],
    [
      { state: 'paused', pausedByPermission: true },
      'paused: you may no longer set up digests',
      ['Preview', 'Resume', 'Remove', '⋯ Send now', '⋯ Change'],
    ],
    [
      { ownerLeft: true },
      'next TIME',
      ['Preview', 'Send now', 'Remove', '⋯ Pause', '⋯ Change', '⋯ Take over'],
    ],
  ])('says how each is, with what can be done: %j', async (changes, state, buttons) => {
    await kept.scheduled(changes);
    const told = await type('list');
    expect(plain(told)).toBe(`${LINE} · ${state}`);
    expect(labels(told)).toEqual([buttons]);
  });

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
      expect((await applyToSchedule(name, schedule.id, outside, world.tools)).text).toMatch(
        /^This digest is somebody else's/,
      );
    expect(await kept.latest(schedule)).toEqual(schedule);
  });

  test('has those of the channel first, then those that are due first, and counts what is too much', async () => {
    for (let n = 1; n <= 30; n += 1)
      await kept.scheduled({
        id: `s${n}`,
        site: `d${n}.acme.com`,
        channel: n === 30 ? 'C0DOCS' : `C0${n}`,
        nextAtMs: NOW_MS + n,
      });
    const told = await type('list');
    if (told === undefined) throw new Error('nothing was said');
    expect(() => checkMessageBlocks(told.blocks, (prefix) => prefix)).not.toThrow();
    const lines = told.text.split('\n').map((line) => line.split(' ')[0]);
    expect(lines.slice(0, 3)).toEqual(['d30.acme.com', 'd1.acme.com', 'd2.acme.com']);
    expect(told.text.split('\n').at(-1)).toBe('and 15 more; name the project to find them.');
  });

  test('can be that of one project', async () => {
    await kept.scheduled();
    await kept.scheduled({ id: 's2', project: 'beta', site: 'docs.beta.io' });
    expect(await said('list --project BETA')).toMatch(/^docs\.beta\.io in <#C0DOCS> [^\n]*$/);
    expect(await said('list --project gamma')).toBe('No project "gamma". Available: acme, beta.');
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
  test.each(['preview', 'run', 'pause', 'resume', 'remove'])(
    '%s says so when there is no digest',
    async (verb) => {
      await kept.scheduled({ channel: 'C0ELSE' });
      expect(await said(verb)).toBe(NONE);
      expect(await said(`${verb} --project beta`)).toBe(NONE);
      expect(await kept.editions()).toEqual([]);
    },
  );

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

  test('one of several is named by its project', async () => {
    const acme = await kept.scheduled();
    const beta = await kept.scheduled({ id: 's2', project: 'beta', site: 'docs.beta.io' });
    expect(await said('pause --project beta')).toContain('docs.beta.io');
    expect(await kept.latest(beta)).toMatchObject({ state: 'paused' });
    expect(await kept.latest(acme)).toMatchObject({ state: 'active' });
  });

  test('a digest is paused by anybody who can see it, and goes on', async () => {
    const schedule = await kept.scheduled();
    expect(await said('pause', aCaller({ user: ben }))).toBe(
      'Paused · the weekly digest of docs.acme.com in <#C0DOCS>\nPaused until someone resumes it.',
    );
    expect(await kept.latest(schedule)).toMatchObject({
      state: 'paused',
      pausedBy: { id: 'U0BEN', name: 'ben' },
    });
    expect(await said('pause')).toBe('It is already paused.');
    expect(await said('resume')).toBe(
      'Scheduled · docs.acme.com in <#C0DOCS>\nnext TIME · Mondays 09:00 Europe/Berlin',
    );
    expect(await kept.latest(schedule)).toMatchObject({
      state: 'active',
      nextAtMs: Date.UTC(2026, 8, 21, 7),
    });
    expect(await said('resume')).toBe(
      'Scheduled · docs.acme.com in <#C0DOCS>\nnext TIME · Mondays 09:00 Europe/Berlin',
    );
    expect(world.audited).toEqual([
      { subject: 'docs.acme.com', result: 'paused' },
      { subject: 'docs.acme.com', result: 'resumed' },
    ]);
    expect(world.woken).toEqual([schedule.id, schedule.id]);
  });

  test('nothing is done to one that is just being set up', async () => {
    await kept.scheduled({ state: 'testing' });
    for (const verb of ['pause', 'resume', 'run'])
      expect(await said(verb)).toBe('This digest is still being set up. Try again in a moment.');
    expect(world.audited).toEqual([]);
  });

  test('a digest is removed only after one more click', async () => {
    const schedule = await kept.scheduled();
    const told = await type('remove');
    expect(plain(told)).toBe('Remove the weekly digest of docs.acme.com from <#C0DOCS>?');
    expect(JSON.stringify(told?.blocks)).toContain('"confirm":{"title"');
    expect(await kept.latest(schedule)).toEqual(schedule);
  });
});
