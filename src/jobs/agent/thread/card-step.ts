import { SlackApiError } from '../../../slack/errors.ts';
import { threadClaim } from '../../../store/threads.ts';
import { loadCardState } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { lookUpJob, pollRateLimit } from '../../polling.ts';
import { lookupRetryMs } from '../../retry.ts';
import { type StepResult, saveAs } from '../../run-job.ts';
import { contactsText } from '../../wording-view.ts';
import { auditThread } from './audit.ts';
import type { ThreadRun } from './record.ts';
import { publishThread } from './thread-step.ts';
import { endThread } from './transitions.ts';
import { cardKey } from './view.ts';

/** Checks the owner's permission, unless it was checked when the request arrived. */
export async function authorize(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const { now, policy } = context;
  if (run.checked) {
    const answer = await lookUp(run, context);
    if (typeof answer === 'number') return runAgainIn(answer);
    if (answer === 'unknown') return saveAs(endThread(run, { why: 'refused', code: NO_JOB }));
    await auditThread(run, 'accepted', context);
    return saveAs({ ...run, state: 'postingCard', sinceMs: now() });
  }
  const external = run.asked.external === true;
  const verdict = await policy.check(run.owner.id, 'agent', { external });
  if (verdict.kind === 'unknown') return runAgainIn(lookupRetryMs(context));
  const { id, name } = verdict.person;
  const known = { ...run, checked: true, owner: { id, name } };
  if (verdict.kind === 'allowed') {
    const visibility = await loadVisibility(run, context);
    if (visibility.kind === 'wait') return runAgainIn(visibility.inMs);
    return saveAs({ ...known, asked: { ...run.asked, isPublic: visibility.isPublic } });
  }
  await auditThread(run, 'refused: not permitted', context);
  const about = contactsText(verdict, policy.isOpen('agent'));
  const ephemeral = { id: 'refused', to: id, kind: 'notPermitted' as const, about };
  return saveAs({ ...endThread(known, { why: 'refused' }), ephemerals: [...run.ephemerals, ephemeral] });
}

/** The `code` of a request that never became a thread, because the platform knows no such job. */
export const NO_JOB = 'no_job';

/** Looks up the job that a person named; a job that Docket makes needs no look-up. */
async function lookUp({ id, project, agentJobId: jobId }: ThreadRun, context: JobContext) {
  const projectId = context.projectId(project);
  const docs = context.docs(project);
  if (jobId === undefined || projectId === undefined || docs === undefined) return 'known';
  const rateLimit = pollRateLimit('agent-status', docs.keyId, context.limits.exportStatusPerSecond);
  const get = () => docs.getAgentJob({ projectId, jobId }, { signal: context.stopping });
  return lookUpJob(id, rateLimit, get, context);
}

/** Returns whether the channel is public; false if neither the request nor Slack says so. */
async function loadVisibility(
  { asked, id }: ThreadRun,
  { slack, log }: JobContext,
): Promise<{ kind: 'known'; isPublic: boolean } | { kind: 'wait'; inMs: number }> {
  try {
    const open = asked.isPublic || (await slack.channel(asked.channel)).isPublic;
    return { kind: 'known', isPublic: open };
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    if (error.kind === 'limited' && error.retryAfterMs !== undefined)
      return { kind: 'wait', inMs: error.retryAfterMs };
    log.warn({ run: id, err: error }, 'a channel could not be looked up; it counts as private');
    return { kind: 'known', isPublic: false };
  }
}

/** Posts the card first: if it cannot be posted, nothing is followed or sent. */
export async function postCard(run: ThreadRun, context: JobContext): Promise<StepResult<ThreadRun>> {
  const { now, threads } = context;
  await publishThread(run, context);
  const card = await loadCardState(run, cardKey(run), context);
  if (card.kind === 'waiting') return runAgainIn(card.inMs);
  if (card.kind === 'elsewhere') return saveAs({ ...run, inDirectMessage: true });
  if (card.kind === 'refused') {
    await auditThread(run, `refused: ${card.code}`, context);
    return saveAs(endThread(run, { why: 'noPlace', code: card.code }));
  }
  const { channel, ts } = card;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const holder = await threads.follow(claimed, { teamId: run.teamId, ...place });
  if (holder !== undefined) return saveAs(endThread(run, { why: 'taken' }));
  return saveAs({ ...claimed, state: 'following', sinceMs: now() });
}
