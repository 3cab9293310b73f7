import { UNANSWERED } from '../../../../src/jobs/digest/buttons.ts';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import {
  answerMessage,
  noNumbersMessage,
  notFinalMessage,
  waitsMessage,
} from '../../../../src/jobs/digest/edition/reply-view.ts';
import { editionMessages } from '../../../../src/jobs/digest/edition/view.ts';
import { gapId } from '../../../../src/jobs/digest/gaps.ts';
import type { PageChange, PlatformCause } from '../../../../src/jobs/digest/model.ts';
import type { SinceMerge } from '../../../../src/jobs/digest/row/record.ts';
import { lastPeriod } from '../../../../src/jobs/digest/weeks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anEdition, aPage } from '../../../support/jobs/digest/builders.ts';
import { THREAD } from '../../../support/jobs/export/builders.ts';
import { type GalleryState, pick, pickFallback, post } from '../../state.ts';
import { monthly, TOPICS, whole } from './whole.ts';

const DAY = 86_400_000;

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
const notCompared = (): Partial<EditionRun> => {
  const { pages } = whole();
  return { ...(pages && { pages: { ...pages, sumBefore: undefined } }) };
};
/** One of each kind is old; the oldest comes first. */
const gapsThatStay: Partial<EditionRun> = {
  readers: {
    ...whole().readers,
    questions: { asked: 410, unanswered: 64, category: 'Authentication', topics: TOPICS },
  },
  gaps: {
    [gapId('searches', 'webhook retry')]: { weeks: 3 },
    [gapId('searches', 'sso okta')]: { weeks: 1, back: 5 },
    [gapId('thumbs', '/guides/sso')]: { weeks: 25 },
    [gapId('questions', 'Billing')]: { weeks: 2 },
  },
};
/** Without a page that rises, falls, or is new. */
const quiet = (count: number): Partial<EditionRun> => {
  const { pages } = anEdition();
  return { ...(pages && { pages: { ...pages, count, falling: [], quiet: [] } }), readers: {}, followUps: [] };
};

const part = (name: string, key: string, run: EditionRun) =>
  post(`digest/${name}`, pick(editionMessages, run, key));
const root = (name: string, changes: Partial<EditionRun>) =>
  part(`edition/${name}`, 'digest', whole(changes));
const pages = (name: string, changes: Partial<EditionRun> = {}) =>
  part(`pages/${name}`, 'pages', whole(changes));
const asked: Partial<EditionRun> = { kind: 'asked', week: undefined };
const nobody: Partial<EditionRun> = {
  totals: { human: 0, ai: 0 },
  pages: undefined,
  readers: { visitors: { total: 3120 } },
};
const posted: Partial<EditionRun> = { state: 'posted', pages: undefined };
const failedFor = (
  name: string,
  ended: NonNullable<EditionRun['ended']>,
  changes: Partial<EditionRun> = {},
) =>
  part(
    `edition/failed, ${name}`,
    'failed',
    anEdition({ kind: 'asked', totals: undefined, ended, ...changes }),
  );

const CAUSES: PlatformCause[] = [
  { kind: 'key', status: 401 },
  { kind: 'forbidden', status: 403, platformMessage: 'Your address is not allowed' },
  { kind: 'forbidden', status: 400 },
  { kind: 'lost', status: 404 },
  { kind: 'limit', status: 429 },
  { kind: 'limit' },
  { kind: 'down', status: 500 },
  { kind: 'down', status: 200 },
  { kind: 'down' },
];
const late = (name: string, changes: Partial<EditionRun>) =>
  part(
    `edition/${name}, in the channel`,
    'late',
    whole({ totals: undefined, stuck: { kind: 'key', status: 401 }, ended: undefined, ...changes }),
  );

const merge = (changes: Partial<SinceMerge>): SinceMerge => ({
  link: 'https://github.com/acme/docs/pull/131',
  mergedAtMs: Date.UTC(2026, 7, 18),
  subject: { kind: 'search', name: 'sso okta' },
  ...{ before: 41, after: 6, verdict: 'better' },
  ...changes,
});
const thumbs = (before: number, after: number, verdict: SinceMerge['verdict'], name = '/guides/sso') =>
  merge({ subject: { kind: 'thumbs', name }, before, after, verdict });
