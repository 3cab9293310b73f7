import { messageUrl } from '../../../slack/text.ts';
import { projectMessage } from '../../agent/mention/view.ts';
import { instructEntry } from '../../agent/thread/event.ts';
import {
  findInstruction,
  newOwnThread,
  type ThreadRun,
  threadQuotas,
  threadRun,
} from '../../agent/thread/record.ts';
import { reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { growingPauseMs } from '../../retry.ts';
import { defineRunJob, markIdle, type StepResult, saveAs } from '../../run-job.ts';
import { type AskEnding, type AskRun, askRun } from './record.ts';
import { askMessages } from './view.ts';

/** No person was refused it, so Redis may write it at any time. */
const NO_DEADLINE = Number.MAX_SAFE_INTEGER;

/** The line waits this long for the card of a new job, so that it can link it. */
const CARD_WAIT_MS = 10_000;

/** The watch of the job gives up first, and reports that. */
const WATCH_MARGIN_MS = 60_000;

/** Passes a request from a digest to a thread, and reports the result under the digest. */
export const askJob = defineRunJob({
  name: 'digest-ask',
  queue: 'docs-agent',
  concurrency: 20,
  schema: askRun,
  messages: askMessages,
  auditLine: ({ by, channel, project }) => ({ user: by, channel, what: 'digest ask', subject: project }),
  step({ run }, context) {
    switch (run.state) {
      case 'accepted':
        return handOver(run, context);
      case 'handed':
      case 'open':
        return follow(run, context);
      case 'ended':
        return markIdle(run, context);
    }
  },
  async giveUp({ run }, context, ref) {
    if (run.state === 'ended') return markIdle(run, context);
    // Whether it was handed over is unknown as well.
    const kind = run.state === 'accepted' ? ('unknown' as const) : ('unwatched' as const);
    const ending = run.ending ?? { kind, atMs: context.now() };
    return saveAs({ ...run, handover: undefined, state: 'ended', ending }, { audit: `broken: ref ${ref}` });
  },
});

/** Creates a thread, or instructs one that follows a job. Ids follow from the run's own, so both detect a repeat. */
async function handOver(run: AskRun, context: JobContext): Promise<StepResult<AskRun>> {
  const { runs, figures, now } = context;
  const { id, teamId, project, edition, by, thread, instruction, handover } = run;
  await figures.addAsk(edition, id);
  if (handover?.newThread !== undefined) {
    const { asked, mode } = handover.newThread;
    const own = { id: thread, teamId, project, agentJobId: undefined, owner: by, asked, mode };
    const made = newOwnThread({ ...own, instructionId: instruction, text: handover.text }, now());
    const [quota] = threadQuotas(made, context.limits);
    const acceptance = await runs.accept(made, NO_DEADLINE, 0, undefined, [quota]);
    if (acceptance.kind === 'full') return refuseFull(run, quota.max, context);
  } else if (handover !== undefined) {
    const entry = instructEntry({ id: instruction, by, text: handover.text, atMs: run.sinceMs });
    await runs.appendToInbox('agent-thread', thread, entry, NO_DEADLINE);
  }
  await context.wake({ id: thread, job: 'agent-thread' });
  return saveAs({ ...run, handover: undefined, state: 'handed' as const }, { audit: 'handed over' });
}

/** The person's threads already follow the maximum number of jobs. */
async function refuseFull(run: AskRun, max: number, context: JobContext): Promise<StepResult<AskRun>> {
  const message = projectMessage({ kind: 'full', max }, '');
  const inMs = await reportPrivately(run, { name: 'full', userId: run.by.id, message }, context);
  if (inMs > 0) return runAgainIn(inMs);
  const ending = { kind: 'notSent' as const, atMs: context.now() };
  const ended = { ...run, handover: undefined, state: 'ended' as const, ending };
  return saveAs(ended, { audit: 'refused: too many threads' });
}

/** Polls the thread until the result of the instruction is final. */
async function follow(run: AskRun, context: JobContext): Promise<StepResult<AskRun>> {
  const { now, runs } = context;
  const loaded = await runs.loadWithInbox(run.thread, threadRun);
  const thread = loaded?.run;
  const isCaughtUp = loaded?.inbox.length === 0;
  const { round, ending, isFinal } = outcomeOf(run, thread, { isCaughtUp, nowMs: now() });
  if (!isFinal && deadlineMs(run, thread, context) < now()) return unwatched(run, context);
  const threadUrl = run.threadUrl ?? (thread && urlOf(thread, run, context));
  const isPlaced = thread === undefined || thread.place !== undefined || thread.state === 'ended';
  const isShown = run.state === 'open' || isPlaced || now() - run.sinceMs > CARD_WAIT_MS;
  const next: AskRun = {
    ...run,
    state: isFinal ? 'ended' : isShown ? 'open' : 'handed',
    ...(threadUrl !== undefined && { threadUrl }),
    ...(round !== undefined && { round }),
    ending: isFinal || ending?.kind !== run.ending?.kind ? ending : run.ending,
  };
  const isSame = JSON.stringify(next) === JSON.stringify({ ...run, ending: run.ending });
  if (isSame) return runAgainIn(growingPauseMs(run.sinceMs, context));
  return saveAs(next, isFinal ? { audit: ending?.kind ?? 'ended' } : {});
}

const unwatched = (run: AskRun, { now }: JobContext) =>
  saveAs(
    { ...run, state: 'ended' as const, ending: run.ending ?? { kind: 'unwatched' as const, atMs: now() } },
    { audit: 'unwatched' },
  );

/** Returns when polling ends: as long after the send as the watch lasts, and a limit may delay the send. */
function deadlineMs(run: AskRun, thread: ThreadRun | undefined, { timing }: JobContext): number {
  const one = thread && findInstruction(thread, run.instruction);
  const limit = one?.state === 'waiting' && !thread?.limit?.expired ? thread?.limit?.untilMs : undefined;
  const fromMs = Math.max(run.sinceMs, one?.sentAtMs ?? 0, limit ?? 0);
  return fromMs + timing.watchMs + WATCH_MARGIN_MS;
}

/** Returns the address of the thread's card, if all readers of the digest may open it. */
function urlOf(
  { place, inDirectMessage, asked }: ThreadRun,
  { channel }: AskRun,
  { workspaceUrl }: JobContext,
): string | undefined {
  const url = workspaceUrl();
  if (place === undefined || url === undefined || inDirectMessage) return undefined;
  if (place.channel !== channel && !asked.isPublic) return undefined;
  return messageUrl(url, { channel: place.channel, ts: place.rootTs });
}

/** The known result of an instruction. An ending that is not final may still change. */
interface Outcome {
  round?: number | undefined;
  ending?: AskEnding | undefined;
  isFinal: boolean;
}

const isOpen: Outcome = { isFinal: false };

/** Returns the result of an instruction. `isCaughtUp`: its thread has processed its inbox. */
function outcomeOf(
  ask: AskRun,
  thread: ThreadRun | undefined,
  { isCaughtUp, nowMs }: { isCaughtUp: boolean; nowMs: number },
): Outcome {
  const end = (kind: 'notSent' | 'unknown' | 'stopped', isFinal = true): Outcome => ({
    ending: { kind, atMs: nowMs },
    isFinal,
  });
  if (thread === undefined) return end('stopped');
  const one = findInstruction(thread, ask.instruction);
  const round = ask.round ?? one?.round;
  const hasEnded = thread.state === 'ended';
  if (round !== undefined) {
    const ending = thread.rounds.find(({ n }) => n === round)?.ending;
    if (ending !== undefined) return { round, ending, isFinal: true };
    return hasEnded ? { round, ...end('stopped') } : { round, isFinal: false };
  }
  if (one === undefined) return isCaughtUp || hasEnded ? end('notSent') : isOpen;
  switch (one.state) {
    case 'held':
    case 'waiting':
      return hasEnded ? end('notSent') : isOpen;
    case 'failed':
      return end('notSent', hasEnded);
    case 'sending':
    case 'unknown':
      return hasEnded ? end('unknown') : isOpen;
    case 'working':
      return hasEnded ? end('stopped') : isOpen;
    case 'over':
      if (one.outcome === 'left') return end('unknown');
      return end(one.outcome === 'sent' ? 'stopped' : 'notSent');
  }
}
