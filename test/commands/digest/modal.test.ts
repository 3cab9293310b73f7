import { describe, expect, test } from 'vitest';
import { scheduleModal } from '../../../src/commands/digest/modal.ts';
import type { ModalDetails, ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { acmeDocs, betaDocs, onDigestWorlds } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs, betaDocs], (fresh) => {
  world = fresh;
});

const entered = {
  project: 'acme',
  channel: 'C0DOCS',
  day: '1',
  time: '09:00',
  zone: 'Europe/Berlin',
} satisfies ModalValues;
const all: ModalDetails = { ticked: { sections: ['pages', 'readers', 'csv'] }, about: undefined };
const submit = (
  changes: ModalValues = {},
  details: Partial<ModalDetails> = {},
  caller = aCaller({ requestId: 'view V1' }),
): Promise<SubmitResult> =>
  scheduleModal.submit({ ...entered, ...changes }, caller, world.tools, { ...all, ...details });
const problemsOf = (result: SubmitResult) => (result.kind === 'problems' ? result.problems : {});

describe('a new schedule', () => {
  test('says the earliest time wherever its zone is, within what Slack shows', async () => {
    const zones = Intl.supportedValuesOf('timeZone').filter((zone) => zone.length > 26);
    for (const zone of zones)
      for (const [day, time] of [
        ['1', '00:00'],
        ['7', '23:59'],
      ] as const)
        for (const problem of Object.values(problemsOf(await submit({ day, time, zone }))))
          expect(problem).toMatch(/ Earliest: \w+ \d\d:\d\d [\w/]+\.$/);
  });

  test('is refused to somebody who has too many, at the field', async () => {
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
    const another = await submit({ project: 'beta' }, {}, aCaller({ requestId: 'view V2' }));
    expect(problemsOf(another)).toEqual({
      channel: 'You have reached the limit of digests per person. Remove one first.',
    });
    expect(await kept.schedules()).toHaveLength(1);
  });

  test.each<[string, ModalValues, string]>([
    ['no day', { day: '' }, 'time'],
    ['no time', { time: '' }, 'time'],
    ['a time that is none', { time: '25:00' }, 'time'],
    ['a day that is none', { day: '8' }, 'time'],
    ['no zone', { zone: '' }, 'zone'],
    ['a zone that is none', { zone: 'Europe/Nowhere' }, 'zone'],
    ['a project that is none', { project: 'gamma' }, 'project'],
    ['40,000 characters for a project', { project: 'x'.repeat(40_000) }, 'project'],
    ['40,000 characters for a zone', { zone: `A/${'x'.repeat(40_000)}` }, 'zone'],
    ['40,000 characters for a time', { time: '0'.repeat(40_000) }, 'time'],
    ['40,000 characters for a day', { day: '1'.repeat(40_000) }, 'time'],
  ])('with %s is told so at the field', async (_, changes, at) => {
    const problems = problemsOf(await submit(changes));
    expect(Object.keys(problems)).toEqual([at]);
    for (const text of Object.values(problems))
      expect(text.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
    expect(await kept.schedules()).toEqual([]);
  });
});

describe('a change', () => {
  const changes = { day: '5', time: '17:30', zone: 'America/New_York' };

  test('that leaves a week out says so, with the way to post it', async () => {
    const timetable = { weekday: 7, time: '17:00', zone: 'Europe/Berlin' };
    const schedule = await kept.scheduled({ timetable, nextAtMs: NOW_MS + 3_600_000 });
    const { sections, alerts } = schedule;
    const about = JSON.stringify({ schedule: schedule.id, shown: { timetable, sections, alerts } });
    const result = await submit(changes, { about });
    const shown = result.kind === 'message' ? result.message : undefined;
    expect(shown?.text).toContain('The new time skips the week 7–13 Sep 2026. [Send now] posts it.');
    expect(JSON.stringify(shown?.blocks)).toContain('"text":"Send now"');
  });
});

test('the modal wants the permission', () => {
  expect(scheduleModal.may).toBe('digest');
});
