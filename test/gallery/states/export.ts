import { exportModalView, settingsView, watchView } from '../../../src/commands/export/modal.ts';
import { askWhetherMeant } from '../../../src/commands/export/start.ts';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import {
  earlierAttemptMessage,
  noPlaceMessage,
  runningMessage,
  unchangedProgressMessage,
} from '../../../src/jobs/export/reply-view.ts';
import { exportMessages, retractedMessage } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, ana, aProject, beta, gus } from '../../support/commands/builders.ts';
import { anEnding, aRun, ended } from '../../support/jobs/export/builders.ts';
import { REQUEST, THREAD } from '../../support/jobs/export/rendering.ts';
import { answered, type GalleryState, modal, pick, post, timesBelowCard, toldBelowCard } from '../state.ts';

const SITE = 'docs.acme.com';
const MINUTE = 60_000;

const accepted: Partial<ExportRun> = { jobId: undefined, startedAtMs: undefined, status: undefined };
const at = (fraction: number) => [{ atMs: NOW_MS, fraction }];
/** It was started elsewhere, and only its id is known. */
const byJob: Partial<ExportRun> = { joined: true, domain: '', startedAtMs: undefined };
const longName = { id: 'U0ANA', name: 'Ana '.repeat(100) };
const halfDone: Partial<ExportRun> = {
  snapshots: [{ atMs: NOW_MS, fraction: 0.42 }],
  pageCount: 128,
};
const ben = { id: 'U0BEN', name: 'ben' };

const shown =
  (part: string, tell = post) =>
  (name: string, run: ExportRun, state: string, subject = SITE) =>
    tell(`export/${name}`, pick(exportMessages(run), part), state, subject);
const card = shown('card');
const progress = shown('progress', toldBelowCard);
const endedProgress = shown('progress', timesBelowCard);
const ending = shown('end');
const question = shown('question');

const cards: GalleryState[] = [
  card('card/queued', aRun({ ...accepted, state: 'starting' }), 'Queued'),
  card('card/running', aRun(halfDone), 'Exporting'),
  card('card/one page', aRun({ paths: ['/guides/webhooks'] }), 'Exporting'),
  card('card/some pages, labelled', aRun({ version: '1.2', paths: ['/a', '/b'] }), 'Exporting'),
  card('card/watched', aRun({ joined: true }), 'Exporting'),
  card('card/by its job alone', aRun({ joined: true, domain: '' }), 'Exporting', 'job se_3f9a…4a06'),
  card('card/long name', aRun({ version: '1.2', requester: longName }), 'Exporting'),
  card('card/in a direct message', aRun({ inDirectMessage: true }), 'Exporting'),
  card('card/making the link', aRun({ state: 'bundling' }), 'Exporting'),
  card('card/making another link', aRun({ state: 'bundling', relinked: 1 }), 'Exported'),
  card('card/start unclear', aRun({ ...accepted, state: 'unknown' }), 'Needs an answer'),
  card('card/done', ended(anEnding.done), 'Exported'),
  card('card/failed', ended(anEnding.failed), 'Export failed'),
  card('card/not started', ended(anEnding.notStarted, accepted), 'Not started'),
  card('card/lost', ended(anEnding.lost), 'Not found'),
  card('card/no longer watched', ended(anEnding.gaveUp), 'No longer watched'),
  card('card/done without a link', ended(anEnding.noLink), 'Exported, no link yet'),
  card('card/no further link', ended(anEnding.noLink, { relinked: 1 }), 'Exported, no new link yet'),
  card('card/left unclear', ended(anEnding.left, accepted), 'Not started again'),
  card('card/broken', ended(anEnding.broken), 'Stopped by an error'),
  card('card/ended, nobody knows why', aRun({ state: 'ended' }), 'Stopped by an error'),
];

const trouble = (kind: NonNullable<ExportRun['pollFailure']>['kind'], changes: Partial<ExportRun> = {}) =>
  aRun({ ...halfDone, pollFailure: { kind, inARow: 3, nextMs: NOW_MS + MINUTE }, ...changes });
const told401 = { kind: 'key' as const, inARow: 1, nextMs: NOW_MS + MINUTE, adminsTold: true };

