import { moment, type Part } from '../../slack/blocks.ts';
import { lowerFirst } from '../../slack/text.ts';
import { personName, type StateWord } from '../shared/wording-view.ts';
import type { PullRequestState } from './state.ts';

export const PULL_REQUEST_STATES: Record<NonNullable<PullRequestState['state']>, StateWord> = {
  open: { icon: '🕒', label: 'Open' },
  draft: { icon: '⏸', label: 'Draft' },
  checksFailed: { icon: '❌', label: 'Checks failed' },
  changesRequested: { icon: '⚠️', label: 'Changes requested' },
  approved: { icon: '✅', label: 'Approved' },
  merged: { icon: '✅', label: 'Merged' },
  closed: { icon: '➖', label: 'Closed' },
};

/** " · merged by ben today at 10:12", behind the name of a pull request; nothing while its state is unknown. */
export function pullRequestStateParts({ state, by, atMs }: Partial<PullRequestState> = {}): Part[] {
  if (state === undefined) return [];
  const words = lowerFirst(PULL_REQUEST_STATES[state].label);
  if (state !== 'merged') return [` · ${words}`];
  const who = by === undefined ? '' : ` by ${personName(by)}`;
  return [` · ${words}${who}`, ...(atMs === undefined ? [] : [' ', moment(atMs)])];
}

/** Whether its state may still change. */
export const mayChange = (one: PullRequestState | undefined) => one !== undefined && !one.ended;
