import {
  compose,
  contextBlock,
  imageBlock,
  type Message,
  message,
  type Part,
} from '../../../slack/blocks.ts';
import { chartBlock, tableBlock } from '../../../slack/data-blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { cut, formatCount } from '../../../slack/text.ts';
import { personName } from '../../wording-view.ts';
import { bothText, changeText, shareText, spokenChange, spokenPercent } from '../changes.ts';
import { chartText, chartView } from '../chart-view.ts';
import { causeText } from '../failure-view.ts';
import { type Counts, type PageChange, totalOf } from '../model.ts';
import { chartPoints, daysOf, daysText, rangeText, typedRange, zoneText } from '../weeks.ts';
import { failedMessage, lateMessage } from './failed-view.ts';
import {
  askButtons,
  CHECK_COUNTING,
  pageCell,
  pagePart,
  pathText,
  shortSite,
  siteText,
  viewsText,
} from './phrases.ts';
import { readerParts } from './readers-view.ts';
import { type EditionRun, isPrivate, pagesKey, rootKey } from './record.ts';

/** Longest path in a cell of a table. */
const MAX_CELL_PATH = 60;

/** Returns every message of a digest in its present form. */
export function editionMessages(run: EditionRun): OutboxMessage[] {
  const besides = [lateMessage(run), failedMessage(run)].flatMap((one) => one ?? []);
  if (run.totals === undefined) return besides;
  const place = isPrivate(run) ? { user: run.owner.id } : { channel: run.channel };
  const root: OutboxMessage = {
    key: rootKey(run),
    place,
    attempt: run.attempt ?? 1,
    ...urgencyOf(run),
    ...rootContent(run, run.totals),
    ...(run.kind !== 'weekly' && { by: run.owner.id }),
  };
  const messages = [root];
  const thread = pagesMessage(run);
  if (thread !== undefined)
    messages.push({
      key: pagesKey(run),
      place: { under: rootKey(run) },
      attempt: run.attempt ?? 1,
      ...urgencyOf(run),
      ...thread,
    });
  return [...messages, ...besides];
}

/** A weekly digest has low priority: requests of people go first. */
const urgencyOf = ({ kind }: EditionRun): Pick<OutboxMessage, 'kind' | 'lowPriority'> => ({
  kind: 'state',
  ...(kind === 'weekly' && { lowPriority: true }),
});

export const chartTitle = ({ site, range }: EditionRun) =>
  `Views of ${shortSite(site)} · ${rangeText(range)}`;

export const csvName = ({ week, range }: EditionRun) => `page-views-${week ?? typedRange(range)}.csv`;

/** The message in the channel: totals, chart, and the expected time of the rest. */
function rootContent(run: EditionRun, totals: Counts): Pick<OutboxMessage, 'message' | 'fallback'> {
  const head = message([titleLine(run), ...totalLines(run, totals)]);
  const biggest = biggestLines(run);
  const small = [...noticeLines(run), ...fileLines(run), footerLine(run)].map((line) => contextBlock([line]));
  const rest = [...(biggest.length > 0 ? [message(biggest)] : []), ...small];
  const text = spokenLines(run, totals);
  const without = compose(text, [head, ...rest]);
  const chart = chartPart(run);
  return chart === undefined
    ? { message: without }
    : { message: compose(text, [head, chart, ...rest]), fallback: without };
}

function titleLine(run: EditionRun): Part[] {
  const preview = run.kind === 'preview' ? 'Preview · ' : '';
  return ['📊 ', preview, { bold: siteText(run.site) }, ` · ${daysText(run.range)}`];
}

