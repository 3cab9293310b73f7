import { findMentions } from '../../../slack/markdown/message.ts';
import { noNames } from '../../../slack/markdown/names.ts';
import { NamesUnknown } from '../../../slack/names.ts';
import { contactsText } from '../../ask-whom.ts';
import type { JobContext } from '../../context.ts';
import { threadEvent as heardSchema, type ThreadEvent } from './event.ts';
import type { ThreadRun } from './record.ts';
import { applyEvent, type EventContext } from './reducer.ts';

/** Names that Slack does not tell for so long are left as Slack's own placeholders; the instruction matters more. */
const NAMES_WAIT_MS = 60_000;

/** What a look made of what was heard: the thread after it, and how many entries that covers. */
export interface InboxResult {
  thread: ThreadRun;
  consumed: number;
  /** What the next entry has to wait for: Slack does not tell who wrote it, or a newer Docket wrote it. */
  blockedBy?: 'author' | 'newerDocket';
  /** Somebody wants the job looked at. */
  pollRequested: boolean;
}

/**
 * Takes in what was heard, in its order, up to the first entry of whose author too little is known, or that cannot be
 * read.
 */
export async function applyInbox(
  thread: ThreadRun,
  entries: readonly unknown[],
  context: JobContext,
): Promise<InboxResult> {
  const result: InboxResult = { thread, consumed: 0, pollRequested: false };
  for (const entry of entries) {
    // What comes after the end is answered there.
    if (result.thread.state === 'ended') break;
    const read = heardSchema.safeParse(entry);
    if (!read.success) {
      context.log.info(
        { run: thread.id, err: read.error },
        'an entry of an inbox cannot be read, and is left to a newer Docket',
      );
      return { ...result, blockedBy: 'newerDocket' };
    }
    const eventContext = await loadEventContext(result.thread, read.data, context);
    if (eventContext === undefined) return { ...result, blockedBy: 'author' };
    result.thread = applySafely(result.thread, read.data, eventContext, context);
    result.pollRequested ||= requestsPoll(read.data);
    result.consumed += 1;
  }
  return result;
}

/** One message that breaks us must not take its thread down. */
function applySafely(
  thread: ThreadRun,
  event: ThreadEvent,
  eventContext: EventContext,
  { log }: JobContext,
): ThreadRun {
  try {
    return applyEvent(thread, event, eventContext);
  } catch (error) {
    log.error(
      { run: thread.id, kind: event.kind, err: error },
      'what was heard in a thread broke, and is left out',
    );
    return thread;
  }
}

const requestsPoll = (event: ThreadEvent) =>
  event.kind === 'clicked' && (event.action === 'checkJob' || event.action === 'checkNow');

/** Who did this and whom it names; nothing while Slack does not tell. */
async function loadEventContext(
  thread: ThreadRun,
  event: ThreadEvent,
  context: JobContext,
): Promise<EventContext | undefined> {
  const botUserId = context.botUserId();
  if (botUserId === undefined) return undefined;
  const nowMs = context.now();
  const known = { names: noNames, botUserId, limits: context.limits, nowMs, ask: '' };
  if (event.kind === 'deleted') return { ...known, author: { id: '', name: '', may: false } };
  // Who clicks or submits a dialog passed the gate.
  if (event.kind !== 'reply' && event.kind !== 'edited')
    return { ...known, author: { ...event.by, may: true } };
  const verdict = await context.policy.check(event.user, 'agent', event);
  if (verdict.kind === 'unknown') return undefined;
  const { id, name } = verdict.person;
  const ask = verdict.kind === 'refused' ? contactsText(verdict.ask, context.policy.isOpen('agent')) : '';
  const author = { id, name, may: verdict.kind === 'allowed' };
  if (!author.may) return { ...known, ask, author };
  try {
    return { ...known, author, names: await context.names(findMentions(event.content)) };
  } catch (error) {
    if (!(error instanceof NamesUnknown)) throw error;
    context.log.warn({ run: thread.id, err: error }, 'Slack does not tell the names in a reply');
    return nowMs - Number(event.ts) * 1000 > NAMES_WAIT_MS ? { ...known, author } : undefined;
  }
}
