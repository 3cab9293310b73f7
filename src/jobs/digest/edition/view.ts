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
import { countOf, formatCount } from '../../../slack/text.ts';
import type { ChartBlock } from '../../../store/messages.ts';
import { personName, pullRequestPart } from '../../wording-view.ts';
import type { AskButton } from '../buttons.ts';
import { type Counts, listedThumbs, type PageChange, totalOf } from '../model.ts';
import { chartLabels, daysOf, daysText, zoneText } from '../weeks.ts';
import {
  askButtons,
  bothText,
  CHECK_COUNTING,
  changeText,
  pageCell,
  pagePart,
  pathText,
  queryText,
  shareText,
  siteText,
  spokenChange,
  subjectPart,
  timesText,
  trendText,
  viewsText,
  wordsText,
} from './phrases.ts';
import { type EditionRun, pagesKey, rootKey } from './record.ts';
import { causeText, failedMessage, lateMessage } from './reply-view.ts';

/** Returns every message of a digest in its present form. */
export function editionMessages(run: EditionRun): OutboxMessage[] {
  const notes = [lateMessage(run), failedMessage(run)].flatMap((one) => one ?? []);
  if (run.totals === undefined) return notes;
  // A weekly digest has low priority: requests of people go first.
  const shared: Pick<OutboxMessage, 'attempt' | 'kind' | 'lowPriority'> = {
    attempt: run.attempt ?? 1,
    kind: 'state',
    ...(run.kind === 'weekly' && { lowPriority: true }),
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
  return [root, ...pages, ...notes];
}

/** The message in the channel: totals, chart, and the expected time of the rest. */
function rootContent(run: EditionRun, totals: Counts): Pick<OutboxMessage, 'message' | 'fallback'> {
  const preview = run.kind === 'preview' ? 'Preview · ' : '';
  const title: Part[] = ['📊 ', preview, { bold: siteText(run.site) }, ` · ${daysText(run.range)}`];
  const head = message([title, ...totalLines(run, totals)]);
  const biggest = biggestLine(run, (path) => pagePart(run.site, path));
  const small = toLines([...noticeLines(run), footerLine(run)]).map((line) => contextBlock([line]));
  const rest = [...(biggest ? [message([biggest])] : []), ...small];
  const text = spokenLines(run, totals);
  const without = compose([head, ...rest], text);
  if (!run.hasChart || totalOf(totals) === 0) return { message: without };
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
  ];
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
  const period = run.week === undefined ? 'in these days' : 'all week';
  return [`0 views ${period}${was}. That usually means that counting broke.`, CHECK_COUNTING];
}

const beforeText = ({ week, range }: EditionRun) => {
  const days = daysOf(range).length;
  if (week !== undefined || days === 1) return week === undefined ? 'a week before' : 'the week before';
  return days < 7 ? 'on the same weekdays a week before' : 'in as many days before';
};

function biggestLine({ pages, totals }: EditionRun, pathPart: (path: string) => Part): Part[] | undefined {
  const biggest = pages?.biggest;
  // Without any views, every page has changed by its maximum.
  if (biggest === undefined || totals === undefined || totalOf(totals) === 0) return undefined;
  const { page, by } = biggest;
  const whose = by === 'ai' ? 'AI views' : 'views by people';
  return ['Biggest change: ', pathPart(page.path), `, ${whose} ${bothText(page[by], page.before[by])}`];
}

function noticeLines(run: EditionRun): Line[] {
  const { pagesWait } = run;
  const untilMs = pagesWait?.untilMs;
  const isOpen = run.state === 'posted' && run.sections.some((section) => section !== 'readers');
  return [
    isOpen &&
      pagesWait &&
      untilMs === undefined &&
      `Totals are complete, and the list of pages follows later: ${causeText(pagesWait, run)}.`,
    isOpen &&
      untilMs !== undefined && [
        'Totals are complete, and the list of pages follows (request budget) not before ',
        { time: untilMs, format: '{time}' },
        '.',
      ],
    run.today && TODAY_TEXTS[run.today],
    run.noPages && NO_PAGES_TEXTS[run.noPages],
    run.late && ['Sent late. It was due ', moment(run.dueAtMs), '.'],
  ];
}

