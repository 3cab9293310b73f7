import type { ButtonParts, Part } from '../../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../../slack/limits.ts';
import { cut, formatCount, oneLine } from '../../../slack/text.ts';
import { personName, shortId } from '../../wording-view.ts';
import type { RoundEnding } from '../watch/record.ts';
import { agentActions } from './buttons.ts';
import type { Person } from './instruction.ts';
import { type ThreadRun, waitingOf } from './record.ts';

/** Reading a host name takes the square of its length. */
const MAX_URL_LENGTH = 8000;

/** Mentions in one message; a round may have more authors. */
const MAX_MENTIONS = 20;

/** A date in each reader's own zone; no "today" in it, which would not go with "on". */
const DATE_FORMAT = '{date_short}';

/** The beginning of an instruction, in quotes. */
export function quoted(excerpt: string | undefined): string {
  const text = cut(oneLine(excerpt ?? ''), 80);
  return text === '' ? 'an instruction' : `"${text}"`;
}

/** The same with its author. */
export const quotedBy = ({ excerpt, by }: { excerpt: string; by: Person }) =>
  `${quoted(excerpt)} (@${personName(by.name)})`;

/** "1 instruction", "2 instructions". */
export const instructionCountText = (many: number) =>
  `${formatCount(many)} ${many === 1 ? 'instruction' : 'instructions'}`;

/** To somebody without the permission; `contacts` says whom to ask. */
export const notPermittedText = (contacts: string) =>
  `You can't instruct the docs agent here, so nothing was sent. Ask ${contacts}.`;

/** To somebody who wants to follow a job but gives no whole id. */
export const badFollowLine: Part[] = ['Which job? Write ', { code: '@Docket follow' }, ' and its whole id.'];

/** To somebody who wrote more than an instruction may have. */
export const tooLongText = (characters: number, most: number) =>
  `That is ${formatCount(characters)} characters; the agent gets up to ${formatCount(most)} at once.`;

/** To somebody whose instruction was one too many to wait. */
export const tooManyText = (most: number) =>
  `${instructionCountText(most)} of this thread ${most === 1 ? 'is' : 'are'} waiting already. This one was not taken; send it again later.`;

/** "2 instructions waiting"; empty when none is. */
export function waitingText(thread: ThreadRun): string {
  const many = waitingOf(thread).length;
  return many === 0 ? '' : `${instructionCountText(many)} waiting`;
}

/** Mentions of these people, each once and followed by a space. */
export function mentionParts(people: Person[]): Part[] {
  const ids = [...new Set(people.map(({ id }) => id))].slice(0, MAX_MENTIONS);
  return ids.flatMap((id) => [{ mention: id }, ' ']);
}

/** What the job works on: `acme/docs @ agent/quickstart`; before it was polled, its id. */
export function jobName({ agentJobId, seen }: Pick<ThreadRun, 'agentJobId' | 'seen'>): string {
  const id = shortId(agentJobId ?? '');
  const repository = repositoryName(seen?.repository ?? '') || (id === '' ? 'new job' : `job ${id}`);
  const ref = cut(oneLine(seen?.ref ?? ''), 80);
  return ref === '' ? repository : `${repository} @ ${ref}`;
}

/** `https://github.com/acme/docs.git` and `git@github.com:acme/docs.git` are `acme/docs`. */
function repositoryName(address: string): string {
  const clean = oneLine(address);
  const path = clean.replace(/^(?:[a-z][a-z+]*:\/\/[^/]*\/+|[^@:/\s]+@[^:/\s]+:)/i, '');
  return cut(path.replace(/(?<!\/)\/+$/, '').replace(/\.git$/, '') || clean, 100);
}

/** What GitHub, GitLab and Bitbucket call the address of a pull request. */
const PULL_REQUEST = /^\/(.+?)(?:\/-)?\/(?:pull|merge_requests|pull-requests)\/(\d+)(?:\/|$)/;

/** The name of a pull request: `acme/docs#123` if its address has that, else host and path, or the platform's words. */
export function pullRequestName({ prLink, prText }: Pick<RoundEnding, 'prLink' | 'prText'>): string {
  const address = httpAddress(prLink);
  if (address === undefined) return cut(oneLine(prText ?? prLink ?? ''), 120);
  const [, repository, number] = PULL_REQUEST.exec(address.pathname) ?? [];
  if (repository !== undefined && number !== undefined) return `${cut(repository, 100)}#${cut(number, 12)}`;
  return cut(`${address.host}${address.pathname}`, 120);
}

/** A button that opens a pull request; none without an http(s) address, or with one that is too long for Slack. */
export function pullRequestButton(label: string, prLink: string | undefined): ButtonParts[] {
  const url = httpAddress(prLink)?.href;
  if (url === undefined || url.length > SLACK_LIMITS.buttonUrl) return [];
  return [{ label, action: agentActions.openPullRequest, url }];
}

function httpAddress(text: string | undefined): URL | undefined {
  const url = text === undefined || text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}

/** That the job was archived, and when if that is known. */
export function archivedParts(archivedAtMs: number | undefined): Part[] {
  const when: Part[] =
    archivedAtMs === undefined ? [] : [' on ', { time: archivedAtMs, format: DATE_FORMAT }];
  return ['This job was archived', ...when, '; it takes no more instructions.'];
}

/** " 2 instructions were not sent."; empty when there is none. */
export const unsentText = (many: number) =>
  many === 0 ? '' : ` ${instructionCountText(many)} ${many === 1 ? 'was' : 'were'} not sent.`;

/** " ref 7f3c", by which an error of ours is found in the log. */
export const refText = (ref: string | undefined) =>
  ref === undefined ? '' : ` ref ${cut(oneLine(ref), 20)}`;

/** An error of ours. */
export const brokenText = (ref: string | undefined) => `Something broke on my side.${refText(ref)}`;
