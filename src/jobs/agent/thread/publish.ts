import { SlackApiError } from '../../../slack/errors.ts';
import { countOf } from '../../../slack/text.ts';
import type { JobContext } from '../../engine/context.ts';
import { type StepResult, save } from '../../engine/job.ts';
import { slackRetryMs } from '../../engine/polling.ts';
import type { Person } from '../../shared/origin.ts';
import { postEphemeralOnce } from '../../shared/report.ts';
import { ephemeralMessage } from './ephemeral-view.ts';
import {
  findInstruction,
  type Instruction,
  isFinished,
  isRetracted,
  type ThreadRun,
  unsentOf,
} from './record.ts';
import { isAskFinal, updateInstruction } from './transitions.ts';

/** Audits the changes, then returns the save of the compact thread. */
export async function saveChanges(
  before: ThreadRun,
  after: ThreadRun,
  consumed: number,
  context: JobContext,
): Promise<StepResult<ThreadRun>> {
  await auditChanges(before, after, context);
  return save(compact(after), { consumed });
}

/** Posts an ephemeral, sets a reaction, or marks published parts final. Returns a save, or the milliseconds to wait. */
export async function showRest(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun> | number> {
  // The next digest finds an ask by this list.
  for (const { origin } of run.instructions)
    if (origin && !origin.final) await context.figures.addAsk(origin.digest, run.id);
  const ephemeral = await postEphemeral(run, context);
  if (typeof ephemeral !== 'number') return save(ephemeral);
  const question = openQuestion(run, context.now());
  if (typeof question !== 'number') return save(question);
  const reaction = await setReaction(run, context);
  if (typeof reaction !== 'number') return save(reaction);
  const next = markFinal(run);
  return next === run ? Math.min(ephemeral, question, reaction) : save(next);
}

const DAY_MS = 24 * 3_600_000;

/** Opens a question about earlier messages to all, a day after its author was asked. Returns as `postEphemeral` does. */
function openQuestion(thread: ThreadRun, nowMs: number): ThreadRun | number {
  const held = thread.instructions.find(({ state, question }) => state === 'held' && question);
  if (held?.question === undefined || held.question.isOpenToAll) return Infinity;
  const question = { ...held.question, isOpenToAll: true };
  const inMs = question.askedAtMs + DAY_MS - nowMs;
  return inMs > 0 ? inMs : updateInstruction(thread, held.id, { question });
}

/** Posts the first ephemeral. Returns the thread without it, or the milliseconds to wait. */
async function postEphemeral(thread: ThreadRun, context: JobContext): Promise<ThreadRun | number> {
  const { asked, place } = thread;
  const [first, ...ephemerals] = thread.ephemerals;
  if (first === undefined) return Infinity;
  const dueInMs = thread.ephemeralsAtMs - context.now();
  if (dueInMs > 0) return dueInMs;
  const at = first.place ?? place;
  const { channel } = at ?? asked;
  // Slack shows no ephemeral in a thread without replies; a thread that was not followed may have none.
  const threadTs = at?.rootTs ?? (asked.rootTs === asked.ts ? undefined : asked.rootTs);
  const to = { channel, user: first.to, threadTs };
  const message = ephemeralMessage(thread, first);
  const retryInMs = await postEphemeralOnce(thread, `note.${first.id}`, to, message, context);
  if (retryInMs === undefined) return { ...thread, ephemerals };
  return { ...thread, ephemeralsAtMs: context.now() + retryInMs };
}

/**
 * Returns the reaction for a reply: ⏸ while it is held, 👀 after it was taken and before its round shows a status. From
 * then on 👀 stays as it is. An instruction that is not a reply has none.
 */
function reactionOf({ isReply, state, round, reaction }: Instruction): Instruction['reaction'] {
  if (!isReply || state === 'notForAgent' || state === 'discarded' || state === 'withdrawn') return undefined;
  if (state === 'held') return 'double_vertical_bar';
  return round === undefined || reaction === 'eyes' ? 'eyes' : undefined;
}

/**
 * Sets the reaction of a reply. Repeated calls change nothing. Returns the thread with it, or the milliseconds to wait
 * if Slack is unreachable or limits the calls. A permanent refusal is not retried.
 */
async function setReaction(thread: ThreadRun, context: JobContext): Promise<ThreadRun | number> {
  const { place } = thread;
  const wantedFor = (one: Instruction) => (isRetracted(thread) ? undefined : reactionOf(one));
  const one = thread.instructions.find((each) => wantedFor(each) !== each.reaction);
  if (place === undefined || one === undefined) return Infinity;
  const wanted = wantedFor(one);
  const message = { channel: place.channel, ts: one.id };
  try {
    if (one.reaction !== undefined) await context.slack.removeReaction(message, one.reaction);
    if (wanted !== undefined) await context.slack.addReaction(message, wanted);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    context.log.info({ run: thread.id, ts: one.id, code: error.code }, 'cannot change a reaction');
    const retryInMs = slackRetryMs(error, context);
    if (retryInMs !== undefined) return retryInMs;
  }
  return updateInstruction(thread, one.id, { reaction: wanted });
}

/**
 * Adds changes to the audit log: results of instructions, refused people, switches of the mode, the end. Call it before
 * the save: after a crash a line may be there twice, but is never missing.
 */
async function auditChanges(before: ThreadRun, after: ThreadRun, context: JobContext): Promise<void> {
  const { agentJobId: job, asked, place, teamId, ended } = after;
  const lines: Promise<void>[] = [];
  for (const one of after.instructions) {
    const earlier = findInstruction(before, one.id);
    const result = RESULTS[one.state];
    const isKnown = earlier?.attempt === one.attempt && RESULTS[earlier.state] === result;
    if (result === undefined || isKnown) continue;
    const line = {
      atMs: context.now(),
      user: one.by,
      channel: place?.channel ?? asked.channel,
      what: 'instruction',
      subject: job ?? 'new agent job',
      job,
      result: `${result} · ${sizeText(earlier ?? one)}`,
    };
    lines.push(context.audit.add(teamId, line));
  }
  const people = [after.owner, ...after.instructions.map(({ by }) => by)];
  for (const { id, to, kind, about } of after.ephemerals) {
    if (before.ephemerals.some((one) => one.id === id)) continue;
    const user = people.find((person) => person.id === to) ?? { id: to, name: to };
    if (kind === 'notPermitted' || kind === 'noLongerAllowed')
      lines.push(auditThread(after, 'refused: not permitted', context, user));
    if (kind === 'mode') lines.push(auditThread(after, `replies: ${about}`, context, user));
  }
  if (before.ended === undefined && ended) lines.push(auditThread(after, ended.why, context, ended.by));
  await Promise.all(lines);
}

const sizeText = ({ text, background }: Instruction) =>
  `${text.length} characters${background ? `, with ${countOf(background.count, 'message')}` : ''}`;

export async function auditThread(
  { teamId, owner, asked, agentJobId }: ThreadRun,
  result: string,
  { audit, now }: JobContext,
  user: Person = owner,
): Promise<void> {
  const subject = agentJobId ?? 'new agent job';
  await audit.add(teamId, { atMs: now(), user, channel: asked.channel, what: 'agent', subject, result });
}

/** The results of instructions in the words of the audit log. Other states have none. */
const RESULTS: Partial<Record<Instruction['state'], string>> = {
  working: 'sent',
  sent: 'sent',
  unknown: 'unclear',
  failed: 'not sent',
  notSent: 'not sent',
  notForAgent: 'not for the agent',
  discarded: 'discarded',
  withdrawn: 'withdrawn',
  left: 'left unclear',
};

// Limits the size of a thread's record: a thread may live for years, and there may be thousands.

/** Finished instructions that are kept: their messages may still be edited or deleted. */
export const MAX_FINISHED = 30;

/** Final rounds, and failed instructions, that are kept for clicks on their buttons. */
const MAX_FINAL_ROUNDS = 3;
const MAX_FAILED = 20;

/**
 * Keeps the latest finished instructions, without text. The last one of the newest round keeps its text, so that it can be
 * resent. The one that created the job is kept, and those from digests until their lines are final.
 */
export function compact(thread: ThreadRun): ThreadRun {
  const last = thread.rounds.findLast((round) => round.last !== undefined)?.last?.id;
  const isSpent = (one: Instruction) =>
    (isFinished(one) || (one.state === 'working' && one.round !== undefined)) && one.id !== last;
  const droppable = thread.instructions.filter(
    (one) => isSpent(one) && !one.creates && (one.origin === undefined || one.origin.final),
  );
  const dropped = new Set(droppable.slice(0, -MAX_FINISHED));
  const instructions = thread.instructions
    .filter((one) => !dropped.has(one))
    .map((one) => (isSpent(one) ? { ...one, text: '', background: undefined } : one));
  return { ...thread, instructions };
}

/**
 * Marks final parts once all messages are published, and drops the oldest ones. A final message must not be published
 * again: its record expires before the thread's, so it would be posted a second time.
 */
export function markFinal(thread: ThreadRun): ThreadRun {
  const failed = thread.instructions.filter(({ state }) => state === 'failed');
  const forgotten = failed.slice(0, -MAX_FAILED);
  const instructions = thread.instructions.map((one): Instruction => {
    if (forgotten.includes(one)) return { ...one, state: 'notSent', problem: undefined };
    const { problem, origin } = one;
    const isFinal = problem !== undefined && problem.why !== 'unknown';
    return {
      ...one,
      problem: problem?.answer ? undefined : isFinal ? { ...problem, final: true } : problem,
      origin: origin && isAskFinal(thread, one) ? { ...origin, final: true } : origin,
    };
  });
  const rounds = thread.rounds.map((round) => (round.ending ? { ...round, final: true } : round));
  const isUnsent = unsentOf(thread).length > 0;
  const final = {
    ...thread,
    instructions,
    rounds: rounds.slice(-MAX_FINAL_ROUNDS),
    limit: isUnsent ? thread.limit : undefined,
    retry: isUnsent && !thread.retry?.expired ? thread.retry : undefined,
  };
  return JSON.stringify(final) === JSON.stringify(thread) ? thread : final;
}
