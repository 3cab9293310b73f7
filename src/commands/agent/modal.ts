import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import { jobName, tooLongText, tooManyText } from '../../jobs/agent/thread/phrases.ts';
import { type ThreadRun, waitingOf } from '../../jobs/agent/thread/record.ts';
import { stateOf } from '../../jobs/agent/thread/view.ts';
import { isTalk, parseThreadText } from '../../jobs/agent/thread-text.ts';
import { readJobField } from '../../jobs/typed-job.ts';
import { personName } from '../../jobs/wording-view.ts';
import { type Project, projectsWithId } from '../../projects.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cleanText } from '../../slack/markdown/inline.ts';
import { type Choice, choiceField, formView, textField } from '../../slack/modals.ts';
import { cutShown, lengthOf } from '../../slack/text.ts';
import { isBlankId } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type Modal } from '../registry.ts';
import { findAgentJob, followJob, noAgentMessage, resolveAgentProject, soleAgent } from './follow.ts';

const INSTRUCT_CALLBACK = 'agent.start';

/** Opens the modal for the caller. Returns a message if no project has an agent; rejects with `UserFacingError`. */
export async function openInstructModal(caller: Caller, tools: CommandTools): Promise<Message | undefined> {
  const { projects } = tools;
  const missing = noAgentMessage(projects);
  if (missing !== undefined) return missing;
  const here = resolveAgentProject(projects, { channel: caller.channel.id });
  const project = 'name' in here ? here.name : undefined;
  await tools.openModal(caller, instructView({ projects: projectsWithId(projects), project }, caller));
  return undefined;
}

/** [Instruct the agent], under help. */
export const instructButton = defineButton({
  action: agentActions.instruct,
  may: 'agent',
  value: z.object({ v: z.literal(1) }),
  async run(_value, caller, tools) {
    return openInstructModal(caller, tools);
  },
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

/** Asks for a new job's instruction, or for the id of a job to follow. `project` is preselected. */
export function instructView(
  { projects, project }: { projects: readonly Project[]; project: string | undefined },
  { channel }: Pick<Caller, 'channel'>,
): ModalView {
  return formView({
    title: 'Instruct the docs agent',
    submit: 'Start',
    callback: INSTRUCT_CALLBACK,
    intro: message([placeParts(channel.id)]),
    fields: [
      textField({
        block: 'text',
        label: 'What should the agent do?',
        placeholder: 'Add error handling to the quickstart',
        multiline: true,
        optional: true,
      }),
      textField({
        block: 'job',
        label: 'Job ID',
        hint: "Paste an existing job's ID or link, or leave blank for a new job.",
        optional: true,
      }),
      ...projectFields(projects, project),
    ],
  });
}

const placeParts = (channelId: string): Part[] =>
  channelId.startsWith('C')
    ? ['The job gets a thread in ', { channel: channelId }, '; replies there instruct the agent.']
    : ['The job gets a thread; replies there instruct the agent.'];

// Shared with the other modals for instructions to the agent.

/** The value for a new job; no run has this id. */
export const NEW_JOB = 'new';

/** Returns the options for threads: each is named by its job, and by its owner as well if names are equal. */
export function threadChoices(threads: readonly ThreadRun[]): Choice[] {
  const labels = threads.map(labelOf);
  return threads.map((thread, index) => {
    const label = labels[index] ?? '';
    const isOnly = labels.indexOf(label) === labels.lastIndexOf(label);
    return { label: isOnly ? label : withOwner(label, thread), value: thread.id };
  });
}

const labelOf = (thread: ThreadRun) =>
  cutShown(`${jobName(thread)} · ${stateOf(thread).label}`, SLACK_LIMITS.optionText);

function withOwner(label: string, { owner }: ThreadRun): string {
  const whose = cutShown(` · ${personName(owner.name)}`, 25);
  return `${cutShown(label, SLACK_LIMITS.optionText - whose.length)}${whose}`;
}

/** Returns the field for the project of a new job; none if there is only one project. `initial` is preselected. */
export function projectFields(
  projects: readonly Project[],
  initial: string | undefined,
  optional: { hint?: string; optional?: boolean } = {},
): InputBlock[] {
  if (projects.length < 2) return [];
  const choices = projects
    .slice(0, SLACK_LIMITS.selectOptions)
    .map(({ name }) => ({ label: name, value: name }));
  return [
    choiceField({
      block: 'project',
      label: 'Project',
      choices,
      ...optional,
      ...(initial !== undefined && { initial }),
    }),
  ];
}

/** Cleans an instruction both when it is shown and when it is submitted, so nothing invisible is sent. */
export const cleanInstruction = (text: string) => cleanText(text).trim();

/** Checked while the text can still be changed, or sent later; the thread's own job decides. */
export function instructionProblem(
  text: string,
  thread: ThreadRun | undefined,
  { instructionCharacters, instructionsWaiting }: CommandTools['limits'],
): string | undefined {
  if (isTalk(parseThreadText(text))) return 'Write what the agent should do.';
  if (lengthOf(text) > instructionCharacters) return tooLongText(lengthOf(text), instructionCharacters);
  const isFull = thread !== undefined && waitingOf(thread).length >= instructionsWaiting;
  return isFull ? tooManyText(instructionsWaiting) : undefined;
}
