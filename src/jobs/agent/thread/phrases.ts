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
import { buttonUrl, shortId } from '../../wording-view.ts';
import type { Background } from '../background.ts';
import { agentActions, threadButtonOf } from './buttons.ts';
import { type ThreadRun, unsentOf, waitingOf } from './record.ts';

/** The beginning of an instruction, in quotes. */
export function quoted(excerpt: string | undefined, max = 80): string {
  // Quotes inside would look like the end of the quotation.
  const text = bidiIsolate(cutAtWord(singleLine(excerpt ?? '').replace(/["“”„«»]/gu, "'"), max));
  return text === '' ? 'an instruction' : `"${text}"`;
}

/** The same, short enough that a notification still shows the words after it. */
export const quotedShort = (excerpt: string | undefined) => quoted(excerpt, 40);

/** What the agent does not get from a reply. */
export const LEFT_OUT_TEXT = "I can't pass files or previews of private messages on to the agent.";

/** To the author of a text longer than an instruction may be. */
export const tooLongText = (characters: number, most: number) =>
  `That is ${formatCount(characters)} characters; the agent gets up to ${formatCount(most)} at once.`;

/** To the author of an instruction when too many wait. */
export const tooManyText = (most: number) =>
  `${countOf(most, 'instruction')} of this thread ${most === 1 ? 'is' : 'are'} already waiting or held. This one was not accepted; send it again later.`;

/** To the person who switched the mode by a click or a command. The thread may have another mode already. */
export const modeText = (mode: string | undefined) =>
  mode === 'all'
    ? 'From now on, every reply goes to the agent, unless it starts with "aside".'
    : 'From now on, only replies that mention @Docket go to the agent.';

/** The messages that may go along with an instruction: "the newest 12 messages above". */
export function backgroundName({ count, isCut, isWholeThread }: Omit<Background, 'text'>): string {
  const other = isWholeThread ? 'other ' : '';
  const many = count === 1 ? `${other}message` : `${formatCount(count)} ${other}messages`;
  return `the ${isCut ? 'newest ' : ''}${many} ${isWholeThread ? 'of the thread' : 'above'}`;
}

/** " and 2 more"; empty if there are no more. */
export const andMoreText = (more: number) => (more > 0 ? ` and ${formatCount(more)} more` : '');

/** How many instructions wait. One that is tried again still does, so that messages do not change with each try. */
export const waitingCount = (thread: ThreadRun) =>
  (thread.limit || thread.retry ? unsentOf(thread) : waitingOf(thread)).length;

/** "2 instructions waiting"; empty if none waits. */
export function waitingText(thread: ThreadRun): string {
  const many = waitingCount(thread);
  return many === 0 ? '' : `${countOf(many, 'instruction')} waiting`;
}

/** The name of a job: its first instruction if it was made here, else its source. */
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
  return [{ label: 'Open pull request', action: agentActions.openPullRequest, url }];
}

/** Builds a preview of the job's branch; false if the branch is unknown, or the platform makes no previews. */
export const previewButton = (thread: ThreadRun): ButtonParts | false =>
  thread.previews === true &&
  thread.seen?.ref !== undefined &&
  threadButtonOf(thread, 'Preview', agentActions.preview);

/** " 2 instructions were not sent."; empty if there are none. */
export const unsentText = (many: number) =>
  many === 0 ? '' : ` ${countOf(many, 'instruction')} ${many === 1 ? 'was' : 'were'} not sent.`;

/** " after 6 h"; empty if nobody knows how long. */
export const afterText = (afterMs: number | undefined) =>
  afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;

/** " ref 7f3c": finds one of our errors in the log. */
export const refText = (ref: string | undefined) =>
  ref === undefined ? '' : ` ref ${sanitizeUserText(ref, 20)}`;
