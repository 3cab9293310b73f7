import type { ProjectProblem } from '../../jobs/agent/mention/record.ts';
import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { unknownProjectText } from '../../jobs/wording-view.ts';
import { type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { CommandTools } from '../intake.ts';

/** Returns a message if no project has an agent; else undefined. */
export function noAgentMessage(projects: readonly Project[], channel: string): Message | undefined {
  if (projectsWithId(projects).length > 0) return undefined;
  const here = resolveAgentProject(projects, { channel });
  const [{ name } = { name: 'default' }] = projects;
  const problem = here.kind === 'unclear' && here.problem.kind === 'noId' ? here.problem : undefined;
  return projectMessage(problem ?? { kind: 'noId', name }, '/docs-agent new …', 'new');
}

/** The project of a new job if only one has an agent, so that the modal had no field for it. */
export function soleAgent(projects: readonly Project[]): string | undefined {
  const [only, ...others] = projectsWithId(projects);
  return others.length === 0 ? only?.name : undefined;
}

/** The agent's project, by its name in the settings, or the problem. */
type AgentProject = { kind: 'project'; name: string } | { kind: 'unclear'; problem: ProjectProblem };

/** Returns the project of a job followed or started here. Only a project with an id has an agent. */
export function resolveAgentProject(
  projects: readonly Project[],
  request: { named?: string | undefined; channel: string },
): AgentProject {
  const resolved = resolveProject(projects, request);
  switch (resolved.kind) {
    case 'project': {
      const { name, projectId } = resolved.project;
      if (projectId !== undefined) return { kind: 'project', name };
      return { kind: 'unclear', problem: { kind: 'noId', name } };
    }
    case 'ask':
      return { kind: 'unclear', problem: { kind: 'ask', names: resolved.among.map(({ name }) => name) } };
    case 'unknownProject':
      return {
        kind: 'unclear',
        problem: { kind: 'unknown', named: request.named ?? '', names: resolved.known },
      };
    case 'domainRefused':
      throw new Error('no domain was asked for');
  }
}

/** Continues with the settings' name of a typed project; answers with a message if there is none. */
export async function withProject(
  named: string | undefined,
  { projects }: Pick<CommandTools, 'projects'>,
  run: (project: string | undefined) => Promise<Message>,
): Promise<Message> {
  if (named === undefined) return run(undefined);
  const resolved = resolveProject(projects, { named, channel: '' });
  if (resolved.kind === 'project') return run(resolved.project.name);
  const known = projects.map(({ name }) => name);
  return message([[unknownProjectText(named, known)]]);
}
