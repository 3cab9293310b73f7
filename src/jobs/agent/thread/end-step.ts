import { beginningOf, messageToMarkdown } from '../../../slack/markdown/message.ts';
import { noNames } from '../../../slack/markdown/names.ts';
import { reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { type StepResult, saveAs } from '../../run-job.ts';
import { parseThreadText } from '../thread-text.ts';
import { leaveWatch } from '../watch/watches.ts';
import { NO_JOB } from './card-step.ts';
import { noPlaceMessage, unknownJobMessage } from './ephemeral-view.ts';
import { type ReplyEvent, type ThreadEvent, threadEvent } from './event.ts';
import { isJobRefused, isRetracted, type ThreadRun, threadQuotas } from './record.ts';
import { checkOpenSend } from './send.ts';
import { type LoadedThread, publishAndWait } from './thread-step.ts';
import { addEphemeral } from './transitions.ts';
import { troubleMessage } from './unsent-view.ts';

/** A step of an ended thread. The platform finishes its instructions, but they are no longer shown here. */
export async function end(
  { run, inbox, wakes }: LoadedThread,
  context: JobContext,
): Promise<StepResult<ThreadRun>> {
  const events = inbox.flatMap((entry) => threadEvent.safeParse(entry).data ?? []);
  if (inbox.length > 0) return saveAs(addEndedEphemerals(run, events), { consumed: inbox.length });
  const answerInMs = await checkOpenSend(run, context);
  if (answerInMs === 'next') return 'next';
  if (answerInMs > 0) return runAgainIn(answerInMs);
  await leaveWatch(run, context);
  const [quota] = threadQuotas(run, context.limits);
  await context.threads.unfollow(run.teamId, run.id, quota.name);
  if (run.ended?.why === 'noPlace') {
    const message = noPlaceMessage(run.asked.joinable, run.ended.code ?? '');
    const inMs = await reportPrivately(run, { name: 'no-place', userId: run.owner.id, message }, context);
    if (inMs > 0) return runAgainIn(inMs);
  }
  if (run.ended?.code === NO_JOB) {
    const message = unknownJobMessage(run.agentJobId ?? '');
    const inMs = await reportPrivately(run, { name: 'no-job', userId: run.owner.id, message }, context);
    if (inMs > 0) return runAgainIn(inMs);
  }
  const refused = run.sendProblems.find(isJobRefused);
  if (isRetracted(run) && refused !== undefined) {
    const message = troubleMessage(run, refused);
    const inMs = await reportPrivately(run, { name: 'not-made', userId: run.owner.id, message }, context);
    if (inMs > 0) return runAgainIn(inMs);
  }
  return publishAndWait(run, wakes, [], context);
}

const isSmallTalk = ({ content }: ReplyEvent) =>
  parseThreadText(messageToMarkdown(beginningOf(content), noNames)).kind === 'smallTalk';

/** Adds ephemerals to people who addressed the agent after the end. */
function addEndedEphemerals(run: ThreadRun, entries: readonly ThreadEvent[]): ThreadRun {
  const recipients = entries.flatMap((entry) => {
    if (entry.kind === 'instruct') return [{ to: entry.by.id, id: entry.id }];
    return entry.kind === 'reply' && entry.mentionsBot && !isSmallTalk(entry)
      ? [{ to: entry.user, id: entry.ts }]
      : [];
  });
  return recipients.reduce(
    (thread, { to, id }) => addEphemeral(thread, { id: `over ${id}`, to, kind: 'over' }),
    run,
  );
}
