import { tryOr } from '../../../runtime/try-or.ts';
import { readWebAddress } from '../../../runtime/web-address.ts';
import type { ButtonParts, Part } from '../../../slack/blocks.ts';
import {
  bidiIsolate,
  countOf,
  cut,
  cutShown,
  formatCount,
  sanitizeUserText,
  singleLine,
  upperFirst,
} from '../../../slack/text.ts';
import type { DigestOrigin } from '../../agent/thread/record.ts';
import { LABELS } from '../../shared/wording-view.ts';
import { type AskButton, digestActions, entryId, UNANSWERED } from '../buttons.ts';
import type { Gap } from '../gaps.ts';
import { type Counts, totalOf } from '../model.ts';
import type { EditionRun } from './record.ts';

const MAX_PATH = 64;

/** Returns the site for use within a line. */
export const siteText = (site: string) => sanitizeUserText(site, 60);

/** Returns readers' words as one line, cut before further processing. */
const shortWords = (words: string, max: number) =>
  cut(singleLine(words.slice(0, 20 * max).toWellFormed()), max);

/**
 * Returns readers' words for use within a line. Slack counts at most two characters for each character of `max`, so
 * the lists of a digest always fit into a message.
 */
export const wordsText = (words: string, max: number) => bidiIsolate(shortWords(words, max), 2 * max);

/** Returns a page's path for use within a line; most lines have several, so a path gets less room than other words. */
export const pathText = (path: string) =>
  bidiIsolate(shortWords(decoded(path), MAX_PATH), 1.4 * MAX_PATH) || NO_PATH;

/** Longest path that is read, and longest path that becomes a link. */
const MAX_READ_PATH = 2000;
const MAX_LINKED_PATH = 200;

/** A host name, as opposed to a project's own name. */
const HOST = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}$/i;

/** Returns a page's path as a link, if the site has an address. */
export function pagePart(site: string, path: string): Part {
  const label = pathText(path);
  const isPath = path.startsWith('/') && !path.startsWith('//') && path.length <= MAX_LINKED_PATH;
  const url =
    isPath && HOST.test(site) ? readWebAddress(`https://${site}${path.replaceAll(' ', '%20')}`) : undefined;
  return url?.host !== site.toLowerCase() ? label : { link: url.href, label };
}

/** Returns a page's path for a cell of its own. */
export const pageCell = (path: string) =>
  cutShown(shortWords(decoded(path), MAX_PATH), 2 * MAX_PATH) || NO_PATH;

/** Returns a readable path: "/köln" for "/k%C3%B6ln". */
function decoded(path: string): string {
  const read = path.slice(0, MAX_READ_PATH);
  return tryOr(read, () => decodeURI(read));
}

/** Returns a page's path for comparison: the same in any encoding, and with or without a slash at its end. */
export function pageKey(path: string): string {
  const key = decoded(path);
  return key.endsWith('/') ? key.slice(0, -1) : key;
}

/** Returns rows of texts as the rows of a table. */
export const toRows = (rows: string[][]) =>
  rows.map((row) => row.map((text) => ({ type: 'raw_text' as const, text })));

const NO_PATH = '(no path)';

/** If nothing at all was counted. */
export const CHECK_COUNTING =
  "Analytics probably stopped. Check that the site opens and its analytics are on; your Docket admins can check the project's id.";

/** Returns a search term in quotes. */
export const queryText = (query: string) => `"${wordsText(query, 60)}"`;

const questionsText = (topic: string) =>
  topic === UNANSWERED ? topic : `${UNANSWERED} on ${wordsText(topic, 60)}`;

/** Returns a subject of the agent: a search term in quotes, the questions, or a page as `pageOf` gives it. */
export const subjectPart = <P>({ kind, name }: DigestOrigin['subject'], pageOf: (path: string) => P) =>
  kind === 'questions' ? questionsText(name) : kind === 'search' ? queryText(name) : pageOf(name);

export const viewsText = (views: number) => countOf(views, 'view');
export const timesText = (times: number) => (times === 1 ? 'once' : countOf(times, 'time'));

