import type { ButtonParts } from '../../../slack/blocks.ts';
import {
  bidiIsolate,
  countOf,
  cutAtWord,
  formatCount,
  formatDuration,
  sanitizeUserText,
  singleLine,
} from '../../../slack/text.ts';
import { buttonUrl, LABELS, shortId } from '../../shared/wording-view.ts';
import type { Background } from '../background.ts';
import { agentActions } from './buttons.ts';
import { type ThreadRun, unsentOf, waitingOf } from './record.ts';

/** The beginning of a request, in quotes. */
export function quoted(excerpt: string | undefined, max = 80): string {
  // Quotes inside would look like the end of the quotation.
  const text = bidiIsolate(cutAtWord(singleLine(excerpt ?? '').replace(/["“”„«»]/gu, "'"), max));
  return text === '' ? 'a request' : `"${text}"`;
}

/** The same, short enough that a notification still shows the words after it. */
export const quotedShort = (excerpt: string | undefined) => quoted(excerpt, 40);

/** What the agent does not get from a reply. */
export const LEFT_OUT_TEXT = "I can't pass files or previews of private messages on to the agent.";

/** To the author of a text longer than a request may be. */
export const tooLongText = (characters: number, most: number) =>
  `That is ${formatCount(characters)} characters; the agent gets up to ${formatCount(most)} at once.`;

/** To the author of a request when too many wait. */
export const tooManyText = (most: number) =>
  `${countOf(most, 'request')} of this thread ${most === 1 ? 'is' : 'are'} already waiting or held, so I didn't take this one. Send it again later.`;

/** To the person who switched the mode by a click or a command. The thread may have another mode already. */
export const modeText = (mode: string | undefined) =>
  mode === 'all'
    ? 'From now on, every reply goes to the agent, unless it starts with "aside".'
    : 'From now on, only replies that mention @Docket go to the agent.';

/** The messages that may be sent with a request: "the newest 12 earlier messages". */
export function backgroundName({ count, isCut, isWholeThread }: Omit<Background, 'text' | 'newest'>): string {
  const what = isWholeThread ? 'other' : 'earlier';
  const many = count === 1 ? `${what} message` : `${formatCount(count)} ${what} messages`;
  return `the ${isCut ? 'newest ' : ''}${many}${isWholeThread ? ' of the thread' : ''}`;
}

export const sendWithLabel = ({ count }: Background) => `Send with ${countOf(count, 'message')}`;

/** Why earlier messages are not sent, without a full stop; empty if all can be. */
export const leftOutText = (leftOut: Background['leftOut']) =>
  leftOut &&
  { unread: "I can't read the earlier messages", apps: "I don't send messages from apps" }[leftOut];

/** " and 2 more"; empty if there are no more. */
export const andMoreText = (more: number) => (more > 0 ? ` and ${formatCount(more)} more` : '');

/** How many requests wait. One that is tried again still does, so that messages do not change with each try. */
export const waitingCount = (thread: ThreadRun) =>
  (thread.limit || thread.retry ? unsentOf(thread) : waitingOf(thread)).length;

/** "2 requests waiting"; empty if none waits. */
export function waitingText(thread: ThreadRun): string {
  const many = waitingCount(thread);
  return many === 0 ? '' : `${countOf(many, 'request')} waiting`;
}

/** The name of a job: its first request if it was made here, else its source. */
export const jobName = (thread: Pick<ThreadRun, 'agentJobId' | 'seen' | 'title'>): string =>
  thread.title === undefined || thread.title === '' ? sourceName(thread) : sanitizeUserText(thread.title, 60);

/** The source of the job: `acme/docs @ agent/quickstart`; before the first poll, its id. */
export function sourceName({ agentJobId, seen }: Pick<ThreadRun, 'agentJobId' | 'seen'>): string {
  const id = shortId(agentJobId ?? '');
  const repository = repositoryName(seen?.repository ?? '') || (id === '' ? 'new job' : `job ${id}`);
  const ref = sanitizeUserText(seen?.ref ?? '', 80);
  return ref === '' ? repository : `${repository} @ ${ref}`;
}

/** `https://github.com/acme/docs.git` and `git@github.com:acme/docs.git` are `acme/docs`. */
function repositoryName(address: string): string {
  const clean = singleLine(address);
  const path = clean.replace(/^(?:[a-z][a-z+]*:\/\/[^/]*\/+|[^@:/\s]+@[^:/\s]+:)/i, '');
  return sanitizeUserText(path.replace(/(?<!\/)\/+$/, '').replace(/\.git$/, '') || clean, 100);
}

/** A button that opens a pull request, if its address is known. */
export function pullRequestButton(prLink: string | undefined): ButtonParts[] {
  const url = buttonUrl(prLink);
  if (url === undefined) return [];
  return [{ label: LABELS.openPullRequest, action: agentActions.openPullRequest, url }];
}

/** " 2 requests weren't sent."; empty if there are none. */
export const unsentText = (many: number) =>
  many === 0 ? '' : ` ${countOf(many, 'request')} ${many === 1 ? "wasn't" : "weren't"} sent.`;

/** " after 6 h"; empty if nobody knows how long. */
export const afterText = (afterMs: number | undefined) =>
  afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;

/** "ref 7f3c": finds one of our errors in the log. */
export const refText = (ref: string | undefined) =>
  ref === undefined ? '' : `ref ${sanitizeUserText(ref, 20)}`;
