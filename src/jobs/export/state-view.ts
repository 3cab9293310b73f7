import type { Part } from '../../slack/blocks.ts';
import { sanitizeUserText, singleLine } from '../../slack/text.ts';
import type { StateWord } from '../wording-view.ts';
import type { Ending, ExportRun } from './record.ts';

const queued: StateWord = { icon: '🕒', label: 'Queued' };
const exporting: StateWord = { icon: '⏳', label: 'Exporting' };
const exported: StateWord = { icon: '✅', label: 'Exported' };

const ENDED: Record<Ending['kind'], StateWord> = {
  done: exported,
  failed: { icon: '❌', label: 'Export failed' },
  notStarted: { icon: '❌', label: 'Not started' },
  noPlace: { icon: '❌', label: 'Not started' },
  lost: { icon: '❌', label: 'Not found' },
  gaveUp: { icon: '💤', label: 'No longer watched' },
  noLink: { icon: '⚠️', label: 'Exported, no link yet' },
  left: { icon: '💤', label: 'Not started again' },
  broken: { icon: '❌', label: 'Stopped by an error' },
};

const noNewLink: StateWord = { icon: '⚠️', label: 'Exported, no new link yet' };

export function stateOf(run: ExportRun): StateWord {
  switch (run.state) {
    case 'accepted':
    case 'postingCard':
    case 'starting':
      return queued;
    case 'watching':
      return run.status === 'queued' ? queued : exporting;
    case 'bundling':
      return run.relinked > 0 ? exported : exporting;
    case 'unknown':
      return { icon: '⚠️', label: 'Needs an answer' };
    case 'ended':
      // An earlier link may still work.
      if (run.ending?.kind === 'noLink' && run.relinked > 0) return noNewLink;
      return ENDED[run.ending?.kind ?? 'broken'];
  }
}

/** The state's word. An unknown state keeps the platform's own word. */
export function shownStateOf(run: ExportRun): StateWord {
  const state = stateOf(run);
  const status = singleLine(run.status ?? '');
  const known = ['queued', 'running', 'completed', 'failed', ''];
  return run.state !== 'watching' || known.includes(status)
    ? state
    : { ...state, label: sanitizeUserText(status, 40), isForeign: true };
}

/** The beginning of every message about a state. */
export const stateParts = ({ icon, label }: StateWord): Part[] => [`${icon} `, { bold: label }];

/** Whether the export itself has ended; a new link may still be pending. */
export const hasEnded = (run: ExportRun) =>
  run.state === 'ended' || (run.state === 'bundling' && run.relinked > 0);
