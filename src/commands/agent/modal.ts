import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import { closedThreadMessage } from '../../jobs/agent/thread/ephemeral-view.ts';
import { jobName, leftOutText, tooLongText, tooManyText } from '../../jobs/agent/thread/phrases.ts';
import { acceptsInstructions, type ThreadRun, waitingOf } from '../../jobs/agent/thread/record.ts';
import { stateOf, threadPermalink } from '../../jobs/agent/thread/view.ts';
import { isTalk, parseThreadText } from '../../jobs/agent/thread-text.ts';
import { canRead } from '../../jobs/shared/origin.ts';
import { readTypedJob } from '../../jobs/shared/typed-job.ts';
import { personName } from '../../jobs/shared/wording-view.ts';
import { type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { type Line, message, type Part } from '../../slack/blocks.ts';
import { isDirectMessage } from '../../slack/ids.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cleanText, noNames } from '../../slack/markdown/inline.ts';
import { findMentions, messageToMarkdown } from '../../slack/markdown/message.ts';
import { type Choice, choiceField, formView, textField } from '../../slack/modals.ts';
import { cutShown, lengthOf } from '../../slack/text.ts';
import { isBlankId } from '../command.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import {
  defineButton,
  type MessageShortcut,
  type Modal,
  type ShortcutMessage,
  type SubmitResult,
} from '../registry.ts';
import {
  agentProjects,
  findAgentJob,
  findThreads,
  followJob,
  loadFollowed,
  NEW_JOB,
  sourceFor,
} from './follow.ts';

const INSTRUCT_CALLBACK = 'agent.start';
const SEND_CALLBACK = 'agent.send_message.text';

/** The target of a modal, unless people choose it there; and the chosen message, if any. `before` is when it was chosen. */
const modalAbout = z.object({
  to: z.string().optional(),
  under: z.object({ rootTs: z.string(), ts: z.string(), before: z.string() }).optional(),
});
type ModalAbout = z.infer<typeof modalAbout>;

/** Opens the modal for the caller. Rejects with `UserFacingError`, also if no project has an agent. */
export async function openInstructModal(caller: Caller, tools: CommandTools): Promise<undefined> {
  const projects = agentProjects(tools.projects);
  const view = instructView({ projects, project: projectHere(caller, tools) }, caller);
  const about: ModalAbout = { to: NEW_JOB };
  return tools.openModal(caller, view, about);
}

const projectHere = ({ channel }: Caller, { projects }: CommandTools): string | undefined => {
  const here = resolveProject(projects, { channel: channel.id });
  return here.kind === 'project' ? here.project.name : undefined;
};

/** [Ask the agent], under help. */
export const instructButton = defineButton({
  action: agentActions.instruct,
  may: 'agent',
  value: z.object({ v: z.literal(1) }),
  run: async (_value, caller, tools) => openInstructModal(caller, tools),
});

