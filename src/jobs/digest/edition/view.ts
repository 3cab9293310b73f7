import type { TableBlock } from '@slack/types';
import {
  compose,
  contextBlock,
  joinParts,
  type Line,
  type Message,
  message,
  moment,
  type Part,
  toLines,
} from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { countOf, formatCount, lowerFirst } from '../../../slack/text.ts';
import type { ChartBlock } from '../../../store/messages.ts';
import { PULL_REQUEST_STATES } from '../../pull-request/state-view.ts';
import { personName, pullRequestPart } from '../../shared/wording-view.ts';
import { type AskButton, UNANSWERED } from '../buttons.ts';
import { gapId } from '../gaps.ts';
import {
  type Counts,
  listedThumbs,
  listedTopics,
  openQuestions,
  type PageChange,
  type PageFigures,
  totalOf,
} from '../model.ts';
import { sinceMessage } from '../row/view.ts';
import { chartLabels, daysOf, daysText, rangeBefore, rangeText, unitOf, weeksIn } from '../weeks.ts';
import {
  askButtons,
  bothText,
  CHECK_COUNTING,
  changeText,
  gapText,
  pageCell,
  pagePart,
  pathText,
  queryText,
  shareText,
  siteText,
  spokenChange,
  subjectPart,
  timesText,
  toRows,
  trendText,
  viewsText,
  wordsText,
} from './phrases.ts';
import { type EditionRun, isScheduled, pagesKey, rootKey, sinceKey } from './record.ts';
import { causeText, failedMessage, lateMessage } from './reply-view.ts';

/** Returns every message of a digest in its present form. */
export function editionMessages(run: EditionRun): OutboxMessage[] {
  const notes = [lateMessage(run), failedMessage(run)].flatMap((one) => one ?? []);
  if (run.totals === undefined) return notes;
  // A digest of a schedule has low priority: requests of people go first.
  const shared: Pick<OutboxMessage, 'attempt' | 'kind' | 'lowPriority'> = {
    attempt: run.attempt ?? 1,
    kind: 'state',
    ...(isScheduled(run) && { lowPriority: true }),
  };
  const root: OutboxMessage = {
    ...shared,
    key: rootKey(run),
    place: run.inDirectMessage ? { user: run.owner.id } : { channel: run.channel },
    ...rootContent(run, run.totals),
  };
  const thread = pagesMessage(run);
  const place = { under: rootKey(run) };
  const pages = thread === undefined ? [] : [{ ...shared, key: pagesKey(run), place, ...thread }];
  const since = isCollected(run) ? sinceMessage(run) : undefined;
  const merged = since === undefined ? [] : [{ ...shared, key: sinceKey(run), place, ...since }];
  return [root, ...pages, ...merged, ...notes];
}

/** The message in the channel: totals, chart, and the expected time of the rest. */
function rootContent(run: EditionRun, totals: Counts): Pick<OutboxMessage, 'message' | 'fallback'> {
  const preview = run.kind === 'preview' ? 'Preview · ' : '';
  const title: Part[] = ['📊 ', preview, { bold: siteText(run.site) }, ` · ${rangeText(run.range)}`];
  const work = workText(run);
  const see = work !== '' && [{ bold: work }, ', see the thread'];
  const head = message([title, see, ...totalLines(run, totals)]);
  const page = (path: string) => pagePart(run.site, path);
  const changes = [biggestLine(run, page), insideLine(run, page)];
  const small = toLines([...noticeLines(run), footerLine(run)]).map((line) => contextBlock([line]));
  const rest = [...(changes.some(Boolean) ? [message(changes)] : []), ...small];
  const text = spokenLines(run, totals);
  const without = compose([head, ...rest], text);
  if (totalOf(totals) === 0) return { message: without };
  return { message: compose([head, chartOf(run), ...rest], text), fallback: without };
}

function totalLines(run: EditionRun, totals: Counts): Line[] {
  const { totalsBefore } = run;
  const total = totalOf(totals);
  if (total === 0) return [...zeroLines(run), ...visitorsTexts(run)];
  const before = totalsBefore && totalOf(totalsBefore);
  const compared =
    before === undefined ? '' : ` ${changeText(total, before)} (${formatCount(before)} ${beforeText(run)})`;
  const part = (name: string, by: keyof Counts) =>
    `${name} ${formatCount(totals[by])}${totalsBefore ? ` ${changeText(totals[by], totalsBefore[by])}` : ''}`;
  const share = `AI share ${shareText(totals)}${before ? ` (was ${shareText(totalsBefore)})` : ''}`;
  return [
    [{ bold: viewsText(total) }, compared],
    [part('People', 'human'), part('AI', 'ai'), share, ...visitorsTexts(run)].join('  ·  '),
    trendText(run.weekViews),
    perDayText(run),
  ];
}

