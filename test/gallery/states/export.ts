import { settingsView, watchView } from '../../../src/commands/export/buttons.ts';
import { exportModalView } from '../../../src/commands/export/modal.ts';
import { resolveRequest } from '../../../src/commands/export/start.ts';
import {
  earlierAttemptMessage,
  runningMessage,
  unchangedProgressMessage,
} from '../../../src/jobs/export/progress-view.ts';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import { exportMessages, retractedMessage } from '../../../src/jobs/export/view.ts';
import { noPlaceMessage } from '../../../src/jobs/shared/wording-view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, ana, aProject, beta, gus } from '../../support/commands/builders.ts';
import { anEnding, aRun, ended, REQUEST, THREAD } from '../../support/jobs/export/builders.ts';
import { type GalleryState, modal, pick, post } from '../state.ts';

const SITE = 'docs.acme.com';
const MINUTE = 60_000;

const accepted: Partial<ExportRun> = { jobId: undefined, startedAtMs: undefined, status: undefined };
/** It was started elsewhere, and only its id is known. */
const byJob: Partial<ExportRun> = { joined: true, domain: '', startedAtMs: undefined };
const longName = { id: 'U0ANA', name: 'Ana '.repeat(100) };
const noPlace: Ending = { kind: 'noPlace', code: 'not_in_channel' };
const halfDone: Partial<ExportRun> = { fraction: 0.42, pageCount: 128 };
const ben = { id: 'U0BEN', name: 'ben' };

const shown = (family: string, part: string) => (name: string, changes: Partial<ExportRun>) =>
  post(`export/${family}/${name}`, pick(exportMessages, aRun(changes), part));
const card = shown('card', 'card');
const progress = shown('progress', 'progress');
const ending = shown('ending', 'end');
const question = shown('question', 'question');

const cards: GalleryState[] = [
  card('queued', { ...accepted, state: 'starting' }),
  card('running', halfDone),
  card('one page', { paths: ['/guides/webhooks'] }),
  card('some pages, labelled', { version: '1.2', paths: ['/a', '/b'] }),
  card('watched', { joined: true }),
  card('by its job alone', { joined: true, domain: '' }),
  card('by its job, of a site that the platform names', {
    joined: true,
    domain: '',
    siteDomain: 'docs.acme.com',
  }),
  card('long name', { version: '1.2', by: longName }),
  card('in a direct message', { inDirectMessage: true }),
  card('making the link', { state: 'bundling' }),
  card('making another link', { state: 'bundling', relinked: 1 }),
  card('start unclear', { ...accepted, state: 'unknown' }),
  card('done', ended(anEnding.done)),
  card('failed', ended(anEnding.failed)),
  card('not started', ended(anEnding.notStarted, accepted)),
  card('lost', ended(anEnding.lost)),
  card('no longer watched', ended(anEnding.gaveUp)),
  card('done without a link', ended(anEnding.noLink)),
  card('no further link', ended(anEnding.noLink, { relinked: 1 })),
  card('left unclear', ended(anEnding.left, accepted)),
  card('broken', ended(anEnding.broken)),
  card('ended, nobody knows why', { state: 'ended' }),
];

const trouble = (kind: NonNullable<ExportRun['pollFailure']>['kind'], changes: Partial<ExportRun> = {}) => ({
  ...halfDone,
  pollFailure: { kind, inARow: 3, nextMs: NOW_MS + MINUTE },
  ...changes,
});
const told401 = { kind: 'key' as const, inARow: 1, nextMs: NOW_MS + MINUTE, adminsAlerted: true };

const wrongId: Partial<ExportRun> = { ...accepted, state: 'unknown', unknownJobId: 'se_3f9a77bd04c24a07' };

const progresses: GalleryState[] = [
  progress('queued', { status: 'queued' }),
  progress('queued, watched', { status: 'queued', joined: true, polls: 1 }),
  progress('running', {}),
  progress('42 percent', halfDone),
  progress('99.9 percent, one page', { fraction: 0.999, pageCount: 1 }),
  progress('many pages', { fraction: 1, pageCount: 12_480 }),
  progress('words that say nothing', { status: ' \u202E', progressText: '\n\u202E' }),
  progress('watched', { joined: true, startedAtMs: undefined, polls: 1, fraction: 0.42 }),
  progress('two polls failed', { pollFailure: { kind: 'down', inARow: 2, nextMs: NOW_MS } }),
  progress('in words', { progressText: 'rendering pages' }),
  progress('a state of its own', { status: 'optimizing' }),
  progress('stalled', { ...halfDone, stalled: true, movedAtMs: NOW_MS - 20 * MINUTE }),
  progress('out of reach', trouble('down')),
  progress(
    'out of reach at first',
    trouble('down', { ...accepted, fraction: undefined, pageCount: undefined, state: 'starting' }),
  ),
  progress('the platform has trouble at first', {
    ...accepted,
    state: 'starting',
    pollFailure: { kind: 'down', inARow: 1, nextMs: NOW_MS + MINUTE, untilMs: NOW_MS + 30 * MINUTE },
  }),
  progress('limit', trouble('limit')),
  progress('key', trouble('key')),
  progress('key, admins told', { pollFailure: told401 }),
  progress('forbidden', trouble('forbidden')),
  progress('project missing', trouble('project')),
  progress('link out of reach', trouble('down', { state: 'bundling' })),
  progress('making another link', { ...halfDone, state: 'bundling', relinked: 1 }),
  progress('start unclear, wrong id', wrongId),
  progress('done', ended(anEnding.done, { pageCount: 412 })),
];

