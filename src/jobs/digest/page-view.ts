import {
  type ButtonParts,
  compose,
  contextBlock,
  joinParts,
  type Line,
  layout,
  type Message,
  message,
} from '../../slack/blocks.ts';
import { countOf, formatCount, orList } from '../../slack/text.ts';
import { LABELS } from '../shared/wording-view.ts';
import { type AskButton, digestActions, setUpButton } from './buttons.ts';
import {
  changeText,
  pagePart,
  pathText,
  queryText,
  shareText,
  siteText,
  viewsText,
} from './edition/phrases.ts';
import { type Counts, type DayRange, totalOf } from './model.ts';
import { daysText, rangeText } from './weeks.ts';

/** What is stored of a page. */
export interface PageNumbers {
  site: string;
  path: string;
  range: DayRange;
  isLastWeek: boolean;
  now: Counts;
  /** Missing if they are not known. */
  before: Counts | undefined;
  /** Views by people, week by week, the oldest first. */
  weeks: readonly number[];
  /** `unlisted`: the platform lists only pages with more thumbs. */
  thumbs: { up: number; down: number } | 'unlisted' | undefined;
  /** Searches whose results lead here most often, with their click rate. */
  searches: readonly { query: string; percent?: number | undefined }[];
  /** The digest under which people can ask the agent about it. */
  digest: string | undefined;
}

/** A site, and its pages, if there are numbers. `isPlanned`: it has a digest, which may collect them. */
export interface SiteNumbers {
  site: string;
  isPlanned?: boolean;
  pages?: readonly PageNumbers[];
}

const BARS = '▁▂▃▄▅▆▇█';
const MAX_SEARCHES = 3;

/** Returns the numbers of pages, to one person: all of a single page, a line for each of several. `more` are left out. */
export function pagesMessage(sites: readonly SiteNumbers[], more: number): Message {
  const pages = sites.flatMap((one) => one.pages ?? []);
  const lacking = sites.filter((one) => one.pages === undefined);
  const isSole = pages.length === 1;
  const linesOf = (page: PageNumbers, isSpoken: boolean): Line[] => {
    const name = isSpoken ? pathText(page.path) : pagePart(page.site, page.path);
    const head = joinParts([[name], sites.length > 1 && siteText(page.site), readersText(page)]);
    const thumbs = thumbsText(page);
    return isSole
      ? [head, weeksText(page, isSpoken), thumbs, searchesText(page)]
      : [joinParts([head, thumbs])];
  };
  const rest: Line[] = [
    ...lacking.map(({ site, isPlanned }) =>
      isPlanned
        ? `I have no numbers of pages of ${siteText(site)} now: its digest is paused, leaves out pages, or hasn't come yet.`
        : `No digest that you can see here has collected numbers of ${siteText(site)} yet.`,
    ),
    more > 0 && `and ${formatCount(more)} more`,
  ];
  const small = new Set(pages.map(({ site, range }) => `${siteText(site)} · ${rangeText(range)}`));
  const parts = [
    ...pages.map((page) =>
      layout({ lines: linesOf(page, false), small: isSole ? [...small] : [], buttons: askButtons(page) }),
    ),
    ...(rest.some(Boolean)
      ? [message(rest, lacking.some(({ isPlanned }) => !isPlanned) ? [setUpButton] : [])]
      : []),
    ...(pages.length > 1 ? [contextBlock([...small].map((line) => [line]))] : []),
  ];
  return compose(parts, [...pages.flatMap((page) => linesOf(page, true)), ...rest, ...small]);
}

function askButtons({ digest, path: entry }: PageNumbers): ButtonParts[] {
  if (digest === undefined) return [];
  const value = JSON.stringify({ v: 1, digest, about: 'pages', entry } satisfies AskButton);
  return [{ label: LABELS.askAgent, action: digestActions.askAgent, value }];
}

/** "people 310 last week ▼ 12%, AI 41%" */
function readersText({ now, before, range, isLastWeek }: PageNumbers): string {
  const when = isLastWeek ? 'last week' : `during ${daysText(range)}`;
  const past = before && totalOf(before) > 0 ? `, ${viewsText(totalOf(before))} before` : '';
  if (totalOf(now) === 0) return `nobody read it ${when}${past}`;
  const isNew = before && totalOf(before) === 0;
  const isCompared = before && (before.human > 0 || now.human === 0);
  const change = isNew ? ' (new)' : isCompared ? ` ${changeText(now.human, before.human)}` : '';
  return `people ${formatCount(now.human)} ${when}${change}, AI ${shareText(now)}`;
}

function weeksText({ weeks }: PageNumbers, isSpoken: boolean): string {
  const max = Math.max(...weeks);
  if (weeks.length < 2 || max === 0) return '';
  const name = countOf(weeks.length, 'week');
  if (isSpoken) return `People in ${name}: ${weeks.map(formatCount).join(', ')}`;
  return `${weeks.map((one) => BARS[Math.round(((BARS.length - 1) * one) / max)]).join('')} ${name}`;
}

function thumbsText({ thumbs }: PageNumbers): string {
  if (thumbs === 'unlisted') return 'thumbs not known';
  return thumbs ? `${countOf(thumbs.down, 'thumb')} down, ${formatCount(thumbs.up)} up` : '';
}

function searchesText({ searches }: PageNumbers): string {
  const shown = searches.slice(0, MAX_SEARCHES).map(({ query, percent }) => {
    const rate = percent === undefined ? '' : ` ${percent < 1 ? 'under 1' : formatCount(percent)}%`;
    return `${queryText(query)}${rate}`;
  });
  if (shown.length === 0) return '';
  const rates = searches.some(({ percent }) => percent !== undefined) ? ', with their click rate' : '';
  return `Searches that led here most often${rates}: ${shown.join(', ')}`;
}

const MAX_SITES = 3;

/** To a person who asked about no page of these sites: in a command, or by a message with links. */
export function noPageMessage(sites: readonly string[], isTyped: boolean): Message {
  const names = orList.format(sites.slice(0, MAX_SITES).map(siteText));
  const what = isTyped ? "That isn't a page of" : 'No link here leads to a page of';
  return message([
    names
      ? `${what} ${names}.`
      : "I don't know the address of your docs, so I know their pages only by path.",
    ['For one page, type ', { code: '/docs-digest page /guides/sso' }, '.'],
  ]);
}