/** Two months may differ in length: then their totals say little without this. */
function perDayText({ range, totals, totalsBefore }: EditionRun): string {
  const [days, daysBefore] = [range, rangeBefore(range)].map((one) => daysOf(one).length);
  if (!totals || !totalsBefore || !days || !daysBefore || days === daysBefore) return '';
  const perDay = bothText(Math.round(totalOf(totals) / days), Math.round(totalOf(totalsBefore) / daysBefore));
  return `Views per day ${perDay}.`;
}

function visitorsTexts({ readers, readersBefore }: EditionRun): string[] {
  if (readers?.visitors === undefined) return [];
  const { total } = readers.visitors;
  const before = readersBefore?.visitors?.total;
  const change = before === undefined ? '' : ` ${changeText(total, before)}`;
  return [`Visitors ${formatCount(total)}${change} (approximate)`];
}

function zeroLines(run: EditionRun): string[] {
  const { totalsBefore: before } = run;
  const was = before ? ` (${formatCount(totalOf(before))} ${beforeText(run)})` : '';
  const period = run.week === undefined ? 'in these days' : `all ${unitOf(run.week)}`;
  return [`0 views ${period}${was}.`, CHECK_COUNTING];
}

const beforeText = ({ week, range }: EditionRun) => {
  const days = daysOf(range).length;
  if (week !== undefined) return `the ${unitOf(week)} before`;
  if (days === 1) return 'a week before';
  return days < 7 ? 'on the same weekdays a week before' : 'in as many days before';
};

function biggestLine({ pages, totals }: EditionRun, pathPart: (path: string) => Part): Part[] | undefined {
  const biggest = pages?.biggest;
  // Without any views, every page has changed by its maximum.
  if (biggest === undefined || totals === undefined || totalOf(totals) === 0) return undefined;
  const { page, by } = biggest;
  return ['Biggest change: ', pathPart(page.path), biggestText({ page, by })];
}

const biggestText = ({ page, by }: NonNullable<PageFigures['biggest']>) =>
  `, ${by === 'ai' ? 'AI views' : 'views by people'} ${bothText(page[by], page.before[by])}`;

/** "Largest changes within the month (3 of its 4 whole weeks): 5–11 Oct /quickstart, views by people 401 → 96, ▼ 76%" */
function insideLine({ range, inside = [], insideWeeks }: EditionRun, pathPart: (path: string) => Part): Line {
  const { length } = weeksIn(range);
  const some = (insideWeeks ?? length) < length ? ` (${insideWeeks} of its ${length} whole weeks)` : '';
  const weeks = chartLabels(inside.map(({ range }) => range));
  const changes = inside.map((one, at) => [`${weeks[at]} `, pathPart(one.page.path), biggestText(one)]);
  return entriesLine(`Largest changes within the month${some}`, changes);
}

function noticeLines(run: EditionRun): Line[] {
  const { pagesWait } = run;
  const untilMs = pagesWait?.untilMs;
  const isOpen = run.state === 'posted' && run.sections.some((section) => section !== 'readers');
  return [
    isOpen &&
      pagesWait &&
      untilMs === undefined &&
      `The page list follows later. ${causeText(pagesWait, run)}.`,
    isOpen &&
      untilMs !== undefined && [
        'The page list follows after ',
        { time: untilMs, format: '{time}' },
        ", because of the platform's hourly limit.",
      ],
    run.today && TODAY_TEXTS[run.today],
    run.noPages && NO_PAGES_TEXTS[run.noPages],
    run.late && ['Sent late. It was due ', moment(run.dueAtMs), '.'],
  ];
}

const TODAY_TEXTS = {
  leftOut: "Today isn't over, so it's left out.",
  soFar: "Today isn't over: these are its views so far, without a comparison.",
};

const NO_PAGES_TEXTS = {
  tooMany: 'This site has more pages than I can read at once, so these are the totals only.',
  failed: "I couldn't get the list of pages; the totals are complete.",
};

const footerLine = ({ owner, kind }: EditionRun): Line =>
  kind === 'preview'
    ? 'Only you can see this preview.'
    : kind === 'asked' && `Requested by ${personName(owner.name)}`;

