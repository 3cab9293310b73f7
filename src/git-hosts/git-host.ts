import type { z } from 'zod';
import { HOST_OF_API, limitOf } from '../deployments/github.ts';
import { firstLine, isRedirect, reasonIn, type Send } from '../deployments/sender.ts';
import type { Project, PullRequests } from '../projects.ts';
import { parseJson } from '../runtime/json.ts';
import { createKey } from '../runtime/key-file.ts';
import { readWebAddress } from '../runtime/web-address.ts';
import { idOf } from '../store/keys.ts';
import type { RateLimit } from '../store/rate-limit.ts';
import { githubCalls } from './github.ts';
import { gitlabCalls } from './gitlab.ts';
import type { Pull, Read } from './pull.ts';

/** Waits until so many more requests may leave. Throws `Later`. */
export type Slots = (count: number) => Promise<void>;

/** A call to a Git host failed. `message` is safe for logs. */
export class GitHostError extends Error {
  override readonly name = 'GitHostError';
  readonly status: number | undefined;
  /** The status, a code or a few words. */
  readonly reason: string;
  /** Set for one of the limits of the host. */
  readonly limitMs: number | undefined;

  constructor(reason: string, status: number | undefined, limitMs: number | undefined) {
    super(`Git host: ${reason}`);
    this.reason = reason;
    this.status = status;
    this.limitMs = limitMs;
  }
}

/** Pages of 100 that one look at a list reads, if more has changed since the last one. */
const MAX_PAGES = 5;
const PAGE = 100;
const MAX_REDIRECTS = 3;

/** Requests an hour with one token. */
const PER_HOUR = 1000;

/** The limit of a token. Lists come first: they show each merge. */
export const limitOfHost = ({ apiUrl, token }: PullRequests): RateLimit => ({
  name: `git-host:${idOf(apiUrl, token.file ?? token.secret)}`,
  count: PER_HOUR,
  windowMs: 3_600_000,
  interactiveShare: 0.4,
  perId: true,
});

interface HostEvents {
  /** Gets a token that was read again before it is used. */
  renewed: (token: string) => void;
  /** A call about a repository of a project ended, with an error if it failed. `rights`: those that the token needs. */
  ended: (
    project: string,
    about: Record<'repository' | 'name' | 'rights', string> & { host: PullRequests },
    error?: GitHostError,
  ) => void;
}

/** The calls to the Git host of one project. They reject only with `GitHostError`, and what `slots` throws. */
export type GitHost = NonNullable<ReturnType<ReturnType<typeof createGitHosts>>>;

/** Returns a function that returns the calls to a project's Git host; undefined if the settings have none. */
export function createGitHosts(
  projects: readonly Pick<Project, 'name' | 'pullRequests'>[],
  send: Send,
  events: HostEvents,
) {
  const hosts = new Map(
    projects.flatMap(({ name, pullRequests }) =>
      pullRequests ? [[name, createGitHost(name, pullRequests, send, events)] as const] : [],
    ),
  );
  return (project: string) => hosts.get(project);
}

