import type { Instruction, SendProblem, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { type GalleryState, pick, post } from '../../state.ts';
import { ANA, archived, BEN, byLong, ended, first, seen, unmade } from './examples.ts';

const MINUTE = 60_000;

const troubleWith = (name: string, changes: Partial<SendProblem>, thread: Partial<ThreadRun> = {}) =>
  post(
    `agent/not sent/${name}`,
    pick(threadMessages, aThread({ ...thread, instructions: [aTrouble(changes)] }), 'problem'),
  );
const answer = (action: NonNullable<SendProblem['answer']>['action']) => ({
  answer: { by: BEN, action },
});
const WHY = ['refused', 'key', 'forbidden', 'down', 'project', 'archived', 'gone', 'unsupported'] as const;

export const troubles: GalleryState[] = [
  // The question says where it stands.
  troubleWith('unclear', {}),
  troubleWith('unclear, archived', {}, archived),
  troubleWith('unclear whether the job was made', { creates: true }, unmade),
  troubleWith(
    'unclear, no longer followed',
    { creates: true },
    {
      ...unmade,
      ...ended('notMade'),
    },
  ),
  ...WHY.map((why) => troubleWith(`${why}`, { why, creates: why === 'unsupported' })),
  troubleWith('refused, with a reason', { why: 'refused', reason: 'Too vague' }),
  troubleWith('key, admins told', { why: 'key', adminsAlerted: true }),
  troubleWith('archived, with its day', { why: 'archived' }, seen({ archivedAtMs: NOW_MS })),
  troubleWith('unclear, unknown since', {}, { notFound: true }),
  troubleWith('job refused', { why: 'refused', creates: true }),
  troubleWith('job forbidden', { why: 'forbidden', creates: true }),
  troubleWith('archived, no longer followed', { why: 'archived' }, ended('stopped')),
  troubleWith('refused, archived since', { why: 'refused' }, archived),
  troubleWith('refused, unknown since', { why: 'refused' }, { notFound: true }),
  troubleWith('answered, sent again', answer('sendAgain')),
  troubleWith('answered, left', answer('leave')),
  troubleWith('answered late', answer('late')),
  troubleWith('not sent, sent again', { why: 'refused', ...answer('sendAgain') }),
];

type Limit = NonNullable<ThreadRun['limit']>;
const aLimit = (changes: Partial<Limit> = {}): Limit => ({
  n: 1,
  perHour: 100,
  untilMs: NOW_MS + 40 * MINUTE,
  ...changes,
});
const limited = (name: string, changes: Partial<Limit>, waiting: number, creates = false) =>
  post(
    `agent/limit/${name}`,
    pick(
      threadMessages,
      aThread({
        limit: aLimit(changes),
        instructions: Array.from({ length: waiting }, (_, index) =>
          anInstruction({ id: `${index}`, creates }),
        ),
      }),
      'limit',
    ),
  );
const MENDS = { by: BEN, text: 'Mend the links', excerpt: 'Mend the links' };
const QUICKSTART = { id: '1', by: ANA, excerpt: 'Add a quickstart' };
/** So many wait until the agent is done. */
const turn = (
  name: string,
  waiting: number,
  changes: Partial<ThreadRun['turn']> = {},
  round: Partial<ThreadRun['rounds'][0]> = {},
  {
    first,
    before = [],
    ...thread
  }: Partial<ThreadRun> & { first?: Partial<Instruction>; before?: Instruction[] } = {},
) =>
  post(
    `agent/turn/${name}`,
    pick(
      threadMessages,
      aThread({
        turn: { n: 2, ...changes },
        rounds: [aRound({ last: QUICKSTART, ...round })],
        instructions: [
          ...before,
          ...Array.from({ length: waiting }, (_, index) =>
            anInstruction({ id: `${index}`, ...(index === 0 && { ...MENDS, ...first }) }),
          ),
        ],
        ...thread,
      }),
      'limit',
    ),
  );
const ELSEWHERE = { last: undefined, count: 0, found: true };
const DOWN = { kind: 'down', inARow: 3, nextMs: NOW_MS } as const;
const SIX_HOURS = { workedMs: 6 * 60 * MINUTE };

const retrying = (name: string, over: boolean, thread: Partial<ThreadRun> = {}) =>
  post(
    `agent/retry/${name}`,
    pick(
      threadMessages,
      aThread({
        instructions: [anInstruction()],
        retry: { sinceMs: NOW_MS, inARow: 9, nextMs: NOW_MS + MINUTE, expired: over },
        ...thread,
      }),
      'retry',
    ),
  );

export const delays: GalleryState[] = [
  limited('ours, one waits', {}, 1),
  limited('ours, five wait', {}, 5),
  limited('of new jobs', {}, 1, true),
  limited("the platform's", { perHour: undefined }, 1),
  limited('ours, two wait', {}, 2),
  limited('nothing waits', {}, 0),
  limited('discarded, another one waits', { discardedBy: BEN }, 1),
  limited('one an hour', { perHour: 1 }, 1),
  // It is about no instruction any more.
  limited('discarded', { discardedBy: BEN }, 0),
  turn('one waits', 1),
  turn('two wait', 2),
  turn('four wait', 4),
  turn('for work from elsewhere', 1, {}, ELSEWHERE),
  turn('long names', 1, {}, { last: byLong }),
  turn('it is next', 1, {}, { ending: { kind: 'noPr', atMs: NOW_MS } }),
  turn('the agent works for long', 1, SIX_HOURS),
  turn('the agent works for long, two wait', 2, { ...SIX_HOURS, before: 1 }),
  turn(
    'the platform has not answered for hours',
    1,
    SIX_HOURS,
    {},
    { pollFailure: DOWN, ...seen({ status: 'active', rawStatus: 'active' }) },
  ),
  turn('it is being sent', 2, {}, {}, { first: { state: 'sending' } }),
  turn('sent now, but delayed', 1, SIX_HOURS, {}, { first: { sentNowBy: ANA } }),
  turn('another one is unclear', 1, SIX_HOURS, {}, { before: [aTrouble({ id: '9' })] }),
  turn('nothing waits', 0),
  turn('discarded', 0, { discardedBy: BEN }),
  turn('discarded, and another request came', 1, { discardedBy: BEN, isOver: true }),
  retrying('not sent yet', false),
  retrying('not made yet', false, { ...unmade, instructions: [first] }),
  retrying('over', true, {}),
];
