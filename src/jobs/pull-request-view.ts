import type { Part } from '../slack/blocks.ts';
import { SLACK_LIMITS } from '../slack/limits.ts';
import { cut, sanitizeUserText } from '../slack/text.ts';

/** The platform's pull request: an address, or other text. */
interface PullRequest {
  prLink?: string | undefined;
  prText?: string | undefined;
}

/** Parsing a host name takes quadratic time. */
const MAX_URL_LENGTH = 8000;

/** Address paths of pull requests at GitHub, GitLab and Bitbucket. */
const PULL_REQUEST = /^\/(.+?)(?:\/-)?\/(?:pull|merge_requests|pull-requests)\/(\d+)(?:\/|$)/;

/** The name of a pull request: `acme/docs#123` if its address has that, else host and path, or the platform's words. */
export function pullRequestName({ prLink, prText }: PullRequest): string {
  const address = httpAddress(prLink);
  if (address === undefined) return sanitizeUserText(prText ?? prLink ?? '', 120);
  const [, repository, number] = PULL_REQUEST.exec(address.pathname) ?? [];
  if (repository !== undefined && number !== undefined) return `${cut(repository, 100)}#${cut(number, 12)}`;
  return cut(`${address.host}${address.pathname}`, 120);
}

/** Its address, if that is an http(s) one. */
export const pullRequestUrl = (prLink: string | undefined) => httpAddress(prLink)?.href;

/** Returns its name, linked to its address if known; `unnamed` is the name if it has none. */
export function pullRequestParts(pullRequest: PullRequest, unnamed: string): Part[] {
  const url = pullRequestUrl(pullRequest.prLink);
  const name = pullRequestName(pullRequest) || unnamed;
  return [url === undefined || url.length > SLACK_LIMITS.buttonUrl ? name : { link: url, label: name }];
}

function httpAddress(text: string | undefined): URL | undefined {
  const url = text === undefined || text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) ? url : undefined;
}
