import type { ActionsBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { digestCommand, digestCommands } from '../../../src/commands/digest/command.ts';
import { scheduleModal } from '../../../src/commands/digest/modal.ts';
import { applyToSchedule } from '../../../src/commands/digest/schedules.ts';
import { UserFacingError } from '../../../src/commands/intake.ts';
import type { ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import { digestActions } from '../../../src/jobs/digest/buttons.ts';
import { weeklyId } from '../../../src/jobs/digest/edition/record.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { acmeDocs, betaDocs, onDigestWorlds, WEEK } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';
import { anEdition } from '../../support/jobs/digest/builders.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs, betaDocs], (fresh) => {
  world = fresh;
});

const elsewhere = { id: 'C0ELSE', name: 'else' };
const type = (text: string, caller = aCaller()) => digestCommand.run(text, caller, world.tools);
const plain = (told: Message | undefined) => told?.text.replace(/<!date[^>]*>/g, 'TIME');
const said = async (text: string, caller = aCaller()) => plain(await type(text, caller));

test('every button of a schedule, and the modal, want the permission', () => {
  const { askAgent, openThread: _, ...actions } = digestActions;
  const buttons = digestCommands.buttons.filter(({ action }) => action !== askAgent);
  expect(buttons.map(({ action, may }) => [action, may]).toSorted()).toEqual(
    Object.values(actions)
      .map((action) => [action, 'digest'])
      .toSorted(),
  );
  expect(scheduleModal.may).toBe('digest');
});

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

test.each([
  ['preview', 'Preview'],
  ['run', 'Send now'],
  ['pause', 'Pause'],
  ['remove', 'Remove'],
])('in a channel, %s with several digests has one chosen', async (verb, label) => {
  const one = await kept.scheduled();
  const two = await kept.scheduled({ id: 's2', project: 'beta', site: 'docs.beta.io' });
  const told = await type(verb);
  const labelOf = (button: ActionsBlock['elements'][number]) => 'text' in button && button.text?.text;
  const labels = told?.blocks.flatMap((block) =>
    block.type === 'actions' ? block.elements.map(labelOf) : [],
  );
  expect(plain(told)?.split('\n')[0]).toBe('Which one?');
  expect(labels).toEqual([label, label]);
  expect([await kept.latest(one), await kept.latest(two)]).toEqual([one, two]);
  expect(await kept.editions()).toEqual([]);
});

test('[Send now] has a digest without its pages resumed; a complete one is there already', async () => {
  const schedule = await kept.scheduled();
  const id = weeklyId({ teamId: 'T0ACME', channel: 'C0DOCS', project: 'acme' }, WEEK);
  const known = anEdition({ id, noPages: 'failed' });
  await world.given(known);
  expect(await said('run')).toContain('On its way · the digest of docs.acme.com');
  expect((await kept.latest(schedule))?.posting).toMatchObject({ accepted: false, sentBy: ['U0ANA'] });
  await world.runs.save({ ...known, noPages: undefined });
  expect(await said('run')).toContain('Already posted');
});

test('[Send now] waits until the numbers of the week are final', async () => {
  await kept.scheduled();
  world.tools.now = () => Date.UTC(2026, 8, 21, 0, 59);
  expect(await said('run')).toContain('Too early');
  expect((await kept.schedules())[0]?.posting).toBeUndefined();
  world.tools.now = () => Date.UTC(2026, 8, 21, 1);
  expect(await said('run')).toContain('On its way');
});

describe('the modal', () => {
  const entered = {
    ...{ project: 'acme', channel: 'C0DOCS' },
    ...{ day: '1', time: '09:00', zone: 'Europe/Berlin' },
  } satisfies ModalValues;
  const submit = (changes: ModalValues = {}, about?: string, caller = aCaller({ requestId: 'view V1' })) =>
    scheduleModal.submit({ ...entered, ...changes }, caller, world.tools, {
      ticked: { sections: ['pages', 'readers', 'csv'] },
      about,
    });
  const problemsOf = (result: SubmitResult) => (result.kind === 'problems' ? result.problems : {});

  test('refuses somebody who has too many, at the field', async () => {
    const { start } = world.tools.intake;
    world.tools.intake = {
      ...world.tools.intake,
      start: (run, request, quotas = []) =>
        start(
          run,
          request,
          quotas.map((quota) => ({ ...quota, max: 1 })),
        ),
    };
    await submit();
    const another = await submit({ project: 'beta' }, undefined, aCaller({ requestId: 'view V2' }));
    expect(problemsOf(another)).toEqual({
      channel: 'You have reached the limit of digests per person. Remove one first.',
    });
    expect(await kept.schedules()).toHaveLength(1);
  });

  const long = 'America/Argentina/ComodRivadavia';
  test.each<[string, ModalValues, string]>([
    ['no day', { day: '' }, 'time'],
    ['a time that is none', { time: '25:00' }, 'time'],
    ['a day that is none', { day: '8' }, 'time'],
    ['a time too early', { day: '7', time: '21:30', zone: long }, 'time'],
    ['a zone that is none', { zone: 'Europe/Nowhere' }, 'zone'],
    ['a project that is none', { project: 'gamma' }, 'project'],
    ['40,000 characters for a project', { project: 'x'.repeat(40_000) }, 'project'],
    ['40,000 characters for a zone', { zone: `A/${'x'.repeat(40_000)}` }, 'zone'],
    ['40,000 characters for a time', { time: '0'.repeat(40_000) }, 'time'],
  ])('refuses %s at the field', async (_, changes, at) => {
    const problems = problemsOf(await submit(changes));
    expect(Object.keys(problems)).toEqual([at]);
    for (const text of Object.values(problems))
      expect(text.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
    expect(await kept.schedules()).toEqual([]);
  });

  test('says that a change leaves a week out, with the way to post it', async () => {
    const timetable = { weekday: 7, time: '17:00', zone: 'Europe/Berlin' };
    const schedule = await kept.scheduled({ timetable, nextAtMs: NOW_MS + 3_600_000 });
    const { sections, alerts } = schedule;
    const about = JSON.stringify({ schedule: schedule.id, shown: { timetable, sections, alerts } });
    const result = await submit({ day: '5', time: '17:30', zone: 'America/New_York' }, about);
    const shown = result.kind === 'message' ? result.message : undefined;
    expect(shown?.text).toContain('The new time skips the week 7–13 Sep 2026. [Send now] posts it.');
    expect(JSON.stringify(shown?.blocks)).toContain('"text":"Send now"');
  });
});
