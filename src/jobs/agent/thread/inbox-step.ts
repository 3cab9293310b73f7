import { mentionedIn } from '../../../slack/markdown/message.ts';
import { noNames } from '../../../slack/markdown/names.ts';
import { NamesUnknown } from '../../../slack/names.ts';
import { askWhom } from '../../ask-whom.ts';
import { type About, listen } from './apply-event.ts';
import type { AgentContext } from './context.ts';
import { type Heard, heard as heardSchema } from './event.ts';
import type { ThreadRun } from './record.ts';

/** Names that Slack does not tell for so long are left as Slack's own placeholders; the instruction matters more. */
const NAMES_WAIT_MS = 60_000;

/** What a look made of what was heard: the thread after it, and how many entries that covers. */
export interface Listened {
  thread: ThreadRun;
  taken: number;
  /** What the next entry has to wait for: Slack does not tell who wrote it, or a newer Docket wrote it. */
  waitsFor?: 'author' | 'newerDocket';
  /** Somebody wants the job looked at. */
  lookWanted: boolean;
}

/**
 * Takes in what was heard, in its order, up to the first entry of whose author too little is known, or that cannot be
 * read.
 */
export async function listenAll(
  thread: ThreadRun,
  entries: readonly unknown[],
  context: AgentContext,
): Promise<Listened> {
  const listened: Listened = { thread, taken: 0, lookWanted: false };
  for (const entry of entries) {
    // What comes after the end is answered there.
    if (listened.thread.state === 'ended') break;
    const read = heardSchema.safeParse(entry);
    if (!read.success) {
      context.log.info(
        { run: thread.id, err: read.error },
        'an entry of an inbox cannot be read, and is left to a newer Docket',
      );
      return { ...listened, waitsFor: 'newerDocket' };
    }
    const about = await acquaint(listened.thread, read.data, context);
    if (about === undefined) return { ...listened, waitsFor: 'author' };
    listened.thread = heardBy(listened.thread, read.data, about, context);
    listened.lookWanted ||= wantsLook(read.data);
    listened.taken += 1;
  }
  return listened;
}

/** One message that breaks us must not take its thread down. */
function heardBy(thread: ThreadRun, what: Heard, about: About, { log }: AgentContext): ThreadRun {
  try {
    return listen(thread, what, about);
  } catch (error) {
    log.error(
      { run: thread.id, kind: what.kind, err: error },
      'what was heard in a thread broke, and is left out',
    );
    return thread;
  }
}

const wantsLook = (what: Heard) =>
  what.kind === 'clicked' && (what.action === 'checkJob' || what.action === 'checkNow');

/** Who did this and whom it names; nothing while Slack does not tell. */
async function acquaint(thread: ThreadRun, what: Heard, context: AgentContext): Promise<About | undefined> {
  const botUserId = context.botUserId();
  if (botUserId === undefined) return undefined;
  const nowMs = context.now();
  const known = { names: noNames, botUserId, limits: context.limits, nowMs, ask: '' };
  if (what.kind === 'deleted') return { ...known, author: { id: '', name: '', may: false } };
  // Who clicks or submits a dialog passed the gate.
  if (what.kind !== 'reply' && what.kind !== 'edited') return { ...known, author: { ...what.by, may: true } };
  const verdict = await context.policy.check(what.user, 'agent', what);
  if (verdict.kind === 'unknown') return undefined;
  const { id, name } = verdict.person;
  const ask = verdict.kind === 'refused' ? askWhom(verdict.ask, context.policy.open('agent')) : '';
  const author = { id, name, may: verdict.kind === 'allowed' };
  if (!author.may) return { ...known, ask, author };
  try {
    return { ...known, author, names: await context.names(mentionedIn(what.content)) };
  } catch (error) {
    if (!(error instanceof NamesUnknown)) throw error;
    context.log.warn({ run: thread.id, err: error }, 'Slack does not tell the names in a reply');
    return nowMs - Number(what.ts) * 1000 > NAMES_WAIT_MS ? { ...known, author } : undefined;
  }
}
