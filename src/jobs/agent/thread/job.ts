import { noNames } from '../../../slack/markdown/inline.ts';
import { findMentions, leavesSharedOut, messageToMarkdown } from '../../../slack/markdown/message.ts';
import { tsToMs } from '../../../slack/text.ts';
import type { LoadedRun } from '../../../store/runs.ts';
import { threadClaim } from '../../../store/threads.ts';
import type { JobContext } from '../../engine/context.ts';
import { defineRunJob, idle, idleWithClaim, type StepResult, save, wait } from '../../engine/job.ts';
import { lookupRetryMs } from '../../engine/polling.ts';
import { loadCardState, reportPrivately } from '../../shared/report.ts';
import { loadNames } from '../read-background.ts';
import { privateEnding, threadNeeds } from './ephemeral-view.ts';
import { lookUpNamedJob, pollWhenDue } from './poll.ts';
import { auditThread, saveChanges, showRest } from './publish.ts';
import { type ThreadEvent, type ThreadRun, threadEvent, threadRun } from './record.ts';
import { applyEvent, type EventContext } from './reducer.ts';
import { beginSend, finishSend } from './send.ts';
import { addEphemeral, endThread } from './transitions.ts';
import { cardKey, threadMessages } from './view.ts';

/** Steps mostly wait for the platform, and a step that hangs must not delay other threads. */
const CONCURRENCY = 200;

/** Steps one followed thread from the request to its end: applies events, sends instructions, polls the job. */
export const threadJob = defineRunJob<ThreadRun>({
  name: 'agent-thread',
  queue: 'docs-agent',
  concurrency: CONCURRENCY,
  schema: threadRun,
  needs: threadNeeds.of,
  messages: (run, { workspaceUrl }) => threadMessages(run, workspaceUrl()),
  step(loaded, context) {
    const { state } = loaded.run;
    if (state === 'accepted') return authorize(loaded.run, context);
    return state === 'postingCard' ? postCard(loaded.run, context) : follow(loaded, context);
  },
  giveUp: ({ run }, context, ref) => saveChanges(run, endThread(run, { why: 'broken', ref }), 0, context),
});

/** Looks up the job, and checks the owner's permission unless it was checked when the request arrived. */
async function authorize(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const { external, isPublic: isKnownPublic, channel } = run.asked;
  let next = run;
  if (external !== undefined) {
    const verdict = await context.policy.check(run.owner.id, 'agent', { external });
    if (verdict.kind === 'unknown') return wait(lookupRetryMs(context));
    const { id, name } = verdict.person;
    const owner = { id, name };
    if (verdict.kind === 'refused') {
      await auditThread({ ...run, owner }, 'refused: not permitted', context);
      const ephemeral = { id: 'refused', to: id, kind: 'notPermitted' as const, about: verdict.contacts };
      return save(addEphemeral(endThread({ ...run, owner }, { why: 'refused' }), ephemeral));
    }
    const isPublic = isKnownPublic || (await context.isPublic(channel));
    next = { ...run, owner, asked: { ...run.asked, isPublic } };
  }
  const answer = await lookUpNamedJob(run, context);
  if (typeof answer === 'number') return wait(answer);
  if (answer === 'unknown') return save(endThread(next, { why: 'unknownJob' }));
  await auditThread(next, 'accepted', context);
  return save({ ...next, state: 'postingCard', sinceMs: context.now() });
}

/** Posts the card first: if it cannot be posted, nothing is followed or sent. */
async function postCard(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const { now, threads } = context;
  const card = await loadCardState(run, cardKey(run), context);
  if (card.kind === 'waiting') return wait(card.inMs);
  if (card.kind === 'elsewhere') return save({ ...run, inDirectMessage: true });
  if (card.kind === 'refused') {
    await auditThread(run, `refused: ${card.code}`, context);
    return save(endThread(run, { why: 'noPlace', code: card.code }));
  }
  const { channel, ts } = card;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const holder = await threads.follow(claimed, { teamId: run.teamId, ...place });
  if (holder !== undefined) return save(endThread(run, { why: 'taken' }));
  return save({ ...claimed, state: 'following', sinceMs: now() });
}

/**
 * One step of a thread that follows a job, or no longer does: it sends before it polls. After the end, the platform
 * finishes its instructions, but they are no longer shown here.
 */
async function follow({ run, inbox }: LoadedRun<ThreadRun>, context: JobContext) {
  const answerIn = await finishSend(run, context);
  if (typeof answerIn !== 'number') return answerIn;
  // The call has not begun. What people did since then comes after it.
  if (answerIn === 0) return wait(0);
  const { thread, consumed } = await applyInbox(run, inbox, context);
  const begun = await beginSend(thread, context);
  if (typeof begun !== 'number') return saveChanges(run, begun, consumed, context);
  if (consumed > 0) return saveChanges(run, thread, consumed, context);

  if (run.state === 'ended' && answerIn === Infinity) {
    await context.threads.unfollow(run.teamId, run.id);
    const message = privateEnding(run, context.limits.threadsPerPerson);
    const report = message && { name: 'not-followed', userId: run.owner.id, message };
    const reportIn = report ? await reportPrivately(run, report, context) : 0;
    if (reportIn > 0) return wait(reportIn);
  }
  const restIn = await showRest(run, context);
  if (typeof restIn !== 'number') return restIn;
  const pollIn = await pollWhenDue(run, context);
  if (typeof pollIn !== 'number') return pollIn;
  const inboxIn = inbox.length > 0 ? lookupRetryMs(context) : Infinity;
  const inMs = Math.min(answerIn, inboxIn, begun, restIn, pollIn);
  if (inMs !== Infinity) return wait(inMs);
  return run.state === 'ended' ? idle : idleWithClaim;
}

/** Applies entries in order, until one has an author who is not known yet. */
async function applyInbox(run: ThreadRun, entries: readonly unknown[], context: JobContext) {
  let thread = run;
  let consumed = 0;
  for (const entry of entries) {
    const { data: event, error: damage } = threadEvent.safeParse(entry);
    const about = event && (await loadEventContext(event, context));
    if (event && about === undefined) break;
    // Neither a damaged event nor our own defect may stop the thread.
    try {
      if (event === undefined || about === undefined) throw damage;
      thread = applyEvent(thread, event, about);
    } catch (error) {
      context.log.error({ run: run.id, kind: event?.kind, err: error }, 'an event of a thread is left out');
    }
    consumed += 1;
  }
  return { thread, consumed };
}

/** Returns undefined while the author, or the names in the text, are unknown. */
async function loadEventContext(event: ThreadEvent, context: JobContext): Promise<EventContext | undefined> {
  const { limits, policy } = context;
  const known = { limits, nowMs: context.now(), contacts: '', text: '', files: false };
  // Clicks and modals have already passed the gate.
  if (!('user' in event))
    return { ...known, author: { id: '', name: '', ...('by' in event && event.by), may: true } };
  const { content, ts, user } = event;
  const botUserId = context.botUserId();
  const verdict = await policy.check(user, 'agent', event);
  if (verdict.kind === 'unknown' || botUserId === undefined) return undefined;
  const { id, name } = verdict.person;
  const may = verdict.kind === 'allowed';
  const contacts = verdict.kind === 'refused' ? verdict.contacts : '';
  const names = may ? await loadNames(findMentions(content), tsToMs(ts), context) : noNames;
  if (names === undefined) return undefined;
  const text = messageToMarkdown(content, names, { withoutMention: botUserId });
  const files = event.files || leavesSharedOut(content, names);
  return { ...known, contacts, author: { id, name, may }, text, files };
}