const questions: GalleryState[] = [
  question('start unclear', { ...accepted, state: 'unknown' }),
  question('wrong id', wrongId),
  ...(['startAgain', 'leave', 'watchIt', 'late'] as const).map((action) =>
    question(`${action}`, { attempt: 2, answer: { attempt: 1, by: { id: 'U0BEN', name: 'ben' }, action } }),
  ),
];

const done = (changes: Partial<Extract<Ending, { kind: 'done' }>>): Ending => ({
  ...(anEnding.done as Extract<Ending, { kind: 'done' }>),
  ...changes,
});
const notStarted = (changes: Partial<Extract<Ending, { kind: 'notStarted' }>>): Ending => ({
  kind: 'notStarted',
  why: 'other',
  ...changes,
});
const privately = { privately: true };

const endings: GalleryState[] = [
  ending('done', ended(anEnding.done, { pageCount: 412 })),
  ending('done, two are mentioned', ended(anEnding.done, { pageCount: 1, watchers: [ben] })),
  ending('done, end of link unknown', ended(done({ linkEndsAtMs: undefined }))),
  ending('done, privately', ended(done(privately))),
  ending('done, privately, two are mentioned', ended(done(privately), { watchers: [ben] })),
  ending('done, direct messages refused', ended(done({ ...privately, refusal: 'messages_tab_disabled' }))),
  ending('done, one byte, of a job alone', ended(done({ sizeBytes: 1 }), { ...byJob, pageCount: 1 })),
  ending('done, with nothing else told', ended({ kind: 'done', link: 'x' }, { completedAtMs: undefined })),
  ending('link over', ended(done({ expired: true }))),
  ending('failed', ended(anEnding.failed, halfDone)),
  ending('failed without a reason', ended({ kind: 'failed' }, { completedAtMs: undefined })),
  ending('failed, of a job alone', ended({ kind: 'failed' }, byJob)),
  ending(
    'failed, with a long reason and a label',
    ended({ kind: 'failed', reason: '😀'.repeat(400) }, { version: '1.2\n<!here>' }),
  ),
  ...(['plan', 'key', 'limit', 'down', 'project'] as const).map((why) =>
    ending(`not started, ${why}`, ended(notStarted({ why }), accepted)),
  ),
  ...(['domain', 'other'] as const).map((why) =>
    ending(`not started, ${why}`, ended(notStarted({ why }), accepted)),
  ),
  ending(
    'not started, label or pages',
    ended(notStarted({ why: 'domain', reason: 'Unknown path' }), { ...accepted, paths: ['/a'] }),
  ),
  ...(['key', 'plan'] as const).map((why) =>
    ending(`not started, ${why}, admins told`, ended(notStarted({ why, adminsAlerted: true }), accepted)),
  ),
  ending('not permitted', ended(notStarted({ why: 'permission', reason: '@Ben' }), accepted)),
  ending('not permitted, nobody to ask', ended(notStarted({ why: 'permission' }), accepted)),
  ending('lost', ended(anEnding.lost)),
  ending('lost, watched', ended(anEnding.lost, { joined: true })),
  ending(
    'lost, with an id that somebody gave',
    ended(anEnding.lost, { answer: { attempt: 1, by: { id: 'U0ANA', name: 'ana' }, action: 'watchIt' } }),
  ),
  ending('no longer watched', ended(anEnding.gaveUp)),
  ending('no link', ended(anEnding.noLink)),
  ending('no link, key', ended({ kind: 'noLink', why: 'key' })),
  ending('no link, project', ended({ kind: 'noLink', why: 'project' })),
  ending('no further link', ended(anEnding.noLink, { relinked: 1 })),
  ending('broken', ended(anEnding.broken)),
  ending('broken at the start', ended(anEnding.broken, accepted)),
];

const direct: GalleryState[] = [
  shown('direct message', 'private')('link', ended(done(privately))),
  shown('direct message', 'refused')(
    'refused, to somebody who wanted to be told',
    ended(anEnding.notStarted, { ...accepted, kept: undefined, watchers: [ben] }),
  ),
  shown('direct message', 'private')('link over', ended(done({ ...privately, expired: true }))),
];

const retracted = (name: string, end: Ending, changes: Partial<ExportRun> = accepted) =>
  post(`export/${name}`, retractedMessage(ended(end, changes)));
