import { unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, projectNamed, projectsWithId, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { cut, singleLine } from '../../slack/text.ts';
import type { CommandTools } from '../intake.ts';
import { UserFacingError } from '../intake.ts';

/**
 * Returns the named project, else the channel's, else the only one with numbers; `ask`: several fit. Throws a
 * `UserFacingError` if there is none.
 */
export function resolveDigestProject(
  named: string | undefined,
  channel: string,
  { projects }: Pick<CommandTools, 'projects'>,
): { kind: 'project'; project: Project } | { kind: 'ask'; among: Project[] } {
  const known = projectsWithId(projects);
  if (known.length === 0) throw new UserFacingError(noNumbers);
  const resolved = resolveProject(known, { named, channel });
  if (resolved.kind === 'project' || resolved.kind === 'ask') return resolved;
  const name = named ?? '';
  const text =
    projectNamed(projects, name) === undefined
      ? unknownProjectText(name, resolved.known)
      : `My settings have no projectId for ${cut(singleLine(name), 60)}, so I can't read its numbers.`;
  throw new UserFacingError(message([[text]]));
}

const noNumbers = message([
  [
    "My settings have no projectId, so I can't read how many people read your docs. The people who run Docket have to add it.",
  ],
]);

/** Asks for the project; `command` is the typed text, without `--project`. */
export function askProjectMessage(among: readonly Project[], command: string): Message {
  const names = among.slice(0, 10).map(({ name }) => name);
  return message([
    [`Which project: ${names.join(', ')}? For example: `],
    [{ code: `${command} --project ${names[0]}` }],
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
