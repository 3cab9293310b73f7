import type { HomeView, KnownBlock } from '@slack/types';
import type { Permission } from '../../policy.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import { missingScopeText } from '../wording-view.ts';

/** What somebody's Home says. Lines are made by the features that they are about. */
export interface HomeParts {
  /** What runs, and what ended, latest first; `more` counts running ones without a line. */
  running: Part[][];
  more: number;
  ended: Part[][];
  /** Nothing while Slack does not tell who this is. */
  permissions: readonly Permission[] | undefined;
  /** It does not, until an operator acts. */
  missingScope: boolean;
  /** Whom somebody asks who may do nothing. */
  contacts: string;
  limits: readonly string[];
}

/** The Home tab of one person. It shows what runs for this person and nothing else; no link to a bundle. */
export function homeView({
  running,
  more,
  ended,
  permissions,
  missingScope,
  contacts,
  limits,
}: HomeParts): HomeView {
  const rest: Part[][] = more > 0 ? [[`and ${formatCount(more)} more`]] : [];
  const own = [...running, ...rest, ...ended];
  return {
    type: 'home',
    blocks: [
      ...section('What you run and follow', own.length > 0 ? own : [['Nothing yet.']]),
      ...section(
        'What you may do',
        missingScope ? [[missingScopeText]] : permissionLines(permissions, contacts),
      ),
      ...section(
        'Limits',
        limits.map((limit) => [limit]),
      ),
      ...section('Help', [
        [
          'Type ',
          { code: '/docs-export help' },
          ', ',
          { code: '/docs-agent help' },
          ' or ',
          { code: '/docs-status help' },
          ' in any channel.',
        ],
        ['This page is brought up to date when you open it.'],
      ]),
    ],
  };
}

/** What a permission lets somebody do today, in the order in which people look for it. */
const permissionTexts: Partial<Record<Permission, string>> = {
  export: 'Start exports',
  agent: 'Instruct the docs agent',
  admin: 'Administer Docket: read its audit log',
};

function permissionLines(permissions: readonly Permission[] | undefined, contacts: string): Part[][] {
  if (permissions === undefined)
    return [["Slack didn't tell me in time who you are. Open this page again in a moment."]];
  const lines = Object.entries(permissionTexts).flatMap(([permission, text]) =>
    permissions.includes(permission as Permission) ? [[text]] : [],
  );
  if (lines.length > 0) return lines;
  return [[`You can't start exports or instruct the docs agent. Ask ${contacts}.`]];
}

function section(title: string, lines: Part[][]): KnownBlock[] {
  return [{ type: 'header', text: { type: 'plain_text', text: title } }, ...message(lines).blocks];
}
