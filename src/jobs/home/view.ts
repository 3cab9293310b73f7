import type { HomeView, KnownBlock } from '@slack/types';
import { type ButtonParts, contextBlock, message, type Part } from '../../slack/blocks.ts';
import { formatCount, lowerFirst } from '../../slack/text.ts';
import { missingScopeText } from '../wording-view.ts';

/** What somebody's Home says. Lines are made by the features that they are about. */
export interface HomeParts {
  /** What waits for an answer of this person, each with the button that asks it. */
  needs: { line: Part[]; button: ButtonParts }[];
  /** Those of them without a line. */
  moreNeeds: number;
  /** What goes on, under a heading for each feature; `more` counts those without a line. */
  running: { title: string; lines: Part[][]; more: number }[];
  /** What ended, latest first. */
  ended: Part[][];
  /** How this person can begin: of what they may do. */
  begin: { button: ButtonParts; how: string }[];
  /** What this person may do; nothing while it is not known who this is. */
  may: readonly string[] | undefined;
  /** It does not, until an operator acts. */
  missingScope: boolean;
  /** What somebody who may do nothing cannot, and whom they ask. */
  cannot: readonly string[];
  contacts: string;
  /** What is left of limits. */
  left: readonly string[];
  commands: readonly string[];
}

/**
 * The Home tab of one person: what needs them first, then what goes on. Whoever has nothing reads how to begin. It shows
 * what is this person's and nothing else; no link to a bundle.
 */
export function homeView(parts: HomeParts): HomeView {
  const { needs, running, ended } = parts;
  const isFirst =
    needs.length === 0 && ended.length === 0 && running.every(({ lines }) => lines.length === 0);
  const blocks = isFirst ? firstBlocks(parts) : usedBlocks(parts);
  return { type: 'home', blocks: [...blocks, ...smallBlocks(parts)] };
}

function firstBlocks({ begin, ...parts }: HomeParts): KnownBlock[] {
  const why = refusalLine(parts);
  const [first, ...others] = begin.map(({ button }) => button);
  const lines = [...begin.map(({ how }) => how), ...(why === undefined ? [] : [why])];
  return [
    ...message(
      [[{ bold: 'Exports, the docs agent and weekly numbers, from Slack.' }]],
      first === undefined ? [] : [{ ...first, style: 'primary' }, ...others],
    ).blocks,
    ...(lines.length === 0 ? [] : message(lines.map((line) => [line])).blocks),
  ];
}

function usedBlocks({ needs, moreNeeds, running, ended, begin, ...parts }: HomeParts): KnownBlock[] {
  const why = refusalLine(parts);
  const buttons = begin.map(({ button }) => button);
  return [
    ...(needs.length === 0 ? [] : [heading(`Needs you (${formatCount(needs.length + moreNeeds)})`)]),
    ...needs.flatMap(({ line, button }) => message([line], [button]).blocks),
    ...(moreNeeds > 0 ? message([[`and ${formatCount(moreNeeds)} more`]]).blocks : []),
    ...running.flatMap(({ title, lines, more }) => section(title, lines, more)),
    ...section('Recently ended', ended),
    ...(why === undefined ? [] : message([[why]]).blocks),
    ...(buttons.length === 0 ? [] : message([[{ bold: 'Start something new' }]], buttons).blocks),
  ];
}

/** Why there is nothing that this person may begin. */
function refusalLine({
  may,
  missingScope,
  cannot,
  contacts,
}: Pick<HomeParts, 'may' | 'missingScope' | 'cannot' | 'contacts'>): string | undefined {
  if (missingScope) return missingScopeText;
  if (may === undefined) return 'Slack took too long to say who you are. Open this page again in a moment.';
  return may.length > 0 ? undefined : `You can't ${orList(cannot).join('')}. Ask ${contacts}.`;
}

function smallBlocks({ may = [], left, commands }: HomeParts): KnownBlock[] {
  const mayText = may.length === 0 ? [] : [`You may: ${may.map(lowerFirst).join(' · ')}`];
  const rights = [...mayText, ...left].join(' · ');
  const help = commands.map((command): Part => ({ code: `${command} help` }));
  // Blocks of their own: in one, what is markup would begin a line.
  return [
    ...(rights === '' ? [] : [contextBlock([[rights]])]),
    contextBlock([['Type ', ...orList(help), ' in any channel.'], [UPDATED]]),
  ];
}

const UPDATED = 'Updates when you open it or something needs you.';

/** Such as `a, b or c`, with what stands between them as parts of their own. */
function orList<P extends Part>(items: readonly P[]): (P | string)[] {
  return items.flatMap((item, index) => {
    if (index === 0) return [item];
    return [index === items.length - 1 ? ' or ' : ', ', item];
  });
}

const heading = (text: string): KnownBlock => ({ type: 'header', text: { type: 'plain_text', text } });

function section(title: string, lines: Part[][], more = 0): KnownBlock[] {
  if (lines.length === 0) return [];
  const rest: Part[][] = more > 0 ? [[`and ${formatCount(more)} more`]] : [];
  return [heading(title), ...message([...lines, ...rest]).blocks];
}
