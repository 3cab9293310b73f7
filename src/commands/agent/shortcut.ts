import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { closedThreadMessage } from '../../jobs/agent/thread/ephemeral-view.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import { acceptsInstructions, type ThreadRun } from '../../jobs/agent/thread/record.ts';
import { threadPermalink } from '../../jobs/agent/thread/view.ts';
import { type Project, projectsWithId } from '../../projects.ts';
import { parseJson } from '../../runtime/json.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { noNames } from '../../slack/markdown/inline.ts';
import { findMentions, messageToMarkdown } from '../../slack/markdown/message.ts';
import { type Choice, choiceField, formView, textField } from '../../slack/modals.ts';
import { type CommandTools, UserFacingError } from '../intake.ts';
import type { MessageShortcut, Modal, ShortcutMessage, SubmitResult } from '../registry.ts';
import {
  findThreads,
  followJob,
  instructThread,
  loadFollowed,
  noAgentMessage,
  resolveAgentProject,
  soleAgent,
} from './follow.ts';
import { cleanInstruction, instructionProblem, NEW_JOB, projectFields, threadChoices } from './modal.ts';

/** Maximum delay of a modal by look-ups of names, since its trigger expires soon; then it shows "@someone". */
const NAMES_TIMEOUT_MS = 300;

/** "Send to the docs agent" in the menu of any message. */
export const sendShortcut: MessageShortcut = {
  callbackId: 'agent.send_message',
  may: 'agent',

  async run(chosen, caller, tools) {
    const rootTs = chosen.threadTs ?? chosen.ts;
    const { teamId, channel } = caller;
    const isHere = ({ place }: Pick<ThreadRun, 'place'>) =>
      place?.channel === channel.id && place.rootTs === rootTs;
    const [{ threads: known }, isClosed, text] = await Promise.all([
      findThreads(caller, tools, SLACK_LIMITS.selectOptions),
      tools.intake.read(caller, ({ threads }) => threads.isClosed({ teamId, channel: channel.id, rootTs })),
      textOf(chosen, tools),
    ]);
    const threads = known.filter(acceptsInstructions);
    const here = threads.find(isHere);
    // A thread follows one job at a time.
    const newJob = isClosed || known.some(isHere) ? undefined : newJobIn(channel.id, tools);
    if (threads.length > 0 || newJob !== undefined) {
      const targets = { threads, here, newJob };
      const [only, ...others] = targetChoices(targets);
      const to = others.length === 0 ? only?.value : undefined;
      const about: SendAbout = { v: 1, ts: chosen.ts, rootTs, ...(to !== undefined && { to }) };
      await tools.openModal(caller, sendModalView({ ...targets, text }), JSON.stringify(about));
      return undefined;
    }
    if (isClosed) return closedThreadMessage;
    return noAgentMessage(tools.projects) ?? noneFollowed;
  },
};

function newJobIn(channel: string, { projects }: CommandTools): SendTargets['newJob'] {
  const withAgent = projectsWithId(projects);
  if (withAgent.length === 0) return undefined;
  const here = resolveAgentProject(projects, { channel });
  return { projects: withAgent, project: 'name' in here ? here.name : undefined };
}

async function textOf({ content }: ShortcutMessage, { names, botUserId }: CommandTools): Promise<string> {
  const known = await withTimeout(NAMES_TIMEOUT_MS, names(findMentions(content))).catch(() => noNames);
  return messageToMarkdown(content, known, { withoutMention: botUserId }).trim();
}

const noneFollowed = message([
  [
    'No followed job that you can see here takes instructions, so there is nowhere to send this. Follow one with ',
  ],
  [{ code: '/docs-agent follow <job id>' }],
]);

const MODAL_CALLBACK = 'agent.send_message.text';

/** Possible targets of a message. */
interface SendTargets {
  /** Threads that follow a job and take instructions; `here` is that of the message. */
  threads: readonly ThreadRun[];
  here: ThreadRun | undefined;
  /** Possible projects of a new job in the message's thread, if one can start there; `project` is preselected. */
  newJob?: { projects: readonly Project[]; project: string | undefined } | undefined;
}

