import { hash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import { createWire, fetchOf, listenLocally, type Wire } from '../wire.ts';

type CheckState = 'running' | 'passed' | 'failed';
type ReviewState = 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';

/** A pull request of GitHub, or a merge request of GitLab. */
interface StandInPull {
  readonly repository: string;
  readonly number: number;
  state: 'open' | 'merged' | 'closed';
  isDraft: boolean;
  sha: string;
  readonly createdMs: number;
  updatedMs: number;
  endedMs?: number;
  by?: string;
  /** In order. */
  reviews: { by: string; state: ReviewState }[];
  /** Of the head commit, by name. */
  checks: Map<string, CheckState>;
}

interface StandInGitHostOptions {
  nowMs?: () => number;
  token?: string;
  /** owner/name, or group/…/name. */
  repositories?: string[];
  /** A token that cannot read check runs. Default false. */
  fineGrained?: boolean;
}

/** The REST APIs of GitHub and GitLab as far as Docket reads pull requests, moved only by its clock and these controls. */
export interface StandInGitHost {
  readonly wire: Wire;
  /** Reaches it inside this process, at any host name. */
  readonly fetch: typeof fetch;
  /** The present one. */
  readonly token: string;
  /** Returns a pull request, and opens it if it is new. */
  pull(repository: string, number: number): StandInPull;
  /** All of them, oldest first. */
  readonly pulls: readonly StandInPull[];
  /** Changes a pull request as its host would. */
  change(pull: StandInPull, changes: Partial<Pick<StandInPull, 'isDraft'>>): void;
  merge(pull: StandInPull, by?: string): void;
  close(pull: StandInPull): void;
  review(pull: StandInPull, by: string, state: ReviewState): void;
  /** Checks of the head commit; they do not update the pull request. */
  check(pull: StandInPull, checks: Record<string, CheckState>): void;
  /** A new head commit, without checks. */
  push(pull: StandInPull): void;
  /** From now on, all calls are over the secondary limit for so long, which says so in words alone. */
  limit(ms: number): void;
  /** The owner renames a repository. Its old address then redirects. */
  rename(from: string, to: string): void;
  /** The token ends, and a new one takes its place. */
  renewToken(): void;
  forget(): void;
  /** Listens on loopback. */
  listen(port?: number): Promise<{ url: string; close(): Promise<void> }>;
}

type Env = { Bindings: Partial<HttpBindings> };

const PAGE = 100;

export function createStandInGitHost(options: StandInGitHostOptions = {}): StandInGitHost {
  const { nowMs = Date.now, fineGrained = false } = options;
  const repositories = [...(options.repositories ?? ['acme/docs'])];
  const newToken = () => `git_${randomUUID().replaceAll('-', '')}`;
  let { token = newToken() } = options;
  let limitedUntilMs = 0;
  const renamed = new Map<string, string>();
  const pulls: StandInPull[] = [];
  const wire = createWire(nowMs);
  const app = new Hono<Env>();
  const newSha = () => hash('sha1', randomUUID());

  function pullOf(repository: string, number: number): StandInPull {
    const found = pulls.find((one) => one.repository === repository && one.number === number);
    if (found) return found;
    const pull: StandInPull = {
      repository,
      number,
      state: 'open',
      isDraft: false,
      sha: newSha(),
      createdMs: nowMs(),
      updatedMs: nowMs(),
      reviews: [],
      checks: new Map(),
    };
    pulls.push(pull);
    return pull;
  }

  function update(pull: StandInPull, changes: Partial<StandInPull>, did: string) {
    Object.assign(pull, changes, { updatedMs: nowMs() });
    noteCaused(`${pull.repository}#${pull.number} ${did}`);
  }

  function end(pull: StandInPull, state: 'merged' | 'closed', by?: string) {
    update(pull, { state, endedMs: nowMs(), ...(by !== undefined && { by }) }, state);
  }

  /** What both hosts answer before they look at what is asked for. */
  function refused(c: Context<Env>, prefix: string, repository: string): Response | undefined {
    if (nowMs() < limitedUntilMs)
      return refuse(403, 'You have exceeded a secondary rate limit. Please wait a few minutes.');
    const given =
      c.req.header('private-token') ?? /^Bearer (\S+)$/u.exec(c.req.header('authorization') ?? '')?.[1];
    if (!c.req.header('user-agent')) return refuse(403, 'Please set a User-Agent header.');
    if (given !== token) return refuse(given === undefined ? 404 : 401, 'Bad credentials');
    const to = renamed.get(repository);
    if (to !== undefined) {
      const { origin, pathname, search } = new URL(c.req.url);
      const rest = pathname.slice(pathname.indexOf(prefix) + prefix.length);
      const kind = pathname.startsWith('/api/v4') ? '/api/v4/projects' : '/api/v3/repositories';
      const location = `${origin}${kind}/${idOf(to)}${rest}${search}`;
      return Response.json(
        { message: 'Moved Permanently', url: location },
        { status: 301, headers: { location } },
      );
    }
    return repositories.includes(repository) ? undefined : refuse(404, 'Not Found');
  }

  const idOf = (repository: string) => 123_000 + repositories.indexOf(repository);
  const named = (id: string) => repositories[Number(id) - 123_000] ?? '';
  const listOf = (repository: string, page: number) =>
    pulls
      .filter((one) => one.repository === repository)
      .toSorted((one, other) => other.updatedMs - one.updatedMs)
      .slice(PAGE * (page - 1), PAGE * page);

  /** Answers 304 to the ETag of the same body. It differs by token, and is sent with its quotes. */
  function conditional(c: Context<Env>, body: unknown): Response {
    const etag = `W/"${hash('sha256', token + JSON.stringify(body))}"`;
    if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } });
    return Response.json(body, { headers: { etag } });
  }

  type Answer = (c: Context<Env>, repository: string, params: Record<string, string>) => Response;

  function github(template: string, answer: Answer) {
    for (const base of ['/repos/:owner/:repo', '/repositories/:id'])
      app.get(`/api/v3${base}/${template}`, (c) => {
        const { owner, repo, id, ...params }: Record<string, string> = c.req.param();
        const repository = id === undefined ? `${owner}/${repo}` : named(id);
        const name = `GitHub ${template.replace(/:(\w+)/gu, '{$1}')}`;
        return wire.serve(c, name, { repository, ...params }, () => {
          return refused(c, repository, repository) ?? answer(c, repository, params);
        });
      });
  }

  function gitlab(template: string, answer: Answer) {
    app.get(`/api/v4/projects/:id/${template}`, (c) => {
      const { id = '', ...params }: Record<string, string> = c.req.param();
      const repository = /^\d+$/.test(id) ? named(id) : decodeURIComponent(id);
      const name = `GitLab ${template.replace(/:(\w+)/gu, '{$1}')}`;
      return wire.serve(c, name, { repository, ...params }, () => {
        return refused(c, encodeURIComponent(repository), repository) ?? answer(c, repository, params);
      });
    });
  }

  const pageOf = (c: Context<Env>) => Number(c.req.query('page') ?? 1);
  const bySha = (sha: string | undefined) => pulls.find((one) => one.sha === sha);

  github('pulls', (c, repository) => conditional(c, listOf(repository, pageOf(c)).map(githubPull)));
  github('pulls/:number', (_, repository, { number }) => {
    const found = pullOf(repository, Number(number));
    return Response.json({
      ...githubPull(found),
      merged_by: found.by === undefined ? null : { login: found.by },
    });
  });
  github('pulls/:number/reviews', (_, repository, { number }) =>
    Response.json(
      pullOf(repository, Number(number)).reviews.map(({ by: login, state }) => ({ user: { login }, state })),
    ),
  );
  github('commits/:sha/check-runs', (_, _repository, { sha }) =>
    fineGrained
      ? refuse(403, 'Resource not accessible by personal access token')
      : Response.json({ check_runs: [...(bySha(sha)?.checks ?? [])].map(githubRun) }),
  );
  github('actions/runs', (c) =>
    Response.json({ workflow_runs: [...(bySha(c.req.query('head_sha'))?.checks ?? [])].map(githubRun) }),
  );
  github('commits/:sha/status', () => Response.json({ state: 'pending', statuses: [] }));

  gitlab('merge_requests', (c, repository) => conditional(c, listOf(repository, pageOf(c)).map(gitlabPull)));
  gitlab('merge_requests/:number', (_, repository, { number }) => {
    const found = pullOf(repository, Number(number));
    const states = [...found.checks.values()];
    const failed = states.includes('failed') ? 'failed' : 'success';
    const status = states.includes('running') ? 'running' : failed;
    const isRequested = found.reviews.at(-1)?.state === 'CHANGES_REQUESTED';
    return Response.json({
      ...gitlabPull(found),
      detailed_merge_status: isRequested ? 'requested_changes' : 'mergeable',
      head_pipeline: states.length === 0 ? null : { id: 9000 + found.number, status },
    });
  });
  gitlab('merge_requests/:number/approvals', (_, repository, { number }) => {
    const given = pullOf(repository, Number(number)).reviews.filter(({ state }) => state === 'APPROVED');
    return Response.json({ approved_by: given.map(({ by }) => ({ user: { username: by } })) });
  });
  gitlab('pipelines/:pipeline/jobs', (_, repository, { pipeline }) => {
    const failed = [...pullOf(repository, Number(pipeline) - 9000).checks].filter(
      ([, one]) => one === 'failed',
    );
    return Response.json(failed.map(([name]) => ({ name, allow_failure: false })));
  });
  // What a link in Slack opens.
  app.get('/:owner/:repo/pull/:number', (c) => {
    const { owner, repo, number } = c.req.param();
    const found = pulls.find((one) => one.repository === `${owner}/${repo}` && String(one.number) === number);
    return found ? c.text(`${owner}/${repo}#${number} · ${found.state}`) : c.notFound();
  });
  app.notFound(async (c) =>
    wire.serve(c, `${c.req.method} unknown`, { path: c.req.path }, () => refuse(404, 'Not Found')),
  );

  return {
    wire,
    fetch: fetchOf(app),
    get token() {
      return token;
    },
    pull: pullOf,
    pulls,
    change: (pull, changes) => update(pull, changes, 'changed'),
    merge: (pull, by = 'ben') => end(pull, 'merged', by),
    close: (pull) => end(pull, 'closed'),
    review(pull, by, state) {
      pull.reviews.push({ by, state });
      update(pull, {}, 'reviewed');
    },
    check(pull, checks) {
      for (const [name, state] of Object.entries(checks)) pull.checks.set(name, state);
      noteCaused(`checks of ${pull.repository}#${pull.number}`);
    },
    push(pull) {
      pull.checks.clear();
      update(pull, { sha: newSha() }, 'pushed');
    },
    limit(ms) {
      limitedUntilMs = nowMs() + ms;
    },
    rename(from, to) {
      renamed.delete(to);
      renamed.set(from, to);
      repositories[repositories.indexOf(from)] = to;
      for (const one of pulls) if (one.repository === from) Object.assign(one, { repository: to });
    },
    renewToken() {
      token = newToken();
    },
    forget() {
      pulls.splice(0);
      wire.calls.splice(0);
      wire.clear();
      limitedUntilMs = 0;
    },
    listen: (port) => listenLocally(createServer(getRequestListener(app.fetch)), port),
  };
}

