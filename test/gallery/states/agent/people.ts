import { resolveAgentProject } from '../../../../src/commands/agent/follow.ts';
import { instructView, sendModalView } from '../../../../src/commands/agent/modal.ts';
import { UserFacingError } from '../../../../src/commands/intake.ts';
import type { Background } from '../../../../src/jobs/agent/background.ts';
import {
  closedThreadMessage,
  detailsMessage,
  ephemeralMessage,
  mentionMessage,
  offerMessage,
  privateEnding,
  stopQuestion,
  tooManyThreadsMessage,
} from '../../../../src/jobs/agent/thread/ephemeral-view.ts';
import { tooLongText } from '../../../../src/jobs/agent/thread/phrases.ts';
import type { Ephemeral, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadLine } from '../../../../src/jobs/agent/thread/view.ts';
import { parseThreadText } from '../../../../src/jobs/agent/thread-text.ts';
import { noPlaceMessage, notPermittedText } from '../../../../src/jobs/shared/wording-view.ts';
import type { Project } from '../../../../src/projects.ts';
import { type Message, message, preformatted } from '../../../../src/slack/blocks.ts';
import { reportView } from '../../../../src/slack/modals.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aProject } from '../../../support/commands/builders.ts';
import { anInstruction, aRound, aThread, someBackground } from '../../../support/jobs/agent/builders.ts';
import { THREAD } from '../../../support/jobs/export/builders.ts';
import { type GalleryState, modal, post } from '../../state.ts';
import { ANA, BEN, ended, INSTRUCTION, seen, unmade } from './examples.ts';

const only = (
  name: string,
  ephemeral: Partial<Ephemeral> & Pick<Ephemeral, 'kind'>,
  thread: Partial<ThreadRun> = {},
) =>
  post(`agent/ephemeral/${name}`, ephemeralMessage(aThread(thread), { id: 'e1', to: 'U0ANA', ...ephemeral }));
const refused = (name: string, thread: Partial<ThreadRun>) =>
  post(`agent/ephemeral/${name}`, privateEnding(aThread(thread), 1) ?? message([]));
const excerpt = 'looks good, but what about v2?';

const backgrounds: [string, Background][] = [
  ['two messages', someBackground],
  ['one message', { ...someBackground, newest: someBackground.newest.slice(1), count: 1 }],
  ['six messages', { ...someBackground, count: 6 }],
  ['without apps', { ...someBackground, leftOut: 'apps' }],
  ['of a thread', { ...someBackground, isWholeThread: true }],
  ['cut', { ...someBackground, count: 40, isCut: true }],
];

export const ephemerals: GalleryState[] = [
  only('question', { kind: 'question', about: '1', excerpt }),
  only('question, several people', { kind: 'question', about: '1', excerpt }, { othersAtMs: NOW_MS }),
  only('question, every reply', { kind: 'question', about: '1', excerpt }, { mode: 'all' }),
  only('question, to somebody else', { kind: 'question', about: '1', excerpt }, { owner: BEN }),
  only('question, only mentions', { kind: 'question', about: '1', excerpt }, { mode: 'mention' }),
  ...backgrounds.map(([name, background]) =>
    only(
      `background, ${name}`,
      { kind: 'question', about: '1' },
      { instructions: [anInstruction({ id: '1', state: 'held', background })] },
    ),
  ),
  only(
    'question, answered already',
    { kind: 'question', about: '1' },
    { instructions: [anInstruction({ id: '1' })] },
  ),
  only('nothing above, not readable', { kind: 'leftOut', about: 'unread', excerpt }),
  only('nothing above but apps', { kind: 'leftOut', about: 'apps', excerpt }),
  only('files', { kind: 'files' }),
  only('edited', { kind: 'edited' }),
  only('not permitted', { kind: 'notPermitted', about: '@Ben' }),
  only('no longer allowed', { kind: 'noLongerAllowed' }),
  only('empty', { kind: 'tooEmpty' }),
  only('too long', { kind: 'tooLong', characters: 31_000, most: 20_000, excerpt }),
  only('too many', { kind: 'tooMany', most: 20, excerpt }),
  only('too many, of one', { kind: 'tooMany', most: 1, excerpt }),
  only('help', { kind: 'help' }),
  ...(['mention', 'all'] as const).map((mode) => only(`mode ${mode}`, { kind: 'mode', about: mode })),
  only('follows another', { kind: 'followsAlready', about: 'aj_2' }),
  only('follows one to be made', { kind: 'followsAlready', about: 'aj_2' }, unmade),
  only('follows that already', { kind: 'followsAlready', about: 'aj_3f9a77bd04c24a06' }),
  only('which job', { kind: 'badFollow' }),
  only('late mention', { kind: 'lateMention' }),
  only('stopped', { kind: 'stopped' }, ended('stopped', { by: ANA, unsent: 1 })),
  only('over', { kind: 'over' }),
  only('status', { kind: 'status' }),
  only('status, at work', { kind: 'status' }, { rounds: [aRound()], instructions: [anInstruction()] }),
  only('status, before the first poll', { kind: 'status' }, unmade),
  only('status, after the end', { kind: 'status' }, ended('stopped')),
  post('agent/ephemeral/stop', stopQuestion(aThread())),
  post('agent/ephemeral/stop, one waits', stopQuestion(aThread({ instructions: [anInstruction()] }))),
  post(
    'agent/ephemeral/stop, two wait',
    stopQuestion(aThread({ instructions: [anInstruction(), anInstruction({ id: '2' })] })),
  ),
  refused('no such job', { ...ended('unknownJob'), agentJobId: 'nope' }),
  refused('follows one already', ended('taken')),
  refused('not in the channel', ended('noPlace', { code: 'not_in_channel' })),
  post('agent/ephemeral/refused by Slack', noPlaceMessage(false, 'restricted_action', 'sent')),
  post(
    'agent/list',
    message([threadLine(aThread(), THREAD, 'U0ANA'), threadLine(aThread({ agentJobId: 'aj_1' }), undefined)]),
  ),
];

