import type { Part } from '../../../slack/blocks.ts';
import { cut, oneLine } from '../../../slack/text.ts';
import { person } from '../../wording-view.ts';
import { jobName, waitingWords } from './phrases.ts';
import { inFlight, type JobSeen, type ThreadRun } from './record.ts';

/** A few words for where the job of a thread stands. */
export function stateWord(thread: ThreadRun): string {
  if (thread.state === 'ended') return endedWord(thread.ended?.why);
  if (thread.agentJobId === undefined) return startWord(thread);
  if (thread.gone) return 'Unknown to the platform';
  if (thread.seen?.status === 'archived') return 'Archived';
  if (thread.rounds.some(({ ending }) => ending === undefined)) return 'Working';
  return seenWord(thread.seen);
}

function endedWord(why: NonNullable<ThreadRun['ended']>['why'] | undefined): string {
  if (why === 'notMade') return 'Not made';
  return why === 'broken' ? 'Stopped by an error' : 'No longer followed';
}

function startWord(thread: ThreadRun): string {
  if (inFlight(thread)?.state === 'unknown') return 'Start unclear';
  return thread.instructions.some(({ state }) => state === 'failed') ? 'Not started' : 'Starting';
}

function seenWord(seen: JobSeen | undefined): string {
  switch (seen?.status) {
    case 'active':
      return 'Working';
    case 'failed':
      return 'Failed';
    case 'archived':
      return 'Archived';
    case 'unknown':
      return cut(oneLine(seen.rawStatus), 40) || 'In an unknown state';
    case 'completed':
      return 'Idle';
    case undefined:
      return 'Not looked at yet';
  }
}

/** One line for a list of threads. `address` is that of its card, for those who can open it. */
export function threadLine(thread: ThreadRun, address: string | undefined): Part[] {
  const waiting = waitingWords(thread);
  const open: Part[] = address === undefined ? [] : [' · ', { link: address, label: 'Open thread' }];
  return [
    { bold: jobName(thread) },
    ` — ${stateWord(thread)}${waiting && ` · ${waiting}`} · followed by @${person(thread.owner.name)}`,
    ...open,
  ];
}
