import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { answered, type GalleryState, pick, post } from '../../state.ts';
import {
  archived,
  BEN,
  byLong,
  ended,
  first,
  JOB,
  long,
  PULL_REQUEST,
  RTL_NAME,
  seen,
  unmade,
} from './examples.ts';

const card = (name: string, changes: Partial<ThreadRun>, state: string, subject = JOB) =>
  post(`agent/card/${name}`, pick(threadMessages(aThread(changes)), 'card'), state, subject);

const POLL_STATES = {
  down: "Can't check",
  limit: 'Ready',
  key: 'Key rejected',
  forbidden: "Can't check",
  project: "Can't check",
};

export const cards: GalleryState[] = [
  card('idle', {}, 'Ready'),
  card('idle, with a pull request', seen({ prLink: PULL_REQUEST, model: 'opus-9' }), 'Ready'),
  card('idle, pull request without an address', seen({ prText: 'acme#7' }), 'Ready'),
  card('working', { rounds: [aRound()] }, 'Working'),
  card('idle, with a title', { title: 'Add error handling' }, 'Ready', 'Add error handling'),
  answered(
    'agent/instruction',
    pick(
      threadMessages(aThread({ title: 'Also…', instructions: [{ ...first, isReply: false }] })),
      'instruction',
    ),
  ),
  card(
    'a send is unclear, working',
    { rounds: [aRound()], instructions: [anInstruction({ state: 'unknown' })] },
    'Needs an answer',
  ),
  card('archived, a round is open', { ...archived, rounds: [aRound()] }, 'Archived'),
  card('polls fail, key, working', { pollFailure: 'key', rounds: [aRound()] }, 'Key rejected'),
  card('polls fail, down, working', { pollFailure: 'down', rounds: [aRound()] }, 'Working'),
  card('polls fail from the start', { seen: undefined, pollFailure: 'down' }, "Can't check", 'aj_3f9a'),
  card('every reply, in a crowd', { mode: 'all', hasOtherAuthors: true }, 'Ready'),
  card('a send is unclear', { instructions: [anInstruction({ state: 'unknown' })] }, 'Needs an answer'),
  card('one instruction waiting', { instructions: [anInstruction()] }, 'Ready'),
  card('instructions waiting', { instructions: [anInstruction(), anInstruction({ id: '2' })] }, 'Ready'),
  card(
    'one reply held',
    { hasOtherAuthors: true, instructions: [anInstruction({ state: 'held' })] },
    'Ready',
  ),
  card(
    'two replies held',
    {
      hasOtherAuthors: true,
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
  card('unknown to the platform', { notFound: true }, 'Not found'),
  card('starting', { ...unmade, instructions: [first] }, 'Starting', 'new job'),
  card(
    'start unclear',
    { ...unmade, instructions: [{ ...first, state: 'unknown' }] },
    'Needs an answer',
    'new job',
  ),
  card('not started', { ...unmade, instructions: [{ ...first, state: 'failed' }] }, 'Not started', 'new job'),
  ...(['down', 'limit', 'key', 'forbidden', 'project'] as const).map((pollFailure) =>
    card(`polls fail, ${pollFailure}`, { pollFailure: pollFailure }, POLL_STATES[pollFailure]),
  ),
  card('stopped', ended('stopped', { by: BEN, unsent: 2 }), 'Stopped following'),
  card('stopped by nobody', ended('stopped', { unsent: 1 }), 'Stopped following'),
  card('not made', { ...unmade, ...ended('notMade') }, 'Not created', 'new job'),
  card(
    'perhaps not made',
    { ...unmade, ...ended('notMade'), instructions: [{ ...first, state: 'left' }] },
    'Left unclear',
    'new job',
  ),
  card('broken', ended('broken', { ref: '7f3c1d' }), 'Stopped by an error'),
  card('long names', long, 'Ready'),
  card('long name of a project', { pollFailure: 'project', project: 'docs-of-'.repeat(10) }, "Can't check"),
  card('name from right to left', { owner: { id: 'U0ANA', name: RTL_NAME } }, 'Ready'),
  card('stopped by a long name', ended('stopped', { by: byLong.by, unsent: 2 }), 'Stopped following'),
];
