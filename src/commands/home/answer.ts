import { features } from '../../jobs/features.ts';
import { answerButton, homeActions } from '../../jobs/home/answer.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { noticeView } from '../../slack/modals.ts';
import { runBase } from '../../store/runs.ts';
import { defineButton } from '../registry.ts';
import type { Caller, CommandTools } from '../tools.ts';

/**
 * [Answer] on Home: asks a question again, whose first message may be gone. Its buttons are those of that message; what
 * is answered by now is shown instead.
 */
export const answerHomeButton = defineButton({
  action: homeActions.answer,
  may: 'status',
  value: answerButton,
  async run({ run, need }, caller, tools) {
    await tools.openModal(caller, noticeView('Needs you', await askAgain(run, need, caller, tools)));
    return undefined;
  },
});

async function askAgain(
  runId: string,
  id: string,
  caller: Caller,
  { intake }: CommandTools,
): Promise<Message> {
  const loaded = await intake.load(runId, runBase.loose(), caller);
  const kind = features.find(({ homeRuns }) => homeRuns?.job === loaded?.job)?.homeRuns;
  const read = kind?.record.safeParse(loaded);
  if (kind?.needs === undefined || !read?.success) return gone;
  const { needs } = kind;
  const need = { user: caller.user.id, id };
  const waits = needs.of(read.data).some((one) => one.user === need.user && one.id === id);
  return waits ? needs.question(read.data, need) : needs.answered(read.data, need);
}

const gone = message([['I no longer remember this. It was settled, or is long ago.']]);