const wrongId = aRun({ ...accepted, state: 'unknown', unknownJobId: 'se_3f9a77bd04c24a07' });

const progresses: GalleryState[] = [
  progress('progress/queued', aRun({ status: 'queued' }), 'Queued'),
  progress(
    'progress/queued, watched',
    aRun({ status: 'queued', joined: true, snapshots: [{ atMs: NOW_MS }] }),
    'Queued',
  ),
  progress('progress/running', aRun(), 'Exporting'),
  progress('progress/42 percent', aRun(halfDone), 'Exporting'),
  progress('progress/99.9 percent, one page', aRun({ snapshots: at(0.999), pageCount: 1 }), 'Exporting'),
  progress('progress/many pages', aRun({ snapshots: at(1), pageCount: 12_480 }), 'Exporting'),
  progress(
    'progress/words that say nothing',
    aRun({ status: ' \u202E', progressText: '\n\u202E' }),
    'Exporting',
  ),
  progress(
    'progress/watched',
    aRun({ joined: true, startedAtMs: undefined, snapshots: at(0.42) }),
    'Exporting',
  ),
  progress(
    'progress/two polls failed',
    aRun({ pollFailure: { kind: 'down', inARow: 2, nextMs: NOW_MS } }),
    'Exporting',
  ),
  progress('progress/in words', aRun({ progressText: 'rendering pages' }), 'Exporting'),
  progress('progress/a state of its own', aRun({ status: 'optimizing' }), 'optimizing'),
  progress(
    'progress/stalled',
    aRun({ ...halfDone, stalled: true, movedAtMs: NOW_MS - 20 * MINUTE }),
    'Exporting',
  ),
  progress('progress/out of reach', trouble('down'), 'Exporting'),
  progress(
    'progress/out of reach at first',
    trouble('down', { ...accepted, snapshots: [], pageCount: undefined, state: 'starting' }),
    'Queued',
  ),
  progress('progress/limit', trouble('limit'), 'Exporting'),
  progress('progress/key', trouble('key'), 'Exporting'),
  progress('progress/key, admins told', aRun({ pollFailure: told401 }), 'Exporting'),
  progress('progress/forbidden', trouble('forbidden'), 'Exporting'),
  progress('progress/project missing', trouble('project'), 'Exporting'),
  progress('progress/link out of reach', trouble('down', { state: 'bundling' }), 'Making the download link'),
  endedProgress(
    'progress/making another link',
    aRun({ ...halfDone, state: 'bundling', relinked: 1 }),
    'exported',
  ),
  progress('progress/start unclear, wrong id', wrongId, 'Needs an answer'),
  endedProgress('progress/done', ended(anEnding.done, { pageCount: 412 }), 'exported'),
];

