import type { ButtonParts } from '../../../slack/blocks.ts';
import { cut, cutShown, formatCount, isolate, oneLine } from '../../../slack/text.ts';
import { type ASK_ABOUT, type AskButton, digestActions } from '../buttons.ts';
import { type EditionRun, isPrivate } from './record.ts';

/** Longest name of a site. */
const MAX_SITE = 60;

/** Longest path in a line. */
const MAX_PATH = 80;

/** Returns the site as a title of its own. */
export const shortSite = (site: string) => cut(oneLine(site), MAX_SITE);

/** Returns the site as it stands in a line. */
export const siteText = (site: string) => isolate(shortSite(site), 2 * MAX_SITE);

/** Returns readers' words as one line, cut before anything looks at them. */
const shortWords = (words: string, max: number) => cut(oneLine(words.slice(0, 20 * max).toWellFormed()), max);

/**
 * Returns readers' words as they stand in a line. So that all lists of a digest have room in a message, whatever they
 * are full of, Slack counts at most two characters for each that is wanted.
 */
export const wordsText = (words: string, max: number) => isolate(shortWords(words, max), 2 * max);

/** Returns a page's path as it stands in a line. */
export const pathText = (path: string, max = MAX_PATH) => wordsText(path, max) || NO_PATH;

/** Returns a page's path for a cell of its own. */
export const pathCell = (path: string, max: number) => cutShown(shortWords(path, max), 2 * max) || NO_PATH;

const NO_PATH = '(no path)';

/** Where nothing at all was counted. */
export const CHECK_COUNTING =
  'Check that the site opens, that its analytics are on, and that projectId in my settings is right.';

/** Returns a search term in quotes. */
export const queryText = (query: string) => `"${wordsText(query, 60)}"`;

export const viewsText = (views: number) => `${formatCount(views)} ${views === 1 ? 'view' : 'views'}`;
export const timesText = (times: number) => (times === 1 ? 'once' : `${formatCount(times)} times`);

/** Replies in direct messages have no channel to go to. */
export function askButtons(run: EditionRun, about: (typeof ASK_ABOUT)[number]): ButtonParts[] {
  if (isPrivate(run)) return [];
  const value: AskButton = { v: 1, digest: run.id, about };
  return [{ label: 'Ask the agent', action: digestActions.askAgent, value: JSON.stringify(value) }];
}