function createGitHost(project: string, host: PullRequests, send: Send, events: HostEvents) {
  const base = host.apiUrl.replace(/\/$/, '');
  const token = createKey(host.token.secret, host.token.file, events.renewed);
  const calls = host.host === 'github' ? githubCalls() : gitlabCalls();
  /** The new paths of repositories that were moved. */
  const moved = new Map<string, string>();

  /** Returns the answer; undefined if it is the one with the `etag`. */
  async function call(path: string, rest: string, slots: Slots, etag?: string) {
    let url = `${base}/${moved.get(path) ?? path}${rest}`;
    for (let redirects = 0; ; ) {
      const used = token.current();
      const condition = etag === undefined ? undefined : { 'if-none-match': etag };
      const answer = await send({ url, headers: { ...calls.headers(used), ...condition } });
      if (answer.status === 304) return undefined;
      if (answer.outcome === 'ok') return answer;
      const { location } = answer.headers;
      const to = typeof location === 'string' ? URL.parse(location.slice(0, 2000), url)?.href : undefined;
      const isRenewed = answer.status === 401 && token.isRenewed(used);
      const isMoved = isRedirect(answer) && to?.startsWith(`${base}/`) && redirects++ < MAX_REDIRECTS;
      if (!isRenewed && !isMoved) {
        const text = firstLine(reasonIn(answer.text).slice(0, 2000), token.all);
        throw new GitHostError(answer.reason, answer.status, limitOf(answer, text));
      }
      if (isMoved && to) {
        url = to;
        if (to.endsWith(rest)) moved.set(path, to.slice(base.length + 1, -rest.length));
      }
      await slots(1);
    }
  }

  /** Reports the end of a call. */
  async function watched<T>(name: string, repository: string, work: () => Promise<T>): Promise<T> {
    const about = { name, repository, host, rights: calls.rights };
    try {
      const value = await work();
      events.ended(project, about);
      return value;
    } catch (error) {
      // One of its limits says nothing about the token.
      if (error instanceof GitHostError && error.limitMs === undefined) events.ended(project, about, error);
      throw error;
    }
  }

  function parsed<T>({ text }: { text: string }, schema: z.ZodType<T>): T {
    const { data, success } = schema.safeParse(parseJson(text));
    if (!success) throw new GitHostError('unreadable', undefined, undefined);
    return data;
  }

  const readerOf =
    (repository: string, slots: Slots): Read =>
    async (path, schema, { mayBeForbidden = false } = {}) => {
      try {
        const answer = await call(calls.pathOf(repository), `/${path}`, slots);
        return answer && parsed(answer, schema);
      } catch (error) {
        const isForbidden =
          error instanceof GitHostError && error.status === 403 && error.limitMs === undefined;
        if (!mayBeForbidden || !isForbidden) throw error;
        // For the request that is made instead.
        await slots(1);
        return undefined;
      }
    };

  return {
    settings: host,
    limit: limitOfHost(host),

    /** Returns the repository and the number of a pull request of this host; undefined for other addresses. */
    parse(link: string) {
      const url = readWebAddress(link);
      const origin = new URL(base).origin.replace(HOST_OF_API, '$1');
      const { pathname } = url ?? { pathname: '' };
      const [, repository, number] =
        (host.host === 'github'
          ? /^\/([\w-]{1,80}\/(?!\.{1,2}\/)[\w.-]{1,100})\/pull\/(\d{1,12})(?:\/|$)/
          : /^\/([\w.-]{1,100}(?:\/[\w.-]{1,100}){1,20})\/-\/merge_requests\/(\d{1,12})(?:\/|$)/
        ).exec(pathname.slice(0, 2000)) ?? [];
      if (url?.origin !== origin || repository === undefined) return undefined;
      return { repository, number: Number(number) };
    },

    /** Returns what a repository's list has had since `sinceMs`; undefined if it is the one with the `etag`. */
    list: (
      repository: string,
      { etag, sinceMs }: { etag?: string | undefined; sinceMs: number },
      slots: Slots,
    ) =>
      watched('list', repository, async () => {
        const { path, schema } = calls.list;
        await slots(1);
        const first = await call(calls.pathOf(repository), `/${path}`, slots, etag);
        if (first === undefined) return undefined;
        const pulls = parsed(first, schema);
        for (let page = 2; page <= MAX_PAGES && pulls.length === PAGE * (page - 1); page += 1) {
          if ((pulls.at(-1)?.updatedAtMs ?? 0) < sinceMs) break;
          await slots(1);
          const next = await call(calls.pathOf(repository), `/${path}&page=${page}`, slots);
          pulls.push(...(next ? parsed(next, schema) : []));
        }
        const { etag: latest } = first.headers;
        return { etag: typeof latest === 'string' ? latest.slice(0, 200) : undefined, pulls };
      }),

    /** Returns a pull request, with the name of who merged it. */
    read: (repository: string, number: number, slots: Slots) =>
      watched('read', repository, async () => {
        await slots(1);
        const found = await calls.read(readerOf(repository, slots), number);
        if (found === undefined) throw new GitHostError('unreadable', undefined, undefined);
        return found;
      }),

    /** Returns the reviews and checks of a pull request. */
    details: (repository: string, pull: Pull, slots: Slots) =>
      watched('details', repository, async () => {
        await slots(calls.cost);
        return calls.details(readerOf(repository, slots), pull);
      }),
  };
}
