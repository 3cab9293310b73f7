import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import {
  alertMessage,
  createdMessage,
  failedMessage,
  goesOnMessage,
  lateMessage,
  noPlaceMessage,
  notPermittedMessage,
  ownerLeftMessage,
  scheduleEntry,
  skippedMessage,
  takenOverMessage,
  testMessage,
} from '../../../../src/jobs/digest/schedule/view.ts';
import { lastCompleteWeek } from '../../../../src/jobs/digest/weeks.ts';
import type { Message } from '../../../../src/slack/blocks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aSchedule } from '../../../support/jobs/digest/builders.ts';
import { answered, type GalleryState, post } from '../../state.ts';

const SITE = 'docs.acme.com';
const DAY = 86_400_000;
const BEN = { id: 'U0BEN', name: 'ben' };

const schedule = (name: string, shown: Message, state: string) =>
  post(`digest/schedule/${name}`, shown, state, SITE);
const failure = (why: NonNullable<ScheduleRun['failure']>['why'], code?: string) =>
  aSchedule({ failures: 1, failure: { why, week: '2026-W37', ...(code !== undefined && { code }) } });
const missed = Array.from({ length: 7 }, (_, index) => {
  const dueAtMs = NOW_MS - (7 - index) * 7 * DAY;
  return { week: lastCompleteWeek(dueAtMs), dueAtMs };
});
const listed = (name: string, changes: Partial<ScheduleRun>) =>
  answered(`digest/list/${name}`, scheduleEntry(aSchedule(changes), 'U0BEN'));

export const scheduleStates: GalleryState[] = [
  post('digest/schedule/first message', testMessage(aSchedule()), 'Weekly digest', SITE),
  post(
    'digest/schedule/first message, with alerts',
    testMessage(aSchedule({ alerts: true })),
    'Weekly digest',
    SITE,
  ),
  answered('digest/schedule/created', createdMessage(aSchedule())),
  answered('digest/schedule/changed', goesOnMessage(aSchedule())),
  answered(
    'digest/schedule/changed, a week is left out',
    goesOnMessage(aSchedule(), lastCompleteWeek(NOW_MS)),
  ),
  answered('digest/schedule/changed, paused', goesOnMessage(aSchedule({ state: 'paused' }))),
  answered('digest/schedule/not in the channel', noPlaceMessage(aSchedule(), 'not_in_channel')),
  answered('digest/schedule/refused by Slack', noPlaceMessage(aSchedule(), 'restricted_action')),
  schedule(
    'failed, not in the channel',
    failedMessage(failure('place', 'not_in_channel')),
    "couldn't be posted",
  ),
  schedule('failed, archived', failedMessage(failure('place', 'is_archived')), "couldn't be posted"),
  schedule(
    'failed, refused by Slack',
    failedMessage(failure('place', 'restricted_action')),
    "couldn't be posted",
  ),
  schedule('failed, project', failedMessage(failure('project')), "couldn't be posted"),
  schedule('failed, broken', failedMessage(failure('broken', '7f3c1d')), "couldn't be posted"),
  schedule('failed, platform', failedMessage(failure('platform')), "couldn't be posted"),
  schedule('late', lateMessage(aSchedule(), { kind: 'down', status: 500 }), 'is late'),
  schedule(
    'failed, then paused',
    failedMessage({ ...failure('platform'), failures: 3, state: 'paused', pausedBy: 'failures' }),
    "couldn't be posted",
  ),
  schedule('one missed', skippedMessage(aSchedule(), missed.slice(-1)), 'could not be sent'),
  schedule('seven missed', skippedMessage(aSchedule(), missed), 'could not be sent'),
  schedule('not permitted', notPermittedMessage(aSchedule()), 'Paused'),
  schedule('owner left', ownerLeftMessage(aSchedule({ ownerLeft: true })), 'has left'),
  schedule('taken over', takenOverMessage(aSchedule({ owner: BEN }), { name: 'ana' }), 'took over'),
  listed('testing', { state: 'testing' }),
  listed('active', {}),
  listed('paused', { state: 'paused' }),
  listed('paused by somebody', { state: 'paused', pausedBy: BEN }),
  listed('paused by failures', { state: 'paused', pausedBy: 'failures', failures: 3 }),
  listed('paused by one failure', { state: 'paused', pausedBy: 'failures', failures: 1 }),
  listed('paused by permission', { state: 'paused', pausedBy: 'permission' }),
  listed('owner left', { ownerLeft: true }),
  listed('removed', { state: 'removed' }),
];

const day = '2026-09-17';
export const alertStates: GalleryState[] = [
  post(
    'digest/alert/fewer people',
    alertMessage(
      { site: SITE },
      day,
      [{ by: 'human', now: 310, usual: 820 }],
      [{ path: '/quickstart', now: 96, before: 401 }],
    ),
    'down',
    SITE,
  ),
  post(
    'digest/alert/more of both',
    alertMessage(
      { site: SITE },
      day,
      [
        { by: 'human', now: 1900, usual: 820 },
        { by: 'ai', now: 900, usual: 300 },
      ],
      [],
    ),
    'up',
    SITE,
  ),
  post(
    'digest/alert/lasting fall',
    alertMessage(
      { site: SITE },
      day,
      [{ by: 'human', now: 533, usual: 820, lasting: true }],
      [{ path: '/quickstart', now: 267, before: 410 }],
    ),
    'down',
    SITE,
  ),
  post(
    'digest/alert/none',
    alertMessage({ site: SITE }, day, [{ by: 'human', now: 0, usual: 820 }], []),
    'down',
    SITE,
  ),
];
