import { SlackApiError } from '../../../slack/errors.ts';
import { threadClaim } from '../../../store/threads.ts';
import { loadCardState } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { lookupRetryMs } from '../../retry.ts';
import type { StepResult } from '../../run-job.ts';
import { contactsText } from '../../wording-view.ts';
import { auditThread } from './audit.ts';
import type { ThreadRun } from './record.ts';
import { publishThread, save } from './thread-step.ts';
import { endThread } from './transitions.ts';
import { cardKey } from './view.ts';

/** Checks the owner's permission, unless that was done when the request came in. */
export async function authorize(run: ThreadRun, context: JobContext): Promise<StepResult> {
  const { now, policy } = context;
  if (run.checked) {
    await auditThread(run, 'accepted', context);
    return save({ ...run, state: 'carding', sinceMs: now() }, 0, context);
  }
  const external = run.asked.external === true;
  const verdict = await policy.check(run.owner.id, 'agent', { external });
  if (verdict.kind === 'unknown') return runAgainIn(lookupRetryMs(context));
  const { id, name } = verdict.person;
  const known = { ...run, checked: true, owner: { id, name } };
  if (verdict.kind === 'allowed') {
    const visibility = await loadVisibility(run, context);
    if (visibility.kind === 'wait') return runAgainIn(visibility.inMs);
    return save({ ...known, asked: { ...run.asked, isPublic: visibility.isPublic } }, 0, context);
  }
  await auditThread(run, 'refused: not permitted', context);
  const about = contactsText(verdict.ask, policy.isOpen('agent'));
  const note = { id: 'refused', to: id, kind: 'notPermitted' as const, about };
  return save({ ...endThread(known, { why: 'refused' }), notes: [...run.notes, note] }, 0, context);
}

/** Returns whether the channel is public; no, when neither the request nor Slack says. */
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
    log.warn({ run: id, err: error }, 'Slack does not tell whether a channel is public');
    return { kind: 'known', isPublic: false };
  }
}

/** Posts the card first: when that cannot be posted, nothing is followed and nothing is sent. */
export async function postCard(run: ThreadRun, context: JobContext): Promise<StepResult> {
  const { now, threads } = context;
  await publishThread(run, context);
  const card = await loadCardState(run, cardKey(run), context);
  if (card.kind === 'waiting') return runAgainIn(card.inMs);
  if (card.kind === 'elsewhere') return save({ ...run, inDirectMessage: true }, 0, context);
  if (card.kind === 'refused') {
    await auditThread(run, `refused: ${card.code}`, context);
    return save(endThread(run, { why: 'noPlace', code: card.code }), 0, context);
  }
  const { channel, ts } = card;
  const place = { channel, rootTs: run.inDirectMessage ? ts : (run.asked.rootTs ?? ts) };
  const claimed = { ...run, claim: threadClaim({ teamId: run.teamId, ...place }), place };
  const holder = await threads.follow(claimed, { teamId: run.teamId, ...place });
  if (holder !== undefined) return save(endThread(run, { why: 'taken' }), 0, context);
  return save({ ...claimed, state: 'following', sinceMs: now() }, 0, context);
}
