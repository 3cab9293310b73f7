import { NamesUnknown } from '../../../slack/lookups.ts';
import { findMentions } from '../../../slack/markdown/message.ts';
import { noNames } from '../../../slack/markdown/names.ts';
import { tsToMs } from '../../../slack/text.ts';
import type { JobContext } from '../../context.ts';
import { contactsText } from '../../wording-view.ts';
import { type ThreadEvent, threadEvent } from './event.ts';
import type { ThreadRun } from './record.ts';
import { applyEvent, type EventContext } from './reducer.ts';

/** If names are unknown for this long, the instruction is sent with Slack's placeholders. */
const NAMES_WAIT_MS = 60_000;

/** The thread after the first `consumed` entries of its inbox. */
export interface AppliedInbox {
  thread: ThreadRun;
  consumed: number;
  /** The author of the next entry is unknown, so it has to wait. */
  isBlocked?: true;
  /** A person asked for a poll at once. */
  pollRequested: boolean;
}

/** Applies entries in order, up to the first one that has to wait. */
export async function applyInbox(
  thread: ThreadRun,
  entries: readonly unknown[],
  context: JobContext,
): Promise<AppliedInbox> {
  const result: AppliedInbox = { thread, consumed: 0, pollRequested: false };
  for (const entry of entries) {
    // The step of an ended thread answers the remaining entries.
    if (result.thread.state === 'ended') break;
    const { data: event, error: damage } = threadEvent.safeParse(entry);
    // Neither a damaged event nor our own defect may stop the thread.
    const leaveOut = (error: unknown) =>
      context.log.error(
        { run: thread.id, kind: event?.kind, err: error },
        'an event of a thread is left out',
      );
    if (event === undefined) leaveOut(damage);
    else {
      const eventContext = await loadEventContext(result.thread, event, context);
      if (eventContext === undefined) return { ...result, isBlocked: true };
      try {
        result.thread = applyEvent(result.thread, event, eventContext);
      } catch (error) {
        leaveOut(error);
      }
      result.pollRequested ||= event.kind === 'clicked' && event.action === 'checkJob';
    }
    result.consumed += 1;
  }
  return result;
}

/** Returns undefined while the author is unknown. */
async function loadEventContext(
  thread: ThreadRun,
  event: ThreadEvent,
  context: JobContext,
): Promise<EventContext | undefined> {
  const botUserId = context.botUserId();
  if (botUserId === undefined) return undefined;
  const nowMs = context.now();
  const { limits, timing } = context;
  const known = { names: noNames, botUserId, limits, nowMs, graceMs: timing.graceMs, ask: '' };
  if (event.kind === 'deleted' || event.kind === 'polled')
    return { ...known, author: { id: '', name: '', may: false } };
  // Clicks and modals have already passed the gate.
  if (event.kind !== 'reply' && event.kind !== 'edited')
    return { ...known, author: { ...event.by, may: true } };
  const verdict = await context.policy.check(event.user, 'agent', event);
  if (verdict.kind === 'unknown') return undefined;
  const { id, name } = verdict.person;
  const ask = verdict.kind === 'refused' ? contactsText(verdict, context.policy.isOpen('agent')) : '';
  const author = { id, name, may: verdict.kind === 'allowed' };
  if (!author.may) return { ...known, ask, author };
  try {
    return { ...known, author, names: await context.names(findMentions(event.content)) };
  } catch (error) {
    if (!(error instanceof NamesUnknown)) throw error;
    context.log.warn({ run: thread.id, err: error }, 'the names in a reply could not be looked up');
    return nowMs - tsToMs(event.ts) > NAMES_WAIT_MS ? { ...known, author } : undefined;
  }
}
