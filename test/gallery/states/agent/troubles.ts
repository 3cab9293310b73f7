import type { SendProblem, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { type GalleryState, pick, post } from '../../state.ts';
import { archived, BEN, ended, first, INSTRUCTION, unmade } from './examples.ts';

const MINUTE = 60_000;

const troubleWith = (
  name: string,
  changes: Partial<SendProblem>,
  state: string,
  thread: Partial<ThreadRun> = {},
) =>
  post(
    `agent/not sent/${name}`,
    pick(threadMessages(aThread({ sendProblems: [aTrouble(changes)], ...thread })), 'trouble'),
    state,
    INSTRUCTION,
  );
const answer = (action: NonNullable<SendProblem['answer']>['action']) => ({
  answer: { by: BEN, action },
});
const WHY = ['refused', 'key', 'forbidden', 'down', 'project', 'archived', 'gone', 'unsupported'] as const;

export const troubles: GalleryState[] = [
  // The question says where it stands.
  troubleWith('unclear', {}, 'reach the agent?'),
  troubleWith('unclear, archived', {}, 'reach the agent?', archived),
  troubleWith('unclear whether the job was made', { creates: true }, 'created?', unmade),
  troubleWith('unclear, no longer followed', { creates: true }, 'created?', {
    ...unmade,
    ...ended('notMade'),
  }),
  ...WHY.map((why) =>
    troubleWith(
      `${why}`,
      { why, creates: why === 'unsupported' },
      why === 'unsupported' ? 'not created' : 'Not sent',
    ),
  ),
  troubleWith('refused, with a reason', { why: 'refused', reason: 'Too vague' }, 'Not sent'),
  troubleWith('key, admins told', { why: 'key', adminsTold: true }, 'Not sent'),
  troubleWith('archived, with its day', { why: 'archived', archivedAtMs: NOW_MS }, 'Not sent'),
  troubleWith('unclear, unknown since', {}, 'reach the agent?', { notFound: true }),
  troubleWith('job refused', { why: 'refused', creates: true }, 'not created'),
  troubleWith('job forbidden', { why: 'forbidden', creates: true }, 'not created'),
  troubleWith('archived, no longer followed', { why: 'archived' }, 'Not sent', ended('stopped')),
  troubleWith('refused, archived since', { why: 'refused' }, 'Not sent', archived),
  troubleWith('refused, unknown since', { why: 'refused' }, 'Not sent', { notFound: true }),
  troubleWith('answered, sent again', answer('sendAgain'), 'chose to send'),
  troubleWith('answered, left', answer('leave'), 'chose not to send'),
  troubleWith('not sent, sent again', { why: 'refused', ...answer('sendAgain') }, 'chose to send'),
];

type Limit = NonNullable<ThreadRun['limit']>;
const aLimit = (changes: Partial<Limit> = {}): Limit => ({
  n: 1,
  perHour: 100,
  untilMs: NOW_MS + 40 * MINUTE,
  ...changes,
});
const limited = (
  name: string,
  changes: Partial<Limit>,
  waiting: number,
  state: string,
  subject = INSTRUCTION,
) =>
  post(
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
const retrying = (name: string, over: boolean, thread: Partial<ThreadRun> = {}, subject = INSTRUCTION) =>
  post(
    `agent/retry/${name}`,
    pick(
      threadMessages(
        aThread({
          instructions: [anInstruction()],
          retry: { sinceMs: NOW_MS, inARow: 9, nextMs: NOW_MS + MINUTE, expired: over },
          ...thread,
        }),
      ),
      'retry',
    ),
    'answer',
    subject,
  );

export const delays: GalleryState[] = [
  limited('ours, one waits', {}, 1, 'Kept'),
  limited('ours, five wait', {}, 5, 'Kept', '5 instructions'),
  limited("the platform's", { perHour: undefined }, 1, 'Kept'),
  limited('ours, two wait', {}, 2, 'Kept', '2 instructions'),
  limited('nothing waits', {}, 0, 'Nothing is waiting', 'limit'),
  limited('discarded, another one waits', { discardedBy: BEN }, 1, 'Kept'),
  limited('one an hour', { perHour: 1 }, 1, 'Kept'),
  // It is about no instruction any more.
  limited('discarded', { discardedBy: BEN }, 0, 'discarded', 'waiting'),
  retrying('not sent yet', false),
  retrying('not made yet', false, { ...unmade, instructions: [first] }),
  retrying('over', true, {}, 'docs platform'),
];
