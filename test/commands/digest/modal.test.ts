import type { InputBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { createModalView, scheduleModal } from '../../../src/commands/digest/modal.ts';
import type { ModalDetails, ModalValues, SubmitResult } from '../../../src/commands/registry.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { acmeDocs, betaDocs, onDigestWorlds } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs, betaDocs], (fresh) => {
  world = fresh;
});

type Initial = { value?: string };
type Element = {
  type: string;
  initial_option?: Initial;
  initial_options?: Initial[];
  initial_time?: string;
  initial_conversation?: string;
};
const field = (view: ModalView | undefined, block: string) =>
  (view?.blocks.find(({ block_id: id }) => id === block) as InputBlock | undefined)?.element as
    | Element
    | undefined;
const isTaken = (view: ModalView) => {
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
};
const timetableIn = (view: ModalView | undefined) =>
  [
    field(view, 'day')?.initial_option?.value,
    field(view, 'time')?.initial_time,
    field(view, 'zone')?.initial_option?.value,
  ].join(' ');

describe('the modal', () => {
  const viewFor = (zone?: string, channel = { id: 'C0DOCS', name: 'docs' }, projects = [acmeDocs]) => {
    const view = createModalView({ project: undefined, zone }, { channel }, { projects, now: () => NOW_MS });
    isTaken(view);
    return view;
  };

  test.each([
    ['of people whose zone Slack does not know', undefined, '1 09:00 UTC'],
    ['of people whose zone is none', '<!channel>', '1 09:00 UTC'],
    ['of people whose zone has an older name', 'Asia/Calcutta', '1 09:00 Asia/Calcutta'],
    // The week is not over in UTC when it is nine in Auckland.
    ['of people for whom nine is too early', 'Pacific/Auckland', '1 14:00 Pacific/Auckland'],
  ])('%s begins with what is safe', (_, zone, timetable) => {
    expect(timetableIn(viewFor(zone))).toBe(timetable);
  });

  test('chooses no channel that the app cannot join', () => {
    expect(field(viewFor('UTC', { id: 'D0ANA', name: 'directmessage' }), 'channel')).not.toHaveProperty(
      'initial_conversation',
    );
    expect(field(viewFor('UTC', { id: 'C0SECRET', name: 'privategroup' }), 'channel')).toHaveProperty(
      'initial_conversation',
    );
  });

  test('is opened by the command, with the project of the channel or the one that was named', async () => {
    const opens = async (typed: string, channel = { id: 'C0DOCS', name: 'docs' }) => {
      expect(await digestCommand.run(typed, aCaller({ channel }), world.tools)).toBeUndefined();
      return world.opened.at(-1);
    };
    const chosen = (view: ModalView | undefined) => field(view, 'project')?.initial_option?.value;
    const view = await opens('create');
    expect(timetableIn(view)).toBe('1 09:00 Europe/Berlin');
    expect(chosen(view)).toBeUndefined();
    expect(chosen(await opens('create --project BETA'))).toBe('beta');
    expect(chosen(await opens('create', { id: 'C0BETA', name: 'beta' }))).toBe('beta');
  });

  test.each<[string, () => Promise<string | undefined>]>([
    ['fails', () => Promise.reject(new Error('no users:read'))],
    ['hangs', () => new Promise(() => {})],
  ])('opens in UTC when the look-up of the zone %s', async (_, personZone) => {
    world.tools.personZone = personZone;
    await digestCommand.run('create', aCaller(), world.tools);
    expect(timetableIn(world.opened[0])).toBe('1 09:00 UTC');
  });
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
  test('is kept as it was entered, and the modal closes', async () => {
    const details = { ticked: { sections: ['csv', 'pages', 'unusual', 'nonsense'] } };
    expect(await submit({ project: 'beta', channel: 'C0ELSE' }, details)).toEqual({ kind: 'closed' });
    expect(await kept.schedules()).toMatchObject([
      {
        project: 'beta',
        site: 'docs.beta.io',
        channel: 'C0ELSE',
        isPublic: true,
        owner: { id: 'U0ANA', name: 'ana' },
        timetable: { weekday: 1, time: '09:00', zone: 'Europe/Berlin' },
        sections: ['pages', 'csv'],
        alerts: true,
        state: 'testing',
        lasting: true,
      },
    ]);
    expect(world.woken).toHaveLength(1);
    // Where it is told that it was set up.
    const [schedule] = await kept.schedules();
    expect(await world.runs.responseUrl(schedule?.id ?? '')).toBe('https://hooks.example/1');
  });

  test('may have nothing but the totals', async () => {
    await submit({}, { ticked: {} });
    expect(await kept.schedules()).toMatchObject([{ sections: [], alerts: false }]);
  });

  test('of a private channel is known to be one', async () => {
    world.tools.isPublic = async () => false;
    await submit();
    expect(await kept.schedules()).toMatchObject([{ isPublic: false }]);
  });

  test('is one, however often it is submitted', async () => {
    await submit();
    expect(await submit()).toEqual({ kind: 'closed' });
    expect(await kept.schedules()).toHaveLength(1);
  });

  test.each([
    ['the earliest', '1', '01:00', 'UTC', undefined],
    ['before the week is over in UTC', '1', '00:30', 'Europe/Berlin', 'Mondays 03:00 Europe/Berlin'],
    ['before its numbers are final', '1', '02:30', 'Europe/Berlin', 'Mondays 03:00 Europe/Berlin'],
    ['a moment before that', '1', '00:59', 'UTC', 'Mondays 01:00 UTC'],
    ['in the middle of the week', '4', '00:00', 'Pacific/Auckland', undefined],
  ])('at a time that is %s', async (_, day, time, zone, earliest) => {
    const { time: problem } = problemsOf(await submit({ day, time, zone }));
    if (earliest === undefined) expect(problem).toBeUndefined();
    else {
      expect(problem).toBe(
        `The week ends on Monday at 00:00 UTC, and its numbers are final an hour later. Earliest: ${earliest}.`,
      );
      expect(await kept.schedules()).toEqual([]);
    }
  });

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

  test('is refused where there is one of that project already, with what to do', async () => {
    await kept.scheduled();
    expect(problemsOf(await submit({}, {}, aCaller({ user: ben, requestId: 'view V2' })))).toEqual({
      channel:
        'That channel already has a digest of docs.acme.com. Close this, type /docs-digest list, and choose [Change].',
    });
    expect(await kept.schedules()).toHaveLength(1);
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: 'scheduled already' }]);
    expect(await submit({ project: 'beta' })).toEqual({ kind: 'closed' });
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

  test('is refused for a moment where one was just removed', async () => {
    await kept.scheduled({ state: 'removed' });
    expect(problemsOf(await submit())).toEqual({
      channel: 'A digest was removed there a moment ago. Try again in a few seconds.',
    });
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

  test('without a project or a channel is told so', async () => {
    const { project: _, channel: __, ...rest } = entered;
    const caller = aCaller();
    const without = async (values: ModalValues) =>
      problemsOf(await scheduleModal.submit(values, caller, world.tools, all));
    expect(await without({ ...rest, channel: 'C0DOCS' })).toEqual({ project: 'Choose a project.' });
    expect(await without({ ...rest, project: 'acme' })).toEqual({ channel: 'Choose a channel.' });
    // Problems of several fields are told at once.
    expect(Object.keys(await without({ ...rest, project: 'acme', time: '' }))).toEqual(['time', 'channel']);
  });
});

describe('a change', () => {
  const changes = { day: '5', time: '17:30', zone: 'America/New_York' };

  test('is kept, told to whoever made it, and audited', async () => {
    const schedule = await kept.scheduled({ nextAtMs: Date.UTC(2026, 8, 21, 7) });
    // As a modal has it that was opened before an update.
    const details = { about: schedule.id, ticked: { sections: ['csv'], alerts: ['unusual'] } };
    const result = await submit(changes, details, aCaller({ user: ben }));
    expect(result.kind === 'message' && result.message.text.replace(/<!date[^>]*>/, 'TIME')).toBe(
      'Scheduled · docs.acme.com in <#C0DOCS>\nnext TIME · Fridays 17:30 America/New_York',
    );
    expect(await kept.latest(schedule)).toMatchObject({
      timetable: { weekday: 5, time: '17:30', zone: 'America/New_York' },
      sections: ['csv'],
      alerts: true,
      owner: { id: 'U0ANA' },
      channel: 'C0DOCS',
      nextAtMs: Date.UTC(2026, 8, 25, 21, 30),
    });
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: 'changed' }]);
    expect(await kept.schedules()).toHaveLength(1);
  });

  test('that leaves a week out says so, with the way to post it', async () => {
    const timetable = { weekday: 7, time: '17:00', zone: 'Europe/Berlin' };
    const schedule = await kept.scheduled({ timetable, nextAtMs: NOW_MS + 3_600_000 });
    const result = await submit(changes, { about: schedule.id });
    const shown = result.kind === 'message' ? result.message : undefined;
    expect(shown?.text).toContain('The new time skips the week 7–13 Sep 2026. [Send now] posts it.');
    expect(JSON.stringify(shown?.blocks)).toContain('"text":"Send now"');
  });

  test('to a time that is too early is refused at the field', async () => {
    const schedule = await kept.scheduled();
    const result = await submit({ ...changes, day: '1', time: '00:00', zone: 'UTC' }, { about: schedule.id });
    expect(Object.keys(problemsOf(result))).toEqual(['time']);
    expect(await kept.latest(schedule)).toEqual(schedule);
  });

  test.each([
    ['one that was removed meanwhile', { state: 'removed' as const }, /^This digest was already removed/],
    ['one that somebody cannot see any more', { isPublic: false }, /^This digest is somebody else's/],
  ])('of %s is refused', async (_, state, told) => {
    const schedule = await kept.scheduled(state);
    const caller = aCaller({ user: ben, channel: { id: 'C0ELSE', name: 'else' } });
    const result = await submit(changes, { about: schedule.id }, caller);
    expect(result.kind === 'message' && result.message.text).toMatch(told);
    expect(await kept.latest(schedule)).toEqual(schedule);
    expect(world.audited).toEqual([]);
  });

  test('of one that is paused leaves it so', async () => {
    const schedule = await kept.scheduled({ state: 'paused' });
    const result = await submit(changes, { about: schedule.id });
    expect(result.kind === 'message' && result.message.text).toBe(
      'Paused · docs.acme.com in <#C0DOCS>\nFridays 17:30 America/New_York',
    );
  });
});

test('the modal wants the permission', () => {
  expect(scheduleModal.may).toBe('digest');
});
