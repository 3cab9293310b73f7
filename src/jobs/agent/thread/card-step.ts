import { backoffMs } from '../../../runtime/timing.ts';
import { SlackApiError } from '../../../slack/errors.ts';
import { threadClaim } from '../../../store/threads.ts';
import { askWhom } from '../../ask-whom.ts';
import { lookAgainIn } from '../../job.ts';
import { noteThread } from './audit.ts';
import { ending } from './changes.ts';
import type { AgentContext } from './context.ts';
import type { ThreadRun } from './record.ts';
import { type Step, save, show } from './thread-step.ts';
import { cardKey } from './view.ts';

/** May this person? Asked here where the request itself could not be refused at once. */
export async function admit(run: ThreadRun, context: AgentContext): Promise<Step> {
  const { now, policy, timing } = context;
  if (run.checked) {
    await noteThread(run, 'accepted', context);
    return save({ ...run, state: 'carding', sinceMs: now() }, 0, context);
  }
  const external = run.asked.external === true;
  const verdict = await policy.check(run.owner.id, 'agent', { external });
  if (verdict.kind === 'unknown') return lookAgainIn(backoffMs(timing, 3, context.random()));
  const { id, name } = verdict.person;
  const known = { ...run, checked: true, owner: { id, name } };
  if (verdict.kind === 'allowed') {
    const open = await isPublic(run, context);
    if (open.kind === 'wait') return lookAgainIn(open.inMs);
    return save({ ...known, asked: { ...run.asked, isPublic: open.isPublic } }, 0, context);
  }
  await noteThread(run, 'refused: not permitted', context);
  const about = askWhom(verdict.ask, policy.open('agent'));
  const note = { id: 'refused', to: id, kind: 'notPermitted' as const, about };
  return save({ ...ending(known, { why: 'refused' }), notes: [...run.notes, note] }, 0, context);
}

/** Whether anybody may read the thread, where the request did not say; not, where Slack does not. */
async function isPublic(
  { asked, id }: ThreadRun,
  { slack, log }: AgentContext,
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

/** The card comes first: where it cannot be posted, nothing is followed and nothing is sent. */
export async function card(run: ThreadRun, context: AgentContext): Promise<Step> {
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