function totalLines({ totals: _, totalsBefore, ...run }: EditionRun, totals: Counts): Part[][] {
  const total = totalOf(totals);
  if (total === 0)
    return [...zeroLines({ ...run, totalsBefore }), ...visitorsTexts(run).map((text) => [text])];
  const before = totalsBefore && totalOf(totalsBefore);
  const compared =
    before === undefined ? '' : ` ${changeText(total, before)} (${formatCount(before)} ${beforeText(run)})`;
  const part = (name: string, by: keyof Counts) =>
    `${name} ${formatCount(totals[by])}${totalsBefore ? ` ${changeText(totals[by], totalsBefore[by])}` : ''}`;
  const share = `AI share ${shareText(totals)}${before ? ` (was ${shareText(totalsBefore)})` : ''}`;
  return [
    [{ bold: viewsText(total) }, compared],
    [[part('People', 'human'), part('AI', 'ai'), share, ...visitorsTexts(run)].join('  ·  ')],
    ...trendLines(run),
  ];
}

function visitorsTexts({ readers }: Pick<EditionRun, 'readers'>): string[] {
  if (readers?.visitors === undefined) return [];
  const { total, before } = readers.visitors;
  const change = before === undefined ? '' : ` ${changeText(total, before)}`;
  return [`Visitors ${formatCount(total)}${change} (approximate)`];
}

const ORDINALS = ['third', 'fourth', 'fifth', 'sixth', 'seventh'];

/** The trend over the kept weeks. */
function trendLines({ trend }: Pick<EditionRun, 'trend'>): string[][] {
  if (trend === undefined) return [];
  const { extreme, weeks, way, inARow } = trend;
  const ordinal = ORDINALS[inARow - 3];
  const words = [
    ...(extreme ? [`${extreme} in ${weeks} weeks`] : []),
    ...(ordinal ? [`${ordinal} ${way} in a row`] : []),
  ].join(', ');
  return words === '' ? [] : [[`${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`]];
}

function zeroLines(run: Pick<EditionRun, 'week' | 'range' | 'totalsBefore'>): string[][] {
  const { totalsBefore: before } = run;
  const was = before ? ` (${formatCount(totalOf(before))} ${beforeText(run)})` : '';
  return [[`0 views ${periodText(run)}${was}. That usually means that counting broke.`], [CHECK_COUNTING]];
}

const periodText = ({ week }: Pick<EditionRun, 'week'>) =>
  week === undefined ? 'in these days' : 'all week';
const beforeText = ({ week, range }: Pick<EditionRun, 'week' | 'range'>) => {
  const days = daysOf(range).length;
  if (week !== undefined || days === 1) return week === undefined ? 'a week before' : 'the week before';
  return days < 7 ? 'on the same weekdays a week before' : 'in as many days before';
};

function biggestOf(run: EditionRun) {
  const { pages, totals } = run;
  const biggest = pages?.biggest;
  // Without any views, every page has changed by its maximum.
  if (biggest === undefined || totals === undefined || totalOf(totals) === 0) return undefined;
  const { page, by } = biggest;
  const [now, before] = [page[by], page.before[by]];
  const size = formatCount(Math.abs(now - before));
  return {
    page: pagePart(run.site, page.path),
    path: pathText(page.path),
    size,
    now,
    before,
    whose: by === 'ai' ? 'AI views' : 'views by people',
  };
}

function biggestLines(run: EditionRun): Part[][] {
  const biggest = biggestOf(run);
  if (biggest === undefined) return [];
  const { page, now, before, whose } = biggest;
  return [['Biggest change: ', page, `, ${whose} ${bothText(now, before)}`]];
}

function spokenBiggest(run: EditionRun): Part[][] {
  const biggest = biggestOf(run);
  if (biggest === undefined) return [];
  const { path, size, now, before, whose } = biggest;
  const percent = before === 0 ? 'none before' : spokenPercent(now, before);
  const rest = percent === undefined ? '' : `, ${percent}`;
  return [[`Biggest change: ${path}, ${size} ${now > before ? 'more' : 'fewer'} ${whose}${rest}`]];
}