function misspelt(name: string, domains: string[] | undefined) {
  const parts = { projects: [aProject({ domains })], docsDomain: SITE };
  const resolved = resolveRequest({ domain: 'docs.acm.com', privately: false }, aCaller(), parts);
  if (!('answer' in resolved)) throw new Error(`${name} is not asked about`);
  return post(`export/${name}`, resolved.answer);
}
const running = (name: string, run: ExportRun, mayFollow = true, readerId = ben.id) =>
  post(
    `export/${name}`,
    runningMessage(
      run,
      NOW_MS,
      { thread: mayFollow ? THREAD : undefined, mayFollow, readerId },
      { request: REQUEST, privately: false },
    ),
  );
const unchanged = (name: string, changes: Partial<ExportRun>) =>
  post(`export/answer/nothing new${name}`, unchangedProgressMessage(aRun(changes)));

const answers: GalleryState[] = [
  retracted('answer/refused', anEnding.notStarted),
  retracted('answer/refused without a reason', notStarted({ why: 'other' })),
  retracted('answer/no longer permitted', notStarted({ why: 'permission', reason: '@Ben' })),
  retracted('answer/no such export', anEnding.lost, { joined: true, jobId: 'nonsense' }),
  misspelt('answer/a domain like a known one', undefined),
  misspelt('answer/a domain like one that is set up', [SITE]),
  running('answer/running already', aRun(halfDone)),
  running('answer/running already, elsewhere', aRun(), false),
  running('answer/watched already', aRun({ joined: true })),
  running('answer/start unclear', aRun({ ...accepted, state: 'unknown' })),
  running("answer/running already, the reader's own", aRun(), true, ana.id),
  running("answer/start unclear, the reader's own", aRun({ ...accepted, state: 'unknown' }), true, ana.id),
  running('answer/start unclear, elsewhere', aRun({ ...accepted, state: 'unknown' }), false),
  unchanged('', halfDone),
  unchanged(', no percentage', {}),
  unchanged(', queued', { status: 'queued' }),
  unchanged(', a state of its own', { status: 'Packaging' }),
  unchanged(', limit', trouble('limit')),
  unchanged(', no longer watched', ended(anEnding.gaveUp)),
  unchanged(', ended', ended(anEnding.failed)),
  unchanged(', start unclear', { ...accepted, state: 'unknown' }),
  post('export/answer/an earlier attempt', earlierAttemptMessage),
  post('export/answer/not in the channel', retractedMessage(aRun(ended(noPlace)))),
  post('export/answer/not in a private channel', noPlaceMessage(true, 'channel_not_found', 'started')),
  post('export/answer/no such channel', noPlaceMessage(false, 'channel_not_found', 'started')),
  post('export/answer/refused by Slack', noPlaceMessage(false, 'restricted_action', 'started')),
];

const channel = { id: 'C0DOCS', name: 'docs' };
const inThread = { docsDomain: SITE, links: 'thread' as const };
const request = {
  domain: SITE,
  version: '1.2',
  paths: ['/guides', '/api'],
  privately: true,
  project: 'acme',
};
const manyDomains = (count: number) => Array.from({ length: count }, (_, index) => `d${index}.acme.com`);
const someDomains = aProject({ name: 'gamma' });

type Asked = Parameters<typeof exportModalView>;
const asks = (
  name: string,
  projects: Asked[2]['projects'],
  values: Asked[0] = {},
  by: Partial<Asked[1]> = {},
) =>
  modal(
    `export/modal/${name}`,
    exportModalView(values, { user: ana, channel, ...by }, { ...inThread, projects }),
  );

const modals: GalleryState[] = [
  asks('any domain', [aProject()]),
  asks('opened on Home', [aProject()], {}, { channel: { id: '', name: '' } }),
  asks('known domains', [acme, beta]),
  asks('one domain', [{ ...acme, domains: [SITE] }]),
  asks('project asked for, filled in', [acme, someDomains], request),
  asks('a domain of two projects', [acme, { ...beta, domains: [SITE] }]),
  asks('a list of domains', [{ ...acme, domains: manyDomains(12) }]),
  asks('more domains than Slack lists', [{ ...acme, domains: manyDomains(101) }]),
  asks('a domain longer than Slack shows', [
    { ...acme, domains: [SITE, `${'a'.repeat(60)}.${'b'.repeat(12)}.io`] },
  ]),
  asks('for a guest', [aProject()], {}, { user: gus }),
  modal(
    'export/modal/link for oneself alone',
    exportModalView(
      {},
      { user: ana, channel: { id: 'D0ANA', name: 'directmessage' } },
      { projects: [aProject()], docsDomain: undefined, links: 'requester' },
    ),
  ),
  modal('export/modal/watch it', watchView(aRun({ ...accepted, state: 'unknown' }))),
  modal(
    'export/modal/helm values',
    settingsView(
      ended(anEnding.done, { version: '1.2' }),
      'https://bundles.example/b.zip?X-Signature=3f9a77bd04c24a06',
      NOW_MS + 30 * MINUTE,
    ),
  ),
  modal(
    'export/modal/helm values, end of link unknown',
    settingsView(ended(anEnding.done), 'https://bundles.example/b.zip', undefined),
  ),
];

export const exportStates = [
  ...cards,
  ...progresses,
  ...questions,
  ...endings,
  ...direct,
  ...answers,
  ...modals,
];
