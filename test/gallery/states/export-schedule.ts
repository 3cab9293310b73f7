import { changeScheduleView, createScheduleView } from '../../../src/commands/export/schedule.ts';
import type { DoneEnding, ExportRun } from '../../../src/jobs/export/record.ts';
import { cardKey, exportMessages } from '../../../src/jobs/export/view.ts';
import type { ExportSchedule, Latest } from '../../../src/jobs/export-schedule/record.ts';
import {
  exportScheduleMessages,
  exportScheduleNotes as notes,
  exportScheduleViews as views,
} from '../../../src/jobs/export-schedule/view.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, beta } from '../../support/commands/builders.ts';
import { anEnding, aRun, ended, THREAD } from '../../support/jobs/export/builders.ts';
import { anExportSchedule as aSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { type GalleryState, modal, pick, post } from '../state.ts';

const DAY = 86_400_000;
const BEN = { id: 'U0BEN', name: 'ben' };
const nextAtMs = NOW_MS + DAY - 240_000;
const dueAtMs = NOW_MS - 240_000;

const latest = (ending: Latest['ending'], changes: Partial<Latest> = {}): Partial<ExportSchedule> => ({
  latest: { dueAtMs, run: 'r1', state: 'ended', ending, endedAtMs: NOW_MS, ...changes },
});
const exported = { atMs: NOW_MS, pages: 412, pagesBefore: 409, updates: [] };
const notified = { id: 'u1', deployment: 'production', state: 'notified', notifiedAtMs: NOW_MS } as const;
const before = { exported: { ...exported, atMs: NOW_MS - DAY } };
const following = { timetable: { time: '06:00', zone: 'UTC', afterUpdates: true } } as const;
const byFailures = { state: 'paused', pausedBy: 'failures', failures: 3 } as const;

const standing = (name: string, changes: Partial<ExportSchedule> = {}) =>
  post(
    `schedule/message/${name}`,
    pick(exportScheduleMessages, aSchedule({ nextAtMs, ...changes }), 'standing'),
  );
const note = (name: string, message: Message) => post(`schedule/${name}`, message);
const tools = (...projects: (typeof acme)[]) => ({ projects, docsDomain: undefined });
const served = { ...acme, deployments: [{ name: 'production' }, { name: 'staging' }] };
const many = Array.from({ length: 10 }, (_, index) => ({ name: `site-${index}` }));
const alsoServed = { ...beta, deployments: [{ name: 'production' }] };
const listed = (name: string, changes: Partial<ExportSchedule> = {}) =>
  post(`schedule/list/${name}`, views.entry(aSchedule({ nextAtMs, ...changes }), 'U0BEN'));

/** A message of a scheduled export, which is in the thread of the schedule's. */
const inThread = (name: string, run: ExportRun, part = cardKey(run).slice(run.id.length + 1)) =>
  post(`schedule/export/${name}`, pick(exportMessages, { ...run, schedule: 's1' }, part));

export const exportScheduleStates: GalleryState[] = [
  standing('being set up', { state: 'testing' }),
  standing('not exported yet', { version: 'nightly {date}', paths: ['/guides', '/api'] }),
  standing('exporting', { ...latest(undefined, { state: 'running' }), ...before }),
  ...(['owner', 'channel'] as const).map((of) =>
    standing(`waiting, too many exports of its ${of}`, {
      ...latest(undefined, { state: 'running', run: undefined, full: { of, max: 10 } }),
      ...before,
    }),
  ),
  standing('exported', { ...latest('done'), exported }),
  standing('exported, fewer pages', { ...latest('done'), exported: { ...exported, pagesBefore: 420 } }),
  standing('exported, as many pages', { ...latest('done'), exported: { ...exported, pagesBefore: 412 } }),
  standing('exported, pages unknown', { ...latest('done'), exported: { atMs: NOW_MS, updates: [] } }),
  standing('exported, production notified', {
    deployments: ['production'],
    ...latest('done'),
    exported: { ...exported, updates: [notified] },
  }),
  standing('failed', { ...latest('failed'), ...before }),
  standing('needs an answer', { ...latest(undefined, { state: 'unclear' }), ...before }),
  standing('paused by somebody', { state: 'paused', pausedBy: BEN, ...latest('done'), exported }),
  standing('paused by failures', { ...byFailures, ...latest('failed') }),
  standing('paused, exporting', { ...byFailures, ...latest('failed', { state: 'running' }) }),
  standing('owner left', { state: 'paused', pausedBy: 'permission', ownerLeft: true }),
  standing('after updates', { ...following, ...latest('done'), exported }),
  standing('removed', { state: 'removed', ...latest('done'), exported }),

  note('not deployed', notes.notDeployed(aSchedule(), 'ben')),
  note('created', views.created(aSchedule())),
  note('created, after updates', views.created(aSchedule(following))),
  note('changed', views.changed(aSchedule({ timetable: { weekday: 1, time: '06:00', zone: 'UTC' } }))),
  note('not in the channel', views.noPlace(aSchedule(), 'not_in_channel')),
  note('one left out', notes.skipped([NOW_MS - 2 * DAY])),
  note('seven left out', notes.skipped([9, 8, 7, 6, 5, 4, 3].map((days) => NOW_MS - days * DAY))),
  note('joined', notes.joined(aSchedule(latest(undefined, { state: 'running' })), THREAD, false)),
  note('joined, exported', notes.joined(aSchedule(latest('done')), undefined, false)),
  note('joined, failed', notes.joined(aSchedule(latest('failed')), undefined, true)),
  note('fewer pages', notes.pagesChanged(aSchedule(), 300, 409)),
  note('paused', notes.paused(aSchedule(byFailures))),
  note('no longer in the channel', notes.noPlace(aSchedule(), 'not_in_channel')),
  note('refused by Slack', notes.noPlace(aSchedule(), 'restricted_action')),
  note('broken', notes.broken(aSchedule(), '7f3c1d')),
  note('not permitted', views.notPermitted(aSchedule())),
  note('owner left', views.ownerLeft(aSchedule({ ownerLeft: true }))),
  note('owner left, updates', views.ownerLeft(aSchedule({ ownerLeft: true, deployments: ['production'] }))),
  note('to be removed', views.removal(aSchedule())),
  note('more pages', notes.pagesChanged(aSchedule(), 409, 300)),
  note('taken over', views.takenOver(aSchedule({ owner: BEN }), { name: 'ana' })),

  listed('being set up', { state: 'testing' }),
  listed('active'),
  listed('after updates', following),
  listed('paused', { state: 'paused', pausedBy: 'permission' }),
  listed('owner left', { state: 'paused', pausedBy: 'permission', ownerLeft: true }),

  inThread('running', aRun()),
  inThread('done', ended(anEnding.done, { pageCount: 412 })),
  inThread('link over', ended({ ...(anEnding.done as DoneEnding), expired: true })),
  inThread('done, privately', ended({ ...(anEnding.done as DoneEnding), privately: true })),
  inThread('done, somebody waits', ended(anEnding.done, { watchers: [BEN] }), 'end'),
  inThread('failed', ended(anEnding.failed), 'end'),

  modal('schedule/modal/create', createScheduleView('Europe/Berlin', aCaller(), tools(acme, beta), false)),
  modal(
    'schedule/modal/create, one domain, no zone',
    createScheduleView('UTC', aCaller(), tools(beta), false),
  ),
  modal(
    'schedule/modal/change, follows updates',
    changeScheduleView(aSchedule(following), [{ ...acme, name: 'default', projectId: 'prj_acme' }]),
  ),
  modal(
    'schedule/modal/change',
    changeScheduleView(aSchedule({ version: 'nightly {date}', paths: ['/api'] }), []),
  ),
  modal(
    'schedule/modal/create, deployments',
    createScheduleView('UTC', aCaller(), tools(served, alsoServed), true),
  ),
  modal(
    'schedule/modal/create, many deployments',
    createScheduleView('UTC', aCaller(), tools({ ...served, deployments: many }, alsoServed), true),
  ),
  modal(
    'schedule/modal/change, deployments',
    changeScheduleView(aSchedule({ project: 'acme', deployments: ['production'] }), [served]),
  ),
];
