import type { TableBlock } from '@slack/types';
import { compose, contextBlock, joinParts, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { formatCount } from '../../../slack/text.ts';
import { pullRequestName, pullRequestPart } from '../../shared/wording-view.ts';
import { askButtons, pageCell, pagePart, siteText, subjectPart, toRows } from '../edition/phrases.ts';
import type { EditionRun } from '../edition/record.ts';
import { dateText, dayAt } from '../weeks.ts';
import { isMonthly, type SinceMerge } from './record.ts';

/** What a row counts. */
const COUNTED = {
  page: ' views by people',
  thumbs: ' thumbs down',
  search: ' without a click',
  questions: '',
};

/** Returns a rate with one decimal where that matters: 4.5, 41. */
export const rateText = (rate: number) =>
  rate < 10 ? String(Math.round(10 * rate) / 10) : formatCount(rate);

/** Returns the name of a row, which no other row of its digest has: two may be about one page. */
export const sinceName = ({ link, subject: { kind, name } }: SinceMerge) => `${link} ${kind} ${name}`;

/** Whether a person may want to ask the agent about it again. */
export const asksAgain = ({ verdict }: SinceMerge) => verdict === 'worse' || verdict === 'unclear';

/** No sentence says that the pull request is the cause. */
function ratesText({ before, after, verdict }: SinceMerge): string {
  if (verdict === 'unknown') return ' not known';
  const rates = ` ${rateText(before)} → ${rateText(after)} a week`;
  return verdict === 'unclear' ? `${rates}, no clear change yet` : rates;
}

const mergedText = ({ mergedAtMs }: SinceMerge) => ` (merged ${dateText(dayAt(mergedAtMs), false)})`;

const subjectParts = ({ subject }: SinceMerge, site: string): Part[] => [
  subjectPart(subject, (path) => pagePart(site, path)),
  COUNTED[subject.kind],
];

const buttonsOf = (run: EditionRun, one: SinceMerge) =>
  asksAgain(one) ? askButtons(run, 'since', sinceName(one)) : [];

/** Returns a line for all of a pull request, and one with [Ask the agent] for each that got worse or is not clear. */
function sinceLines(run: EditionRun): Message[] {
  const { site, since = [] } = run;
  const groups = Map.groupBy(since, (one) => (asksAgain(one) ? sinceName(one) : one.link));
  return [...groups.values()].map((group) => {
    const [first] = group as [SinceMerge];
    const state = first.verdict === 'worse' ? { bold: 'Got worse since ' } : 'Since ';
    const head = [state, pullRequestPart(first.link, 'pull request'), mergedText(first)];
    const facts = group.map((one) => [...subjectParts(one, site), ratesText(one)]);
    return message([joinParts([head, ...facts])], buttonsOf(run, first));
  });
}

const STATES = { better: 'better', worse: 'got worse', unclear: 'no clear change yet', unknown: 'not known' };

function sinceTable({ since = [] }: EditionRun): TableBlock {
  const rows = since.map((one) => {
    const { link, subject, before, after, verdict } = one;
    const name = subjectPart({ ...subject, name: pageCell(subject.name) }, (path) => path);
    const rates = verdict === 'unknown' ? ['–', '–'] : [rateText(before), rateText(after)];
    const merge = `${pullRequestName(link)}${mergedText(one)}`;
    return [merge, `${name}${COUNTED[subject.kind]}`, ...rates, STATES[verdict]];
  });
  const titles = ['Merge', 'What', 'Before, a week', 'After, a week', 'Change'];
  return { type: 'table', rows: toRows([titles, ...rows]) };
}

/**
 * Returns the message with what a digest says since earlier pull requests: lines, or the table of a month.
 * Undefined if there is nothing.
 */
export function sinceMessage(run: EditionRun): Pick<OutboxMessage, 'message' | 'fallback'> | undefined {
  const { site, since = [], sinceMore = 0 } = run;
  if (since.length === 0) return undefined;
  const more = sinceMore > 0 ? [message([`and ${formatCount(sinceMore)} more`])] : [];
  const lines = [...sinceLines(run), ...more];
  if (!isMonthly(run)) return { message: compose(lines) };
  const head = message([[{ bold: `Did it help? Merged pull requests on ${siteText(site)}` }]]);
  const small = contextBlock([['Whole weeks: up to four before the merge, and up to eight after it.']]);
  const asks = since.flatMap((one) => {
    const buttons = buttonsOf(run, one);
    return buttons.length > 0 ? [message([subjectParts(one, site)], buttons)] : [];
  });
  const fallback = compose([head, ...lines, small]);
  return {
    message: { ...compose([head, sinceTable(run), ...more, small, ...asks]), text: fallback.text },
    fallback,
  };
}