const questions: GalleryState[] = [
  question('question/start unclear', aRun({ ...accepted, state: 'unknown' }), 'start'),
  question('question/wrong id', wrongId, 'start'),
  ...(['startAgain', 'leave', 'watchIt', 'late'] as const).map((action) =>
    question(
      `question/${action}`,
      aRun({ attempt: 2, answer: { attempt: 1, by: 'ben', byId: 'U0BEN', action } }),
      'unclear',
    ),
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
  ending('ending/done', ended(anEnding.done, { pageCount: 412 }), 'exported'),
  ending('ending/done, two are told', ended(anEnding.done, { pageCount: 1, watchers: [ben] }), 'exported'),
  ending('ending/done, end of link unknown', ended(done({ linkEndsAtMs: undefined })), 'exported'),
  ending('ending/done, privately', ended(done(privately)), 'exported'),
  ending('ending/done, privately, two are told', ended(done(privately), { watchers: [ben] }), 'exported'),
  ending(
    'ending/done, direct messages refused',
    ended(done({ ...privately, refusal: 'messages_tab_disabled' })),
    'exported',
  ),
  ending(
    'ending/done, one byte, of a job alone',
    ended(done({ sizeBytes: 1 }), { ...byJob, pageCount: 1 }),
    'exported',
    'job se_3f9a…4a06',
  ),
  ending(
    'ending/done, with nothing else told',
    ended({ kind: 'done', link: 'x' }, { completedAtMs: undefined }),
    'exported',
  ),
  ending('ending/link over', ended(done({ expired: true })), 'exported'),
  ending('ending/failed', ended(anEnding.failed, halfDone), 'failed'),
  ending('ending/failed without a reason', ended({ kind: 'failed' }, { completedAtMs: undefined }), 'failed'),
  ending('ending/failed, of a job alone', ended({ kind: 'failed' }, byJob), 'failed', 'job se_3f9a…4a06'),
  ending(
    'ending/failed, with a long reason and a label',
    ended({ kind: 'failed', reason: '😀'.repeat(400) }, { version: '1.2\n<!here>' }),
    'failed',
  ),
  ...(['plan', 'key', 'limit', 'down', 'project'] as const).map((why) =>
    ending(`ending/not started, ${why}`, ended(notStarted({ why }), accepted), 'not started'),
  ),
  ...(['domain', 'other'] as const).map((why) =>
    ending(`ending/not started, ${why}`, ended(notStarted({ why }), accepted), 'othing was started'),
  ),
  ending(
    'ending/not started, label or pages',
    ended(notStarted({ why: 'domain', reason: 'Unknown path' }), { ...accepted, paths: ['/a'] }),
    'othing was started',
  ),
  ...(['key', 'plan'] as const).map((why) =>
    ending(
      `ending/not started, ${why}, admins told`,
      ended(notStarted({ why, adminsTold: true }), accepted),
      'not started',
    ),
  ),
  ending(
    'ending/not permitted',
    ended(notStarted({ why: 'permission', reason: '@Ben' }), accepted),
    'not started',
  ),
  ending(
    'ending/not permitted, nobody to ask',
    ended(notStarted({ why: 'permission' }), accepted),
    'not started',
  ),
  ending('ending/lost', ended(anEnding.lost), 'no longer knows'),
  ending('ending/lost, watched', ended(anEnding.lost, { joined: true }), 'does not know'),
  ending(
    'ending/lost, with an id that somebody gave',
    ended(anEnding.lost, { answer: { attempt: 1, by: 'ana', byId: 'U0ANA', action: 'watchIt' } }),
    'does not know',
  ),
  ending('ending/no longer watched', ended(anEnding.gaveUp), 'stopped watching'),
  ending('ending/no link', ended(anEnding.noLink), 'could not get'),
  ending('ending/no link, key', ended({ kind: 'noLink', why: 'key' }), 'could not get'),
  ending('ending/no link, project', ended({ kind: 'noLink', why: 'project' }), 'could not get'),
  ending('ending/no further link', ended(anEnding.noLink, { relinked: 1 }), 'could not get'),
  ending('ending/broken', ended(anEnding.broken), 'broke'),
  ending('ending/broken at the start', ended(anEnding.broken, accepted), 'broke'),
];

const direct: GalleryState[] = [
  shown('private')('direct message/link', ended(done(privately)), 'exported'),
  shown('refused')(
    'direct message/refused, to somebody who wanted to be told',
    ended(anEnding.notStarted, { ...accepted, kept: undefined, watchers: [ben] }),
    'othing was started',
  ),
  shown('private')('direct message/link over', ended(done({ ...privately, expired: true })), 'exported'),
];

const retracted = (name: string, end: Ending, changes: Partial<ExportRun> = accepted) =>
  answered(`export/${name}`, retractedMessage(ended(end, changes)));
const misspelt = (name: string, refused: boolean) =>
  answered(
    `export/${name}`,
    askWhetherMeant(
      { domain: 'docs.acm.com', meant: SITE, refused },
      { domain: 'docs.acm.com', project: undefined, version: undefined, paths: undefined, privately: false },
      aCaller(),
    ),
  );
const running = (name: string, run: ExportRun, mayFollow = true, readerId = ben.id) =>
  answered(
    `export/${name}`,
    runningMessage(run, NOW_MS, { thread: mayFollow ? THREAD : undefined, mayFollow, readerId }, REQUEST),
  );
const elsewhere = aRun({ asked: { channel: 'D0ANA', joinable: false, isPublic: false, atMs: NOW_MS } });

const answers: GalleryState[] = [
  retracted('answer/refused', anEnding.notStarted),
  retracted('answer/refused without a reason', notStarted({ why: 'other' })),
  retracted('answer/no longer permitted', notStarted({ why: 'permission', reason: '@Ben' })),
  retracted('answer/no such export', anEnding.lost, { joined: true, jobId: 'nonsense' }),
  misspelt('answer/a domain like a known one', false),
  misspelt('answer/a domain like one that is set up', true),
  running('answer/running already', aRun(halfDone)),
  running('answer/running already, elsewhere', aRun(), false),
  running('answer/watched already', aRun({ joined: true })),
  running('answer/start unclear', aRun({ ...accepted, state: 'unknown' })),
  running("answer/running already, the reader's own", aRun(), true, ana.id),
  running("answer/start unclear, the reader's own", aRun({ ...accepted, state: 'unknown' }), true, ana.id),
  running('answer/start unclear, elsewhere', aRun({ ...accepted, state: 'unknown' }), false),
  answered('export/answer/nothing new', unchangedProgressMessage(aRun(halfDone))),
  answered('export/answer/nothing new, no percentage', unchangedProgressMessage(aRun())),
  answered('export/answer/nothing new, queued', unchangedProgressMessage(aRun({ status: 'queued' }))),
  answered(
    'export/answer/nothing new, a state of its own',
    unchangedProgressMessage(aRun({ status: 'Packaging' })),
  ),
  answered('export/answer/nothing new, limit', unchangedProgressMessage(trouble('limit'))),
  answered('export/answer/nothing new, ended', unchangedProgressMessage(ended(anEnding.gaveUp))),
  answered(
    'export/answer/nothing new, start unclear',
    unchangedProgressMessage(aRun({ ...accepted, state: 'unknown' })),
  ),
  answered('export/answer/an earlier attempt', earlierAttemptMessage),
  answered('export/answer/not in the channel', noPlaceMessage(aRun(), 'not_in_channel')),
  answered('export/answer/not in a private channel', noPlaceMessage(aRun(), 'channel_not_found')),
  answered('export/answer/no such channel', noPlaceMessage(elsewhere, 'channel_not_found')),
  answered('export/answer/refused by Slack', noPlaceMessage(elsewhere, 'restricted_action')),
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

const modals: GalleryState[] = [
  modal(
    'export/modal/any domain',
    exportModalView({}, { user: ana, channel }, { ...inThread, projects: [aProject()] }),
  ),
  modal(
    'export/modal/opened on Home',
    exportModalView(
      {},
      { user: ana, channel: { id: '', name: '' } },
      { ...inThread, projects: [aProject()] },
    ),
  ),
  modal(
    'export/modal/known domains',
    exportModalView({}, { user: ana, channel }, { ...inThread, projects: [acme, beta] }),
  ),
  modal(
    'export/modal/one domain',
    exportModalView({}, { user: ana, channel }, { ...inThread, projects: [{ ...acme, domains: [SITE] }] }),
  ),
  modal(
    'export/modal/project asked for, filled in',
    exportModalView(request, { user: ana, channel }, { ...inThread, projects: [acme, someDomains] }),
  ),
  ...(
    [
      ['a domain of two projects', [acme, { ...beta, domains: ['docs.acme.com'] }]],
      ['a list of domains', [{ ...acme, domains: manyDomains(12) }]],
      ['more domains than Slack lists', [{ ...acme, domains: manyDomains(101) }]],
      [
        'a domain longer than Slack shows',
        [{ ...acme, domains: [SITE, `${'a'.repeat(60)}.${'b'.repeat(12)}.io`] }],
      ],
    ] as const
  ).map(([name, projects]) =>
    modal(`export/modal/${name}`, exportModalView({}, { user: ana, channel }, { ...inThread, projects })),
  ),
  modal(
    'export/modal/for a guest',
    exportModalView({}, { user: gus, channel }, { ...inThread, projects: [aProject()] }),
  ),
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
    'export/modal/deployment settings',
    settingsView(
      ended(anEnding.done, { version: '1.2' }),
      'https://bundles.example/b.zip?X-Signature=3f9a77bd04c24a06',
      NOW_MS + 30 * MINUTE,
    ),
  ),
  modal(
    'export/modal/deployment settings, end of link unknown',
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