/** Asks for a new job's request, or for the id of a job to follow. `project` is preselected. */
export function instructView(
  { projects, project }: { projects: readonly Project[]; project: string | undefined },
  { channel: { id } }: Pick<Caller, 'channel'>,
): ModalView {
  const replies = ', where replies ask the agent for more.';
  const intro: Part[] = id.startsWith('C')
    ? ['The job gets a thread in ', { channel: id }, replies]
    : [`The job gets a thread${replies}`];
  return formView({
    title: 'Ask the docs agent',
    submit: 'Start',
    callback: INSTRUCT_CALLBACK,
    intro: message([intro]),
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

/** Maximum delay of a modal by look-ups of names, since its trigger expires soon; then it shows "@someone". */
const NAMES_TIMEOUT_MS = 300;

/** "Send to the docs agent" in the menu of any message. */
export const sendShortcut: MessageShortcut = {
  callbackId: 'agent.send_message',
  may: 'agent',

  async run(chosen, caller, tools) {
    const { ts, threadTs: rootTs = ts, chosenTs: before } = chosen;
    const { teamId, channel } = caller;
    const isHere = ({ place }: ThreadRun) => place?.channel === channel.id && place.rootTs === rootTs;
    const [{ threads: known }, isClosed, text] = await Promise.all([
      findThreads(caller, tools, SLACK_LIMITS.selectOptions),
      tools.intake.read(caller, ({ threads }) => threads.isClosed({ teamId, channel: channel.id, rootTs })),
      textOf(chosen, tools),
    ]);
    const threads = known.filter(acceptsInstructions);
    // A thread follows one job at a time.
    const projects = isClosed || known.some(isHere) ? [] : projectsWithId(tools.projects);
    const targets = { threads, here: threads.find(isHere), projects, project: projectHere(caller, tools) };
    const [first, ...others] = targetChoices(targets);
    if (first === undefined) {
      if (isClosed) return closedThreadMessage;
      agentProjects(tools.projects);
      return message([
        'No followed agent job that you can see here takes requests, so nothing was sent. Follow one with ',
        [{ code: '/docs-agent follow <job id>' }],
      ]);
    }
    const about: ModalAbout = {
      under: { ts, rootTs, before },
      ...(others.length === 0 && { to: first.value }),
    };
    return tools.openModal(caller, sendModalView({ ...targets, text }), about);
  },
};

async function textOf({ content }: ShortcutMessage, { names, botUserId }: CommandTools): Promise<string> {
  const known = await withTimeout(NAMES_TIMEOUT_MS, names(findMentions(content))).catch(() => noNames);
  return messageToMarkdown(content, known, { withoutMention: botUserId }).trim();
}

interface SendTargets {
  /** Threads that follow a job and take instructions; `here` is that of the message. */
  threads: readonly ThreadRun[];
  here: ThreadRun | undefined;
  /** Possible projects of a new job in the message's thread; `project` is preselected. */
  projects: readonly Project[];
  project: string | undefined;
}

const targetChoices = ({ threads, here, projects }: SendTargets): Choice[] =>
  [
    ...(projects.length > 0 ? [{ label: 'A new job, in this thread', value: NEW_JOB }] : []),
    ...threadChoices([...(here ? [here] : []), ...threads.filter((thread) => thread !== here)]),
  ].slice(0, SLACK_LIMITS.selectOptions);

/** Asks for the target job, if there are several, and lets the person edit the text. */
export function sendModalView({ text, ...targets }: SendTargets & { text: string }): ModalView {
  const { here, projects, project } = targets;
  const choices = targetChoices(targets);
  const [sole, ...others] = choices;
  const isSole = others.length === 0;
  const isNew = sole?.value === NEW_JOB;
  const intro: Line = isNew
    ? "This starts an agent job, which this message's thread follows."
    : ['It goes to ', { bold: sole?.label ?? '' }, '.'];
  const initial = here?.id ?? NEW_JOB;
  const fitting = cutShown(text, SLACK_LIMITS.inputInitialValue);
  return formView({
    title: 'Send to the docs agent',
    submit: 'Send',
    callback: SEND_CALLBACK,
    ...(isSole && { intro: message([intro]) }),
    fields: [
      ...(isSole ? [] : [choiceField({ block: 'thread', label: 'Job', choices, initial })]),
      textField({
        block: 'text',
        label: 'Your request',
        hint:
          fitting === text
            ? "The agent gets this text, and the job's thread shows its first words. Files and previews of private messages aren't sent. I ask you before I send other messages of the thread."
            : 'The message is too long for this form, so its end is missing here.',
        multiline: true,
        initial: cleanInstruction(fitting) || undefined,
      }),
      ...projectFields(projects, project, isSole ? {} : { hint: 'Only for a new job.', optional: true }),
    ],
  });
}

/** A refusal closes the form, as an answer does. */
const asAnswer = async (error: unknown): Promise<SubmitResult> => {
  if (error instanceof UserFacingError) return { kind: 'closed', answer: error.reply };
  throw error;
};

/** Both modals: the text goes to a followed thread, or to a new thread with the named job or a new one. */
const submit: Modal['submit'] = async (values, caller, tools, details) => {
  const { to = values.thread, under } = modalAbout.safeParse(details.about).data ?? {};
  if (to === undefined) return { kind: 'problems', problems: { thread: 'Choose a job.' } };
  const { projects, limits } = tools;
  const thread = await loadFollowed(to, caller, tools);
  const [sole, ...others] = projectsWithId(projects);
  // With one agent, the modal has no field for the project.
  const project = values.project ?? (others.length === 0 ? sole?.name : undefined);
  const text = cleanInstruction(values.text ?? '');
  const job = isBlankId(values.job)
    ? undefined
    : await findAgentJob(readTypedJob(values.job), project, caller, tools);
  // A job can be followed without an instruction.
  const textProblem = job && text === '' ? undefined : instructionProblem(text, thread, limits);
  const needsProject =
    !thread &&
    !job &&
    resolveProject(projects, { named: project, channel: caller.channel.id }).kind === 'ambiguous';
  const problems = {
    ...(job && 'problem' in job && { job: job.problem }),
    ...(textProblem && { text: textProblem }),
    ...(needsProject && { project: 'Choose a project.' }),
  };
  if (Object.keys(problems).length > 0) return { kind: 'problems', problems };
  const jobId = job && 'job' in job ? job.job.id : undefined;
  const { id: channel } = caller.channel;
  const around = under && tools.backgroundMode === 'ask' ? sourceFor(under, thread, caller) : undefined;
  // Its author may have left since the form was opened. Nobody leaves a direct message.
  const isReadable = around && (isDirectMessage(channel) || (await canRead(channel, caller.user, tools)));
  const backgroundSource = isReadable ? around : undefined;
  await followJob({ thread, jobId, text, project, under, backgroundSource }, caller, tools);
  const unread = around && !isReadable && `${leftOutText('unread')}, so only your text goes to the agent.`;
  if (thread === undefined)
    return unread ? { kind: 'closed', answer: message([unread]) } : { kind: 'closed' };
  const link = threadPermalink(thread, tools.workspaceUrl);
  const where: Part = link === undefined ? 'its thread' : { link, label: 'its thread' };
  const sent = `It goes to ${jobName(thread)}; the result appears in `;
  const mayAsk = backgroundSource !== undefined && under?.ts !== under?.rootTs;
  const end = mayAsk ? '. I may ask you first about the other messages here.' : '.';
  return { kind: 'closed', answer: message([[sent, where, end], unread]) };
};

export const agentModals = [INSTRUCT_CALLBACK, SEND_CALLBACK].map(
  (callbackId): Modal => ({
    callbackId,
    may: 'agent',
    submit: async (...request) => submit(...request).catch(asAnswer),
  }),
);

// Shared with the modals of digests and exports.

/**
 * Returns the options for threads. Each is named by its job; equal ones also by their owner, and then by the end of the job's
 * id, which the card has.
 */
export function threadChoices(threads: readonly ThreadRun[]): Choice[] {
  const { optionText } = SLACK_LIMITS;
  const labels = threads.map((thread) =>
    cutShown(`${jobName(thread)} · ${stateOf(thread).label}`, optionText),
  );
  const owners = unlessOnly(labels, (at) => cutShown(` · ${personName(threads[at]?.owner.name ?? '')}`, 25));
  const named = labels.map((label, at) => label + owners[at]);
  const ids = unlessOnly(named, (at) => ` · ${threads[at]?.agentJobId?.slice(-4)}`);
  return threads.map(({ id: value }, at) => {
    const end = `${owners[at]}${ids[at]}`;
    return { label: `${cutShown(labels[at] ?? '', optionText - end.length)}${end}`, value };
  });
}

/** Returns a suffix for each name that comes twice; else an empty text. */
function unlessOnly(names: readonly string[], suffix: (at: number) => string): string[] {
  const same = Map.groupBy(names, (name) => name);
  return names.map((name, at) => (same.get(name)?.length === 1 ? '' : suffix(at)));
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
  return [choiceField({ block: 'project', label: 'Project', choices, initial, ...optional })];
}

/** Cleans a request both when it is shown and when it is submitted, so nothing invisible is sent. */
export const cleanInstruction = (text: string) => cleanText(text).trim();

/** Returns the problem of a request while the person can still change it. The thread's job checks it again. */
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
