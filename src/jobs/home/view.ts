import type { HomeView, KnownBlock } from '@slack/types';
import { type ButtonParts, contextBlock, message, type Part } from '../../slack/blocks.ts';
import { formatCount, joinFacts, lowerFirst, orList } from '../../slack/text.ts';
import type { RunBase } from '../../store/runs.ts';
import type { Need } from '../feature.ts';
import { missingScopeText } from '../wording-view.ts';

export const homeActions = { answer: 'home.answer' } as const;

/** Returns the button that shows a question again, in a modal. */
export const answerButtonOf = ({ id: run }: Pick<RunBase, 'id'>, { id: need }: Need): ButtonParts => ({
  label: 'Answer',
  action: homeActions.answer,
  value: JSON.stringify({ v: 1, run, need }),
});

/** The content of a Home tab. The features write its lines. */
export interface HomeParts {
  /** Open questions of this person, each with the button that shows it. */
  needs: { line: Part[]; button: ButtonParts }[];
  /** Number of further questions without a line. */
  moreNeeds: number;
  /** Running work, under a heading for each feature; `more` counts the runs without a line. */
  running: { title: string; lines: Part[][]; more: number }[];
  /** Ended runs, latest first. */
  ended: Part[][];
  /** How this person can begin, by their permissions. */
  begin: { button: ButtonParts; how: string }[];
  /** What this person may do; why they can do nothing. */
  may: readonly string[];
  refusal: string | undefined;
  /** The remaining limits. */
  left: readonly string[];
  commands: readonly string[];
}

/**
 * The Home tab of one person: open questions first, then running work. If there is neither, it says how to begin. It
 * shows only this person's work and no link to a bundle.
 */
export function homeView(parts: HomeParts): HomeView {
  const { needs, running, ended } = parts;
  const isFirst =
    needs.length === 0 && ended.length === 0 && running.every(({ lines }) => lines.length === 0);
  const blocks = isFirst ? firstBlocks(parts) : usedBlocks(parts);
  return { type: 'home', blocks: [...blocks, ...smallBlocks(parts)] };
}

function firstBlocks({ begin, refusal }: HomeParts): KnownBlock[] {
  const [first, ...others] = begin.map(({ button }) => button);
  const lines = [...begin.map(({ how }) => how), refusal];
  return [
    ...message(
      [[{ bold: 'Exports, the docs agent and weekly numbers, from Slack.' }]],
      [first && { ...first, style: 'primary' }, ...others],
    ).blocks,
    ...(lines.some(Boolean) ? message(lines).blocks : []),
  ];
}

function usedBlocks({ needs, moreNeeds, running, ended, begin, refusal }: HomeParts): KnownBlock[] {
  const buttons = begin.map(({ button }) => button);
  return [
    ...(needs.length === 0 ? [] : [heading(`Needs you (${formatCount(needs.length + moreNeeds)})`)]),
    ...needs.flatMap(({ line, button }) => message([line], [button]).blocks),
    ...(moreNeeds > 0 ? message([`and ${formatCount(moreNeeds)} more`]).blocks : []),
    ...running.flatMap(({ title, lines, more }) => section(title, lines, more)),
    ...section('Recently ended', ended),
    ...(refusal === undefined ? [] : message([refusal]).blocks),
    ...(buttons.length === 0 ? [] : message([[{ bold: 'Start something new' }]], buttons).blocks),
  ];
}

/** Says why a person can begin nothing, and whom they can ask; without `contacts`, their identity is unknown. */
export const refusalText = (
  cannot: readonly string[],
  { contacts, missingScope }: { kind?: string; contacts?: string; missingScope?: true } = {},
): string =>
  contacts !== undefined
    ? `You can't ${orList.format(cannot)}. Ask ${contacts}.`
    : missingScope
      ? missingScopeText
      : 'Slack took too long to say who you are. Open this page again in a moment.';

function smallBlocks({ may, left, commands }: HomeParts): KnownBlock[] {
  const mayText = may.length === 0 ? '' : `You may: ${may.map(lowerFirst).join(' · ')}`;
  const rights = joinFacts(mayText, ...left);
  const help = orList
    .formatToParts(commands)
    .map(({ type, value }): Part => (type === 'element' ? { code: `${value} help` } : value));
  // Separate blocks: within one, markup would begin a line.
  return [
    ...(rights === '' ? [] : [contextBlock([[rights]])]),
    contextBlock([['Type ', ...help, ' in any channel.'], [UPDATED]]),
  ];
}

const UPDATED = 'Updates when you open it or something needs you.';

const heading = (text: string): KnownBlock => ({ type: 'header', text: { type: 'plain_text', text } });

function section(title: string, lines: Part[][], more = 0): KnownBlock[] {
  if (lines.length === 0) return [];
  return [heading(title), ...message([...lines, more > 0 && `and ${formatCount(more)} more`]).blocks];
}
