import { z } from 'zod';
import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import type { Message } from '../../slack/blocks.ts';
import { findAgentJob, readJobField } from '../job-ids.ts';
import { isBlankId } from '../params.ts';
import { defineButton, type Modal } from '../registry.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { followJob } from './follow.ts';
import { INSTRUCT_CALLBACK, instructView } from './instruct-views.ts';
import { cleanInstruction, instructionProblem } from './modal-fields.ts';
import { projectsWithAgent, resolveAgentProject } from './project.ts';

/** Opens the modal for whoever asked. Returns what to say where no project has an agent; rejects with `UserFacingError`. */
export async function openInstructModal(caller: Caller, tools: CommandTools): Promise<Message | undefined> {
  const projects = projectsWithAgent(tools.projects);
  const here = resolveAgentProject(tools.projects, { channel: caller.channel.id });
  if (projects.length === 0) {
    const [{ name } = { name: 'default' }] = tools.projects;
    const problem = here.kind === 'unclear' && here.problem.kind === 'noId' ? here.problem : undefined;
    return projectMessage(problem ?? { kind: 'noId', name }, '/docs-agent new …', 'new');
  }
  const project = here.kind === 'project' ? here.name : undefined;
  await tools.openModal(caller, instructView({ projects, project }, caller));
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
    const project = values.project ?? onlyAgent(tools);
    const read = isBlankId(values.job)
      ? { job: undefined }
      : await readJobField(values.job, (typed) => findAgentJob(typed, project, caller, tools));
    const problems = {
      ...('problem' in read && { job: read.problem }),
      // A job can be followed without a word to it.
      ...((isBlankId(values.job) || text !== '') && textProblem(text, tools)),
    };
    if ('problem' in read || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    const refusal = await followJob({ jobId: read.job?.id, text, project }, caller, tools);
    return refusal === undefined ? { kind: 'closed' } : { kind: 'message', message: refusal };
  },
};

function textProblem(text: string, { limits }: CommandTools): Record<string, string> {
  if (text === '') return { text: 'Write what the agent should do, or give the id of a job below.' };
  const problem = instructionProblem(text, undefined, limits);
  return problem === undefined ? {} : { text: problem };
}

/** The project that the modal did not ask for, since no other one has an agent. */
function onlyAgent({ projects }: CommandTools): string | undefined {
  const [only, ...others] = projectsWithAgent(projects);
  return others.length === 0 ? only?.name : undefined;
}
