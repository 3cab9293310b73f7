import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { Heard } from '../../jobs/agent/thread/event.ts';
import { stateWord } from '../../jobs/agent/thread/list-view.ts';
import { jobName, tooLongWords, tooManyWords, waitingIn } from '../../jobs/agent/thread/phrases.ts';
import { type ThreadRun, threadRun } from '../../jobs/agent/thread/record.ts';
import { maySee } from '../../jobs/may-see.ts';
import { person } from '../../jobs/wording-view.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { clean } from '../../slack/markdown/spans.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { cut, lengthOf } from '../../slack/text.ts';
import { idOf } from '../../store/ids.ts';
import type { Caller, CommandTools, Submitted } from '../command.ts';
import { defineDialog } from '../command.ts';
import { addressOf } from './threads.ts';

const CALLBACK = 'agent.send_message.text';

/** Slack's limit for what a select lists. */
export const OPTIONS = 100;

/** Limits of Slack's: a label in a select, and what stands in a text field when the dialog opens. */
const OPTION = 75;
const INITIAL = 3000;

const origin = z.object({ channel: z.object({ id: z.string(), name: z.string() }), request: z.string() });

/** Whether the job of a thread still takes instructions, as far as it is known. */
export const takesMore = ({ gone, seen }: ThreadRun) => !gone && seen?.status !== 'archived';

/** Asks which thread's agent gets a message, and for the last touch to its text. `here` is chosen at first. */
export function sendDialogView(
  { threads, here, text }: { threads: readonly ThreadRun[]; here: ThreadRun | undefined; text: string },
  { channel, requestId }: Pick<Caller, 'channel' | 'requestId'>,
): ModalView {
  const listed = [...(here ? [here] : []), ...threads.filter((thread) => thread !== here)].slice(0, OPTIONS);
  const labels = listed.map(labelOf);
  const initial = here ?? (listed.length === 1 ? listed[0] : undefined);
  const fits = text.length <= INITIAL;
  const shown = asSent(fits ? text : cutUnits(text));
  return formView({
    title: 'Send to the docs agent',
    submit: 'Send',
    callback: CALLBACK,
    meta: { channel, request: requestId } satisfies z.infer<typeof origin>,
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
const asSent = (text: string) => clean(text).trim();

const labelOf = (thread: ThreadRun) => cut(`${jobName(thread)} · ${stateWord(thread)}`, OPTION);

/** Threads that look the same are told apart by whose they are. */
function withOwner(label: string, { owner }: ThreadRun): string {
  const whose = cut(` · @${person(owner.name)}`, 25);
  return `${cut(label, OPTION - whose.length)}${whose}`;
}

/** Cut by what Slack counts, and not in the middle of a character. */
const cutUnits = (text: string) => `${text.slice(0, INITIAL - 1).replace(/\p{Cs}$/u, '')}…`;

export const sendDialog = defineDialog({
  callback: CALLBACK,
  may: 'agent',
  meta: origin,

  async submit(entered, _origin, caller, tools): Promise<Submitted> {
    const text = asSent(entered.text ?? '');
    if (text === '') return { kind: 'problems', problems: { text: 'Write what the agent should do.' } };
    const chosen = entered.thread;
    if (chosen === undefined) return { kind: 'problems', problems: { thread: 'Choose a job.' } };
    const thread = await tools.intake.load(chosen, threadRun, caller);
    if (thread === undefined || thread.state === 'ended') return notFollowed;
    if (!(await maySee(thread, caller, tools.isPublic))) return notFollowed;
    const problem = whyNot(thread, text, tools.limits);
    if (problem !== undefined) return { kind: 'problems', problems: { text: problem } };
    const { requestId, teamId, user } = caller;
    const entry: Heard = {
      kind: 'instruct',
      id: idOf('instruct', teamId, requestId),
      by: { id: user.id, name: user.name },
      text,
      atMs: tools.now(),
    };
    const once = `instruct ${requestId}`;
    const told = await tools.intake.tell('agent-thread', thread.id, { entry, once }, caller);
    if (told === 'gone') return notFollowed;
    const { agentJobId: job } = thread;
    await tools.note({ subject: job ?? 'new job', job, result: 'accepted' });
    const address = addressOf(thread, tools);
    const where: Part[] =
      address === undefined ? [' in its thread.'] : [' in ', { link: address, label: 'its thread' }, '.'];
    return {
      kind: 'told',
      message: message([[`It goes to ${jobName(thread)}; you see what comes of it`, ...where]]),
    };
  },
});

/** Said while the text can still be changed, or sent later; the thread's own look decides. */
function whyNot(
  thread: ThreadRun,
  text: string,
  { instructionCharacters, instructionsWaiting }: CommandTools['limits'],
): string | undefined {
  if (lengthOf(text) > instructionCharacters) return tooLongWords(lengthOf(text), instructionCharacters);
  return waitingIn(thread).length < instructionsWaiting ? undefined : tooManyWords(instructionsWaiting);
}

const notFollowed: Submitted = {
  kind: 'told',
  message: message([['That job is followed no more, so nothing was sent.']]),
};