const TODAY_TEXTS = {
  leftOut: 'Today is not over, so it is left out.',
  soFar: 'Today is not over: these are its views so far, without a comparison.',
};

const NO_PAGES_TEXTS = {
  tooMany: 'This site has more pages than I can read at once, so these are the totals only.',
  failed: "I couldn't get the list of pages; the totals are complete.",
};

function footerLine({ timetable, owner, kind, range }: EditionRun): Part[] {
  const who = personName(owner.name);
  const days = zoneText(range);
  if (kind === 'weekly')
    return [`${days} · ${timetable ?? ''} · set up by ${who} · `, { code: '/docs-digest list' }];
  return [`${days} · ${kind === 'preview' ? 'a preview only you can see' : `requested by ${who}`}`];
}

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
  const change = before ? `, ${spokenChange(total, totalOf(before))}` : '';
  const part = (name: string, by: keyof Counts) =>
    `${name} ${formatCount(totals[by])}${before ? `, ${spokenChange(totals[by], before[by])}` : ''}`;
  return [
    `${site}: ${viewsText(total)}${change}. ${part('People', 'human')}. ${part('AI', 'ai')}.`,
    trendText(run.weekViews),
    chartText(run),
    biggestLine(run, pathText),
    ...noticeLines(run),
  ];
}

/** The numbers of the chart as a sentence. */
function chartText({ spans }: EditionRun): string {
  const labels = chartLabels(spans);
  const when = labels.length > 1 ? `${labels[0]} to ${labels.at(-1)}` : labels[0];
  const numbers = (by: keyof Counts) => spans.map((span) => formatCount(span[by])).join(', ');
  return `${when}: People ${numbers('human')}; AI ${numbers('ai')}.`;
}

/** Longest path in a cell of a table. */
const MAX_CELL_PATH = 60;

/** The message in its thread: the pages, and what readers looked for. Missing while they are unknown. */
function pagesMessage(run: EditionRun): Pick<OutboxMessage, 'message' | 'fallback'> | undefined {
  if (run.state !== 'completing' && run.state !== 'ended') return undefined;
  const hasPages = run.sections.includes('pages') && run.pages !== undefined && run.pages.top.length > 0;
  const readers = readerParts(run);
  const readersTitle = `What readers of ${siteText(run.site)} looked for`;
  if (!hasPages)
    return readers.length === 0
      ? undefined
      : { message: compose([message([[{ bold: readersTitle }]]), ...readers], [readersTitle]) };
  const withTop = (top: PagePart) => compose([...pageParts(run, top), ...readers], [spokenPages(run)]);
  return { message: withTop(topTable(run)), fallback: withTop(topList(run)) };
}

type PagePart = Message | Message['blocks'][number];

const WORDS = { is_wrapped: true };
const NUMBERS = { align: 'right' as const };

function topTable({ pages }: EditionRun): TableBlock {
  const change = pages?.sumBefore ? ['Change'] : [];
  const rows = (pages?.top ?? []).map((page) => [
    pageCell(page.path, MAX_CELL_PATH),
    ...[page.human, page.ai, totalOf(page)].map(formatCount),
    ...change.map(() => changeOf(page)),
  ]);
  const cell = (text: string) => ({ type: 'raw_text' as const, text });
  return {
    type: 'table',
    column_settings: [WORDS, NUMBERS, NUMBERS, NUMBERS, ...change.map(() => WORDS)],
    rows: [['Page', 'People', 'AI', 'Total', ...change], ...rows].map((row) => row.map(cell)),
  };
}

/** The same for a workspace that does not take tables. */
function topList({ site, pages }: EditionRun): PagePart {
  const lines = (pages?.top ?? []).map((page) => [
    pagePart(site, page.path, MAX_CELL_PATH),
    `: people ${formatCount(page.human)} · AI ${formatCount(page.ai)}`,
    ...(pages?.sumBefore ? [` · ${changeOf(page)}`] : []),
  ]);
  return message(lines);
}

