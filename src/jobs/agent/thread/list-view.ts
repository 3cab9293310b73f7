import type { Part } from '../../../slack/blocks.ts';
import { cut, oneLine } from '../../../slack/text.ts';
import { personName } from '../../wording-view.ts';
import { jobName, waitingText } from './phrases.ts';
import { inFlightOf, type JobSnapshot, type ThreadRun } from './record.ts';

/** A few words for where the job of a thread stands. */
export function stateLabel(thread: ThreadRun): string {
  if (thread.state === 'ended') return endedLabel(thread.ended?.why);
  if (thread.agentJobId === undefined) return startLabel(thread);
  if (thread.gone) return 'Unknown to the platform';
  if (thread.seen?.status === 'archived') return 'Archived';
  if (thread.rounds.some(({ ending }) => ending === undefined)) return 'Working';
  return jobStatusLabel(thread.seen);
}

function endedLabel(why: NonNullable<ThreadRun['ended']>['why'] | undefined): string {
  if (why === 'notMade') return 'Not made';
  return why === 'broken' ? 'Stopped by an error' : 'No longer followed';
}

function startLabel(thread: ThreadRun): string {
  if (inFlightOf(thread)?.state === 'unknown') return 'Start unclear';
  return thread.instructions.some(({ state }) => state === 'failed') ? 'Not started' : 'Starting';
}

function jobStatusLabel(snapshot: JobSnapshot | undefined): string {
  switch (snapshot?.status) {
    case 'active':
      return 'Working';
    case 'failed':
      return 'Failed';
    case 'archived':
      return 'Archived';
    case 'unknown':
      return cut(oneLine(snapshot.rawStatus), 40) || 'In an unknown state';
    case 'completed':
      return 'Idle';
    case undefined:
      return 'Not looked at yet';
  }
}

/** One line for a list of threads. `address` is that of its card, for those who can open it. */
export function threadLine(thread: ThreadRun, cardUrl: string | undefined): Part[] {
  const waiting = waitingText(thread);
  const cardLink: Part[] = cardUrl === undefined ? [] : [' · ', { link: cardUrl, label: 'Open thread' }];
  return [
    { bold: jobName(thread) },
    ` — ${stateLabel(thread)}${waiting && ` · ${waiting}`} · followed by @${personName(thread.owner.name)}`,
    ...cardLink,
  ];
}
