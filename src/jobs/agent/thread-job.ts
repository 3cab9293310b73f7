import { z } from 'zod';
import { threadClaim } from '../../store/threads.ts';
import { backoffMs } from '../../timing.ts';
import { askWhom } from '../ask-whom.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { lookAtRun } from '../look-at-run.ts';
import { endingUnmade } from './changes.ts';
import type { AgentContext } from './context.ts';
import { listenAll } from './listen-step.ts';
import { whisper } from './notes-step.ts';
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
import { noteOutcomes, noteThread } from './thread-audit.ts';
import { told, untold, withoutLimit } from './told.ts';
import { cardKey, threadMessages } from './view.ts';

/** Steps of one look; then other threads have their turn. */
const STEPS = 40;

interface Opened {
  run: ThreadRun;
  heard: unknown[];
  wakes: number;
}

/** What one step of a look came to: another step follows at once, or the look is over. */
type Step = 'next' | Outcome;

/** Takes one followed thread from the wish to follow to its end: what is heard in it, what goes out, what is told. */
export const threadJob = defineJob<{ runId: string }, AgentContext>({
  name: 'agent-thread',
  queue: 'docs-agent',
  concurrency: 50,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const open = () => context.threads.open(runId, threadRun);
    for (let steps = 0; steps < STEPS; steps += 1) {
      const taken = { step: done as Step };
      const outcome = await lookAtRun('agent-thread', runId, open, context, async (opened) => {
        taken.step = await stepOf(opened, context);
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
      const ended = {
        ...run,
        state: 'ended' as const,
        lasting: false,
        ended: { why: 'broken' as const, ref, unsent: 0 },
      };
      await context.threads.save(ended, 0);
      return lookAgainIn(0);
    });
  },
});

function stepOf(opened: Opened, context: AgentContext): Promise<Step> {
  switch (opened.run.state) {
    case 'accepted':
      return admit(opened.run, context);
    case 'carding':
      return card(opened.run, context);
    case 'following':
      return follow(opened, context);
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
  if (verdict.kind === 'allowed') return save(known, 0, context);
  await noteThread(run, 'refused: not permitted', context);
  const about = askWhom(verdict.ask, policy.open('agent'));
  const note = { id: 'refused', to: id, kind: 'notPermitted' as const, about };
  return save({ ...stopped(known, { why: 'refused' }), notes: [...run.notes, note] }, 0, context);
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
    return save(stopped(run, { why: 'noPlace', code: delivery.code }), 0, context);
  }
  const { channel, ts } = delivery;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const other = await threads.follow(claimed, { teamId: run.teamId, ...place });
  if (other !== undefined) return save(stopped(run, { why: 'taken' }), 0, context);
  return save({ ...claimed, state: 'following', sinceMs: now() }, 0, context);
}

/** One step of a thread that follows a job. What is to be sent comes before what is to be shown. */
async function follow({ run, heard, wakes }: Opened, context: AgentContext): Promise<Step> {
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
    await register(run, unregistered, undefined, context);
    return 'next';
  }

  const listened = await listenAll(run, heard, context);
  if (listened.lookWanted && run.agentJobId !== undefined) await watches.wantLook(run);
  const head = sendable(listened.thread, now());
  if (listened.taken > 0 || head !== undefined) {
    await noteOutcomes(run, listened.thread, context);
    await leaveLine(run, listened.thread, context);
    if (head === undefined) return save(listened.thread, listened.taken, context);
    await send(listened.thread, head, listened.taken, context);
    return 'next';
  }
  if (listened.waits) waits.push(backoffMs(timing, 3, random()));

  const next = endingUnmade(withoutLimit(await withNews(run, context)));
  if (next !== run) {
    await noteOutcomes(run, next, context);
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
  if (heard.length > 0) return save(run, heard.length, context);
  const flying = inFlight(run);
  if (flying?.state === 'sending') {
    const leftMs = answerableUntilMs(flying, context) - context.now();
    if (leftMs > 0) return lookAgainIn(leftMs);
    await settleLost(run, flying, context);
    return 'next';
  }
  if (run.watched) await context.watches.leave(run);
  await context.threads.unfollow(run.teamId, run.id);
  if (run.ended?.why === 'noPlace') await tellNoPlace(run, run.ended.code ?? '', context);
  return tell(run, wakes, [], context);
}

/** Says and shows all there is to say, then waits for the first of `waits`, or until somebody wakes the thread. */
async function tell(run: ThreadRun, wakes: number, waits: number[], context: AgentContext): Promise<Step> {
  await show(run, context);
  const said = new Set<string>();
  for (const note of run.notes) {
    const againInMs = await whisper(run, note, context);
    if (againInMs === undefined) said.add(note.id);
    else {
      // What Slack does not take of one, it takes of none.
      waits.push(againInMs);
      break;
    }
  }
  if (said.size > 0) return save({ ...run, notes: run.notes.filter(({ id }) => !said.has(id)) }, 0, context);
  const next = told(run);
  if (next !== run) return save(next, 0, context);
  if (waits.length > 0) return lookAgainIn(Math.min(...waits));
  return (await context.runs.settle(run, run.state === 'ended', wakes)) ? done : 'next';
}

async function show(run: ThreadRun, { outbox, reactions }: AgentContext): Promise<void> {
  const { teamId, id: runId, place } = run;
  const shown = threadMessages(untold(run)).map((message) => outbox.show(teamId, message, run.rev));
  const reacted = place && reactions.show({ teamId, runId, channel: place.channel }, reactionsOf(run));
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

const stopped = (
  run: ThreadRun,
  ended: Pick<NonNullable<ThreadRun['ended']>, 'why' | 'code' | 'ref'>,
): ThreadRun => ({
  ...run,
  state: 'ended',
  lasting: false,
  ended: { ...ended, unsent: 0 },
});
