import { z } from 'zod';
import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import { projectsWithId } from '../../projects.ts';
import type { Message } from '../../slack/blocks.ts';
import { isBlankId } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { findAgentJob, readJobField } from '../job-ids.ts';
import { defineButton, type Modal } from '../registry.ts';
import { followJob } from './follow.ts';
import { INSTRUCT_CALLBACK, instructView } from './instruct-views.ts';
import { cleanInstruction, instructionProblem } from './modal-fields.ts';
import { noAgentMessage, resolveAgentProject, soleAgent } from './project.ts';

/** Opens the modal for the caller. Returns a message if no project has an agent; rejects with `UserFacingError`. */
export async function openInstructModal(caller: Caller, tools: CommandTools): Promise<Message | undefined> {
  const { projects } = tools;
  const missing = noAgentMessage(projects, caller.channel.id);
  if (missing !== undefined) return missing;
  const here = resolveAgentProject(projects, { channel: caller.channel.id });
  const project = here.kind === 'project' ? here.name : undefined;
  await tools.openModal(caller, instructView({ projects: projectsWithId(projects), project }, caller));
  return undefined;
}

/** [Instruct the agent], under help. */
export const instructButton = defineButton({
  action: agentActions.instruct,
  may: 'agent',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => openInstructModal(caller, tools),
});

export const instructModal: Modal = {
  callbackId: INSTRUCT_CALLBACK,
  may: 'agent',

  async submit(values, caller, tools) {
    const text = cleanInstruction(values.text ?? '');
    const project = values.project ?? soleAgent(tools.projects);
    const read = isBlankId(values.job)
      ? { job: undefined }
      : await readJobField(values.job, (typed) => findAgentJob(typed, project, caller, tools));
    const problems = {
      ...('problem' in read && { job: read.problem }),
      // A job can be followed without an instruction.
      ...((isBlankId(values.job) || text !== '') && textProblem(text, tools)),
    };
    if ('problem' in read || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    const refusal = await followJob({ jobId: read.job?.id, text, project }, caller, tools);
    return refusal === undefined ? { kind: 'closed' } : { kind: 'message', message: refusal };
  },
};

function textProblem(text: string, { limits }: CommandTools): Record<string, string> {
  if (text === '') return { text: 'Write what the agent should do, or paste a job ID below.' };
  const problem = instructionProblem(text, undefined, limits);
  return problem === undefined ? {} : { text: problem };
}
