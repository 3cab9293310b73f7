import type { ProjectProblem } from '../../jobs/agent/mention/record.ts';
import { newInstruction } from '../../jobs/agent/thread/instruction.ts';
import { type NewThread, newThread, type ThreadRun } from '../../jobs/agent/thread/record.ts';
import { conversationOf, type RunRequest, requestRunId } from '../../jobs/request.ts';
import { type Project, resolveProject } from '../../projects.ts';
import { idOf } from '../../store/ids.ts';

/** Which project's agent is meant, by the name in the settings; else what stands in the way. */
type AgentProject = { kind: 'project'; name: string } | { kind: 'unclear'; problem: ProjectProblem };

/** The project of a job that somebody follows or starts from this channel. Only one with an id has an agent. */
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

/** Returns the record of a thread that somebody follows or starts by a command: its card becomes the thread. */
export function threadFromCommand(
  args: Pick<NewThread, 'project' | 'agentJobId' | 'mode'> & { text: string },
  request: RunRequest,
  nowMs: number,
): ThreadRun {
  const { text, agentJobId, ...rest } = args;
  const { teamId, user, channel, requestId } = request;
  const owner = { id: user.id, name: user.name };
  const id = requestRunId(request);
  const instruction =
    text === ''
      ? undefined
      : newInstruction({
          id: idOf('instruction', teamId, requestId),
          by: owner,
          atMs: nowMs,
          text,
          creates: agentJobId === undefined,
        });
  const asked = conversationOf(channel);
  return newThread({ ...rest, id, teamId, agentJobId, owner, checked: true, asked, instruction }, nowMs);
}
