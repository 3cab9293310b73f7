import { backoffMs } from '../../../runtime/timing.ts';
import { UNREADABLE_MS } from '../../step-run.ts';
import { noteChanges } from './audit.ts';
import { endingUnmade } from './changes.ts';
import type { AgentContext } from './context.ts';
import { withoutLimit } from './final.ts';
import { listenAll } from './inbox-step.ts';
import { permitted } from './permission-step.ts';
import { headOf, inFlight, type ThreadRun } from './record.ts';
import {
  answerableUntilMs,
  leaveLine,
  register,
  send,
  sendable,
  sendsAgainAtMs,
  settleLost,
} from './send-step.ts';
import { joining, synced } from './sync.ts';
import { type Opened, type Step, save, show, tell, whileReadable } from './thread-step.ts';

/** While instructions go out one after the other, people are shown how things are so often. */
const SHOWN_EVERY_MS = 2000;

/**
 * A look while it lasts: when it last showed anything, and how often the thread had been woken when it last knew all
 * that the watch does.
 */
export interface Look {
  shownAtMs: number;
  inStepAt?: number;
}

/** One step of a thread that follows a job. What is to be sent comes before what is to be shown. */
export async function follow(
  { run, heard, wakes }: Opened,
  thisLook: Look,
  context: AgentContext,
): Promise<Step> {
  const { now, watches, timing, random } = context;
  const waits: number[] = [];
  const flying = inFlight(run);
  if (flying?.state === 'sending') {
    const leftMs = answerableUntilMs(flying, context) - now();
    if (leftMs <= 0) {
      await settleLost(run, flying, context);
      return 'next';
    }
    waits.push(leftMs);
  }
  const unregistered = run.instructions.find(
    ({ state, round }) => state === 'working' && round === undefined,
  );
  if (unregistered !== undefined) {
    const registered = await whileReadable(() => register(run, unregistered, undefined, context), context);
    if (registered) return 'next';
    waits.push(UNREADABLE_MS);
  }
  // What is over is told before something else takes its place.
  const isOver = run.retry?.over || run.limit?.over;
  if (isOver || now() - thisLook.shownAtMs > SHOWN_EVERY_MS) {
    await show(run, context);
    thisLook.shownAtMs = now();
  }

  const listened = await listenAll(run, heard, context);
  if (listened.lookWanted && run.agentJobId !== undefined)
    await whileReadable(() => watches.wantLook(run), context);
  const ready = sendable(listened.thread, now());
  const permission = ready && (await permitted(listened.thread, ready, context));
  const head = permission?.kind === 'allowed' ? ready : undefined;
  if (permission?.kind === 'refused') listened.thread = permission.thread;
  if (permission?.kind === 'unknown') waits.push(backoffMs(timing, 3, random()));
  if (listened.taken > 0 || head !== undefined || permission?.kind === 'refused') {
    await noteChanges(run, listened.thread, context);
    await leaveLine(run, listened.thread, context);
    if (head === undefined) return save(listened.thread, listened.taken, context);
    if (await send(listened.thread, head, listened.taken, context)) thisLook.inStepAt = wakes;
    return 'next';
  }
  if (listened.waitsFor === 'author') waits.push(backoffMs(timing, 3, random()));
  if (listened.waitsFor === 'newerDocket') waits.push(UNREADABLE_MS);

  const news = { thread: run };
  const readable = await whileReadable(async () => {
    // Whatever the watch learns after that wakes this thread.
    if (thisLook.inStepAt !== wakes) news.thread = await withNews(run, context);
  }, context);
  if (!readable) waits.push(UNREADABLE_MS);
  const next = endingUnmade(withoutLimit(news.thread));
  if (next !== run) {
    await noteChanges(run, next, context);
    return save(next, 0, context);
  }
  if (headOf(run) !== undefined && sendsAgainAtMs(run) > now()) waits.push(sendsAgainAtMs(run) - now());
  return tell(run, wakes, waits, context);
}

/** What the watch of the job knows; a thread without one joins it. */
async function withNews(run: ThreadRun, { watches }: AgentContext): Promise<ThreadRun> {
  if (run.agentJobId === undefined) return run;
  if (!run.watched) {
    const watch = await watches.join(run);
    return synced(joining(run, watch), watch);
  }
  const watch = await watches.load(run);
  return watch === undefined ? { ...run, watched: false } : synced(run, watch);
}
