import type { ButtonParts, Part } from '../../../slack/blocks.ts';
import { bidiIsolate, cut, cutShown, formatCount, singleLine } from '../../../slack/text.ts';
import { type ASK_ABOUT, type AskButton, digestActions } from '../buttons.ts';
import { type EditionRun, isPrivate } from './record.ts';

/** Longest name of a site. */
const MAX_SITE = 60;

/** Longest path in a line. */
const MAX_PATH = 64;

/** Returns the site as a title of its own. */
export const shortSite = (site: string) => cut(singleLine(site), MAX_SITE);

/** Returns the site for use within a line. */
export const siteText = (site: string) => bidiIsolate(shortSite(site), 2 * MAX_SITE);

/** Returns readers' words as one line, cut before further processing. */
const shortWords = (words: string, max: number) =>
  cut(singleLine(words.slice(0, 20 * max).toWellFormed()), max);

/**
 * Returns readers' words for use within a line. Slack counts at most two characters for each character of `max`, so all
 * lists of a digest fit into a message whatever they contain.
 */
export const wordsText = (words: string, max: number) => bidiIsolate(shortWords(words, max), 2 * max);

/** Returns a page's path for use within a line; most lines have several, so a path gets less room than other words. */
export const pathText = (path: string, max = MAX_PATH) =>
  bidiIsolate(shortWords(decoded(path), max), 1.4 * max) || NO_PATH;

/** Longest path that is read, and longest path that becomes a link. */
const MAX_READ_PATH = 2000;
const MAX_LINKED_PATH = 200;

/** A host name, as opposed to a project's own name. */
const HOST = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/i;

/** Returns a page's path as a link, if the site has an address. */
export const pagePart = (site: string, path: string, max = MAX_PATH): Part =>
  linked(site, path, pathText(path, max));

/** Returns a page's path for a cell of its own. */
export const pageCell = (path: string, max: number) =>
  cutShown(shortWords(decoded(path), max), 2 * max) || NO_PATH;

function linked(site: string, path: string, label: string) {
  const isPath = path.startsWith('/') && !path.startsWith('//') && path.length <= MAX_LINKED_PATH;
  const url =
    isPath && site.length <= MAX_READ_PATH && HOST.test(site) ? URL.parse(`https://${site}${path}`) : null;
  return url === null || url.host !== site.toLowerCase() ? label : { link: url.href, label };
}

/** Percent-encoded text; characters that would change the path, or are invisible, stay encoded. */
const ENCODED = /(?:%[0-9a-f]{2})+/gi;
const KEPT_ENCODED = /[%/\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Returns a readable path: "/köln" for "/k%C3%B6ln". */
const decoded = (path: string) => path.slice(0, MAX_READ_PATH).replace(ENCODED, decodeRun);

function decodeRun(run: string): string {
  try {
    return Array.from(decodeURIComponent(run), (one) =>
      KEPT_ENCODED.test(one) ? encodeURIComponent(one) : one,
    ).join('');
  } catch {
    return run;
  }
}

const NO_PATH = '(no path)';

/** If nothing at all was counted. */
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