/** `top` shows the most-read pages. */
function pageParts(run: EditionRun, top: PagePart): PagePart[] {
  const { pages } = run;
  if (pages === undefined) return [];
  const movedBy = (by: keyof Counts) => (page: PageChange) => bothText(page[by], page.before[by]);
  const lists: [name: string, pages: PageChange[], say: (page: PageChange) => string][] = [
    ['Rising, people', pages.rising, movedBy('human')],
    ['Falling, people', pages.falling, movedBy('human')],
    ['Rising, AI', pages.risingAi, movedBy('ai')],
    ['Falling, AI', pages.fallingAi, movedBy('ai')],
    [run.week === undefined ? 'New' : 'New this week', pages.fresh, (page) => formatCount(totalOf(page))],
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

/** Returns a line of entries, if there is any. */
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

/** Returns what readers looked for, line by line; a line without numbers from the platform is left out. */
export function readerParts(run: EditionRun): Message[] {
  const { questions } = run.readers ?? {};
  const searches = (run.readers?.searches ?? []).map(({ query, hits }): Part[] => [
    `${queryText(query)} ${timesText(hits)}`,
  ]);
  const disliked = listedThumbs(run.readers).map(({ path, up, down }): Part[] => [
    pagePart(run.site, path),
    ` ${formatCount(up)} up, ${formatCount(down)} down`,
  ]);
  const asked =
    questions !== undefined && questions.asked > 0 && questionsText(questions, run.readersBefore?.questions);
  const parts: [line: Line, about?: AskButton['about']][] = [
    [entriesLine('Searched, nothing clicked', searches), 'searches'],
    [entriesLine('More thumbs down than up', disliked), 'thumbs'],
    questions?.unanswered ? [asked, 'questions'] : [asked],
    [followUpLine(run)],
  ];
  return parts.flatMap(([line, about]) => (line ? [message([line], about && askButtons(run, about))] : []));
}

type Questions = NonNullable<NonNullable<EditionRun['readers']>['questions']>;

function questionsText({ asked, unanswered, category }: Questions, before: Questions | undefined): string {
  const percent = (all: { asked: number; unanswered: number }) =>
    `${Math.round((100 * all.unanswered) / all.asked)}%`;
  const was = before !== undefined && before.asked > 0 ? `, was ${percent(before)}` : '';
  const about =
    category === undefined || unanswered === 0 ? '' : `; most often about: ${wordsText(category, 60)}`;
  const counted = `${formatCount(unanswered)} of ${formatCount(asked)} questions`;
  return `The assistant could not answer ${counted} (${percent({ asked, unanswered })}${was})${about}`;
}

/** Entries of the line about earlier requests. */
const MAX_FOLLOW_UPS = 5;

/** The results of requests under earlier digests. */
function followUpLine({ site, followUps }: EditionRun): Line {
  const parts = followUps.slice(0, MAX_FOLLOW_UPS).map((one): Part[] => {
    const subject = subjectPart(one.subject, (path) => pagePart(site, path));
    return [subject, ...outcomeParts(one), numbersText(one)];
  });
  const rest = followUps.length - MAX_FOLLOW_UPS;
  const more = rest > 0 ? ` · and ${formatCount(rest)} more` : '';
  return parts.length > 0 && ['Since last week: ', ...joinParts(parts), more];
}

type FollowUp = EditionRun['followUps'][number];

/** The endings without a pull request. */
const OUTCOMES: Record<string, string> = {
  noPr: ' got no pull request',
  failed: ': the agent could not finish it',
  archived: ': its job was archived',
};

function outcomeParts({ prLink, ending = '' }: FollowUp): Part[] {
  if (prLink === undefined) return [OUTCOMES[ending] ?? ': its result is unknown'];
  return [
    ' got ',
    pullRequestPart(prLink, 'a pull request'),
    ' (the platform does not say whether it was merged)',
  ];
}

function numbersText({ subject: { kind, value: before }, after }: FollowUp): string {
  if (before === undefined || after === undefined) return '';
  const unit = {
    page: 'views',
    thumbs: 'thumbs down',
    search: 'searches without a click',
    questions: 'of them',
  }[kind];
  return `; ${formatCount(before)} ${unit} → ${after === 'unlisted' ? 'no longer listed' : formatCount(after)}`;
}
