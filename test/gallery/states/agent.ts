import { instructView } from '../../../src/commands/agent/instruct-views.ts';
import { sendModalView } from '../../../src/commands/agent/modal.ts';
import type { MentionAnswer } from '../../../src/jobs/agent/mention/record.ts';
import { mentionMessage, projectMessage } from '../../../src/jobs/agent/mention/view.ts';
import { ephemeralMessage, noPlaceMessage } from '../../../src/jobs/agent/thread/ephemeral-view.ts';
import type { Ephemeral, SendTrouble, ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import { threadLine, threadMessages } from '../../../src/jobs/agent/thread/view.ts';
import type { RoundEnding } from '../../../src/jobs/agent/watch/record.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aProject } from '../../support/commands/builders.ts';
import { anInstruction, anOffer, aRound, aThread, aTrouble } from '../../support/jobs/agent/builders.ts';
import { THREAD } from '../../support/jobs/export/rendering.ts';
import { answered, type GalleryState, modal, pick, told } from '../state.ts';

const JOB = 'acme/docs';
const INSTRUCTION = 'Also add error handling';
const MINUTE = 60_000;
const PULL_REQUEST = 'https://github.com/acme/docs/pull/123';
const ANA = { id: 'U0ANA', name: 'ana' };
const BEN = { id: 'U0BEN', name: 'ben' };

const seen = (changes: Partial<NonNullable<ThreadRun['seen']>>) => ({
  seen: { ...(aThread().seen as NonNullable<ThreadRun['seen']>), ...changes },
});
/** A thread whose job is to be made by its first instruction. */
const unmade: Partial<ThreadRun> = { agentJobId: undefined, seen: undefined };
const ended = (why: NonNullable<ThreadRun['ended']>['why'], more: Partial<ThreadRun['ended']> = {}) => ({
  state: 'ended' as const,
  ended: { why, unsent: 0, ...more },
});

const archived = seen({ status: 'archived', rawStatus: 'archived' });

const card = (name: string, changes: Partial<ThreadRun>, state: string, subject = JOB) =>
  told(`agent/card/${name}`, pick(threadMessages(aThread(changes)), 'card'), state, subject);
const first = anInstruction({ creates: true });

const POLL_STATES = {
  down: "Can't check",
  limit: 'Ready',
  key: 'Key rejected',
  forbidden: "Can't check",
  project: "Can't check",
};
/** As long as Slack and the platform let them be. */
const LONG_NAME = 'Maximiliana Alexandra Theodora Wolfeschlegelsteinhausen-Bergerdorff of Hohenlohe';
const LONG_BRANCH = `agent/${'rewrite-the-guides-about-webhooks-'.repeat(6)}`.slice(0, 200);
/** Read from right to left. */
const RTL_NAME = 'אריאלה בן־דוד';
const long = {
  owner: { id: 'U0ANA', name: LONG_NAME },
  ...seen({ ref: LONG_BRANCH, model: 'model-'.repeat(30), prText: 'acme/docs#7 '.repeat(20) }),
};
const byLong = {
  id: '1',
  by: { id: 'U0BEN', name: LONG_NAME },
  excerpt: `${INSTRUCTION} ${'everywhere '.repeat(10)}`,
};
const byRtl = { id: '1', by: { id: 'U0BEN', name: RTL_NAME }, excerpt: INSTRUCTION };

const cards: GalleryState[] = [
  card('idle', {}, 'Ready'),
  card('idle, with a pull request', seen({ prLink: PULL_REQUEST, model: 'opus-9' }), 'Ready'),
  card('idle, pull request without an address', seen({ prText: 'acme#7' }), 'Ready'),
  card('working', { rounds: [aRound()] }, 'Working'),
  card('a send is unclear', { instructions: [anInstruction({ state: 'unknown' })] }, 'Needs an answer'),
  card('one instruction waiting', { instructions: [anInstruction()] }, 'Ready'),
  card('instructions waiting', { instructions: [anInstruction(), anInstruction({ id: '2' })] }, 'Ready'),
  card('one reply held', { crowd: true, instructions: [anInstruction({ state: 'held' })] }, 'Ready'),
  card(
    'two replies held',
    {
      crowd: true,
      instructions: [anInstruction({ state: 'held' }), anInstruction({ id: '2', state: 'held' })],
    },
    'Ready',
  ),
  card('every reply', { mode: 'all' }, 'Ready'),
  card('only mentions', { mode: 'mention' }, 'Ready'),
  card('in a direct message', { inDirectMessage: true }, 'Ready'),
  card('not looked at yet', { seen: undefined }, 'Checking', 'aj_3f9a'),
  card('failed', seen({ status: 'failed', rawStatus: 'failed' }), 'Failed'),
  card('archived', seen({ status: 'archived', rawStatus: 'archived' }), 'Archived'),
  card('a state of its own', seen({ status: 'unknown', rawStatus: 'reviewing' }), 'reviewing'),
  card('a state without a word', seen({ status: 'unknown', rawStatus: '' }), 'unknown state'),
  card('unknown to the platform', { gone: true }, 'Not found'),
  card('starting', { ...unmade, instructions: [first] }, 'Starting', 'new job'),
  card(
    'start unclear',
    { ...unmade, instructions: [{ ...first, state: 'unknown' }] },
    'Needs an answer',
    'new job',
  ),
  card('not started', { ...unmade, instructions: [{ ...first, state: 'failed' }] }, 'Not started', 'new job'),
  ...(['down', 'limit', 'key', 'forbidden', 'project'] as const).map((lookTrouble) =>
    card(`polls fail, ${lookTrouble}`, { lookTrouble }, POLL_STATES[lookTrouble]),
  ),
  card('stopped', ended('stopped', { by: BEN, unsent: 2 }), 'Stopped following'),
  card('stopped by nobody', ended('stopped', { unsent: 1 }), 'Stopped following'),
  card('not made', { ...unmade, ...ended('notMade') }, 'Not made', 'new job'),
  card(
    'perhaps not made',
    { ...unmade, ...ended('notMade'), instructions: [{ ...first, state: 'over', outcome: 'left' }] },
    'Left unclear',
    'new job',
  ),
  card('broken', ended('broken', { ref: '7f3c1d' }), 'Stopped by an error'),
  card('long names', long, 'Ready'),
  card('long name of a project', { lookTrouble: 'project', project: 'docs-of-'.repeat(10) }, "Can't check"),
  card('name from right to left', { owner: { id: 'U0ANA', name: RTL_NAME } }, 'Ready'),
  card('stopped by a long name', ended('stopped', { by: byLong.by, unsent: 2 }), 'Stopped following'),
];

const round = (name: string, changes: Partial<ThreadRun>, state: string) =>
  told(
    `agent/round/${name}`,
    pick(threadMessages(aThread({ rounds: [aRound()], ...changes })), 'round'),
    state,
    INSTRUCTION,
  );
const endingOf = (kind: RoundEnding['kind'], more: Partial<RoundEnding> = {}): RoundEnding => ({
  kind,
  atMs: NOW_MS,
  ...more,
});
const KINDS = ['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp'] as const;
const ROUND_STATES: Record<RoundEnding['kind'], string> = {
  newPr: 'finished',
  samePr: 'finished',
  noPr: 'finished',
  failed: 'failed',
  archived: 'archived',
  gone: 'does not know',
  gaveUp: 'no longer watched',
};

const rounds: GalleryState[] = [
  round('working', {}, 'working'),
  round('working, more waiting', { instructions: [anInstruction()] }, 'working'),
  round('working on three', { rounds: [aRound({ count: 3 })] }, 'working'),
  round('no longer followed', ended('stopped'), 'stopped following'),
  round('long name', { rounds: [aRound({ last: byLong })] }, 'working'),
  round('long name, three', { rounds: [aRound({ last: byLong, count: 3 })] }, 'working'),
  round('name from right to left', { rounds: [aRound({ last: byRtl })] }, 'working'),
  ...KINDS.map((kind) =>
    round(
      kind,
      { rounds: [aRound({ ending: endingOf(kind, { afterMs: 6 * 3_600_000 }) })] },
      ROUND_STATES[kind],
    ),
  ),
  told(
    'agent/round/of a first instruction that is forgotten',
    pick(threadMessages(aThread({ rounds: [aRound({ last: undefined })] })), 'round'),
    'working',
    'instruction',
  ),
];

const end = (
  name: string,
  ending: RoundEnding,
  state: string,
  changes: Partial<ThreadRun['rounds'][0]> = {},
  thread: Partial<ThreadRun> = {},
) =>
  told(
    `agent/ending/${name}`,
    pick(
      threadMessages(aThread({ instructions: [SENT], rounds: [aRound({ ending, ...changes })], ...thread })),
      'end',
    ),
    state,
    changes.count === 0 ? JOB : INSTRUCTION,
  );
const SENT = anInstruction({ state: 'working', round: 1 });
const elsewhere = { count: 0, last: undefined };
const withLink = { prLink: PULL_REQUEST };

const endings: GalleryState[] = [
  end('pull request', endingOf('newPr', withLink), 'pull request'),
  end('pull request, two are told', endingOf('newPr', withLink), 'pull request', { authors: [ANA, BEN] }),
  end('pull request without an address', endingOf('newPr'), 'pull request'),
  end('pull request, instructed elsewhere', endingOf('newPr', withLink), 'pull request', elsewhere),
  end(
    'pull request of another host',
    endingOf('newPr', { prLink: 'https://git.example.org/changes/77' }),
    'pull request',
  ),
  end('same pull request', endingOf('samePr', withLink), 'same pull request'),
  end('same pull request, without an address', endingOf('samePr'), 'same pull request'),
  end('no pull request', endingOf('noPr'), 'without a pull request'),
  end('no pull request, instructed elsewhere', endingOf('noPr'), 'without a pull request', elsewhere),
  end('failed', endingOf('failed'), 'could not finish'),
  end('failed, instructed elsewhere', endingOf('failed'), 'could not finish', elsewhere),
  end('failed, of three', endingOf('failed'), 'could not finish', { count: 3 }),
  end('no pull request, of three', endingOf('noPr'), 'without a pull request', { count: 3 }),
  end('no longer watched, of three', endingOf('gaveUp'), 'stopped watching', { count: 3 }),
  end('no longer watched, instructed elsewhere', endingOf('gaveUp'), 'stopped watching', elsewhere),
  end('archived', endingOf('archived', { archivedAtMs: NOW_MS - 86_400_000 }), 'archived'),
  end('archived, nobody knows when', endingOf('archived'), 'archived'),
  end('unknown to the platform', endingOf('gone'), 'does not know'),
  end('no longer watched', endingOf('gaveUp', { afterMs: 6 * 3_600_000 }), 'stopped watching'),
  end('pull request, long names', endingOf('newPr', withLink), 'pull request', { last: byLong }, long),
  end('no pull request, long branch', endingOf('noPr'), 'without a pull request', elsewhere, long),
  end('archived, instructed elsewhere', endingOf('archived'), 'archived', elsewhere),
  end('archived, long branch', endingOf('archived'), 'archived', elsewhere, long),
  end('unknown to the platform, instructed elsewhere', endingOf('gone'), 'does not know', elsewhere),
  end('failed, of an archived job', endingOf('failed'), 'could not finish', {}, archived),
  told(
    'agent/ending/broken',
    pick(threadMessages(aThread(ended('broken', { ref: '7f3c1d', unsent: 1 }))), 'broken'),
    'stopped following',
    JOB,
  ),
];

const troubleWith = (
  name: string,
  changes: Partial<SendTrouble>,
  state: string,
  thread: Partial<ThreadRun> = {},
) =>
  told(
    `agent/not sent/${name}`,
    pick(threadMessages(aThread({ troubles: [aTrouble(changes)], ...thread })), 'trouble'),
    state,
    INSTRUCTION,
  );
const answer = (action: NonNullable<SendTrouble['answer']>['action']) => ({
  answer: { by: BEN, action, atMs: NOW_MS },
});
const WHY = [
  'refused',
  'key',
  'forbidden',
  'down',
  'project',
  'archived',
  'gone',
  'unsupported',
  'broken',
] as const;

const troubles: GalleryState[] = [
  // The question says where it stands.
  troubleWith('unclear', {}, 'reach the agent?'),
  troubleWith('unclear after a restore', { restored: true }, 'reach the agent?'),
  troubleWith('unclear, archived', {}, 'reach the agent?', archived),
  troubleWith('unclear whether the job was made', { creates: true }, 'made?', unmade),
  troubleWith('unclear, no longer followed', { creates: true }, 'made?', {
    ...unmade,
    ...ended('notMade'),
  }),
  ...WHY.map((why) =>
    troubleWith(
      `${why}`,
      { why, creates: why === 'unsupported' },
      why === 'unsupported' ? 'not made' : 'Not sent',
    ),
  ),
  troubleWith('refused, with a reason', { why: 'refused', reason: 'Too vague' }, 'Not sent'),
  troubleWith('job refused', { why: 'refused', creates: true }, 'not made'),
  troubleWith('job forbidden', { why: 'forbidden', creates: true }, 'not made'),
  troubleWith('archived, no longer followed', { why: 'archived' }, 'Not sent', ended('stopped')),
  troubleWith('refused, archived since', { why: 'refused' }, 'Not sent', archived),
  troubleWith('refused, unknown since', { why: 'refused' }, 'Not sent', { gone: true }),
  troubleWith('answered, sent again', answer('sendAgain'), 'chose to send'),
  troubleWith('answered, left', answer('leave'), 'left it at that'),
  troubleWith('answered late', answer('late'), 'late'),
  troubleWith('answered late, job made', { ...answer('late'), creates: true }, 'late'),
  troubleWith('answered late that not', answer('lateNot'), 'late'),
  troubleWith('answered late that no job', { ...answer('lateNot'), creates: true }, 'late'),
  troubleWith('not sent, sent again', { why: 'refused', ...answer('sendAgain') }, 'chose to send'),
  troubleWith('not sent, left', { why: 'refused', ...answer('leave') }, 'left it at that'),
];

type Limit = NonNullable<ThreadRun['limit']>;
const aLimit = (changes: Partial<Limit> = {}): Limit => ({
  n: 1,
  kind: 'ours',
  perHour: 100,
  sinceMs: NOW_MS,
  untilMs: NOW_MS + 40 * MINUTE,
  refusals: 0,
  ...changes,
});
const limited = (
  name: string,
  changes: Partial<Limit>,
  waiting: number,
  state: string,
  subject = INSTRUCTION,
) =>
  told(
    `agent/limit/${name}`,
    pick(
      threadMessages(
        aThread({
          limit: aLimit(changes),
          instructions: Array.from({ length: waiting }, (_, index) => anInstruction({ id: `${index}` })),
        }),
      ),
      'limit',
    ),
    state,
    subject,
  );
const discarded = (count: number) => ({
  discarded: { by: BEN, count, first: { by: ANA, excerpt: INSTRUCTION } },
});
const retrying = (name: string, over: boolean, thread: Partial<ThreadRun> = {}, subject = INSTRUCTION) =>
  told(
    `agent/retry/${name}`,
    pick(
      threadMessages(
        aThread({
          instructions: [anInstruction()],
          retry: { sinceMs: NOW_MS, inARow: 9, nextMs: NOW_MS + MINUTE, over },
          ...thread,
        }),
      ),
      'retry',
    ),
    'answer',
    subject,
  );

const delays: GalleryState[] = [
  limited('ours, one waits', {}, 1, 'Kept'),
  limited('ours, five wait', {}, 5, 'Kept', '5 instructions'),
  limited("the platform's", { kind: 'platform' }, 1, 'Kept'),
  limited('one an hour', { perHour: 1 }, 1, 'Kept'),
  // It is about no instruction any more.
  limited('over', { over: true }, 0, 'Nothing waits', 'limit'),
  limited('discarded', discarded(1), 0, 'Discarded'),
  limited('two discarded', discarded(2), 0, 'Discarded', '2 instructions'),
  retrying('not sent yet', false),
  retrying('not made yet', false, { ...unmade, instructions: [first] }),
  retrying('over', true, {}, 'docs platform'),
];

const only = (
  name: string,
  ephemeral: Partial<Ephemeral> & Pick<Ephemeral, 'kind'>,
  thread: Partial<ThreadRun> = {},
) =>
  answered(
    `agent/ephemeral/${name}`,
    ephemeralMessage(aThread(thread), { id: 'e1', to: 'U0ANA', ...ephemeral }),
  );
const excerpt = 'looks good, but what about v2?';

const ephemerals: GalleryState[] = [
  only('question', { kind: 'question', about: '1', excerpt }),
  only('question, in a crowd', { kind: 'question', about: '1', excerpt }, { crowd: true }),
  only('question, only mentions', { kind: 'question', about: '1', excerpt }, { mode: 'mention' }),
  only('files', { kind: 'files' }),
  only('edited', { kind: 'edited' }),
  only(
    'edited, perhaps sent',
    { kind: 'edited', about: '1' },
    { instructions: [anInstruction({ id: '1', state: 'unknown' })] },
  ),
  only('not permitted', { kind: 'notPermitted', about: '@Ben' }),
  only('no longer allowed', {
    kind: 'noLongerAllowed',
    excerpt: 'Fix the links\nAdd a quickstart\nDrop v1',
    more: 2,
  }),
  only('empty', { kind: 'tooEmpty' }),
  only('too long', { kind: 'tooLong', characters: 31_000, most: 20_000, excerpt }),
  only('too many', { kind: 'tooMany', most: 20, excerpt }),
  only('too many, of one', { kind: 'tooMany', most: 1, excerpt }),
  only('help', { kind: 'help' }),
  ...(['mention', 'all', 'auto'] as const).map((mode) => only(`mode ${mode}`, { kind: 'mode', about: mode })),
  only('follows another', { kind: 'followsAlready', about: 'aj_2' }),
  only('follows one to be made', { kind: 'followsAlready', about: 'aj_2' }, unmade),
  only('follows that already', { kind: 'followsAlready', about: 'aj_3f9a77bd04c24a06' }),
  only('which job', { kind: 'badFollow' }),
  only('late mention', { kind: 'lateMention' }),
  only('stopped', { kind: 'stopped' }, ended('stopped', { by: ANA, unsent: 1 })),
  only('over', { kind: 'over' }),
  answered('agent/ephemeral/not in the channel', noPlaceMessage(true, 'not_in_channel')),
  answered('agent/ephemeral/refused by Slack', noPlaceMessage(false, 'restricted_action')),
  answered(
    'agent/list',
    message([threadLine(aThread(), THREAD), threadLine(aThread({ agentJobId: 'aj_1' }), undefined)]),
  ),
];

const mention = (name: string, answer: MentionAnswer) =>
  answered(`agent/mention/${name}`, mentionMessage('5e5e1c2b', answer));
const names = ['acme', 'beta'];

const mentions: GalleryState[] = [
  mention('not permitted', { kind: 'refused', ask: '@Ben' }),
  mention('help', { kind: 'help' }),
  mention('not permitted to export', { kind: 'refused', ask: '@Ben', permission: 'export' }),
  mention('export', { kind: 'export', site: 'docs.acme.com' }),
  mention('export, no host name', { kind: 'export', typed: 'readme' }),
  mention('export, an address', {
    kind: 'export',
    typed: 'https://docs.acme.com/v2',
    site: 'docs.acme.com',
  }),
  mention('export, which site', { kind: 'export' }),
  mention('closed thread', { kind: 'closed' }),
  mention('nothing followed', { kind: 'notFollowed' }),
  mention('which project', { kind: 'project', problem: { kind: 'ask', names }, jobId: 'aj_3f9a' }),
  mention('unknown project', {
    kind: 'project',
    problem: { kind: 'unknown', named: 'gamma', names },
    jobId: 'aj_3f9a',
  }),
  mention('project without an id', {
    kind: 'project',
    problem: { kind: 'noId', name: 'acme' },
    jobId: 'aj_3f9a',
  }),
  mention('no id', { kind: 'project', problem: { kind: 'noId', name: 'default' }, jobId: 'aj_3f9a' }),
  mention('which job', { kind: 'badFollow' }),
  mention('too long', { kind: 'tooLong', characters: 31_000, most: 20_000 }),
  mention('offer', anOffer),
  answered(
    'agent/mention/project of a new job',
    projectMessage({ kind: 'ask', names }, '/docs-agent new …', 'new'),
  ),
];

const other = aThread({ id: 'other', owner: BEN });
const projects = ['acme', 'beta'].map((name) => aProject({ name, projectId: `prj_${name}` }));
const inDocs = { channel: { id: 'C0DOCS', name: 'docs' } };
const modals: GalleryState[] = [
  modal('agent/modal/instruct', instructView({ projects: projects.slice(0, 1), project: 'acme' }, inDocs)),
  modal('agent/modal/instruct, several projects', instructView({ projects, project: 'beta' }, inDocs)),
  modal(
    'agent/modal/instruct, in a direct message',
    instructView({ projects, project: undefined }, { channel: { id: 'D0ANA', name: 'directmessage' } }),
  ),
  modal(
    'agent/modal/send, one job',
    sendModalView({ threads: [aThread()], here: undefined, text: INSTRUCTION }),
  ),
  modal(
    'agent/modal/send, a new job',
    sendModalView({
      threads: [],
      here: undefined,
      newJob: { projects: projects.slice(0, 1), project: 'acme' },
      text: INSTRUCTION,
    }),
  ),
  modal(
    'agent/modal/send, a new job in one of two projects',
    sendModalView({
      threads: [],
      here: undefined,
      newJob: { projects, project: undefined },
      text: INSTRUCTION,
    }),
  ),
  modal(
    'agent/modal/send, a new job or one that is followed',
    sendModalView({
      threads: [aThread()],
      here: undefined,
      newJob: { projects, project: 'beta' },
      text: INSTRUCTION,
    }),
  ),
  modal(
    'agent/modal/send, two that look the same',
    sendModalView({ threads: [aThread(), other], here: other, text: '' }),
  ),
  modal(
    'agent/modal/send, too long',
    sendModalView({ threads: [aThread()], here: undefined, text: 'word '.repeat(800) }),
  ),
];

export const agentStates = [
  ...cards,
  ...rounds,
  ...endings,
  ...troubles,
  ...delays,
  ...ephemerals,
  ...mentions,
  ...modals,
];
