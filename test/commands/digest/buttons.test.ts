import { describe, expect, test } from 'vitest';
import { scheduleButtons } from '../../../src/commands/digest/buttons.ts';
import { digestActions } from '../../../src/jobs/digest/buttons.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { acmeDocs, onDigestWorlds } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs], (fresh) => {
  world = fresh;
});

const names = ['preview', 'sendNow', 'change', 'pause', 'resume', 'remove', 'takeOver'] as const;
type Name = (typeof names)[number];

async function click(name: Name, schedule: string, caller = aCaller()): Promise<string | undefined> {
  const button = scheduleButtons.find(({ action }) => action === digestActions[name]);
  if (button === undefined) throw new Error(`nobody listens to ${name}`);
  return (await button.run({ v: 1, schedule }, caller, world.tools))?.text;
}
const elsewhere = { id: 'C0ELSE', name: 'else' };

test('every button of a schedule wants the permission', () => {
  expect(scheduleButtons.map(({ may }) => may)).toEqual(names.map(() => 'digest'));
});

describe.each(names)('%s', (name) => {
  test.each<[string, Partial<ScheduleRun>]>([
    ['that was removed', { state: 'removed' }],
    ['of another workspace', { teamId: 'T0ELSE' }],
  ])('of a digest %s changes nothing', async (_, changes) => {
    const schedule = await kept.scheduled(changes);
    const told = 'This digest was already removed. /docs-digest create sets one up.';
    expect(await click(name, schedule.id)).toBe(told);
    expect(await click(name, 'nothing')).toBe(told);
    expect(await kept.latest(schedule)).toEqual(schedule);
    expect(world.opened).toEqual([]);
  });

  test.each<[string, Partial<ScheduleRun>, typeof ben]>([
    ['a private channel', { isPublic: false }, ben],
    ['a channel that a guest is not in', {}, gus],
  ])('by somebody who cannot see it, in %s, changes nothing', async (_, changes, user) => {
    const schedule = await kept.scheduled(changes);
    expect(await click(name, schedule.id, aCaller({ user, channel: elsewhere }))).toMatch(
      /^This digest is somebody else's, in a conversation that you can't see/,
    );
    expect(await kept.latest(schedule)).toEqual(schedule);
    expect(await kept.editions()).toEqual([]);
    expect(world.opened).toEqual([]);
    expect(world.audited).toEqual([]);
  });
});

test('[Remove] ends it, with an audit line; another click says that it is gone', async () => {
  const schedule = await kept.scheduled();
  expect(await click('remove', schedule.id, aCaller({ user: ben }))).toBe(
    'Removed · the weekly digest of docs.acme.com in <#C0DOCS>',
  );
  expect(await kept.latest(schedule)).toMatchObject({ state: 'removed', lasting: false });
  expect(await click('remove', schedule.id)).toMatch(/^This digest was already removed/);
  expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: 'removed' }]);
});

test('[Change] opens its modal, which knows what it is about', async () => {
  const schedule = await kept.scheduled();
  const about: (string | undefined)[] = [];
  world.tools.openModal = async (_caller, _view, what) => void about.push(what);
  expect(await click('change', schedule.id)).toBeUndefined();
  const { timetable, sections, alerts } = schedule;
  expect(about.map((json) => JSON.parse(String(json)))).toEqual([
    { schedule: schedule.id, shown: { timetable, sections, alerts } },
  ]);
});

describe('[Take over]', () => {
  test('makes it the digest of whoever clicked, once its owner has left', async () => {
    const schedule = await kept.scheduled({ ownerLeft: true });
    expect(await click('takeOver', schedule.id, aCaller({ user: ben }))).toBe(
      'Yours now · the weekly digest of docs.acme.com in <#C0DOCS>\nYou get a message if it cannot be posted.',
    );
    expect(await kept.latest(schedule)).toMatchObject({
      owner: { id: 'U0BEN', name: 'ben' },
      people: ['U0BEN'],
    });
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: 'taken over' }]);
    expect(await click('takeOver', schedule.id, aCaller({ user: ben }))).toBe(
      'This digest is already yours.',
    );
    expect(await click('takeOver', schedule.id)).toBe('ben owns this digest and is still here.');
  });
});

test('a click on what changes meanwhile is tried again', async () => {
  const schedule = await kept.scheduled();
  const { resume } = world.tools.intake;
  let isFirst = true;
  world.tools.intake = {
    ...world.tools.intake,
    async resume(run, ...rest) {
      if (isFirst) await world.runs.save(schedule);
      isFirst = false;
      return resume(run, ...rest);
    },
  };
  expect(await click('pause', schedule.id)).toMatch(/^Paused/);
  expect(await kept.latest(schedule)).toMatchObject({ state: 'paused', rev: 3 });
});
