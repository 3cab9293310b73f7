import { unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import type { CommandTools } from '../intake.ts';
import { UserFacingError } from '../intake.ts';

type Tools = Pick<CommandTools, 'projects'>;

/** Projects with readable numbers: the platform requires an id. */
export const projectsWithNumbers = ({ projects }: Tools): Project[] => projectsWithId(projects);

/**
 * Returns the named project, else the channel's, else the only one with numbers; `ask`: several fit. Throws a
 * `UserFacingError` if there is none.
 */
export function resolveDigestProject(
  named: string | undefined,
  channel: string,
  tools: Tools,
): { kind: 'project'; project: Project } | { kind: 'ask'; among: Project[] } {
  const known = projectsWithNumbers(tools);
  if (known.length === 0) throw new UserFacingError(noNumbers);
  const resolved = resolveProject(known, { named, channel });
  switch (resolved.kind) {
    case 'project':
    case 'ask':
      return resolved;
    case 'unknownProject':
      throw new UserFacingError(message([[unknownText(named ?? '', resolved.known, tools)]]));
    case 'domainRefused':
      throw new Error('no domain was asked for');
  }
}

function unknownText(named: string, known: string[], tools: Tools): string {
  const exists = resolveProject(tools.projects, { named, channel: '' }).kind === 'project';
  if (!exists) return unknownProjectText(named, known);
  return `My settings have no projectId for ${cut(singleLine(named), 60)}, so I can't read its numbers.`;
}

const noNumbers = message([
  [
    "My settings have no projectId, so I can't read how many people read your docs. The people who run Docket have to add it.",
  ],
]);

/** Asks for the project; `command` is the typed text, without `--project`. */
export function askProjectMessage(among: readonly Project[], command: string): Message {
  const [first = ''] = among.map(({ name }) => name);
  const names = among.slice(0, 10).map(({ name }) => name);
  return message([
    [`Which project: ${names.join(', ')}? For example: `],
    [{ code: `${command} --project ${first}` }],
  ]);
}

/** The subject of a project's digest, for display. */
export function siteOf(
  { name, domains }: Project,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
) {
  const domain = defaultDomain(projects, { named: name, channel: '' }, docsDomain);
  // The environment's project has a name that nobody chose.
  return domain ?? (domains === undefined ? 'your docs' : name);
}
