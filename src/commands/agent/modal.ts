import type { ModalView } from '@slack/types';
import { instructEntry } from '../../jobs/agent/thread/event.ts';
import { jobName } from '../../jobs/agent/thread/phrases.ts';
import { type ThreadRun, threadRun, visibleThread } from '../../jobs/agent/thread/record.ts';
import { threadPermalink } from '../../jobs/agent/thread/view.ts';
import { canSee } from '../../jobs/visibility.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { idOf } from '../../store/ids.ts';
import type { Modal, SubmitResult } from '../registry.ts';
import { cleanInstruction, instructionProblem, threadChoices } from './modal-fields.ts';
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
        choices: threadChoices(listed),
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

/** Cut by what Slack counts, and not in the middle of a character. */
const cutCodeUnits = (text: string) =>
  `${text.slice(0, SLACK_LIMITS.inputInitialValue - 1).replace(/\p{Cs}$/u, '')}…`;

export const sendModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'agent',

  async submit(values, caller, tools) {
    const text = cleanInstruction(values.text ?? '');
    const threadId = values.thread;
    if (threadId === undefined) return { kind: 'problems', problems: { thread: 'Choose a job.' } };
    const thread = await tools.intake.load(threadId, threadRun, caller);
    if (thread === undefined || thread.state === 'ended') return notFollowed;
    if (!(await canSee(visibleThread(thread), caller, tools.isPublic))) return notFollowed;
    const problem = instructionProblem(text, thread, tools.limits);
    if (problem !== undefined) return { kind: 'problems', problems: { text: problem } };
    const { requestId, teamId, user } = caller;
    const entry = instructEntry({
      id: idOf('instruct', teamId, requestId),
      by: { id: user.id, name: user.name },
      text,
      atMs: tools.now(),
    });
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

const notFollowed: SubmitResult = {
  kind: 'message',
  message: message([['That job is followed no more, so nothing was sent.']]),
};
