import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { scheduleModal } from '../../../src/commands/digest/modal.ts';
import type { ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import { scheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  {
    projects: [
      aProject({ name: 'acme', projectId: 'prj_1', domains: ['docs.acme.com'] }),
      aProject({ name: 'beta', projectId: 'prj_2', domains: ['docs.beta.io'] }),
    ],
  },
);

const type = (text: string) => digestCommand.run(text, aCaller(), world.tools);
const schedules = () => world.runs.activeOf(scheduleRun, 'digest-schedule', 'T0ACME');

describe('the list', () => {
  test('stays within what a message takes, whatever is in it', async () => {
    for (let n = 1; n <= 20; n += 1)
      await world.given(aSchedule({ id: `s${n}`, channel: `C0${n}`, site: '<!channel>&'.repeat(4000) }));
    const told = await type('list');
    if (told === undefined) throw new Error('nothing was said');
    expect(() => checkMessageBlocks(told.blocks, (prefix) => prefix)).not.toThrow();
    expect(told.text).not.toContain('<!channel>');
  });
});

const MONTHLY = { monthly: true as const, time: '09:00', zone: 'Europe/Berlin' };

test.each([
  ['week', aSchedule(), Date.UTC(2026, 8, 21)],
  ['month', aSchedule({ timetable: MONTHLY }), Date.UTC(2026, 9, 1)],
])('[Send now] waits until the numbers of the %s are final', async (unit, schedule, endMs) => {
  await world.given(schedule);
  world.tools.now = () => endMs + 59 * 60_000;
  expect((await type('run'))?.text).toContain(
    `Too early · the platform may still count the last views of the ${unit}`,
  );
  expect((await schedules())[0]?.posting).toBeUndefined();
  world.tools.now = () => endMs + 60 * 60_000;
  expect((await type('run'))?.text).toContain('On its way');
});

describe('the modal', () => {
  const entered = {
    ...{ project: 'acme', channel: 'C0DOCS' },
    ...{ day: '1', time: '09:00', zone: 'Europe/Berlin' },
  } satisfies ModalValues;
  const submit = (changes: ModalValues, about?: { schedule: string }) =>
    scheduleModal.submit({ ...entered, ...changes }, aCaller(), world.tools, {
      ticked: { sections: ['pages', 'readers', 'csv'] },
      about,
    });
  const problemsOf = (result: SubmitResult) => (result.kind === 'problems' ? result.problems : {});

  test('takes any hour of a month', async () => {
    expect((await submit({ day: 'monthly', time: '00:30' })).kind).toBe('closed');
    expect((await schedules())[0]?.timetable).toEqual({ ...MONTHLY, time: '00:30' });
  });

  test('about a weekly digest keeps it weekly, whatever it sends', async () => {
    await world.given(aSchedule());
    expect((await submit({ day: 'monthly' }, { schedule: aSchedule().id })).kind).toBe('closed');
    expect((await schedules())[0]?.timetable).toEqual(aSchedule().timetable);
  });

  const long = 'America/Argentina/ComodRivadavia';
  test.each<[string, ModalValues, string]>([
    ['no day', { day: '' }, 'time'],
    ['a time that is none', { time: '25:00' }, 'time'],
    ['a day that is none', { day: '8' }, 'time'],
    ['every day', { day: 'daily' }, 'time'],
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
    expect(await schedules()).toEqual([]);
  });
});