const other = { link: 'https://github.com/acme/docs/pull/140' };
const read = merge({ ...other, subject: { kind: 'page', name: '/quickstart' }, before: 310, after: 420 });
const open = merge({
  ...other,
  ...{ subject: { kind: 'questions', name: UNANSWERED }, before: 7, after: 6, verdict: 'unclear' },
});
/** What a digest says since pull requests of earlier requests. */
const SINCE: [name: string, ...since: SinceMerge[]][] = [
  ['better', merge({}), thumbs(9, 1.25, 'better')],
  [
    'worse',
    thumbs(0.5, 4.25, 'worse'),
    merge({ subject: { kind: 'page', name: '/guides/sso' }, before: 90, after: 84, verdict: 'unclear' }),
    merge({}),
    read,
  ],
  ['unclear', open, merge({ before: 4.5, after: 4.25, verdict: 'unclear' })],
  ['not known', thumbs(0, 0, 'unknown')],
];
export const sinceMonth = whole({
  range: { from: '2026-09-01', to: '2026-10-01' },
  since: [thumbs(0.5, 4.25, 'worse', '/guides/mcp'), open, merge({}), read, thumbs(0, 0, 'unknown')],
  sinceMore: 4,
});

export const editionStates: GalleryState[] = [
  root('weekly', {}),
  post('digest/edition/weekly, without a chart', pickFallback(editionMessages, whole(), 'digest')),
  root('weekly, the first', { totalsBefore: undefined }),
  root('weekly, the lowest', { weekViews: [70, 80, 90, 100, 95, 99, 99, 99] }),
  root('weekly, no views', nobody),
  root('monthly', monthly),
  root('monthly, no views', { ...monthly, ...nobody }),
  root('pages follow', { ...posted, pagesWait: { kind: 'limit', untilMs: NOW_MS + DAY / 24 } }),
  root('pages are held up', { ...posted, pagesWait: { kind: 'down', status: 500 } }),
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
  root('asked for, no views', { ...asked, ...nobody }),
  root('preview', { kind: 'preview', inDirectMessage: true }),
  pages('table'),
  pages('monthly', monthly),
  post('digest/pages/without tables', pickFallback(editionMessages, whole(), 'pages')),
  pages('gaps that stay', gapsThatStay),
  pages('nothing but falling pages', { readers: {}, followUps: [] }),
  pages('sum differs', { totals: { human: 1000, ai: 300 } }),
  pages('sum before differs', lackingBefore()),
  pages('first, asked for', { ...asked, ...notCompared(), readers: {}, followUps: [] }),
  ...[1, 431].map((count) => pages(`nothing moved, ${count}`, quiet(count))),
  ...[
    { count: 1, days: 0 },
    { count: 1, days: 9 },
    { count: 4, days: 9 },
  ].map((reviews) => pages(`${reviews.count} waits for ${reviews.days} days`, { followUps: [], reviews })),
  pages('readers alone', { sections: ['readers'], followUps: whole().followUps.slice(-5) }),
  ...SINCE.map(([name, ...since]) => part(`since/${name}`, 'since', whole({ since }))),
  part('since/a month', 'since', sinceMonth),
  post('digest/since/a month, without tables', pickFallback(editionMessages, sinceMonth, 'since')),
  pages('preview', { kind: 'preview', inDirectMessage: true }),
  failedFor('archived', { why: 'place', code: 'is_archived' }),
  failedFor('place', { why: 'place', code: 'not_in_channel' }),
  failedFor('project', { why: 'platform', cause: { kind: 'project' } }),
  failedFor('broken', { why: 'broken', code: '7f3c1d' }),
  failedFor('platform', { why: 'platform' }),
  failedFor('preview', { why: 'platform' }, { kind: 'preview', inDirectMessage: true }),
  ...CAUSES.map((cause) =>
    failedFor(`platform, ${cause.kind} ${cause.status ?? ''}`, { why: 'platform', cause }),
  ),
  late('late', {}),
  late('late, then there', { totals: { human: 900, ai: 300 } }),
  late('late, then not there', { ended: { why: 'platform' } }),
];

const elsewhere = ({ site, range }: EditionRun) => ({ site, range });

/** Answers to people who request a digest. */
export const answerStates: GalleryState[] = [
  post('digest/answer/waits', waitsMessage(anEdition(), NOW_MS + DAY / 24)),
  post('digest/answer/no numbers yet', noNumbersMessage(anEdition(), { kind: 'key', status: 401 })),
  post('digest/answer/on its way', answerMessage('onItsWay', anEdition())),
  post('digest/answer/preview', answerMessage('preview', elsewhere(anEdition()))),
  post(
    'digest/answer/any dates',
    answerMessage('here', elsewhere(anEdition({ range: { from: '2026-09-01', to: '2026-09-11' } }))),
  ),
  post('digest/answer/any dates, to be sent directly', answerMessage('direct', elsewhere(anEdition()))),
  post('digest/answer/posted', answerMessage('posted', anEdition(), THREAD)),
  post('digest/answer/posted already', answerMessage('postedAlready', anEdition(), THREAD)),
  post('digest/answer/posted already, elsewhere', answerMessage('postedAlready', anEdition())),
  post('digest/answer/too early', notFinalMessage(lastPeriod({}, NOW_MS), NOW_MS)),
  post('digest/answer/too early, monthly', notFinalMessage(lastPeriod({ monthly: true }, NOW_MS), NOW_MS)),
];