const mention = (name: string, answer: Message) => post(`agent/mention/${name}`, answer);
const says = (text: string) => {
  const parsed = parseThreadText(text);
  if (parsed.kind === 'instruction') throw new Error('that is an instruction');
  return mentionMessage({ id: '5e5e1c2b', problem: undefined }, parsed);
};
const two = ['acme', 'beta'].map((name) => aProject({ name, projectId: `prj_${name}` }));
const problemOf = (projects: Project[], named?: string, jobId?: string) => {
  try {
    resolveAgentProject(projects, { named, channel: 'C0DOCS' }, jobId, jobId && '@Docket');
  } catch (error) {
    if (error instanceof UserFacingError) return error.reply;
  }
  throw new Error('there is a project');
};
const withoutId = (name: string) => [aProject({ name, projectId: undefined })];

export const mentions: GalleryState[] = [
  mention('not permitted', message([[notPermittedText('agent', '@Ben')]])),
  mention('help', says('help')),
  mention('not permitted to export', message([[notPermittedText('export', '@Ben')]])),
  mention('export', says('export docs.acme.com')),
  mention(
    'export, no host name',
    mentionMessage({ id: 'm', problem: undefined }, { kind: 'export', typed: 'readme' }),
  ),
  mention('export, an address', says('export https://docs.acme.com/v2')),
  mention('export, which site', says('export')),
  mention('closed thread', closedThreadMessage),
  mention('nothing followed', says('stop')),
  mention('which project', problemOf(two, undefined, 'aj_3f9a')),
  mention('unknown project', problemOf(two, 'gamma', 'aj_3f9a')),
  mention('project without an id', problemOf(withoutId('acme'))),
  mention('no id', problemOf(withoutId('default'))),
  mention('one thread at most', tooManyThreadsMessage(1)),
  mention('too many threads', tooManyThreadsMessage(100)),
  mention('which job', says('follow')),
  mention('too long', message([`${tooLongText(31_000, 20_000)} Nothing was sent.`])),
  mention('offer', offerMessage('5e5e1c2b', 'Add a quickstart')),
  mention('offer with earlier messages', offerMessage('5e5e1c2b', 'Add a quickstart', someBackground)),
  mention(
    'offer without earlier messages',
    offerMessage('5e5e1c2b', 'Add a quickstart', { ...someBackground, count: 0, leftOut: 'unread' }),
  ),
  mention('project of a new job', problemOf(two)),
];

const other = aThread({ id: 'other', owner: BEN });
const projects = two;
const sends = (name: string, changes: Partial<Parameters<typeof sendModalView>[0]>) =>
  modal(
    `agent/modal/send, ${name}`,
    sendModalView({
      ...{ threads: [aThread()], here: undefined, projects: [], project: undefined, text: INSTRUCTION },
      ...changes,
    }),
  );
const known = seen({ model: 'opus-9', createdAtMs: NOW_MS - 3 * 86_400_000 });
const inDocs = { channel: { id: 'C0DOCS', name: 'docs' } };
export const modals: GalleryState[] = [
  modal('agent/modal/instruct', instructView({ projects: projects.slice(0, 1), project: 'acme' }, inDocs)),
  modal('agent/modal/instruct, several projects', instructView({ projects, project: 'beta' }, inDocs)),
  modal(
    'agent/modal/instruct, in a direct message',
    instructView({ projects, project: undefined }, { channel: { id: 'D0ANA', name: 'directmessage' } }),
  ),
  sends('one job', {}),
  sends('a new job', { threads: [], projects: projects.slice(0, 1), project: 'acme' }),
  sends('a new job in one of two projects', { threads: [], projects }),
  sends('a new job or one that is followed', { projects, project: 'beta' }),
  sends('two that look the same', { threads: [aThread(), other], here: other, text: '' }),
  sends('too long', { text: 'word '.repeat(800) }),
  modal('agent/modal/details', reportView('Agent job', detailsMessage(aThread(known)).blocks)),
  modal(
    'agent/modal/details, the job is being made',
    reportView('Agent job', detailsMessage(aThread({ ...unmade, title: 'Add…' })).blocks),
  ),
  modal('agent/modal/earlier messages', reportView('Earlier messages', [preformatted(someBackground.text)])),
];
