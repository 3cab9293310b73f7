import type { ButtonParts } from '../../../slack/blocks.ts';
import { cut, cutShown, formatCount, oneLine } from '../../../slack/text.ts';
import { type ASK_ABOUT, type AskButton, digestActions } from '../buttons.ts';
import type { EditionRun } from './record.ts';

/** Longest path in a line. */
const MAX_PATH = 80;

export const shortSite = (site: string) => cut(oneLine(site), 60);

/**
 * Returns readers' words for people to read: one line, cut before anything looks at them. So that all lists of a digest
 * have room in a message, whatever they are full of, Slack counts at most two characters for each that is wanted.
 */
export const wordsText = (words: string, max: number) =>
  cutShown(cut(oneLine(words.slice(0, 20 * max).toWellFormed()), max), 2 * max);

/** Returns a page's path for people to read. */
export const pathText = (path: string, max = MAX_PATH) => wordsText(path, max) || '(no path)';

/** Returns a search term in quotes. */
export const queryText = (query: string) => `"${wordsText(query, 60)}"`;

export const viewsText = (views: number) => `${formatCount(views)} ${views === 1 ? 'view' : 'views'}`;
export const timesText = (times: number) => (times === 1 ? 'once' : `${formatCount(times)} times`);

/** Replies under a preview have no channel to go to. */
export function askButtons(run: EditionRun, about: (typeof ASK_ABOUT)[number]): ButtonParts[] {
  if (run.kind === 'preview') return [];
  const value: AskButton = { v: 1, digest: run.id, about };
  return [{ label: 'Ask the agent', action: digestActions.askAgent, value: JSON.stringify(value) }];
}
