import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import type { PollFailure } from '../../../../src/jobs/engine/polling.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, someBackground } from '../../../support/jobs/agent/builders.ts';
import { type GalleryState, pick, post } from '../../state.ts';
import {
  archived,
  BEN,
  building,
  built,
  byLong,
  ended,
  first,
  long,
  PULL_REQUEST,
  RTL_NAME,
  seen,
  unmade,
} from './examples.ts';

const card = (name: string, changes: Partial<ThreadRun>) =>
  post(`agent/card/${name}`, pick(threadMessages, aThread(changes), 'card'));

const failing = (kind: PollFailure['kind']) => ({ pollFailure: { kind, inARow: 3, nextMs: NOW_MS } });

export const cards: GalleryState[] = [
  card('idle', {}),
  card('idle, with a pull request', seen({ prLink: PULL_REQUEST, model: 'opus-9' })),
  card('idle, with previews', { ...seen({ prLink: PULL_REQUEST }), previews: true }),
  card('idle, a preview is built', { ...seen({ prLink: PULL_REQUEST }), previews: true, preview: building }),
  card('idle, with a preview', { ...seen({ prLink: PULL_REQUEST }), previews: true, preview: built }),
  card('idle, pull request without an address', seen({ prLink: 'acme#7' })),
  card('working', { rounds: [aRound()] }),
  card('idle, with a title', { title: 'Add error handling' }),
  card('idle, from a digest', { title: 'Fix /guides/testing' }),
  card('no longer watched', {
    rounds: [aRound({ ending: { kind: 'gaveUp', afterMs: 6 * 3_600_000, atMs: NOW_MS } })],
  }),
  post(
    'agent/instruction',
    pick(
      threadMessages,
      aThread({ instructions: [{ ...first, isReply: false, excerpt: 'Also…' }] }),
      'instruction',
    ),
  ),
  card('a send is unclear, working', {
    rounds: [aRound()],
    instructions: [anInstruction({ state: 'unknown' })],
  }),
  card('archived, a round is open', { ...archived, rounds: [aRound()] }),
  card('polls fail, key, working', { ...failing('key'), rounds: [aRound()] }),
  card('polls fail, down, working', { ...failing('down'), rounds: [aRound()] }),
  card('polls fail from the start', { seen: undefined, ...failing('down') }),
  card('every reply, several people', { mode: 'all', othersAtMs: NOW_MS }),
  card('a send is unclear', { instructions: [anInstruction({ state: 'unknown' })] }),
  card('one instruction waiting', { instructions: [anInstruction()] }),
  card('instructions waiting', { instructions: [anInstruction(), anInstruction({ id: '2' })] }),
  card('asked about earlier messages', {
    instructions: [anInstruction({ state: 'held', background: someBackground })],
  }),
  ...[true, false].map((isHere) => {
    const question = { askedAtMs: NOW_MS, isHere, isOpenToAll: true };
    const one = anInstruction({ state: 'held', background: someBackground, question });
    return card(`asked about earlier messages ${isHere ? 'here' : 'elsewhere'}, open to all`, {
      instructions: [one],
    });
  }),
  card('asked about earlier messages, before the job is made', {
    ...unmade,
    instructions: [anInstruction({ state: 'held', creates: true, background: someBackground })],
  }),
  card('one reply held', { othersAtMs: NOW_MS, instructions: [anInstruction({ state: 'held' })] }),
  card('two replies held', {
    othersAtMs: NOW_MS,
    instructions: [anInstruction({ state: 'held' }), anInstruction({ id: '2', state: 'held' })],
  }),
  card('every reply', { mode: 'all' }),
  card('only mentions', { mode: 'mention' }),
  card('in a direct message', { inDirectMessage: true }),
  card('not looked at yet', { seen: undefined }),
  card('failed', seen({ status: 'failed', rawStatus: 'failed' })),
  card('archived', seen({ status: 'archived', rawStatus: 'archived' })),
  card('a state of its own', seen({ status: 'unknown', rawStatus: 'reviewing' })),
  card('a state without a word', seen({ status: 'unknown', rawStatus: '' })),
  card('unknown to the platform', { notFound: true }),
  card('starting', { ...unmade, instructions: [first] }),
  card('start unclear', { ...unmade, instructions: [{ ...first, state: 'unknown' }] }),
  card('not started', { ...unmade, instructions: [{ ...first, state: 'failed' }] }),
  ...(['down', 'limit', 'key', 'forbidden', 'project'] as const).map((kind) =>
    card(`polls fail, ${kind}`, failing(kind)),
  ),
  card('stopped', ended('stopped', { by: BEN, unsent: 2 })),
  card('stopped by nobody', ended('stopped', { unsent: 1 })),
  card('not made', { ...unmade, ...ended('notMade') }),
  card('perhaps not made', { ...unmade, ...ended('notMade'), instructions: [{ ...first, state: 'left' }] }),
  card('broken', ended('broken', { ref: '7f3c1d' })),
  card('long names', long),
  card('long name of a project', { ...failing('project'), project: 'docs-of-'.repeat(10) }),
  card('name from right to left', { owner: { id: 'U0ANA', name: RTL_NAME } }),
  card('stopped by a long name', ended('stopped', { by: byLong.by, unsent: 2 })),
];
