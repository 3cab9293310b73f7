import { instructionView, subjectView } from '../../../src/commands/digest/ask.ts';
import { changeModalView, createModalView } from '../../../src/commands/digest/modal.ts';
import { entriesOf } from '../../../src/jobs/digest/ask/entries.ts';
import type { AskEnding, AskRun } from '../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../src/jobs/digest/ask/view.ts';
import type { EditionRun } from '../../../src/jobs/digest/edition/record.ts';
import {
  notSettledMessage,
  onItsWayMessage,
  postedAlreadyMessage,
  postedMessage,
  previewMessage,
  readingMessage,
  stuckReply,
  waitsMessage,
} from '../../../src/jobs/digest/edition/reply-view.ts';
import { editionMessages } from '../../../src/jobs/digest/edition/view.ts';
import type { PageChange, PlatformCause } from '../../../src/jobs/digest/model.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
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
} from '../../../src/jobs/digest/schedule/view.ts';
import { lastCompleteWeek, spansOf } from '../../../src/jobs/digest/weeks.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, aProject } from '../../support/commands/builders.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';
import { anAsk, anEdition, aPage, aSchedule } from '../../support/jobs/digest/builders.ts';
import { THREAD } from '../../support/jobs/export/rendering.ts';
import { answered, type GalleryState, modal, pick, pickFallback, told } from '../state.ts';

const SITE = 'docs.acme.com';
const DAY = 86_400_000;
const BEN = { id: 'U0BEN', name: 'ben' };

const spans = spansOf(anEdition().range).map((span, index) => ({
  ...span,
  human: 120 + 9 * index,
  ai: 40 + index,
}));
const busiest = aPage('/guides/webhooks', { human: 320, ai: 730, before: { human: 310, ai: 320 } });
const whole = (changes: Partial<EditionRun> = {}) => {
  const { pages } = anEdition();
  return anEdition({
    timetable: 'Mondays 09:00 Europe/Berlin',
    spans,
    totalsBefore: { human: 918, ai: 222 },
    ...(pages && {
      pages: {
        ...pages,
        biggest: { page: busiest, by: 'ai' },
        risingAi: [busiest],
        fallingAi: [busiest],
        rising: [busiest],
        fresh: [aPage('/guides/passkeys', { before: { human: 0, ai: 0 } })],
        aiRead: [aPage('/api/errors', { human: 4, ai: 96 })],
      },
    }),
    readers: {
      ...anEdition().readers,
      questions: {
        asked: 410,
        unanswered: 64,
        category: 'Authentication',
        before: { asked: 390, unanswered: 47 },
      },
      visitors: { total: 3120, before: 3000 },
    },
    followUps: [
      {
        subject: '/guides/sso',
        kind: 'thumbs',
        prLink: 'https://github.com/acme/docs/pull/131',
        before: 9,
        after: 1,
      },
      { subject: 'sso okta', kind: 'search', before: 41, after: 'unlisted' },
      { subject: 'questions that the assistant could not answer', kind: 'questions', before: 47, after: 64 },
      { subject: '/guides/webhooks', kind: 'thumbs', without: 'failed', before: 4, after: 5 },
      { subject: '/quickstart', kind: 'page', without: 'unknown', before: 100, after: 120 },
      { subject: '/start', kind: 'page', without: 'archived', before: 90, after: 80 },
    ],
    ...changes,
  });
};

const biggest = (page: PageChange): Partial<EditionRun> => {
  const { pages } = whole();
  return { ...(pages && { pages: { ...pages, biggest: { page, by: 'human' } } }) };
};
/** The list of the range before is not all of it. */
const lackingBefore = (): Partial<EditionRun> => {
  const { pages } = whole();
  return {
    ...(pages && { pages: { ...pages, sumBefore: { human: 400, ai: 100 } } }),
    totalsBefore: { human: 600, ai: 100 },
  };
};
/** Without a page that rises, falls, or is new. */
const quiet = (count: number): Partial<EditionRun> => {
  const { pages } = anEdition();
  return { ...(pages && { pages: { ...pages, count, falling: [], quiet: [] } }), readers: {}, followUps: [] };
};

