import { cantText, type Permission } from '../../permissions.ts';
import { readWebAddress } from '../../runtime/web-address.ts';
import { layout, type Message, message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import {
  andList,
  bidiIsolate,
  countOf,
  cut,
  formatCount,
  sanitizeUserText,
  singleLine,
} from '../../slack/text.ts';
import type { RateLimit, RateLimitUsage } from '../../store/rate-limit.ts';

/** The state of work, with the emoji that means the same in every message. */
export interface StateWord {
  icon: string;
  label: string;
  /** It is the platform's own word, shown unchanged. */
  isForeign?: boolean;
}

/** The beginning of every line about a state. */
export const stateParts = ({ icon, label }: StateWord): Part[] => [`${icon} `, { bold: label }];

/** The one label of each action that several features have. */
export const LABELS = {
  checkNow: 'Check now',
  tryAgain: 'Try again',
  buildAgain: 'Build again',
  startAnyway: 'Start anyway',
  sendAnyway: 'Send anyway',
  dontStart: "Don't start again",
  dontSend: "Don't send again",
  watchIt: 'It started: watch it',
  runNow: 'Run now',
  askAgent: 'Ask the agent',
  openThread: 'Open thread',
  openRun: 'Open run',
  openPullRequest: 'Open pull request',
} as const;

/** Whether Slack refuses a post because the app is not in the conversation. */
export const isNotThere = (code: string | undefined) =>
  code === 'not_in_channel' || code === 'channel_not_found';

/** To a person in whose conversation nothing can be posted. `joinable`: the app can be invited there. */
export function noPlaceMessage(joinable: boolean, code: string, nothingWas: 'started' | 'sent'): Message {
  const nothing = `so nothing was ${nothingWas}.`;
  if (joinable && isNotThere(code))
    return message([
      [
        `I can't post here yet, ${nothing} Type `,
        { code: '/invite @Docket' },
        ', then run the command again.',
      ],
    ]);
  const line = `Slack doesn't let me post here, ${nothing} Run the command in another channel.`;
  return layout({ lines: [line], small: [`Slack's answer: ${code}`] });
}

/** A person's name as text, which mentions nobody. */
export const personName = (name: string) => sanitizeUserText(name, 60);

/** The same for a message that only `readerId` sees: that person is "you". */
export const nameTo = (readerId: string | undefined, { id, name }: { id: string; name: string }) =>
  id === readerId ? 'you' : personName(name);

/** A readable short form of the platform's ids: `se_3f9a…4a06`. Ids of up to 16 characters are shown in full. */
export const shortId = (id: string) => bidiIsolate(singleLine(id).replace(/^(.{7}).{6,}(.{4})$/u, '$1…$2'));

/** The platform's own reason, in quotes: one line, cut. */
export function platformReasonText(reason: string | undefined): string {
  const text = sanitizeUserText(reason ?? '', 300);
  return text === '' ? 'The platform gave no reason.' : `The platform said: "${text}"`;
}

/** To a person whom the app may not look up, since it was installed without the scope for it. */
export const missingScopeText =
  "Slack doesn't let me see who you are. Ask your Docket admins to reinstall the app.";

/** The end of a sentence about what the platform refuses: whether somebody who can change that knows. */
export const adminsText = (adminsAlerted: boolean | undefined) =>
  adminsAlerted ? 'your Docket admins know' : 'ask your Docket admins';

/** That the platform rejects a project's key, as a sentence without its period. */
export const keyRejectedText = (adminsAlerted: boolean | undefined) =>
  `My access to the docs platform was rejected; ${adminsText(adminsAlerted)}`;

/** For a run whose project is no longer in the settings. */
export const projectMissingText = ({ project }: { project: string }) =>
  `My settings no longer have the project ${sanitizeUserText(project, 60)}`;

/** Consecutive errors before messages say that the platform does not answer. */
export const FAILURE_SHOWN_AFTER = 3;

/** A line of `/docs-status`. */
export const statusLine = (name: string, ...parts: Part[]): Part[] => [{ bold: name }, ' — ', ...parts];

/** Such as "3 exports and 1 digest wait"; empty if there is none. */
export function workWaitsText(work: readonly { count: number; what: string }[]): string {
  if (work.length === 0) return '';
  const texts = work.map(({ count, what }) => countOf(count, what));
  const isOne = work.length === 1 && work[0]?.count === 1;
  return `${andList.format(texts)} ${isOne ? 'waits' : 'wait'}`;
}

export const waitingCountText = (waiting: number): string =>
  waiting === 0 ? 'none waiting' : `${formatCount(waiting)} waiting`;

/** With a smaller share left, people see it on Home. */
const NEARLY_USED = 0.2;

/** An hourly limit: `what` is limited, `short` is its name on Home. Without `usage`, only the limit is known. */
export const hourlyLimit = (limit: RateLimit, what: string, short: string) => ({
  limit,
  show(usage: RateLimitUsage | undefined): { text: string; left?: string; waiting?: number } {
    const all = formatCount(limit.count);
    if (usage === undefined) return { text: `${what}: up to ${all} an hour` };
    const { used, free, waiting } = usage;
    const rest = waiting === 0 ? '' : `, ${waitingCountText(waiting)}`;
    return {
      text: `${what}: ${formatCount(used)} of ${all} used in the past hour${rest}`,
      ...(free <= NEARLY_USED * limit.count && {
        left: `${formatCount(free)} of ${all} ${short} left this hour`,
      }),
      waiting,
    };
  },
});

/** More names than this do not help. */
export const MAX_LISTED_NAMES = 10;

/** The first ten names, and how many more there are. */
export function listNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED_NAMES;
  return names.slice(0, MAX_LISTED_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** To a person who named a project that is not in the settings. */
export const unknownProjectText = (named: string, known: readonly string[]) =>
  `No project "${sanitizeUserText(named, 60)}". Available: ${listNames(known)}.`;

/** Asks which project is meant. `command` is the text to type, without `--project`; `outcome` that of the request. */
export function chooseProjectMessage(
  question: string,
  names: readonly string[],
  command: string,
  outcome = '',
): Message {
  const [first = ''] = names;
  return message([
    [`${question}: ${listNames(names)}?${outcome && ` ${outcome}`} For example: `],
    [{ code: `${command} --project ${first}` }],
  ]);
}

/** To a person without a permission; `contacts` says whom to ask, as the policy does. */
export const notPermittedText = (permission: Permission, contacts: string) =>
  `You can't ${cantText[permission]}. Ask ${contacts}.`;

/** Address paths of pull requests at GitHub, GitLab and Bitbucket. */
const PULL_REQUEST = /^\/(.+?)(?:\/-)?\/(?:pull|merge_requests|pull-requests)\/(\d+)(?:\/|$)/;

/** The name of a pull request: `acme/docs#123` if its address has that, else host and path, or the platform's words. */
export function pullRequestName(prLink = ''): string {
  const address = readWebAddress(prLink);
  if (address === undefined) return sanitizeUserText(prLink, 120);
  const [, repository, number] = PULL_REQUEST.exec(address.pathname) ?? [];
  if (repository !== undefined && number !== undefined) return `${cut(repository, 100)}#${cut(number, 12)}`;
  return cut(`${address.host}${address.pathname}`, 120);
}

/** The address of a page of outsiders, such as a pull request, if a button of Slack takes it. */
export function buttonUrl(address = ''): string | undefined {
  const url = readWebAddress(address)?.href;
  return url !== undefined && url.length <= SLACK_LIMITS.buttonUrl ? url : undefined;
}

/** Returns the name of a pull request, linked to its address if known; `unnamed` replaces a missing name. */
export function pullRequestPart(prLink: string | undefined, unnamed: string): Part {
  const [link, label] = [buttonUrl(prLink), pullRequestName(prLink) || unnamed];
  return link === undefined ? label : { link, label };
}
