import type { HomeView, KnownBlock } from '@slack/types';
import { type ButtonParts, compose, contextBlock, message, type Part } from '../../slack/blocks.ts';
import { formatCount, joinFacts, orList } from '../../slack/text.ts';
import type { RunBase } from '../../store/runs.ts';
import type { Need } from '../shared/feature.ts';
import { missingScopeText } from '../shared/wording-view.ts';

export const homeActions = { answer: 'home.answer', fix: 'home.fix' } as const;

/** Returns the button that shows a question or a trouble again, in a form. */
export const answerButtonOf = (
  { id: run }: Pick<RunBase, 'id'>,
  { id: need }: Need,
  isTrouble = false,
): ButtonParts => ({
  ...(isTrouble
    ? { label: 'Fix', action: homeActions.fix }
    : { label: 'Answer', action: homeActions.answer }),
  value: JSON.stringify({ v: 1, run, need }),
});

/** The content of a Home tab. The features write its lines. */
export interface HomeParts {
  /** Open questions of this person, each with the button that shows it. */
  needs: { line: Part[]; button: ButtonParts }[];
  /** Number of further questions without a line. */
  moreNeeds: number;
  /** What is live now. */
  live: Part[][];
  /** Running and scheduled work, under headings; `more` counts the runs without a line. */
  running: { title: string; lines: Part[][]; more: number }[];
  /** Ended runs, latest first. */
  ended: Part[][];
  /** How this person can begin, by their permissions. */
  begin: { button: ButtonParts; how: string }[];
  /** Why they can do nothing. */
  refusal: string | undefined;
  /** The limits that are nearly used. */
  left: readonly string[];
  commands: readonly string[];
}

/**
 * The Home tab of one person: open questions, what is live, running and scheduled work. If there is none, it says how to
 * begin. It shows only this person's work, and no link to a bundle.
 */
export function homeView(parts: HomeParts): HomeView {
  const { needs, live, running, ended } = parts;
  const isFirst =
    [needs, live, ended].every(({ length }) => length === 0) &&
    running.every(({ lines }) => lines.length === 0);
  const blocks = isFirst ? firstBlocks(parts) : usedBlocks(parts);
  return { type: 'home', blocks: [...blocks, ...smallBlocks(parts)] };
}

/** The buttons that start something, at most three in a row. */
const startBlocks = (title: string, begin: HomeParts['begin']): KnownBlock[] => {
  const [first, ...others] = begin.map(({ button }) => button);
  const row = [first && { ...first, style: 'primary' as const }, ...others.slice(0, 2)];
  const more = others.length > 2 ? message(['More'], others.slice(2)).blocks : [];
  return [...message([[{ bold: title }]], row).blocks, ...more];
};

function firstBlocks({ begin, refusal }: HomeParts): KnownBlock[] {
  const lines = [...begin.map(({ how }) => how), refusal];
  return [
    ...startBlocks('Exports, the docs agent and weekly numbers, from Slack.', begin),
    ...(lines.some(Boolean) ? message(lines).blocks : []),
  ];
}

function usedBlocks({ needs, moreNeeds, live, running, ended, begin, refusal }: HomeParts): KnownBlock[] {
  return [
    ...(needs.length === 0 ? [] : [heading(`Needs you (${formatCount(needs.length + moreNeeds)})`)]),
    ...(compose(needs.map(({ line, button }) => message([line], [button]))).blocks as KnownBlock[]),
    ...(moreNeeds > 0 ? message([`and ${formatCount(moreNeeds)} more`]).blocks : []),
    ...section('On your sites', live),
    ...running.flatMap(({ title, lines, more }) => section(title, lines, more)),
    ...section('Recently ended', ended),
    ...(refusal === undefined ? [] : message([refusal]).blocks),
    ...(begin.length === 0 ? [] : startBlocks('Start something new', begin)),
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

function smallBlocks({ left, commands }: HomeParts): KnownBlock[] {
  const help = orList
    .formatToParts(commands)
    .map(({ type, value }): Part => (type === 'element' ? { code: `${value} help` } : value));
  // Separate blocks: within one, markup would begin a line.
  return [
    ...(left.length === 0 ? [] : [contextBlock([[joinFacts(...left)]])]),
    contextBlock([['Type ', ...help, ' in any channel.'], ['This page refreshes when you open it.']]),
  ];
}

const heading = (text: string): KnownBlock => ({ type: 'header', text: { type: 'plain_text', text } });

function section(title: string, lines: Part[][], more = 0): KnownBlock[] {
  if (lines.length === 0) return [];
  return [heading(title), ...message([...lines, more > 0 && `and ${formatCount(more)} more`]).blocks];
}