const root = (name: string, changes: Partial<EditionRun>, state = 'views') =>
  told(`digest/edition/${name}`, pick(editionMessages(whole(changes)), 'digest'), state, SITE);
const asked: Partial<EditionRun> = { kind: 'asked', week: undefined };
const posted: Partial<EditionRun> = { state: 'posted', pages: undefined };
const failedFor = (
  name: string,
  ended: NonNullable<EditionRun['ended']>,
  changes: Partial<EditionRun> = {},
) =>
  told(
    `digest/edition/failed, ${name}`,
    pick(editionMessages(anEdition({ kind: 'asked', totals: undefined, ended, ...changes })), 'failed'),
    'could not be sent',
    SITE,
  );

const CAUSES: PlatformCause[] = [
  { kind: 'key', status: 401 },
  { kind: 'forbidden', status: 403, said: 'Your address is not allowed' },
  { kind: 'forbidden', status: 400 },
  { kind: 'lost', status: 404 },
  { kind: 'limit', status: 429 },
  { kind: 'limit' },
  { kind: 'down', status: 500 },
  { kind: 'down', status: 200 },
  { kind: 'down' },
];
const late = (name: string, changes: Partial<EditionRun>, state: string) =>
  told(
    `digest/edition/${name}, in the channel`,
    pick(
      editionMessages(
        whole({ totals: undefined, stuck: { kind: 'key', status: 401 }, ended: undefined, ...changes }),
      ),
      'late',
    ),
    state,
    SITE,
  );

const editions: GalleryState[] = [
  root('weekly', {}),
  root('weekly, without a chart', { hasChart: false }),
  root('weekly, the first', { totalsBefore: undefined }),
  root('weekly, the lowest', { trend: { weeks: 8, extreme: 'lowest', way: 'fall', inARow: 3 } }),
  root('weekly, no views', { totals: { human: 0, ai: 0 } }),
  root('pages follow', { ...posted, pagesFromMs: NOW_MS + DAY / 24 }),
  root('pages are held up', { ...posted, pagesHeld: { kind: 'down', status: 500 } }),
  root('too many pages', { ...posted, noPages: 'tooMany' }),
  root('pages failed', { ...posted, noPages: 'failed' }),
  root('late', { late: true }),
  root('fewer views by people', biggest(aPage('/quickstart', { human: 20 }))),
  root('a new page', biggest(aPage('/guides/passkeys', { before: { human: 0, ai: 0 } }))),
  root('asked for', asked),
  root('asked for, one day so far', {
    ...asked,
    range: { from: '2026-09-13', to: '2026-09-14' },
    today: 'soFar',
  }),
  root('asked for, a part of a week', {
    ...asked,
    range: { from: '2026-09-09', to: '2026-09-14' },
    today: 'leftOut',
  }),
  root('asked for, no views', { ...asked, totals: { human: 0, ai: 0 } }),
  root('preview', { kind: 'preview' }, 'Preview'),
  told('digest/pages/table', pick(editionMessages(whole()), 'pages'), 'Top pages', SITE),
  told('digest/pages/without tables', pickFallback(editionMessages(whole()), 'pages'), 'Top pages', SITE),
  told(
    'digest/pages/sum differs',
    pick(editionMessages(whole({ totals: { human: 1000, ai: 300 } })), 'pages'),
    'Top pages',
    SITE,
  ),
  told(
    'digest/pages/sum before differs',
    pick(editionMessages(whole(lackingBefore())), 'pages'),
    'Top pages',
    SITE,
  ),
  told(
    'digest/pages/first, asked for',
    pick(editionMessages(whole({ ...asked, comparesPages: false, readers: {}, followUps: [] })), 'pages'),
    'Top pages',
    SITE,
  ),
  ...[1, 431].map((count) =>
    told(
      `digest/pages/nothing moved, ${count}`,
      pick(editionMessages(whole(quiet(count))), 'pages'),
      'Top pages',
      SITE,
    ),
  ),
  told(
    'digest/pages/readers alone',
    pick(editionMessages(whole({ sections: ['readers'], followUps: whole().followUps.slice(-5) })), 'pages'),
    'looked for',
    SITE,
  ),
  told('digest/pages/preview', pick(editionMessages(whole({ kind: 'preview' })), 'pages'), 'Top pages', SITE),
  failedFor('archived', { why: 'place', code: 'is_archived' }),
  failedFor('place', { why: 'place', code: 'not_in_channel' }),
  failedFor('project', { why: 'project' }),
  failedFor('permission', { why: 'permission' }),
  failedFor('broken', { why: 'broken', ref: '7f3c1d' }),
  failedFor('platform', { why: 'platform' }),
  failedFor('preview', { why: 'platform' }, { kind: 'preview' }),
  ...CAUSES.map((cause) =>
    failedFor(`platform, ${cause.kind} ${cause.status ?? ''}`, { why: 'platform', cause }),
  ),
  late('late', {}, 'is late'),
  late('late, then there', { totals: { human: 900, ai: 300 } }, 'arrived late'),
  late('late, then not there', { ended: { why: 'platform' } }, 'could not be sent'),
];

