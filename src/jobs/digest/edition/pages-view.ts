import { compose, type Message, message, type Part, tableBlock } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatCount } from '../../../slack/text.ts';
import { pullRequestParts } from '../../pull-request-view.ts';
import { type Counts, listedSearches, listedThumbs, type PageChange, totalOf } from '../model.ts';
import {
  askButtons,
  bothText,
  changeText,
  pageCell,
  pagePart,
  pathText,
  queryText,
  shareText,
  siteText,
  timesText,
  viewsText,
  wordsText,
} from './phrases.ts';
import type { EditionRun } from './record.ts';

/** Longest path in a cell of a table. */
const MAX_CELL_PATH = 60;

/** The message in its thread: the pages, and what readers looked for. Missing while they are unknown. */
export function pagesMessage(run: EditionRun): Pick<OutboxMessage, 'message' | 'fallback'> | undefined {
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

function topTable({ pages }: EditionRun): PagePart {
  return tableBlock(
    ['Page', 'People', 'AI', 'Total', ...(pages?.sumBefore ? ['Change'] : [])],
    (pages?.top ?? []).map((page) => [
      pageCell(page.path, MAX_CELL_PATH),
      page.human,
      page.ai,
      totalOf(page),
      ...(pages?.sumBefore ? [changeOf(page)] : []),
    ]),
  );
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

const listLine = (
  { site }: EditionRun,
  name: string,
  pages: readonly PageChange[],
  say: (page: PageChange) => string,
): Part[] =>
  entriesLine(
    name,
    pages.map((page) => [pagePart(site, page.path), ` ${say(page)}`]),
  );

/** Returns a line of entries; empty if there is none. */
const entriesLine = (name: string, entries: Part[][]): Part[] =>
  entries.length === 0
    ? []
    : [{ bold: name }, ...entries.flatMap((entry, index) => [index === 0 ? ': ' : ' · ', ...entry])];

function spokenPages({ site, pages }: EditionRun): Part[][] {
  const top =
    pages?.top.slice(0, 3).map((page) => `${pathText(page.path)} ${formatCount(totalOf(page))}`) ?? [];
  return [[`Top pages of ${siteText(site)}: ${top.join(', ')}`]];
}

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

/** Returns what readers looked for, line by line; a line without numbers from the platform is left out. */
export function readerParts(run: EditionRun): Message[] {
  const { questions } = run.readers ?? {};
  const parts: Message[] = [];
  const searches = listedSearches(run.readers);
  if (searches.length > 0) {
    const listed = searches.map(({ query, hits }): Part[] => [`${queryText(query)} ${timesText(hits)}`]);
    parts.push(message([entriesLine('Searched, nothing clicked', listed)], askButtons(run, 'searches')));
  }
  const disliked = listedThumbs(run.readers);
  if (disliked.length > 0) {
    const listed = disliked.map(({ path, up, down }): Part[] => [
      pagePart(run.site, path),
      ` ${formatCount(up)} up, ${formatCount(down)} down`,
    ]);
    parts.push(message([entriesLine('More thumbs down than up', listed)], askButtons(run, 'thumbs')));
  }
  if (questions !== undefined && questions.asked > 0)
    parts.push(
      message([[questionsText(questions)]], questions.unanswered > 0 ? askButtons(run, 'questions') : []),
    );
  const followUps = followUpParts(run);
  return followUps.length > 0 ? [...parts, message([followUps])] : parts;
}

type Questions = NonNullable<NonNullable<EditionRun['readers']>['questions']>;

function questionsText({ asked, unanswered, category, before }: Questions): string {
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
function followUpParts({ site, followUps }: EditionRun): Part[] {
  if (followUps.length === 0) return [];
  const parts = followUps.slice(0, MAX_FOLLOW_UPS).flatMap((one, index): Part[] => {
    const { subject, kind } = one;
    const name =
      kind === 'questions' ? subject : kind === 'search' ? queryText(subject) : pagePart(site, subject);
    return [index === 0 ? '' : ' · ', name, ...outcomeParts(one), numbersText(one)];
  });
  const rest = followUps.length - MAX_FOLLOW_UPS;
  const more = rest > 0 ? [` · and ${formatCount(rest)} more`] : [];
  return ['Since last week: ', ...parts, ...more];
}

type FollowUp = EditionRun['followUps'][number];

const withoutTexts: Record<NonNullable<FollowUp['without']>, string> = {
  failed: ': the agent could not finish it',
  archived: ': its job was archived',
  unknown: ': its result is unknown',
};

function outcomeParts({ prLink, prText, without }: FollowUp): Part[] {
  if (prLink === undefined && prText === undefined)
    return [without === undefined ? ' got no pull request' : withoutTexts[without]];
  return [
    ' got ',
    ...pullRequestParts({ prLink, prText }, 'a pull request'),
    ' (the platform does not say whether it was merged)',
  ];
}

function numbersText({ kind, before, after }: FollowUp): string {
  if (before === undefined || after === undefined) return '';
  const unit = {
    page: 'views',
    thumbs: 'thumbs down',
    search: 'searches without a click',
    questions: 'of them',
  }[kind];
  return `; ${formatCount(before)} ${unit} → ${after === 'unlisted' ? 'no longer listed' : formatCount(after)}`;
}
