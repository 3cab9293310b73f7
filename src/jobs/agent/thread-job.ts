import { z } from 'zod';
import { UnreadableRun } from '../../store/runs.ts';
import { threadClaim } from '../../store/threads.ts';
import { backoffMs } from '../../timing.ts';
import { askWhom } from '../ask-whom.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { lookAtRun } from '../look-at-run.ts';
import { ending, endingUnmade, noted } from './changes.ts';
import type { AgentContext } from './context.ts';
import { heard as heardSchema } from './heard.ts';
import { listenAll } from './listen-step.ts';
import { sayNotes } from './notes-step.ts';
import { reactionsOf } from './outcomes.ts';
import { noPlaceMessage } from './place-view.ts';
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
import { headOf, inFlight, type ThreadRun, threadRun } from './thread.ts';
import { noteChanges, noteThread } from './thread-audit.ts';
import { told, untold, withoutLimit } from './told.ts';
import { cardKey, threadMessages } from './view.ts';

/** Steps of one look; then other threads have their turn. */
const STEPS = 40;

/** While instructions go out one after the other, people are shown how things are so often. */
const SHOWN_EVERY_MS = 2000;

/** How often a watch is tried that only a newer Docket can read. */
const UNREADABLE_MS = 60_000;

/** A look waits for the platform most of the time, and one that hangs must not keep other threads waiting. */
const SLOTS = 200;

interface Opened {
  run: ThreadRun;
  heard: unknown[];
  wakes: number;
}

/**
 * A look while it lasts: when it last showed anything, and how often the thread had been woken when it last knew all
 * that the watch does.
 */
interface Look {
  shownAtMs: number;
  inStepAt?: number;
}

/** What one step of a look came to: another step follows at once, or the look is over. */
type Step = 'next' | Outcome;

/** Takes one followed thread from the wish to follow to its end: what is heard in it, what goes out, what is told. */
export const threadJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-thread',
  queue: 'docs-agent',
  concurrency: SLOTS,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const open = () => context.threads.open(runId, threadRun);
    const thisLook: Look = { shownAtMs: context.now() };
    for (let steps = 0; steps < STEPS; steps += 1) {
      const taken = { step: done as Step };
      const outcome = await lookAtRun('agent-thread', runId, open, context, async (opened) => {
        taken.step = await stepOf(opened, thisLook, context);
        return taken.step === 'next' ? done : taken.step;
      });
      if (taken.step !== 'next') return outcome;
    }
    return lookAgainIn(0);
  },

  async giveUp({ runId }, context, ref) {
    const open = () => context.threads.open(runId, threadRun);
    await lookAtRun('agent-thread', runId, open, context, async ({ run }) => {
      if (run.state === 'ended') {
        await context.runs.settle(run, true);
        return done;
      }
      const ended = ending(run, { why: 'broken', ref });
      await noteChanges(run, ended, context);
      await leaveLine(run, ended, context);
      await context.threads.save(ended, 0);
      return lookAgainIn(0);
    });
  },
});

function stepOf(opened: Opened, thisLook: Look, context: AgentContext): Promise<Step> {
  switch (opened.run.state) {
    case 'accepted':
      return admit(opened.run, context);
    case 'carding':
      return card(opened.run, context);
    case 'following':
      return follow(opened, thisLook, context);
    case 'ended':
      return end(opened, context);
  }
}

/** May this person? Asked here where the request itself could not be refused at once. */
async function admit(run: ThreadRun, context: AgentContext): Promise<Step> {
  const { now, policy, timing } = context;
  if (run.checked) {
    await noteThread(run, 'accepted', context);
    return save({ ...run, state: 'carding', sinceMs: now() }, 0, context);
  }
  const verdict = await policy.check(run.owner.id, 'agent');
  if (verdict.kind === 'unknown') return lookAgainIn(backoffMs(timing, 3, context.random()));
  const { id, name } = verdict.person;
  const known = { ...run, checked: true, owner: { id, name } };
  // Where it is not certain that somebody is from here, only their own name in the settings counts.
  const stranger = run.asked.external === true && !policy.named(id, 'agent');
  if (verdict.kind === 'allowed' && !stranger)
    return save({ ...known, asked: { ...run.asked, isPublic: await isPublic(run, context) } }, 0, context);
  await noteThread(run, 'refused: not permitted', context);
  const about = askWhom(verdict.kind === 'refused' ? verdict.ask : [], policy.open('agent'));
  const note = { id: 'refused', to: id, kind: 'notPermitted' as const, about };
  return save({ ...ending(known, { why: 'refused' }), notes: [...run.notes, note] }, 0, context);
}

