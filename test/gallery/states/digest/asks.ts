import { instructionView, subjectView } from '../../../../src/commands/digest/ask.ts';
import { changeModalView, createModalView } from '../../../../src/commands/digest/modal.ts';
import { digestAskMessages } from '../../../../src/jobs/agent/thread/digest-ask-view.ts';
import type { DigestAsk, DigestAskEnding } from '../../../../src/jobs/agent/thread/record.ts';
import { entriesOf } from '../../../../src/jobs/digest/ask-entries.ts';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aCaller, acme, aProject } from '../../../support/commands/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { anAsk, anEdition, aSchedule } from '../../../support/jobs/digest/builders.ts';
import { type GalleryState, modal, pick, post } from '../../state.ts';
import { whole } from './whole.ts';

const WORKSPACE = 'https://acme.example/';
const PLACE = { channel: 'C0DOCS', rootTs: '1789914659.000100' };
const waiting = anInstruction({ id: 'i1', isReply: false });
const ask = (name: string, changes: Partial<DigestAsk>, state: string, subject = '/guides/sso') => {
  const inDirectMessage = changes.channel !== undefined;
  const thread = aThread({
    place: PLACE,
    inDirectMessage,
    instructions: [waiting],
    digestAsks: [anAsk(changes)],
  });
  return post(`digest/ask/${name}`, pick(digestAskMessages(thread, WORKSPACE), 'ask'), state, subject);
};
const neverFollowed = aThread({ place: undefined, state: 'ended', digestAsks: [anAsk()] });
const cameTo = (kind: DigestAskEnding['kind'], more: object = {}): Partial<DigestAsk> => ({
  ending: { kind, atMs: NOW_MS, ...more } as DigestAskEnding,
});
const pullRequest = { prLink: 'https://github.com/acme/docs/pull/131' };

export const askStates: GalleryState[] = [
  ask('asked', {}, 'asked'),
  ask('asked, without a thread', { channel: 'D0ANA' }, 'asked'),
  ask('about a search', { about: '"sso okta"', channel: 'D0ANA' }, 'asked', 'sso okta'),
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
  post(
    'digest/ask/not sent, without a thread',
    pick(digestAskMessages(neverFollowed, WORKSPACE), 'ask'),
    'not sent',
    '/guides/sso',
  ),
  ask('unclear', cameTo('unknown'), 'may not have reached'),
  ask('no longer followed', cameTo('stopped'), 'no longer followed'),
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
/** The modals of digests, and those of [Ask the agent]. */
export const digestModalStates: GalleryState[] = [
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