/** Replies in direct messages have no channel to go to. */
export function askButtons(run: EditionRun, about: AskButton['about'], name?: string): ButtonParts[] {
  if (run.inDirectMessage) return [];
  const entry = name === undefined ? undefined : entryId(name);
  const value = JSON.stringify({ v: 1, digest: run.id, about, entry } satisfies AskButton);
  return [{ label: LABELS.askAgent, action: digestActions.askAgent, value }];
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Record<string, string> = { one: 'st', two: 'nd', few: 'rd', other: 'th' };

/** More weeks may not be kept. */
const MAX_GAP_WEEKS = 25;

/** Returns how long a thing has needed work: "3rd week", "back after 5 weeks"; empty in its first week. */
export function gapText({ weeks, back }: Gap = { weeks: 1 }): string {
  if (back !== undefined) return `back after ${countOf(back, 'week')}`;
  if (weeks >= MAX_GAP_WEEKS) return `for ${MAX_GAP_WEEKS} weeks or more`;
  return weeks === 1 ? '' : `${weeks}${SUFFIXES[ordinals.select(weeks)]} week`;
}

/** Below this, a difference says more than a percentage. */
const MIN_FOR_PERCENT = 50;

const percentOf = (now: number, before: number) => Math.round((100 * Math.abs(now - before)) / before);

/** Returns a change as a digest shows it, then for screen readers: "▲ 6%", "up 6 percent". */
function changeTexts(now: number, before: number): [shown: string, spoken: string] {
  if (now === before) return ['±0', 'unchanged'];
  if (before === 0) return ['new', 'none before'];
  const isUp = now > before;
  const percent = percentOf(now, before);
  // Of small numbers, and if a percentage would round to zero, the difference says more.
  if (Math.min(now, before) >= MIN_FOR_PERCENT && percent !== 0) {
    const by = formatCount(percent);
    return isUp ? [`▲ ${by}%`, `up ${by} percent`] : [`▼ ${by}%`, `down ${by} percent`];
  }
  const by = formatCount(Math.abs(now - before));
  return isUp ? [`+${by}`, `${by} more`] : [`−${by}`, `${by} fewer`];
}

export const changeText = (now: number, before: number) => changeTexts(now, before)[0];

export const spokenChange = (now: number, before: number) => changeTexts(now, before)[1];

/** Returns both numbers of a change: "840 → 420, ▼ 50%", without a percentage if that says little. */
export function bothText(now: number, before: number): string {
  const percent = before < MIN_FOR_PERCENT ? 0 : percentOf(now, before);
  const change = percent === 0 ? '' : `, ${now > before ? '▲' : '▼'} ${formatCount(percent)}%`;
  return `${formatCount(before)} → ${formatCount(now)}${change}`;
}

/** Returns the share of AI in views: "27%". It is 0% or 100% only if it is exactly none or all. */
export function shareText(views: Counts): string {
  const total = totalOf(views);
  const percent = total === 0 ? 0 : Math.round((100 * views.ai) / total);
  if (percent === 0 && views.ai > 0) return 'under 1%';
  if (percent === 100 && views.human > 0) return 'over 99%';
  return `${percent}%`;
}

const ORDINALS = ['third', 'fourth', 'fifth', 'sixth', 'seventh'];

/** In fewer weeks, a lowest one means nothing. */
const MIN_WEEKS = 4;

/** Returns how a week's views compare with those of earlier weeks, latest first: "Highest in 8 weeks, third rise in a row." */
export function trendText(views: readonly number[] = []): string {
  const [now = 0, ...before] = views;
  const ways = views.map((one, week) => Math.sign(one - (views[week + 1] ?? one)));
  const [way = 0] = ways;
  if (way === 0) return '';
  const isExtreme = views.length >= MIN_WEEKS && before.every((one) => Math.sign(now - one) === way);
  const ordinal = ORDINALS[ways.findIndex((one) => one !== way) - 3];
  const words = [
    isExtreme && `${way < 0 ? 'lowest' : 'highest'} in ${views.length} weeks`,
    ordinal && `${ordinal} ${way < 0 ? 'fall' : 'rise'} in a row`,
  ];
  const text = words.filter(Boolean).join(', ');
  return text && `${upperFirst(text)}.`;
}
