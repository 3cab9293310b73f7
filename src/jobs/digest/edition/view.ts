import {
  chartBlock,
  compose,
  contextBlock,
  type Message,
  message,
  type Part,
} from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatCount, upperFirst } from '../../../slack/text.ts';
import { personName } from '../../wording-view.ts';
import { type Counts, totalOf } from '../model.ts';
import { chartLabels, daysOf, daysText, zoneText } from '../weeks.ts';
import { pagesMessage } from './pages-view.ts';
import {
  bothText,
  CHECK_COUNTING,
  changeText,
  pagePart,
  pathText,
  shareText,
  siteText,
  spokenChange,
  viewsText,
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
  const head = message([titleLine(run), ...totalLines(run, totals)]);
  const biggest = biggestLines(run, (path) => pagePart(run.site, path));
  const small = [...noticeLines(run), footerLine(run)].map((line) => contextBlock([line]));
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

function totalLines(run: EditionRun, totals: Counts): Part[][] {
  const { totalsBefore } = run;
  const total = totalOf(totals);
  if (total === 0) return [...zeroLines(run), ...visitorsTexts(run).map((text) => [text])];
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

function visitorsTexts({ readers }: EditionRun): string[] {
  if (readers?.visitors === undefined) return [];
  const { total, before } = readers.visitors;
  const change = before === undefined ? '' : ` ${changeText(total, before)}`;
  return [`Visitors ${formatCount(total)}${change} (approximate)`];
}

const ORDINALS = ['third', 'fourth', 'fifth', 'sixth', 'seventh'];

/** The trend over the kept weeks. */
function trendLines({ trend }: EditionRun): string[][] {
  if (trend === undefined) return [];
  const { extreme, weeks, way, inARow } = trend;
  const ordinal = ORDINALS[inARow - 3];
  const words = [
    ...(extreme ? [`${extreme} in ${weeks} weeks`] : []),
    ...(ordinal ? [`${ordinal} ${way} in a row`] : []),
  ].join(', ');
  return words === '' ? [] : [[`${upperFirst(words)}.`]];
}

function zeroLines(run: EditionRun): string[][] {
  const { totalsBefore: before } = run;
  const was = before ? ` (${formatCount(totalOf(before))} ${beforeText(run)})` : '';
  const period = run.week === undefined ? 'in these days' : 'all week';
  return [[`0 views ${period}${was}. That usually means that counting broke.`], [CHECK_COUNTING]];
}

const beforeText = ({ week, range }: EditionRun) => {
  const days = daysOf(range).length;
  if (week !== undefined || days === 1) return week === undefined ? 'a week before' : 'the week before';
  return days < 7 ? 'on the same weekdays a week before' : 'in as many days before';
};

function biggestLines({ pages, totals }: EditionRun, pathPart: (path: string) => Part): Part[][] {
  const biggest = pages?.biggest;
  // Without any views, every page has changed by its maximum.
  if (biggest === undefined || totals === undefined || totalOf(totals) === 0) return [];
  const { page, by } = biggest;
  const whose = by === 'ai' ? 'AI views' : 'views by people';
  return [['Biggest change: ', pathPart(page.path), `, ${whose} ${bothText(page[by], page.before[by])}`]];
}

function noticeLines(run: EditionRun): Part[][] {
  const lines: Part[][] = [];
  const isOpen = run.state === 'posted' && run.sections.some((section) => section !== 'readers');
  if (isOpen && run.pagesHeld !== undefined)
    lines.push([`Totals are complete, and the list of pages follows later: ${causeText(run.pagesHeld)}.`]);
  if (isOpen && run.pagesFromMs !== undefined)
    lines.push([
      'Totals are complete, and the list of pages follows (request budget) not before ',
      { time: run.pagesFromMs, format: '{time}' },
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
  if (!run.hasChart || run.totals === undefined || totalOf(run.totals) === 0) return undefined;
  return chartBlock({
    title: 'Views by people and by AI',
    labels: chartLabels(run.spans),
    series: [
      { name: 'People', values: run.spans.map(({ human }) => human) },
      { name: 'AI', values: run.spans.map(({ ai }) => ai) },
    ],
    xTitle: 'Date (UTC)',
    yTitle: 'Views',
  });
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
    [chartText(run)],
    ...biggestLines(run, pathText),
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