function noticeLines(run: EditionRun): Part[][] {
  const lines: Part[][] = [];
  const isOpen = run.state === 'posted' && run.sections.some((section) => section !== 'readers');
  if (isOpen && run.pagesHeld !== undefined)
    lines.push([`Totals are complete, and the list of pages follows later: ${causeText(run.pagesHeld)}.`]);
  const [when, time] = run.pagesByMs === undefined ? ['not before', run.pagesFromMs] : ['by', run.pagesByMs];
  if (isOpen && time !== undefined)
    lines.push([
      `Totals are complete, and the list of pages follows (request budget) ${when} `,
      { time, format: '{time}' },
      '.',
    ]);
  if (run.today !== undefined) lines.push([TODAY_TEXTS[run.today]]);
  if (run.noPages === 'tooMany')
    lines.push(['This site has more pages than I can read at once, so these are the totals only.']);
  if (run.noPages === 'failed') lines.push(["I couldn't get the list of pages; the totals are complete."]);
  if (run.late)
    lines.push(['Sent late. It was due ', { time: run.dueAtMs, format: '{date_short_pretty} {time}' }, '.']);
  return lines;
}

const TODAY_TEXTS = {
  leftOut: 'Today is not over, so it is left out.',
  soFar: 'Today is not over: these are its views so far, without a comparison.',
};

function footerLine({ timetable, owner, kind, range }: EditionRun): Part[] {
  const who = personName(owner.name);
  const days = zoneText(range);
  if (kind === 'weekly')
    return [`${days} · ${timetable ?? ''} · set up by ${who} · `, { code: '/docs-digest list' }];
  return [`${days} · ${kind === 'preview' ? 'a preview only you can see' : `requested by ${who}`}`];
}

function chartPart(run: EditionRun): Message['blocks'][number] | undefined {
  if (run.totals === undefined || totalOf(run.totals) === 0) return undefined;
  const points = chartPoints(run.spans);
  if (run.chart === 'block') return chartBlock(chartView({ title: 'Views by people and by AI', points }));
  const fileId = run.picture?.state === 'done' ? run.picture.fileId : undefined;
  if (run.chart !== 'picture' || fileId === undefined) return undefined;
  return imageBlock({ fileId, alt: cut(`${chartTitle(run)}. ${chartText(points)}`, 1500) });
}

/** State, subject and numbers in words, for phones and screen readers. */
function spokenLines(run: EditionRun, totals: Counts): Part[][] {
  const total = totalOf(totals);
  const { totalsBefore: before } = run;
  const preview = run.kind === 'preview' ? 'Preview of the digest' : 'Digest';
  const site = `${preview} of ${siteText(run.site)}, ${daysText(run.range)}`;
  if (total === 0) return [[`${site}:`], ...zeroLines(run), ...noticeLines(run)];
  const change = before ? `, ${spokenChange(total, totalOf(before))}` : '';
  const part = (name: string, by: keyof Counts) =>
    `${name} ${formatCount(totals[by])}${before ? `, ${spokenChange(totals[by], before[by])}` : ''}`;
  return [
    [`${site}: ${viewsText(total)}${change}. ${part('People', 'human')}. ${part('AI', 'ai')}.`],
    ...trendLines(run),
    [chartText(chartPoints(run.spans))],
    ...spokenBiggest(run),
    ...noticeLines(run),
  ];
}

/** The message in its thread: the pages, and what readers looked for. Missing while they are unknown. */
function pagesMessage(run: EditionRun): Pick<OutboxMessage, 'message' | 'fallback'> | undefined {
  if (run.state !== 'completing' && run.state !== 'ended') return undefined;
  const hasPages = run.sections.includes('pages') && run.pages !== undefined && run.pages.top.length > 0;
  const readers = readerParts(run);
  const readersTitle = `What readers of ${siteText(run.site)} looked for`;
  if (!hasPages)
    return readers.length === 0
      ? undefined
      : { message: compose([[readersTitle]], [message([[{ bold: readersTitle }]]), ...readers]) };
  const withTop = (top: PagePart) => compose(spokenPages(run), [...pageParts(run, top), ...readers]);
  return { message: withTop(topTable(run)), fallback: withTop(topList(run)) };
}

type PagePart = Message | Message['blocks'][number];