/** Whether anybody may read the thread, where the request did not say; not, as long as Slack does not. */
async function isPublic({ asked, id }: ThreadRun, { slack, log }: AgentContext): Promise<boolean> {
  try {
    return asked.isPublic || (await slack.channel(asked.channel)).isPublic;
  } catch (error) {
    log.warn({ run: id, err: error }, 'Slack does not tell whether a channel is public');
    return false;
  }
}

/** The card comes first: where it cannot be posted, nothing is followed and nothing is sent. */
async function card(run: ThreadRun, context: AgentContext): Promise<Step> {
  const { outbox, now, threads } = context;
  await show(run, context);
  const delivery = await outbox.state(cardKey(run));
  if (delivery.kind === 'waiting')
    return lookAgainIn(Math.min(Math.max((now() - run.sinceMs) / 2, 25), 2000));
  if (delivery.kind === 'refused') {
    if (!run.asked.joinable && !run.inDirectMessage)
      return save({ ...run, inDirectMessage: true }, 0, context);
    await noteThread(run, `refused: ${delivery.code}`, context);
    return save(ending(run, { why: 'noPlace', code: delivery.code }), 0, context);
  }
  const { channel, ts } = delivery;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const other = await threads.follow(claimed, { teamId: run.teamId, ...place });
  if (other !== undefined) return save(ending(run, { why: 'taken' }), 0, context);
  return save({ ...claimed, state: 'following', sinceMs: now() }, 0, context);
}

/** One step of a thread that follows a job. What is to be sent comes before what is to be shown. */
async function follow({ run, heard, wakes }: Opened, thisLook: Look, context: AgentContext): Promise<Step> {
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
  if (listened.lookWanted && run.agentJobId !== undefined) await watches.wantLook(run);
  const head = sendable(listened.thread, now());
  if (listened.taken > 0 || head !== undefined) {
    await noteChanges(run, listened.thread, context);
    await leaveLine(run, listened.thread, context);
    if (head === undefined) return save(listened.thread, listened.taken, context);
    if (await send(listened.thread, head, listened.taken, context)) thisLook.inStepAt = wakes;
    return 'next';
  }
  if (listened.waits) waits.push(backoffMs(timing, 3, random()));

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

/** Follows no more. What is under way at the platform goes on there; nobody here is told of it. */
async function end({ run, heard, wakes }: Opened, context: AgentContext): Promise<Step> {
  if (heard.length > 0) return save(afterTheEnd(run, heard), heard.length, context);
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
  return tell(run, wakes, [], context);
}

/** Says and shows all there is to say, then waits for the first of `waits`, or until somebody wakes the thread. */
async function tell(run: ThreadRun, wakes: number, waits: number[], context: AgentContext): Promise<Step> {
  await show(run, context);
  const notes = await sayNotes(run, context);
  if (notes !== run.notes) return save({ ...run, notes }, 0, context);
  waits.push(...notes.map(({ notBeforeMs = 0 }) => Math.max(0, notBeforeMs - context.now())));
  const next = told(run);
  if (next !== run) return save(next, 0, context);
  if (waits.length > 0) return lookAgainIn(Math.min(...waits));
  return (await context.runs.settle(run, run.state === 'ended', wakes)) ? done : 'next';
}

async function show(run: ThreadRun, { outbox, reactions }: AgentContext): Promise<void> {
  const { teamId, id: runId, place } = run;
  const shown = threadMessages(untold(run)).map((message) => outbox.show(teamId, message, run.rev));
  const reacted =
    place && reactions.show({ teamId, runId, channel: place.channel }, reactionsOf(run), run.rev);
  await Promise.all([...shown, reacted]);
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

/** The next step finds what was saved, or what somebody else did meanwhile. */
async function save(run: ThreadRun, taken: number, { threads }: AgentContext): Promise<Step> {
  await threads.save(run, taken);
  return 'next';
}

/** Answers whether it could be done: not while only a newer Docket can read the watch of the job. */
async function whileReadable(run: () => Promise<unknown>, { log }: AgentContext): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof UnreadableRun)) throw error;
    log.error({ err: error }, 'the watch of an agent job cannot be read');
    return false;
  }
}

/** Whoever wanted something of a thread that follows no more is told that nothing came of it. */
function afterTheEnd(run: ThreadRun, entries: readonly unknown[]): ThreadRun {
  const whom = entries.flatMap((entry) => {
    const { data } = heardSchema.safeParse(entry);
    if (data?.kind === 'instruct') return [{ to: data.by.id, id: data.id }];
    return data?.kind === 'reply' && data.mentionsBot ? [{ to: data.user, id: data.ts }] : [];
  });
  return whom.reduce((thread, { to, id }) => noted(thread, { id: `over ${id}`, to, kind: 'over' }), run);
}