function chartOf({ spans }: EditionRun): ChartBlock {
  const labels = chartLabels(spans);
  const series = (name: string, by: keyof Counts) => ({
    name,
    data: spans.map((span, index) => ({ label: labels[index] ?? '', value: span[by] })),
  });
  return {
    type: 'data_visualization',
    title: 'Views by people and by AI',
    chart: {
      type: 'bar',
      series: [series('People', 'human'), series('AI', 'ai')],
      axis_config: { categories: labels, x_label: 'Date (UTC)', y_label: 'Views' },
    },
  };
}

/** State, subject and numbers in words, for phones and screen readers. */
function spokenLines(run: EditionRun, totals: Counts): Line[] {
  const total = totalOf(totals);
  const { totalsBefore: before } = run;
  const preview = run.kind === 'preview' ? 'Preview of the digest' : 'Digest';
  const site = `${preview} of ${siteText(run.site)}, ${daysText(run.range)}`;
  if (total === 0) return [`${site}:`, ...zeroLines(run), ...noticeLines(run)];
  const work = workText(run) && `${workText(run)}. `;
  const change = before ? `, ${spokenChange(total, totalOf(before))}` : '';
  const part = (name: string, by: keyof Counts) =>
    `${name} ${formatCount(totals[by])}${before ? `, ${spokenChange(totals[by], before[by])}` : ''}`;
  return [
    `${site}: ${work}${viewsText(total)}${change}. ${part('People', 'human')}. ${part('AI', 'ai')}.`,
    trendText(run.weekViews),
    perDayText(run),
    chartText(run),
    biggestLine(run, pathText),
    insideLine(run, pathText),
    ...noticeLines(run),
  ];
}

function chartText({ spans }: EditionRun): string {
  const labels = chartLabels(spans);
  const when = labels.length > 1 ? `${labels[0]} to ${labels.at(-1)}` : labels[0];
  const numbers = (by: keyof Counts) => spans.map((span) => formatCount(span[by])).join(', ');
  return `${when}: People ${numbers('human')}; AI ${numbers('ai')}.`;
}

/** Whether its pages and the readers' figures are known, as far as the platform has them. */
const isCollected = ({ state }: EditionRun) => state === 'completing' || state === 'ended';

/** An entry that needs work: its line, and what [Ask the agent] is about. */
interface Work {
  about: AskButton['about'];
  name: string;
  line: Part[];
}

/** Returns what readers miss, by events × weeks: thumbs down, searches without a click, unanswered questions. */
function gapsOf({ site, readers, readersBefore, gaps }: EditionRun): Work[] {
  const work = (about: Work['about'], state: string, name: string, events: number, facts: Line[]) => {
    const gap = gaps?.[gapId(about, name)];
    const line = joinParts([[{ bold: state }], ...facts, gapText(gap)]);
    return { about, name, weight: events * (gap?.weeks ?? 1), line };
  };
  const all = [
    ...listedThumbs(readers).map(({ path, up, down }) =>
      work('thumbs', 'Thumbs down', path, down, [[pagePart(site, path)], thumbsText(down, up)]),
    ),
    ...(readers?.searches ?? []).map(({ query, hits }) =>
      work('searches', 'Searched, nothing clicked', query, hits, [`${queryText(query)} ${timesText(hits)}`]),
    ),
    ...openQuestions(readers).map((one) => {
      const { name, asked, unanswered } = one;
      const facts =
        name === UNANSWERED
          ? questionsTexts(one, readersBefore)
          : [wordsText(name, 60), `${formatCount(unanswered)} of ${countOf(asked, 'question')}`];
      return work('questions', 'Unanswered', name, unanswered, facts);
    }),
  ];
  return all.toSorted((one, other) => other.weight - one.weight);
}

/** Returns the falling pages, which need work as well, but are no gap. */
const fallingOf = ({ site, pages, sections }: EditionRun): Work[] =>
  (sections.includes('pages') ? (pages?.falling ?? []) : []).map(({ path, human, before }) => ({
    about: 'pages',
    name: path,
    line: joinParts([[pagePart(site, path)], `people ${bothText(human, before.human)}`]),
  }));

/** "3 things need work"; empty if nothing does, or that is not known yet. */
function workText(run: EditionRun): string {
  const { length } = isCollected(run) ? [...gapsOf(run), ...fallingOf(run)] : [];
  return length === 0 ? '' : `${countOf(length, 'thing')} ${length === 1 ? 'needs' : 'need'} work`;
}