function topTable({ pages, comparesPages }: EditionRun): PagePart {
  return tableBlock(
    ['Page', 'People', 'AI', 'Total', ...(comparesPages ? ['Change'] : [])],
    (pages?.top ?? []).map((page) => [
      pageCell(page.path, MAX_CELL_PATH),
      page.human,
      page.ai,
      totalOf(page),
      ...(comparesPages ? [changeOf(page)] : []),
    ]),
  );
}

/** The same for a workspace that does not take tables. */
function topList({ site, pages, comparesPages }: EditionRun): PagePart {
  const lines = (pages?.top ?? []).map((page) => [
    pagePart(site, page.path, MAX_CELL_PATH),
    `: people ${formatCount(page.human)} · AI ${formatCount(page.ai)}`,
    ...(comparesPages ? [` · ${changeOf(page)}`] : []),
  ]);
  return message(lines);
}

/** `top` shows the most-read pages. */
function pageParts(run: EditionRun, top: PagePart): PagePart[] {
  const { pages } = run;
  if (pages === undefined) return [];
  const lines = [
    listLine(run, 'Rising, people', pages.rising, movedBy('human')),
    listLine(run, 'Falling, people', pages.falling, movedBy('human')),
    listLine(run, 'Rising, AI', pages.risingAi, movedBy('ai')),
    listLine(run, 'Falling, AI', pages.fallingAi, movedBy('ai')),
    listLine(run, run.week === undefined ? 'New' : 'New this week', pages.fresh, (page) =>
      formatCount(totalOf(page)),
    ),
    listLine(run, 'Gone quiet', pages.quiet, (page) => `${formatCount(totalOf(page.before))} → 0`),
    listLine(run, 'Read by AI, rarely by people', pages.aiRead, (page) => `${shareText(page)} AI`),
    ...sumLines(run),
  ].filter((line) => line.length > 0);
  const title = message([[{ bold: `Top pages of ${siteText(run.site)}` }]]);
  const ask = message(
    lines.length > 0
      ? lines
      : [[pages.count === 1 ? '1 page was read.' : `${formatCount(pages.count)} pages were read.`]],
    askButtons(run, 'pages'),
  );
  return [title, top, ask];
}

const changeOf = (page: PageChange) => changeText(totalOf(page), totalOf(page.before));

const movedBy =
  (by: keyof Counts) =>
  (page: PageChange): string =>
    bothText(page[by], page.before[by]);

function listLine(
  { site }: EditionRun,
  name: string,
  pages: readonly PageChange[],
  say: (page: PageChange) => string,
): Part[] {
  if (pages.length === 0) return [];
  const listed = pages.flatMap((page, index): Part[] => [
    index === 0 ? ': ' : ' · ',
    pagePart(site, page.path),
    ` ${say(page)}`,
  ]);
  return [{ bold: name }, ...listed];
}

/** If the file is the only list of pages, its problem is shown here. */
const fileLines = (run: EditionRun): Part[][] =>
  run.sections.includes('pages') || run.csv === undefined || run.csv.state === 'failed' ? [] : sumLines(run);

/** The platform's list of pages need not add up to its totals; a line says so if it does not. */
function sumLines({ pages, totals, totalsBefore }: EditionRun): Part[][] {
  const now = sumText(pages?.sum, totals);
  const before = sumText(pages?.sumBefore, totalsBefore);
  return [
    ...(now === undefined ? [] : [[`The list of pages adds up to ${now}.`]]),
    ...(before === undefined
      ? []
      : [[`The list of pages of the days before adds up to ${before}, so changes of pages may be wrong.`]]),
  ];
}

function sumText(sum: Counts | undefined, total: Counts | undefined): string | undefined {
  if (sum === undefined || total === undefined || totalOf(sum) === totalOf(total)) return undefined;
  return `${formatCount(totalOf(sum))} of ${viewsText(totalOf(total))}`;
}

function spokenPages({ site, pages }: EditionRun): Part[][] {
  const top =
    pages?.top.slice(0, 3).map((page) => `${pathText(page.path)} ${formatCount(totalOf(page))}`) ?? [];
  return [[`Top pages of ${siteText(site)}: ${top.join(', ')}`]];
}
