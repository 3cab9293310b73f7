import { lookAgainIn } from '../../job.ts';
import { UNREADABLE_MS } from '../../step-run.ts';
import { noted } from './changes.ts';
import type { AgentContext } from './context.ts';
import { type Heard, heard as heardSchema } from './event.ts';
import { noPlaceMessage } from './place-view.ts';
import { inFlight, type ThreadRun } from './record.ts';
import { answerableUntilMs, settleLost } from './send-step.ts';
import { type Opened, type Step, save, tell, whileReadable } from './thread-step.ts';

/** Follows no more. What is under way at the platform goes on there; nobody here is told of it. */
export async function end({ run, heard, wakes }: Opened, context: AgentContext): Promise<Step> {
  const readable = entriesIn(heard);
  if (readable.length > 0) return save(afterTheEnd(run, readable), readable.length, context);
  const flying = inFlight(run);
  if (flying?.state === 'sending') {
    const leftMs = answerableUntilMs(flying, context) - context.now();
    if (leftMs > 0) return lookAgainIn(leftMs);
    await settleLost(run, flying, context);
    return 'next';
  }
  await whileReadable(() => context.watches.leave(run), context);
  await context.threads.unfollow(run.teamId, run.id);
  if (run.ended?.why === 'noPlace') await tellNoPlace(run, run.ended.code ?? '', context);
  return tell(run, wakes, heard.length > 0 ? [UNREADABLE_MS] : [], context);
}

/** The entries before the first one that cannot be read, which is left to a newer Docket. */
function entriesIn(heard: readonly unknown[]): Heard[] {
  const read = heard.map((entry) => heardSchema.safeParse(entry).data);
  const end = read.indexOf(undefined);
  return read.slice(0, end < 0 ? undefined : end).filter((entry) => entry !== undefined);
}

/** Whoever wanted something of a thread that follows no more is told that nothing came of it. */
function afterTheEnd(run: ThreadRun, entries: readonly Heard[]): ThreadRun {
  const whom = entries.flatMap((entry) => {
    if (entry.kind === 'instruct') return [{ to: entry.by.id, id: entry.id }];
    return entry.kind === 'reply' && entry.mentionsBot ? [{ to: entry.user, id: entry.ts }] : [];
  });
  return whom.reduce((thread, { to, id }) => noted(thread, { id: `over ${id}`, to, kind: 'over' }), run);
}

/** Privately where it was asked, or by direct message when that cannot be told to have arrived. */
async function tellNoPlace(run: ThreadRun, code: string, context: AgentContext): Promise<void> {
  const message = noPlaceMessage(run.asked.joinable, code);
  const responseUrl = await context.runs.responseUrl(run.id);
  if (responseUrl !== undefined) {
    const told = await context.onceInSlack(run.id, 'no-place', () =>
      context.answerPrivately(responseUrl, message, context.timing.slackCallMs),
    );
    if (told.kind === 'done' && told.value) return;
  }
  const place = { user: run.owner.id };
  await context.outbox.show(
    run.teamId,
    { key: `${run.id}.no-place`, place, kind: 'ending', message },
    run.rev,
  );
}
