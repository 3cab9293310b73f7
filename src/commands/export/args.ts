import { hostOfUrl, readDomain } from '../../domain.ts';
import { cut, singleLine, stripInvisible } from '../../slack/text.ts';
import { type Flag, ok, type Parsed, projectFlag } from '../command.ts';

/** Limits of our own; the platform states none. */
const limits = { versionLength: 100, paths: 100, pathLength: 500 };

/** A problem is plain text with its fix, short enough for `SLACK_LIMITS.modalFieldError`. */
type ReadOption<Value> = Parsed<Value, string>;

const unclear = (problem: string) => ({ kind: 'unclear', problem }) as const;

/** Parses the version of an export, its label: one line of 1 to 100 code points, trimmed. */
export function readVersion(text: string): ReadOption<string> {
  const version = stripInvisible(text)
    .replace(/[\u00A0\u2007\u202F]/gu, ' ')
    .trim();
  if (version.replace(/\p{Cf}|\s/gu, '') === '')
    return unclear('The version is empty. Type one, such as 1.2 or spring release.');
  if (unprintable.test(version))
    return unclear('A version must fit on one line. Remove line breaks and tabs.');
  const length = Array.from(version).length;
  if (length <= limits.versionLength) return ok(version);
  return unclear(
    `A version has at most ${limits.versionLength} characters, and this one has ${length}. Shorten it.`,
  );
}

/** Control characters, line separators, and unpaired surrogates. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * Parses page paths separated by commas or line breaks: at most 100, without duplicates, in order, each with a leading
 * slash and no trailing one; the home page is `/`. A page's address, or Slack's link to it, keeps its host and path:
 * `pathsOn` removes the host once the domain is known. Query and fragment are dropped.
 */
export function readPaths(text: string): ReadOption<string[]> {
  const pieces = stripInvisible(text).match(/(?:<[^<>\s]*>|[^,،，、\r\n])+/gu) ?? [];
  const paths = new Set<string>();
  for (const piece of pieces.map(trimmed).filter(Boolean)) {
    const page = pageIn(piece);
    if (page === undefined) return unclear(notAPath(piece));
    const problem = pathProblem(page.path, piece);
    if (problem !== undefined) return unclear(problem);
    const path = page.path.replace(/(?:^\/index)?(?<!\/)\/*$/u, '');
    paths.add(page.origin + (path || '/'));
  }
  if (paths.size === 0) return unclear('No paths given. Type them like /guides,/api.');
  return paths.size <= limits.paths
    ? ok([...paths])
    : unclear(
        `At most ${limits.paths} paths, and you gave ${paths.size}. Leave some out, or export everything.`,
      );
}

/** Removes quotes at the ends of a text, balanced or not. */
export const unquoted = (text: string) =>
  text.replace(/^["'“”„«»‘’‚]+|(?<!["'“”„«»‘’‚])["'“”„«»‘’‚]+$/gu, '');

const trimmed = (piece: string) => unquoted(piece.trim()).trim();

/** Returns the path in a text, with its slash; undefined for only a host, only a query, or another scheme. */
function pageIn(piece: string): { origin: string; path: string } | undefined {
  const address = /^<(https?:[^<>|\s]+)(?:\|[^<>]*)?>$/iu.exec(piece)?.[1] ?? piece;
  const [, origin = '', ofPage] = /^(https?:\/\/[^/?#\s]+)([^?#]*)/iu.exec(address) ?? [];
  if (origin !== '' && !looksLikeHost(hostOfUrl(origin) ?? '')) return undefined;
  const path = origin === '' ? address.replace(/[?#].*$/su, '') : ofPage || '/';
  if (path === '' || path.startsWith('//')) return undefined;
  if (path.startsWith('/')) return { origin, path };
  return looksLikeHost(path) || /^[a-z][a-z0-9+.-]*:/iu.test(path) ? undefined : { origin, path: `/${path}` };
}

/** Returns the paths of pages that `readPaths` parsed, or the problem if a page's host is not the domain. */
export function pathsOn(domain: string, pages: readonly string[]): ReadOption<string[]> {
  const foreign = pages.find((page) => !page.startsWith('/') && hostOfUrl(page) !== domain);
  if (foreign === undefined)
    return ok([...new Set(pages.map((page) => page.replace(/^https?:\/\/[^/]+/iu, '')))]);
  return unclear(`“${displayText(foreign)}” isn't a page of ${cut(domain, 80)}.`);
}

/** `docs.acme.com/guides`: with a leading slash it would be a wrong path. */
const looksLikeHost = (path: string) => readDomain(path.split('/')[0] ?? '').kind === 'domain';

function pathProblem(path: string, piece: string): string | undefined {
  if (/\s/u.test(path))
    return `“${displayText(piece)}” has a space in it. Put commas between paths: /guides,/api.`;
  if (unprintable.test(path) || /[<>\\]/u.test(path) || hasDotSegment(path)) return notAPath(piece);
  const { length } = Array.from(path);
  if (length <= limits.pathLength) return undefined;
  return `A path has at most ${limits.pathLength} characters; “${displayText(piece)}” has ${length}.`;
}

function hasDotSegment(path: string): boolean {
  return path.split(/\/|%2f|%5c/iu).some((segment) => /^(?:\.|%2e){1,2}$/iu.test(segment));
}

const notAPath = (piece: string) =>
  `“${displayText(piece)}” isn't a page path. Type the whole path, starting with a slash: /guides/start.`;

const displayText = (piece: string) => cut(singleLine(piece.toWellFormed()), 50);

const whenTyped =
  <Value>(read: (typed: string) => ReadOption<Value>) =>
  (typed: string | undefined) =>
    typed === undefined ? ok(undefined) : read(typed);

/** The options of an export, at any place after the command. */
export const exportFlags = {
  project: projectFlag,
  version: { takes: 'value', usage: 'label', example: '"spring release"', read: whenTyped(readVersion) },
  paths: { takes: 'list', usage: 'a,b', example: '/guides,/api', read: whenTyped(readPaths) },
  private: { takes: 'nothing', usage: '', example: '', read: (typed) => ok(typed !== undefined) },
} satisfies Record<string, Flag>;
