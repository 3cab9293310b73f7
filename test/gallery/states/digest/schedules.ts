import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { alertMessage, changedMessage, scheduleNotes } from '../../../../src/jobs/digest/schedule/view.ts';
import { lastPeriod } from '../../../../src/jobs/digest/weeks.ts';
import type { Message } from '../../../../src/slack/blocks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';
import { type GalleryState, post } from '../../state.ts';

const SITE = 'docs.acme.com';
const DAY = 86_400_000;
const BEN = { id: 'U0BEN', name: 'ben' };

const schedule = (name: string, shown: Message) => post(`digest/schedule/${name}`, shown);
const told = (name: string, shown: Message) => post(`digest/schedule/${name}`, shown);
type Failure = Omit<NonNullable<ScheduleRun['failure']>, 'week'>;
const failure = (failed: Failure) => aSchedule({ failures: 1, failure: { ...failed, week: '2026-W37' } });
const monthly = aSchedule({ timetable: { monthly: true, time: '09:00', zone: 'Europe/Berlin' } });
const missed = Array.from({ length: 7 }, (_, index) => NOW_MS - (7 - index) * 7 * DAY);
const listed = (name: string, changes: Partial<ScheduleRun>) =>
  post(`digest/list/${name}`, scheduleNotes.entry(aSchedule(changes), 'U0BEN'));

const WHY: [string, Failure][] = [
  ['not in the channel', { why: 'place', code: 'not_in_channel' }],
  ['archived', { why: 'place', code: 'is_archived' }],
  ['refused by Slack', { why: 'place', code: 'restricted_action' }],
  ['project', { why: 'platform', cause: { kind: 'project' } }],
  ['broken', { why: 'broken', code: '7f3c1d' }],
  ['platform', { why: 'platform' }],
];

export const scheduleStates: GalleryState[] = [
  schedule('first message', scheduleNotes.test(aSchedule())),
  schedule('first message, monthly', scheduleNotes.test(monthly)),
  schedule('first message, with alerts', scheduleNotes.test(aSchedule({ alerts: true }))),
  told('created', scheduleNotes.created(aSchedule())),
  told('changed', changedMessage(aSchedule())),
  told('changed, a week is left out', changedMessage(aSchedule(), lastPeriod({}, NOW_MS))),
  told('changed, a month is left out', changedMessage(monthly, lastPeriod(monthly.timetable, NOW_MS))),
  told('changed, paused', changedMessage(aSchedule({ state: 'paused' }))),
  told('not in the channel', scheduleNotes.noPlace(aSchedule(), 'not_in_channel')),
  told('refused by Slack', scheduleNotes.noPlace(aSchedule(), 'restricted_action')),
  ...WHY.map(([name, failed]) => schedule(`failed, ${name}`, scheduleNotes.failed(failure(failed)))),
  schedule('late', scheduleNotes.late(aSchedule(), { kind: 'down', status: 500 })),
  schedule(
    'failed, then paused',
    scheduleNotes.failed({
      ...failure({ why: 'platform' }),
      failures: 3,
      state: 'paused',
      pausedBy: 'failures',
    }),
  ),
  schedule('one missed', scheduleNotes.skipped(aSchedule(), missed.slice(-1), NOW_MS)),
  schedule('one month missed', scheduleNotes.skipped(monthly, missed.slice(-1), NOW_MS)),
  schedule('one missed, the last', scheduleNotes.skipped(aSchedule(), [NOW_MS - 3 * DAY], NOW_MS)),
  schedule('seven missed', scheduleNotes.skipped(aSchedule(), missed, NOW_MS)),
  schedule('not permitted', scheduleNotes.notPermitted(aSchedule())),
  schedule('owner left', scheduleNotes.ownerLeft(aSchedule({ ownerLeft: true }))),
  schedule('taken over', scheduleNotes.takenOver(aSchedule({ owner: BEN }), { name: 'ana' })),
  listed('testing', { state: 'testing' }),
  listed('active', {}),
  listed('monthly', monthly),
  listed('paused', { state: 'paused' }),
  listed('paused by somebody', { state: 'paused', pausedBy: BEN }),
  listed('paused by failures', { state: 'paused', pausedBy: 'failures', failures: 3 }),
  listed('paused by one failure', { state: 'paused', pausedBy: 'failures', failures: 1 }),
  listed('paused by permission', { state: 'paused', pausedBy: 'permission' }),
  listed('owner left', { ownerLeft: true }),
  listed('removed', { state: 'removed' }),
];

type Shift = Parameters<typeof alertMessage>[2][0];
const alert = (name: string, shifts: Shift[], ...pages: Parameters<typeof alertMessage>[3]) =>
  post(`digest/alert/${name}`, alertMessage({ site: SITE }, '2026-09-17', shifts, pages));
const quickstart = { path: '/quickstart', now: 96, before: 401 };
export const alertStates: GalleryState[] = [
  alert('fewer people', [{ by: 'human', now: 310, usual: 820 }], quickstart),
  alert('more of both', [
    { by: 'human', now: 1900, usual: 820 },
    { by: 'ai', now: 900, usual: 300 },
  ]),
  alert('lasting fall', [{ by: 'human', now: 533, usual: 820, ofWeek: true }], {
    ...quickstart,
    now: 267,
    before: 410,
  }),
  alert('none', [{ by: 'human', now: 0, usual: 820 }]),
];
