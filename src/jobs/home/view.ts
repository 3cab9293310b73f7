import type { HomeView, KnownBlock } from '@slack/types';
import { message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import { missingScopeText } from '../wording-view.ts';

/** What somebody's Home says. Lines are made by the features that they are about. */
export interface HomeParts {
  /** What runs, and what ended, latest first; `more` counts running ones without a line. */
  running: Part[][];
  more: number;
  ended: Part[][];
  /** What this person may do; nothing while it is not known who this is. */
  may: readonly string[] | undefined;
  /** It does not, until an operator acts. */
  missingScope: boolean;
  /** What somebody who may do nothing cannot, and whom they ask. */
  cannot: readonly string[];
  contacts: string;
  limits: readonly string[];
  commands: readonly string[];
}

/** The Home tab of one person. It shows what runs for this person and nothing else; no link to a bundle. */
export function homeView(parts: HomeParts): HomeView {
  const { running, more, ended, limits, commands } = parts;
  const rest: Part[][] = more > 0 ? [[`and ${formatCount(more)} more`]] : [];
  const own = [...running, ...rest, ...ended];
  const help = commands.map((command): Part => ({ code: `${command} help` }));
  return {
    type: 'home',
    blocks: [
      ...section('What you run and follow', own.length > 0 ? own : [['Nothing yet.']]),
      ...section('What you may do', permissionLines(parts)),
      ...section(
        'Limits',
        limits.map((limit) => [limit]),
      ),
      ...section('Help', [
        ['Type ', ...orList(help), ' in any channel.'],
        ['This page is brought up to date when you open it.'],
      ]),
    ],
  };
}

function permissionLines({ may, missingScope, cannot, contacts }: HomeParts): Part[][] {
  if (missingScope) return [[missingScopeText]];
  if (may === undefined)
    return [["Slack didn't tell me in time who you are. Open this page again in a moment."]];
  if (may.length > 0) return may.map((text) => [text]);
  return [[`You can't ${orList(cannot).join('')}. Ask ${contacts}.`]];
}

/** Such as `a, b or c`, with what stands between them as parts of their own. */
function orList<P extends Part>(items: readonly P[]): (P | string)[] {
  return items.flatMap((item, index) => {
    if (index === 0) return [item];
    return [index === items.length - 1 ? ' or ' : ', ', item];
  });
}

function section(title: string, lines: Part[][]): KnownBlock[] {
  return [{ type: 'header', text: { type: 'plain_text', text: title } }, ...message(lines).blocks];
}