/** The subject of the modal: a message, and its target if there is only one. */
const sendAbout = z.object({
  v: z.literal(1),
  ts: z.string(),
  rootTs: z.string(),
  to: z.string().optional(),
});
type SendAbout = z.infer<typeof sendAbout>;

const targetChoices = ({ threads, here, newJob }: SendTargets): Choice[] =>
  [
    ...(newJob ? [{ label: 'A new job, in this thread', value: NEW_JOB }] : []),
    ...threadChoices([...(here ? [here] : []), ...threads.filter((thread) => thread !== here)]),
  ].slice(0, SLACK_LIMITS.selectOptions);

/** Asks for the target job, if there are several, and lets the person edit the text. */
export function sendModalView({ text, ...targets }: SendTargets & { text: string }): ModalView {
  const { here, newJob } = targets;
  const choices = targetChoices(targets);
  const [first] = choices;
  const isSole = choices.length === 1;
  const initial = here?.id ?? (newJob ? NEW_JOB : undefined);
  const fits = text.length <= SLACK_LIMITS.inputInitialValue;
  const shown = cleanInstruction(fits ? text : cutCodeUnits(text));
  return formView({
    title: 'Send to the docs agent',
    submit: 'Send',
    callback: MODAL_CALLBACK,
    ...(isSole && first && { intro: message([soleTarget(first)]) }),
    fields: [
      ...(isSole
        ? []
        : [choiceField({ block: 'thread', label: 'Job', choices, ...(initial && { initial }) })]),
      textField({
        block: 'text',
        label: 'Instruction',
        hint: fits
          ? "The agent gets this text, and the job's thread shows its first words. Files, previews of private messages and the rest of the conversation are not sent."
          : 'The message is too long for this form, so its end is missing here.',
        multiline: true,
        ...(shown !== '' && { initial: shown }),
      }),
      ...(newJob
        ? projectFields(
            newJob.projects,
            newJob.project,
            isSole ? {} : { hint: 'Only for a new job.', optional: true },
          )
        : []),
    ],
  });
}

const soleTarget = ({ label, value }: Choice): Part[] =>
  value === NEW_JOB
    ? ["This starts a new job, shown in this message's thread."]
    : ['It goes to ', { bold: label }, '.'];

/** Cut by Slack's count, and not in the middle of a character. */
const cutCodeUnits = (text: string) =>
  `${text.slice(0, SLACK_LIMITS.inputInitialValue - 1).replace(/\p{Cs}$/u, '')}…`;

/** A refusal closes the form, as an answer does. */
function asMessage(error: unknown): SubmitResult {
  if (error instanceof UserFacingError) return { kind: 'message', message: error.reply };
  throw error;
}

export const sendModal: Modal = {
  callbackId: MODAL_CALLBACK,
  may: 'agent',
  async submit(...request) {
    return send(...request).catch(asMessage);
  },
};

const send: Modal['submit'] = async (values, caller, tools, details) => {
  const about = sendAbout.safeParse(parseJson(details.about)).data;
  const text = cleanInstruction(values.text ?? '');
  const to = values.thread ?? about?.to;
  if (to === undefined) return { kind: 'problems', problems: { thread: 'Choose a job.' } };
  const thread = to === NEW_JOB ? undefined : await loadFollowed(to, caller, tools);
  const problem = instructionProblem(text, thread, tools.limits);
  if (problem !== undefined) return { kind: 'problems', problems: { text: problem } };
  if (thread !== undefined) {
    await instructThread(thread, text, undefined, caller, tools);
    const link = threadPermalink(thread, tools.workspaceUrl);
    const where: Part[] =
      link === undefined ? [' in its thread.'] : [' in ', { link, label: 'its thread' }, '.'];
    const sent = `It goes to ${jobName(thread)}; the result appears`;
    return { kind: 'message', message: message([[sent, ...where]]) };
  }
  const project = values.project ?? soleAgent(tools.projects);
  const refusal = await followJob({ text, project, under: about }, caller, tools);
  // Its card in the thread of the message is the answer.
  if (refusal === undefined) return { kind: 'closed' };
  return values.project === undefined && projectsWithId(tools.projects).length > 1
    ? { kind: 'problems', problems: { project: 'Choose a project.' } }
    : { kind: 'message', message: refusal };
};
