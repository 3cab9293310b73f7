import { sanitizeUserText } from '../../../slack/text.ts';
import type { StateWord } from '../../wording-view.ts';
import { type ThreadRun, unresolvedSendOf } from './record.ts';

const needsAnswer: StateWord = { icon: '⚠️', label: 'Needs an answer' };
const working: StateWord = { icon: '⏳', label: 'Working' };
const unchecked: StateWord = { icon: '⚠️', label: "Can't check" };

/** Returns the state of a thread's job. */
export function stateOf(thread: ThreadRun): StateWord {
  const { agentJobId, notFound: gone, pollFailure, rounds, seen, state } = thread;
  if (state === 'ended') return endedState(thread);
  if (agentJobId === undefined) return startState(thread);
  if (gone) return { icon: '❌', label: 'Not found' };
  if (seen?.status === 'archived') return { icon: '📁', label: 'Archived' };
  if (unresolvedSendOf(thread)?.state === 'unknown') return needsAnswer;
  if (pollFailure === 'key') return { icon: '⚠️', label: 'Key rejected' };
  if (rounds.some(({ ending }) => ending === undefined)) return working;
  // A limit is not a failure: the job is polled again soon.
  const canPoll = pollFailure === undefined || pollFailure === 'limit';
  switch (seen?.status) {
    case undefined:
      return canPoll ? { icon: '🕒', label: 'Checking…' } : unchecked;
    case 'active':
      return working;
    case 'completed':
      return canPoll ? { icon: '✅', label: 'Ready' } : unchecked;
    case 'failed':
      return { icon: '❌', label: 'Failed' };
    case 'unknown':
      return unknownState(sanitizeUserText(seen?.rawStatus ?? '', 40));
  }
}

const unknownState = (word: string): StateWord =>
  word === '' ? { icon: '🕒', label: 'In an unknown state' } : { icon: '🕒', label: word, isForeign: true };

function endedState({ ended, instructions }: ThreadRun): StateWord {
  if (ended?.why === 'broken') return { icon: '❌', label: 'Stopped by an error' };
  if (ended?.why !== 'notMade') return { icon: '💤', label: 'Stopped following' };
  return isMakingUnclear({ instructions })
    ? { icon: '💤', label: 'Left unclear' }
    : { icon: '❌', label: 'Not created' };
}

/** A person left the start of the job unknown. */
export const isMakingUnclear = ({ instructions }: Pick<ThreadRun, 'instructions'>) =>
  instructions.some(({ creates, outcome }) => creates && outcome === 'left');

function startState(thread: ThreadRun): StateWord {
  if (unresolvedSendOf(thread)?.state === 'unknown') return needsAnswer;
  const hasFailed = thread.instructions.some(({ state }) => state === 'failed');
  return hasFailed ? { icon: '❌', label: 'Not started' } : { icon: '🕒', label: 'Starting…' };
}