const MAX_SPOKEN = 5;

/** The message in its thread: what needs work, then the pages. Missing while they are unknown. */
function pagesMessage(run: EditionRun): Pick<OutboxMessage, 'message' | 'fallback'> | undefined {
  if (!isCollected(run)) return undefined;
  const [gaps, falling] = [gapsOf(run), fallingOf(run)];
  const all = run.readers?.questions;
  const title = workText(run) && `${workText(run)} on ${siteText(run.site)}`;
  // A few lines: text from readers is never cut in the middle.
  const lines = [...gaps.map(({ line }) => line), ...falling.map(({ line }) => ['Falling · ', ...line])];
  const spoken: Line[] = [title || sinceText(run), ...lines.slice(0, MAX_SPOKEN)];
  const rows = (works: Work[]) =>
    works.map(({ line, about, name }) => message([line], askButtons(run, about, name)));
  const followUps = followUpLines(run);
  const head = [
    ...(title ? [message([[{ bold: title }]])] : []),
    ...rows(gaps),
    ...(all && listedTopics(run.readers).length > 0
      ? [contextBlock([[`Unanswered in all: ${questionsTexts(all, run.readersBefore)[0]}`]])]
      : []),
    ...(falling.length > 0 ? [message([[{ bold: 'Falling' }]]), ...rows(falling)] : []),
    ...(followUps.length > 0 ? [message(followUps)] : []),
  ];
  if (!run.sections.includes('pages') || run.pages === undefined || run.pages.top.length === 0)
    return head.length === 0 ? undefined : { message: compose(head, spoken) };
  const withTop = (top: PagePart) =>
    compose([...head, ...pageParts(run, top)], [...(head.length > 0 ? spoken : []), spokenPages(run)]);
  return { message: withTop(topTable(run)), fallback: withTop(topList(run)) };
}

type PagePart = Message | Message['blocks'][number];

const WORDS = { is_wrapped: true };
const NUMBERS = { align: 'right' as const };

function topTable({ pages }: EditionRun): TableBlock {
  const change = pages?.sumBefore ? ['Change'] : [];
  const rows = (pages?.top ?? []).map((page) => [
    pageCell(page.path),
    ...[page.human, page.ai, totalOf(page)].map(formatCount),
    ...change.map(() => changeOf(page)),
  ]);
  return {
    type: 'table',
    column_settings: [WORDS, NUMBERS, NUMBERS, NUMBERS, ...change.map(() => WORDS)],
    rows: toRows([['Page', 'People', 'AI', 'Total', ...change], ...rows]),
  };
}

/** The same for a workspace that does not take tables. */
function topList({ site, pages }: EditionRun): PagePart {
  const lines = (pages?.top ?? []).map((page) => [
    pagePart(site, page.path),
    `: people ${formatCount(page.human)} · AI ${formatCount(page.ai)}`,
    ...(pages?.sumBefore ? [` · ${changeOf(page)}`] : []),
  ]);
  return message(lines);
}

function pageParts(run: EditionRun, top: PagePart): PagePart[] {
  const { pages } = run;
  if (pages === undefined) return [];
  const movedBy = (by: keyof Counts) => (page: PageChange) => bothText(page[by], page.before[by]);
  const lists: [name: string, pages: PageChange[], say: (page: PageChange) => string][] = [
    ['Rising, people', pages.rising, movedBy('human')],
    ['Rising, AI', pages.risingAi, movedBy('ai')],
    ['Falling, AI', pages.fallingAi, movedBy('ai')],
    [
      run.week === undefined ? 'New' : `New this ${unitOf(run.week)}`,
      pages.fresh,
      (page) => formatCount(totalOf(page)),
    ],
    ['Gone quiet', pages.quiet, (page) => `${formatCount(totalOf(page.before))} → 0`],
    ['Read by AI, rarely by people', pages.aiRead, (page) => `${shareText(page)} AI`],
  ];
  const lines = [
    ...lists.map(([name, list, say]) =>
      entriesLine(
        name,
        list.map((page) => [pagePart(run.site, page.path), ` ${say(page)}`]),
      ),
    ),
    sumLine(pages.sum, run.totals, '', ''),
    // The platform's list of pages need not add up to its totals.
    sumLine(pages.sumBefore, run.totalsBefore, ' of the days before', ', so changes of pages may be wrong'),
  ];
  const count = `${countOf(pages.count, 'page')} ${pages.count === 1 ? 'was' : 'were'} read.`;
  const title = message([[{ bold: `Top pages of ${siteText(run.site)}` }]]);
  return [title, top, message(lines.some(Boolean) ? lines : [count], askButtons(run, 'pages'))];
}

