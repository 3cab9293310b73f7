import type { ModalView } from '@slack/types';
import type { ThreadEvent } from '../../jobs/agent/thread/event.ts';
import { jobName, tooLongText, tooManyText } from '../../jobs/agent/thread/phrases.ts';
import { type ThreadRun, threadRun, visibleThread, waitingOf } from '../../jobs/agent/thread/record.ts';
import { stateLabel, threadPermalink } from '../../jobs/agent/thread/view.ts';
import { canSee } from '../../jobs/visibility.ts';
import { personName } from '../../jobs/wording-view.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cleanText } from '../../slack/markdown/spans.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { cut, lengthOf } from '../../slack/text.ts';
import { idOf } from '../../store/ids.ts';
import type { Modal, SubmitResult } from '../registry.ts';
import type { CommandTools } from '../tools.ts';
import { auditThread } from './threads.ts';

const CALLBACK_ID = 'agent.send_message.text';

/** Asks which thread's agent gets a message, and for the last touch to its text. `here` is chosen at first. */
export function sendModalView({
  threads,
  here,
  text,
}: {
  threads: readonly ThreadRun[];
  here: ThreadRun | undefined;
  text: string;
}): ModalView {
  const listed = [...(here ? [here] : []), ...threads.filter((thread) => thread !== here)].slice(
    0,
    SLACK_LIMITS.selectOptions,
  );
  const labels = listed.map(labelOf);
  const initial = here ?? (listed.length === 1 ? listed[0] : undefined);
  const fits = text.length <= SLACK_LIMITS.inputInitialValue;
  const shown = cleanInstruction(fits ? text : cutCodeUnits(text));
  return formView({
    title: 'Send to the docs agent',
    submit: 'Send',
    callback: CALLBACK_ID,
    fields: [
      choiceField({
        block: 'thread',
        label: 'Which job',
        choices: listed.map((thread, index) => {
          const label = labels[index] ?? '';
          const isOnly = labels.indexOf(label) === labels.lastIndexOf(label);
          return { label: isOnly ? label : withOwner(label, thread), value: thread.id };
        }),
        ...(initial && { initial: initial.id }),
      }),
      textField({
        block: 'text',
        label: 'Instruction',
        hint: fits
          ? "This goes to the agent; its first words show in the job's thread. Files and the rest of the conversation stay here."
          : 'The message is longer than a dialog takes, so its end is missing here.',
        multiline: true,
        ...(shown !== '' && { initial: shown }),
      }),
    ],
  });
}

/** What goes out, here and when it is submitted: nothing that whoever submits it cannot see. */
const cleanInstruction = (text: string) => cleanText(text).trim();

const labelOf = (thread: ThreadRun) =>
  cut(`${jobName(thread)} · ${stateLabel(thread)}`, SLACK_LIMITS.optionText);

/** Threads with the same label are distinguished by their owners. */
function withOwner(label: string, { owner }: ThreadRun): string {
  const whose = cut(` · @${personName(owner.name)}`, 25);
  return `${cut(label, SLACK_LIMITS.optionText - whose.length)}${whose}`;
}

/** Cut by what Slack counts, and not in the middle of a character. */
const cutCodeUnits = (text: string) =>
  `${text.slice(0, SLACK_LIMITS.inputInitialValue - 1).replace(/\p{Cs}$/u, '')}…`;

export const sendModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'agent',

  async submit(values, caller, tools) {
    const text = cleanInstruction(values.text ?? '');
    if (text === '') return { kind: 'problems', problems: { text: 'Write what the agent should do.' } };
    const threadId = values.thread;
    if (threadId === undefined) return { kind: 'problems', problems: { thread: 'Choose a job.' } };
    const thread = await tools.intake.load(threadId, threadRun, caller);
    if (thread === undefined || thread.state === 'ended') return notFollowed;
    if (!(await canSee(visibleThread(thread), caller, tools.isPublic))) return notFollowed;
    const problem = textProblem(thread, text, tools.limits);
    if (problem !== undefined) return { kind: 'problems', problems: { text: problem } };
    const { requestId, teamId, user } = caller;
    const event: ThreadEvent = {
      kind: 'instruct',
      id: idOf('instruct', teamId, requestId),
      by: { id: user.id, name: user.name },
      text,
      atMs: tools.now(),
    };
    const entry = { event, dedupeKey: `instruct ${requestId}` };
    const outcome = await tools.intake.appendToInbox(thread.job, thread.id, entry, caller);
    if (outcome === 'gone') return notFollowed;
    await auditThread(thread, 'accepted', tools);
    const permalink = threadPermalink(thread, tools.workspaceUrl);
    const where: Part[] =
      permalink === undefined ? [' in its thread.'] : [' in ', { link: permalink, label: 'its thread' }, '.'];
    return {
      kind: 'message',
      message: message([[`It goes to ${jobName(thread)}; you see what comes of it`, ...where]]),
    };
  },
};

/** Checked while the text can still be changed, or sent later; the thread's own job decides. */
function textProblem(
  thread: ThreadRun,
  text: string,
  { instructionCharacters, instructionsWaiting }: CommandTools['limits'],
): string | undefined {
  if (lengthOf(text) > instructionCharacters) return tooLongText(lengthOf(text), instructionCharacters);
  return waitingOf(thread).length < instructionsWaiting ? undefined : tooManyText(instructionsWaiting);
}

const notFollowed: SubmitResult = {
  kind: 'message',
  message: message([['That job is followed no more, so nothing was sent.']]),
};