const schedule = (name: string, shown: Message, state: string) =>
  told(`digest/schedule/${name}`, shown, state, SITE);
const failure = (why: NonNullable<ScheduleRun['failure']>['why'], code?: string) =>
  aSchedule({ failures: 1, failure: { why, week: '2026-W37', ...(code !== undefined && { code }) } });
const missed = Array.from({ length: 7 }, (_, index) => {
  const dueAtMs = NOW_MS - (7 - index) * 7 * DAY;
  return { week: lastCompleteWeek(dueAtMs), dueAtMs };
});
const listed = (name: string, changes: Partial<ScheduleRun>) =>
  answered(`digest/list/${name}`, scheduleEntry(aSchedule(changes), 'U0BEN'));

const schedules: GalleryState[] = [
  told('digest/schedule/first message', testMessage(aSchedule()), 'Weekly digest', SITE),
  told(
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
  schedule('failed, permission', failedMessage(failure('permission')), "couldn't be posted"),
  schedule('failed, broken', failedMessage(failure('broken', '7f3c1d')), "couldn't be posted"),
  schedule('failed, platform', failedMessage(failure('platform')), "couldn't be posted"),
  schedule('late', lateMessage(aSchedule(), { kind: 'down', status: 500 }), 'is late'),
  schedule(
    'failed, then paused',
    failedMessage({ ...failure('platform'), failures: 3, state: 'paused', pausedByFailures: true }),
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
  listed('paused by failures', { state: 'paused', pausedByFailures: true, failures: 3 }),
  listed('paused by one failure', { state: 'paused', pausedByFailures: true, failures: 1 }),
  listed('paused by permission', { state: 'paused', pausedByPermission: true }),
  listed('owner left', { ownerLeft: true }),
  listed('removed', { state: 'removed' }),
];

const day = '2026-09-17';
const alerts: GalleryState[] = [
  told(
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
  told(
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
  told(
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
  told(
    'digest/alert/none',
    alertMessage({ site: SITE }, day, [{ by: 'human', now: 0, usual: 820 }], []),
    'down',
    SITE,
  ),
];

const answers: GalleryState[] = [
  answered('digest/answer/waits', waitsMessage(anEdition(), NOW_MS + DAY / 24)),
  answered('digest/answer/no numbers yet', stuckReply(anEdition(), { kind: 'key', status: 401 })),
  answered('digest/answer/on its way', onItsWayMessage(anEdition())),
  answered('digest/answer/preview', previewMessage(anEdition())),
  answered(
    'digest/answer/any dates',
    readingMessage(anEdition({ range: { from: '2026-09-01', to: '2026-09-11' } }), true),
  ),
  answered('digest/answer/any dates, to be sent directly', readingMessage(anEdition(), false)),
  answered('digest/answer/posted', postedMessage(anEdition(), THREAD)),
  answered('digest/answer/posted already', postedAlreadyMessage(anEdition(), THREAD)),
  answered('digest/answer/posted already, elsewhere', postedAlreadyMessage(anEdition(), undefined)),
  answered('digest/answer/too early', notSettledMessage(lastCompleteWeek(NOW_MS), NOW_MS)),
];

const ask = (name: string, changes: Partial<AskRun>, state: string, subject = '/guides/sso') =>
  told(`digest/ask/${name}`, pick(askMessages(anAsk(changes)), 'ask'), state, subject);
const cameTo = (kind: AskEnding['kind'], more: object = {}): Partial<AskRun> => ({
  state: 'ended',
  threadUrl: THREAD,
  ending: { kind, atMs: NOW_MS, ...more } as AskEnding,
});
const pullRequest = { prLink: 'https://github.com/acme/docs/pull/131' };

const asks: GalleryState[] = [
  ask('asked', { threadUrl: THREAD }, 'asked'),
  ask('asked, without a thread', {}, 'asked'),
  ask('about a search', { subject: { kind: 'search', name: 'sso okta', value: 41 } }, 'asked', 'sso okta'),
  ask('pull request', cameTo('newPr', pullRequest), 'opened'),
  ask('same pull request', cameTo('samePr', pullRequest), 'same pull request'),
  ask('same pull request, without an address', cameTo('samePr'), 'same pull request'),
  ask('pull request without an address', cameTo('newPr'), 'opened'),
  ask('no pull request', cameTo('noPr'), 'without a pull request'),
  ask('failed', cameTo('failed'), 'could not finish'),
  ask('archived', cameTo('archived'), 'archived'),
  ask('unknown to the platform', cameTo('gone'), 'no longer has'),
  ask('no longer watched', cameTo('gaveUp', { afterMs: 6 * 3_600_000 }), 'stopped watching'),
  ask('pull request in words', cameTo('newPr', { prText: 'PR 131' }), 'opened'),
  ask('no longer watched, nobody knows how long', cameTo('gaveUp'), 'stopped watching'),
  ask('not sent', cameTo('notSent'), 'not sent'),
  ask('unclear', cameTo('unknown'), 'may not have reached'),
  ask('no longer followed', cameTo('stopped'), 'no longer followed'),
  ask('unwatched', cameTo('unwatched'), 'stopped watching'),
];

const twice = (path: string) => ({ path, up: 2, down: 9 });
const [entry] = entriesOf(whole(), 'pages');
const [questions] = entriesOf(whole(), 'questions');
if (entry === undefined || questions === undefined) throw new Error('a digest has pages and questions');
const withNumbers = (name: string) => aProject({ ...acme, name, projectId: name });
const tools = { projects: [withNumbers('acme'), withNumbers('beta')], now: () => NOW_MS };

const onePage = {
  ...(anEdition().pages as NonNullable<EditionRun['pages']>),
  ...{ rising: [], falling: [], risingAi: [], fallingAi: [], fresh: [], quiet: [], aiRead: [] },
};
const modals: GalleryState[] = [
  modal('digest/modal/ask about a page', subjectView(whole(), 'pages')),
  modal('digest/modal/ask about a search', subjectView(whole(), 'searches')),
  modal(
    'digest/modal/ask about thumbs',
    subjectView(whole({ readers: { thumbs: [twice('/guides/sso'), twice('/api/errors')] } }), 'thumbs'),
  ),
  modal('digest/modal/ask about questions', instructionView(whole(), questions, [], NOW_MS)),
  modal('digest/modal/ask, no page is listed', subjectView(whole({ pages: undefined }), 'pages')),
  modal(
    'digest/modal/ask, one page is listed',
    subjectView(whole({ pages: { ...onePage, top: onePage.top.slice(0, 1) } }), 'pages'),
  ),
  modal('digest/modal/instruction', instructionView(whole(), entry, [aThread()], NOW_MS)),
  modal('digest/modal/instruction, no job is followed', instructionView(whole(), entry, [], NOW_MS)),
  modal(
    'digest/modal/set up',
    createModalView({ project: tools.projects[0], zone: 'Europe/Berlin' }, aCaller(), tools),
  ),
  modal(
    'digest/modal/set up, one project, no zone',
    createModalView(
      { project: undefined, zone: undefined },
      aCaller({ channel: { id: 'D0ANA', name: 'directmessage' } }),
      {
        ...tools,
        projects: tools.projects.slice(0, 1),
      },
    ),
  ),
  modal('digest/modal/change', changeModalView(aSchedule({ alerts: true, sections: ['pages'] }))),
];

export const digestStates = [...editions, ...schedules, ...alerts, ...answers, ...asks, ...modals];