const changeOf = (page: PageChange) => changeText(totalOf(page), totalOf(page.before));

const entriesLine = (name: string, entries: Part[][]): Line =>
  entries.length > 0 && [{ bold: name }, ': ', ...joinParts(entries)];

function spokenPages({ site, pages }: EditionRun): string {
  const top = pages?.top.slice(0, 3) ?? [];
  const counts = top.map((page) => `${pathText(page.path)} ${formatCount(totalOf(page))}`);
  return `Top pages of ${siteText(site)}: ${counts.join(', ')}`;
}

/** A line if a list of pages does not add up to the totals. */
const sumLine = (sum: Counts | undefined, total: Counts | undefined, days: string, so: string): Line =>
  sum &&
  total &&
  totalOf(sum) !== totalOf(total) &&
  `The list of pages${days} adds up to ${formatCount(totalOf(sum))} of ${viewsText(totalOf(total))}${so}.`;

const thumbsText = (down: number, up: number) => `${formatCount(down)} down, ${formatCount(up)} up`;

type Questions = NonNullable<NonNullable<EditionRun['readers']>['questions']>;

/** Returns how many of all questions have no answer, then what they are about. */
function questionsTexts(now: Questions, before: EditionRun['readersBefore']): string[] {
  const percent = ({ asked, unanswered }: Questions) => `${Math.round((100 * unanswered) / asked)}%`;
  const past = before?.questions;
  const was = past !== undefined && past.asked > 0 ? `, was ${percent(past)}` : '';
  const { asked, unanswered, category } = now;
  return [
    `${formatCount(unanswered)} of ${countOf(asked, 'question')} to the assistant (${percent(now)}${was})`,
    category === undefined ? '' : `most often about ${wordsText(category, 60)}`,
  ];
}

const sinceText = ({ week }: EditionRun) => `Since last ${unitOf(week ?? '')}`;

const MAX_FOLLOW_UPS = 5;

/** What came of the requests under the last digest, line by line. */
export function followUpLines(run: EditionRun): Line[] {
  const { site, followUps, reviews } = run;
  const waiting = reviews && reviewsText(reviews);
  if (followUps.length === 0) return waiting ? [waiting] : [];
  const rest = followUps.length - MAX_FOLLOW_UPS;
  return [
    [{ bold: sinceText(run) }],
    ...followUps.slice(0, MAX_FOLLOW_UPS).map((one) => {
      const subject = subjectPart(one.subject, (path) => pagePart(site, path));
      return joinParts([[subject], outcomeParts(one), numbersText(one)]);
    }),
    rest > 0 && `and ${formatCount(rest)} more`,
    waiting,
  ];
}

type FollowUp = EditionRun['followUps'][number];

/** The endings without a pull request. */
const OUTCOMES: Record<string, string> = {
  noPr: 'no pull request',
  failed: "the agent couldn't finish",
  archived: 'its job was archived',
};

function outcomeParts({ prLink, ending = '', pullRequest: state }: FollowUp): Part[] {
  if (prLink === undefined) return [OUTCOMES[ending] ?? 'no result known'];
  const name = pullRequestPart(prLink, 'pull request');
  return state === undefined ? [name] : [name, ` ${lowerFirst(PULL_REQUEST_STATES[state].label)}`];
}

/** "4 pull requests of the agent wait for a review, the oldest for 9 days" */
function reviewsText({ count, days }: NonNullable<EditionRun['reviews']>): string {
  const waiting = `${countOf(count, 'pull request')} of the agent ${count === 1 ? 'waits' : 'wait'} for a review`;
  if (days === 0) return waiting;
  return `${waiting}, ${count === 1 ? '' : 'the oldest '}for ${countOf(days, 'day')}`;
}

function numbersText({ subject: { kind, value: before }, after }: FollowUp): string {
  if (before === undefined || after === undefined) return '';
  const unit = {
    page: 'views ',
    thumbs: 'thumbs down ',
    search: 'searches without a click ',
    questions: '',
  }[kind];
  return `${unit}${formatCount(before)} → ${after === 'unlisted' ? 'no longer listed' : formatCount(after)}`;
}
