import type { Permission } from '../policy.ts';
import { type Message, message, type Part } from '../slack/blocks.ts';
import { SLACK_LIMITS } from '../slack/limits.ts';
import {
  bidiIsolate,
  countOf,
  cut,
  formatCount,
  lowerFirst,
  sanitizeUserText,
  singleLine,
} from '../slack/text.ts';
import type { RateLimit, RateLimitUsage } from '../store/rate-limit.ts';

/** The state of work, with the emoji that means the same in every message. */
export interface StateWord {
  icon: string;
  label: string;
  /** It is the platform's own word, shown unchanged. */
  isForeign?: boolean;
}

/** The beginning of every line about a state. */
export const stateParts = ({ icon, label }: StateWord): Part[] => [`${icon} `, { bold: label }];

/** Whether Slack refuses a post because the app is not in the conversation. */
export const isNotThere = (code: string | undefined) =>
  code === 'not_in_channel' || code === 'channel_not_found';

/** To a person in whose conversation nothing can be posted. `joinable`: the app can be invited there. */
export function noPlaceMessage(joinable: boolean, code: string, nothingWas: 'started' | 'sent'): Message {
  const nothing = `so nothing was ${nothingWas}.`;
  return message(
    joinable && isNotThere(code)
      ? [
          [
            `I can't post here yet, ${nothing} Type `,
            { code: '/invite @Docket' },
            ', then run the command again.',
          ],
        ]
      : [`Slack doesn't let me post here (${code}), ${nothing} Run the command in another channel.`],
  );
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
  "Slack doesn't let me see who you are; the people who run Docket have to reinstall the app.";

/** Who has to act on a rejected key. */
export const keyRemedyText = (adminsAlerted: boolean | undefined) =>
  adminsAlerted ? 'the admins have been told' : 'the people who run Docket have to renew it';

/** For a run whose project is no longer in the settings. */
export const projectMissingText = ({ project }: { project: string }) =>
  `My settings no longer have the project ${sanitizeUserText(project, 60)}`;

/** Replaces the question whether a start happened, once it is answered; `late` is the platform's own answer. */
export function answeredStart(
  start: string,
  action: 'startAgain' | 'leave' | 'watchIt' | 'late',
  by: string,
): Message {
  const texts = {
    startAgain: `It was unclear whether ${start} had started. ${personName(by)} started it again.`,
    leave: `It's unclear whether ${start} started. ${personName(by)} chose not to start it again.`,
    watchIt: `It was unclear whether ${start} had started. It had: ${personName(by)} found it.`,
    late: `It was unclear whether ${start} had started. It had: the platform's answer came late.`,
  };
  return message([texts[action]]);
}

/** The question of [Start again] after a start that may have happened. `text` says what happens twice. */
export const confirmStart = (text: string) => ({
  ...{ title: 'Start it again?', yes: 'Start again', no: 'Cancel' },
  text: `If the first one did start, ${text}.`,
});

/** Why the platform certainly did not start something. */
export const notStartedReason = (why: string, run: { project: string }, adminsAlerted?: boolean): string =>
  ({
    plan: `the platform doesn't allow it (403); ${adminsAlerted ? 'the admins have been told' : 'ask the people who run Docket'}`,
    key: `my platform key was rejected; ${keyRemedyText(adminsAlerted)}`,
    limit: "the platform's limit is reached. Try again later",
    down: "the docs platform isn't answering. Try again in a little while",
    project: `${lowerFirst(projectMissingText(run))}. Ask the people who run Docket`,
  })[why] ?? 'the platform refused it';

/** Consecutive errors before messages say that the platform does not answer. */
export const FAILURE_SHOWN_AFTER = 3;

/** A line of `/docs-status`. */
export const statusLine = (name: string, ...parts: Part[]): Part[] => [{ bold: name }, ' — ', ...parts];

/** Such as "3 exports and 1 digest wait"; empty if there is none. */
export function workWaitsText(work: readonly { count: number; what: string }[]): string {
  if (work.length === 0) return '';
  const texts = work.map(({ count, what }) => countOf(count, what));
  const isOne = work.length === 1 && work[0]?.count === 1;
  return `${new Intl.ListFormat('en-GB').format(texts)} ${isOne ? 'waits' : 'wait'}`;
}

export const waitingCountText = (waiting: number): string =>
  waiting === 0 ? 'none waiting' : `${formatCount(waiting)} waiting`;

/** An hourly limit: `what` is limited, `short` is its name on Home. Without `usage`, only the limit is known. */
export const hourlyLimit = (limit: RateLimit, what: string, short: string) => ({
  limit,
  show(usage: RateLimitUsage | undefined) {
    const all = formatCount(limit.count);
    if (usage === undefined)
      return { text: `${what}: up to ${all} an hour`, left: `up to ${all} ${short} an hour` };
    const { used, free, waiting } = usage;
    const rest = waiting === 0 ? '' : `, ${waitingCountText(waiting)}`;
    return {
      text: `${what}: ${formatCount(used)} of ${all} used in the past hour${rest}`,
      left: `${formatCount(free)} of ${all} ${short} left this hour`,
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

const permissionText: Record<Permission, string> = {
  export: 'start exports here, so nothing was started',
  agent: 'instruct the docs agent here, so nothing was sent',
  digest: 'set up digests or ask for them here, so nothing was done',
  site: 'preview or update sites here, so nothing was started',
  deploy: 'update deployments here, so nothing was updated',
  admin: 'see this',
  status: 'see this',
};

/** To a person without a permission; `contacts` says whom to ask, as the policy does. */
export const notPermittedText = (permission: Permission, contacts: string) =>
  `You can't ${permissionText[permission]}. Ask ${contacts}.`;

/** Parsing a host name takes quadratic time. */
const MAX_URL_LENGTH = 8000;

/** Address paths of pull requests at GitHub, GitLab and Bitbucket. */
const PULL_REQUEST = /^\/(.+?)(?:\/-)?\/(?:pull|merge_requests|pull-requests)\/(\d+)(?:\/|$)/;

/** The name of a pull request: `acme/docs#123` if its address has that, else host and path, or the platform's words. */
export function pullRequestName(prLink = ''): string {
  const address = httpAddress(prLink);
  if (address === undefined) return sanitizeUserText(prLink, 120);
  const [, repository, number] = PULL_REQUEST.exec(address.pathname) ?? [];
  if (repository !== undefined && number !== undefined) return `${cut(repository, 100)}#${cut(number, 12)}`;
  return cut(`${address.host}${address.pathname}`, 120);
}

/** The address of a page of outsiders, such as a pull request, if a button of Slack takes it. */
export function buttonUrl(address = ''): string | undefined {
  const url = httpAddress(address)?.href;
  return url !== undefined && url.length <= SLACK_LIMITS.buttonUrl ? url : undefined;
}

/** Returns the name of a pull request, linked to its address if known; `unnamed` replaces a missing name. */
export function pullRequestPart(prLink: string | undefined, unnamed: string): Part {
  const [link, label] = [buttonUrl(prLink), pullRequestName(prLink) || unnamed];
  return link === undefined ? label : { link, label };
}

function httpAddress(text: string): URL | undefined {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}
