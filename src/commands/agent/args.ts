import { isSafeId } from '../../docs-api/paths.ts';
import type { Part } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { stripInvisible } from '../../slack/visible.ts';
import { unquoted } from '../slash-text.ts';

/**
 * What a person asks for with `/docs-agent`. `project` and `instruction` are as typed, with Slack's escapes.
 * `message` says what is wrong and the fix, in one line.
 */
export type AgentArgs =
  | { kind: 'help' }
  | { kind: 'follow'; jobId: string; instruction: string; project: string | undefined }
  | { kind: 'new'; instruction: string; project: string | undefined }
  | { kind: 'list'; project: string | undefined }
  | { kind: 'stop'; jobId: string | undefined; project: string | undefined }
  | { kind: 'unclear'; message: Part[] };

const projectFlag = String.raw`[\p{Pd}\u2212]+project`;
const projectFirst = new RegExp(String.raw`^${projectFlag}(?:\s*[=＝]\s*|\s+)(\S+)\s*`, 'iu');
const projectLast = new RegExp(String.raw`(?:^|\s)${projectFlag}(?:\s*[=＝]\s*|\s+)(\S+)$`, 'iu');
const projectBare = new RegExp(String.raw`(?:^|\s)${projectFlag}\s*[=＝]?$`, 'iu');

/**
 * Reads what was typed after `/docs-agent`. Never throws. An instruction stays as it was typed, quotes and dashes
 * included; `--project` counts only before it and at its end.
 */
export function readAgentArgs(typed: string): AgentArgs {
  let text = stripInvisible(typed).trim();
  if (text === '') return { kind: 'help' };
  if (projectBare.test(text)) return unclear({ code: '--project' }, ' needs a value, such as ', example, '.');
  const projects: string[] = [];
  const take = (pattern: RegExp) => {
    const found = pattern.exec(text);
    if (found !== null) text = text.replace(pattern, '').trim();
    return found?.[1];
  };
  const takeProjects = (pattern: RegExp) => {
    // Two are too many already; each of thousands would read the text again.
    while (projects.length < 2) {
      const name = take(pattern);
      if (name === undefined) return;
      projects.push(unquoted(name));
    }
  };
  const takeArg = () => {
    takeProjects(projectFirst);
    return take(/^(\S+)/u);
  };

  takeProjects(projectLast);
  const subcommand = takeArg()?.toLowerCase();
  const id = subcommand === 'follow' || subcommand === 'stop' ? withoutBrackets(takeArg()) : undefined;
  takeProjects(projectFirst);
  if (projects.length > 1) return unclear('Type ', { code: '--project' }, ' once.');
  return readSubcommand(subcommand, id, text, projects[0]);
}

const example: Part = { code: '--project acme' };
const followExample: Part = { code: '/docs-agent follow job_41d7' };

const unclear = (...message: Part[]): AgentArgs => ({ kind: 'unclear', message });

/** The usage shows the id in pointed brackets, and some people type them; Slack escapes those. */
const withoutBrackets = (id: string | undefined) => id?.replace(/^(?:<|&lt;)(.*?)(?:>|&gt;)$/u, '$1');

function readSubcommand(
  subcommand: string | undefined,
  id: string | undefined,
  rest: string,
  project: string | undefined,
): AgentArgs {
  switch (subcommand) {
    case 'follow':
      if (id === undefined) return unclear('Which job? Type its id, such as ', followExample, '.');
      return idProblem(id) ?? { kind: 'follow', jobId: id, instruction: rest, project };
    case 'new':
      if (rest !== '') return { kind: 'new', instruction: rest, project };
      return unclear('What is to be done? For example: ', {
        code: '/docs-agent new Add error handling to the quickstart',
      });
    case 'list':
      return rest === '' ? { kind: 'list', project } : unexpectedArgs('/docs-agent list');
    case 'stop':
      if (rest !== '') return unexpectedArgs('/docs-agent stop job_41d7');
      return (id === undefined ? undefined : idProblem(id)) ?? { kind: 'stop', jobId: id, project };
    default:
      return unclear(
        "I don't know ",
        { code: displayText(subcommand ?? '--project') },
        '. Type follow, new, list or stop; ',
        { code: '/docs-agent help' },
        ' explains them.',
      );
  }
}

const unexpectedArgs = (code: string) => unclear('Type ', { code }, ' and nothing else.');

function idProblem(id: string): AgentArgs | undefined {
  if (isSafeId(id) && !/…|\.{3}/u.test(id)) return undefined;
  const instead = isSafeId(id) ? ' but the short form of one' : '';
  return unclear(
    { code: displayText(id) },
    ` isn't a job id${instead}. Copy the whole id, such as `,
    followExample,
    '.',
  );
}

const displayText = (typed: string) => cut(oneLine(typed.toWellFormed()), 60);
