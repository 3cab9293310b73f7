import type { ProjectProblem } from '../../jobs/agent/mention/record.ts';
import type { Instruction, Person, ThreadRun } from '../../jobs/agent/thread/record.ts';
import { excerptOf } from '../../jobs/agent/thread-text.ts';
import { type Project, resolveProject } from '../../projects.ts';
import { idOf } from '../../store/ids.ts';
import { threadClaim } from '../../store/threads.ts';
import type { Caller } from '../command.ts';
import { conversationOf } from '../export/new-run.ts';

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

/** What a new thread is made from. Without `agentJobId` its instruction makes the job. */
interface NewThread {
  id: string;
  teamId: string;
  project: string;
  agentJobId: string | undefined;
  owner: Person;
  /** The permission of the owner was checked. */
  checked: boolean;
  asked: ThreadRun['asked'];
  mode: ThreadRun['mode'];
  instruction: Instruction | undefined;
}

/** A thread that follows a job from now on. One that is to be an existing Slack thread claims its place. */
export function newThread(thread: NewThread, nowMs: number): ThreadRun {
  const { id, teamId, project, agentJobId, owner, checked, asked, mode, instruction } = thread;
  const { channel, rootTs } = asked;
  return {
    v: 2,
    id,
    teamId,
    job: 'agent-thread',
    rev: 1,
    people: [owner.id],
    lasting: true,
    ...(rootTs !== undefined && { claim: threadClaim({ teamId, channel, rootTs }) }),
    project,
    ...(agentJobId !== undefined && { agentJobId }),
    owner,
    checked,
    asked,
    inDirectMessage: false,
    state: 'accepted',
    sinceMs: nowMs,
    mode,
    crowd: false,
    answers: {},
    askedAtMs: {},
    refused: [],
    instructions: instruction === undefined ? [] : [instruction],
    early: [],
    rounds: [],
    knownRound: 0,
    troubles: [],
    notes: [],
    watched: false,
  };
}

/** The same for somebody who typed a command: the card becomes the thread. */
export function threadFromCommand(
  args: Pick<NewThread, 'project' | 'agentJobId' | 'mode'> & { text: string },
  { teamId, user, channel, requestId }: Caller,
  nowMs: number,
): ThreadRun {
  const { text, agentJobId, ...rest } = args;
  const owner = { id: user.id, name: user.name };
  const id = idOf(teamId, requestId);
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

/** An instruction that waits to be sent. `text` is Markdown. */
export function newInstruction(
  instruction: Pick<Instruction, 'id' | 'by' | 'atMs' | 'text' | 'creates'> &
    Partial<Pick<Instruction, 'isReply' | 'files'>>,
): Instruction {
  return {
    isReply: false,
    files: false,
    ...instruction,
    excerpt: excerptOf(instruction.text),
    state: 'waiting',
    attempt: 1,
  };
}