/** Without fractions of a second, as GitHub's. */
const spelled = (ms: number | undefined) =>
  ms === undefined ? null : new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

const githubPull = ({ number, state, isDraft, sha, createdMs, updatedMs, endedMs }: StandInPull) => ({
  number,
  state: state === 'open' ? 'open' : 'closed',
  draft: isDraft,
  title: 'Not for anybody to read',
  head: { sha, ref: 'agent/quickstart' },
  user: { login: 'docs-agent' },
  created_at: spelled(createdMs),
  updated_at: spelled(updatedMs),
  closed_at: spelled(endedMs),
  merged_at: state === 'merged' ? spelled(endedMs) : null,
});

const githubRun = ([name, state]: [string, CheckState]) => ({
  name,
  status: state === 'running' ? 'in_progress' : 'completed',
  conclusion: state === 'running' ? null : state === 'failed' ? 'failure' : 'success',
});

const gitlabPull = ({ number, state, isDraft, sha, createdMs, updatedMs, endedMs, by }: StandInPull) => ({
  iid: number,
  state: state === 'open' ? 'opened' : state,
  draft: isDraft,
  title: 'Not for anybody to read',
  sha,
  created_at: new Date(createdMs).toISOString(),
  updated_at: new Date(updatedMs).toISOString(),
  merged_at: state === 'merged' && endedMs ? new Date(endedMs).toISOString() : null,
  closed_at: state === 'closed' && endedMs ? new Date(endedMs).toISOString() : null,
  merge_user: by === undefined ? null : { username: by },
});

const refuse = (status: number, message: string) => Response.json({ message }, { status });
