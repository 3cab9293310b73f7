import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import { createWire, fetchOf, listenLocally, type Wire } from '../wire.ts';

interface Workflow {
  /** Of `workflow_dispatch`; without them, the workflow has no such trigger. */
  inputs?: Record<string, { required?: boolean }>;
  /** Types of `repository_dispatch` that it runs on. */
  events?: string[];
}

/** What the next dispatched run does. All of it is a function of the clock. */
interface RunPlan {
  /** Default 0. */
  queuedMs?: number;
  /** How long it then waits for somebody who approves its environment. Default 0. */
  waitsMs?: number;
  /** From its start to its end. Default 1000. */
  durationMs?: number;
  conclusion?: 'success' | 'failure' | 'cancelled' | 'skipped' | 'timed_out';
}

interface Run {
  readonly id: number;
  /** owner/name */
  readonly repository: string;
  /** File name. */
  readonly workflow: string;
  readonly event: 'workflow_dispatch' | 'repository_dispatch';
  readonly title: string;
  /** A person may run it again. */
  readonly attempts: { readonly atMs: number; readonly plan: RunPlan }[];
  /** The `inputs` or the `client_payload` that it was dispatched with. */
  readonly given: Record<string, unknown>;
}

interface StandInGitHubOptions {
  nowMs?: () => number;
  token?: string;
  /** When the token ends, as the header says: `2026-12-20 11:05:12 UTC`. Default: never. */
  expires?: string;
  /** By owner/name, with the workflows by file name. All have the branch `main` alone. */
  repositories?: Record<string, Record<string, Workflow>>;
  /** false: an Enterprise Server that does not know `return_run_details`. Default true. */
  runDetails?: boolean;
}

/** GitHub's REST API as far as Docket needs it: dispatches, their runs and repositories, moved only by its clock and these controls. */
interface StandInGitHub {
  readonly wire: Wire;
  /** Reaches it inside this process, at any host name. */
  readonly fetch: typeof fetch;
  /** The present one. */
  readonly token: string;
  /** All runs, oldest first. */
  readonly runs: readonly Run[];
  /** For one coming run. */
  plan(plan: RunPlan): void;
  /** Runs the last run again, as a person does. */
  rerun(plan: RunPlan): void;
  /** From now on, all calls are over a limit for so long: the hourly one, or the secondary one, which says so in words alone. */
  limit(kind: 'hourly' | 'secondary', ms: number): void;
  /** The owner renames a repository. Its old address then redirects. */
  rename(from: string, to: string): void;
  /** The token ends, and a new one takes its place. */
  renewToken(expires?: string): void;
  /** Listens on loopback. */
  listen(port?: number): Promise<{ url: string; close(): Promise<void> }>;
}

type Env = { Bindings: Partial<HttpBindings> };

/** One call, authorized, to a repository that is there. */
interface ApiCall {
  repository: string;
  workflows: Record<string, Workflow>;
  params: Record<string, string>;
  body: Record<string, unknown>;
  origin: string;
}

const INFRA: Record<string, Workflow> = {
  'update-docs.yml': {
    inputs: { job_id: { required: true }, version: {}, domain: { required: true } },
    events: ['docs-export'],
  },
};

export function createStandInGitHub(options: StandInGitHubOptions = {}): StandInGitHub {
  const { nowMs = Date.now, runDetails = true } = options;
  const repositories = { ...(options.repositories ?? { 'acme/infra': INFRA }) };
  const ids = Object.keys(repositories);
  const newToken = () => `github_pat_${randomUUID().replaceAll('-', '')}`;
  let { token = newToken(), expires } = options;
  const renamed = new Map<string, string>();
  let limited = { kind: 'hourly' as 'hourly' | 'secondary', untilMs: 0 };
  const wire = createWire(nowMs);
  const runs: Run[] = [];
  const plans: RunPlan[] = [];
  const app = new Hono<Env>();

  function start(run: Pick<Run, 'repository' | 'workflow' | 'event' | 'title' | 'given'>): Run {
    const attempts = [{ atMs: nowMs(), plan: plans.shift() ?? {} }];
    const started = { ...run, id: 17_000_000_001 + runs.length, attempts };
    runs.push(started);
    noteCaused(`run ${started.id} of ${run.workflow}`);
    return started;
  }

  /** What GitHub answers to any call before it looks at what is asked for. */
  function answeredBefore(c: Context<Env>, method: string, repository: string): Response | undefined {
    const { origin, pathname } = new URL(c.req.url);
    if (nowMs() < limited.untilMs) return overLimit(limited.kind, limited.untilMs, nowMs());
    const refused = unauthorized(c, token);
    if (refused) return refused;
    const to = renamed.get(repository);
    if (to === undefined) return undefined;
    const location = pathname.replace(`/repos/${repository}`, `${origin}/repositories/${idOf(to)}`);
    const moved = { message: 'Moved Permanently', url: location, documentation_url: DOCS };
    return Response.json(moved, { status: method === 'GET' ? 301 : 307, headers: { location } });
  }

  const renamedOf = (repository: string) => renamed.get(repository) ?? repository;
  const idOf = (repository: string) => 123_000 + ids.indexOf(repository);

  function route(method: 'GET' | 'POST', template: string, answer: (call: ApiCall) => Response): void {
    const rest = template && `/${template}`;
    const path = `/repos/{owner}/{repo}${rest}`;
    const paths = [path, `/repositories/{repositoryId}${rest}`];
    for (const one of paths)
      app.on(method, one.replace(/\{(\w+)\}/gu, ':$1'), async (c) => {
        const { owner, repo, repositoryId, ...params }: Record<string, string> = c.req.param();
        const body = parsed(await c.req.text());
        const repository =
          repositoryId === undefined ? `${owner}/${repo}` : (ids[Number(repositoryId) - 123_000] ?? '');
        return wire.serve(c, `${method} ${path}`, { repository, ...params, body }, () => {
          const workflows = repositories[repository];
          const isUnknown = params.workflow !== undefined && !workflows?.[params.workflow];
          const before = answeredBefore(c, method, repository);
          if (before) return before;
          if (!workflows || isUnknown) return refuse(404, 'Not Found');
          if (method === 'POST' && !body) return refuse(400, 'Problems parsing JSON');
          const { origin } = new URL(c.req.url);
          const response = answer({ repository, workflows, params, body: body ?? {}, origin });
          if (expires !== undefined) response.headers.set('github-authentication-token-expiration', expires);
          return response;
        });
      });
  }

  route('POST', 'actions/workflows/{workflow}/dispatches', (call) => {
    const { repository, params, body, origin } = call;
    const { ref, inputs = {}, return_run_details: details = false, ...rest } = body;
    const unknown = Object.keys({ ...rest, ...(details && !runDetails ? { return_run_details: 1 } : {}) })[0];
    if (unknown !== undefined) return refuse(422, `"${unknown}" is not a permitted key.`);
    if (typeof ref !== 'string') return refuse(422, `"ref" wasn't supplied.`);
    if (!isObject(inputs)) return refuse(422, "For 'properties/inputs', it is not an object.");
    if (!/^(?:refs\/heads\/)?main$/.test(ref)) return refuse(422, `No ref found for: ${ref}`);
    const { workflow = '' } = params;
    const problem = wrongInputs(call.workflows[workflow]?.inputs, inputs);
    if (problem !== undefined) return refuse(422, problem);
    const title = `Docs ${inputs.version ?? ''} ${inputs.job_id ?? ''}`;
    const run = start({ repository, workflow, event: 'workflow_dispatch', title, given: inputs });
    if (!details) return new Response(null, { status: 204 });
    const { url, html_url } = runBody(run, nowMs(), origin);
    return Response.json({ workflow_run_id: run.id, run_url: url, html_url });
  });

  route('POST', 'dispatches', ({ repository, workflows, body }) => {
    const { event_type: type, client_payload: given = {}, ...rest } = body;
    const unknown = Object.keys(rest)[0];
    if (unknown !== undefined) return refuse(422, `"${unknown}" is not a permitted key.`);
    if (typeof type !== 'string' || type === '') return refuse(422, `"event_type" wasn't supplied.`);
    if (type.length > 100) return refuse(422, 'event_type is too long (maximum is 100 characters)');
    if (!isObject(given)) return refuse(422, 'client_payload is not an object.');
    if (Object.keys(given).length > 10) return refuse(422, 'No more than 10 properties are allowed');
    for (const [workflow, { events }] of Object.entries(workflows))
      if (events?.includes(type))
        start({ repository, workflow, event: 'repository_dispatch', title: type, given });
    return new Response(null, { status: 204 });
  });

  route('GET', '', ({ repository }) => Response.json({ full_name: repository, private: true }));
  route('GET', 'actions/runs/{run}', ({ repository, params, origin }) => {
    const run = runs.find((one) => String(one.id) === params.run && renamedOf(one.repository) === repository);
    return run ? Response.json(runBody(run, nowMs(), origin)) : refuse(404, 'Not Found');
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
    runs,
    plan: (plan) => void plans.push(plan),
    rerun: (plan) => void runs.at(-1)?.attempts.push({ atMs: nowMs(), plan }),
    limit(kind, ms) {
      limited = { kind, untilMs: nowMs() + ms };
    },
    rename(from, to) {
      renamed.delete(to);
      renamed.set(from, to);
      repositories[to] = repositories[from] ?? {};
      delete repositories[from];
      ids[ids.indexOf(from)] = to;
    },
    renewToken(until) {
      token = newToken();
      expires = until;
    },
    listen: (port) => listenLocally(createServer(getRequestListener(app.fetch)), port),
  };
}

function unauthorized(c: Context<Env>, token: string): Response | undefined {
  const header = (name: string) => c.req.header(name);
  if (!header('user-agent')) return new Response('Please set a User-Agent header.', { status: 403 });
  const given = /^(?:Bearer|token) (\S+)$/iu.exec(header('authorization') ?? '')?.[1];
  // Without a token, a private repository is not there.
  if (given === undefined) return refuse(404, 'Not Found');
  if (given !== token) return refuse(401, 'Bad credentials');
  const version = header('x-github-api-version') ?? '2022-11-28';
  return version === '2022-11-28' ? undefined : refuse(400, `"${version}" is not a supported version.`);
}

function wrongInputs(known: Workflow['inputs'], given: Record<string, unknown>): string | undefined {
  if (known === undefined) return "Workflow does not have 'workflow_dispatch' trigger";
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  if (unexpected.length > 0) return `Unexpected inputs provided: ${JSON.stringify(unexpected)}`;
  const missing = Object.keys(known).find((name) => known[name]?.required && (given[name] ?? '') === '');
  if (missing !== undefined) return `Required input '${missing}' not provided`;
  const wrong = Object.entries(given).find(([, value]) => typeof value !== 'string');
  return wrong && `Invalid value for input '${wrong[0]}'`;
}

/** GitHub's times have no fractions of a second. */
const spelled = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** A run as the API prints it, with the fields that clients read. */
function runBody({ id, repository, workflow, event, title, attempts }: Run, nowMs: number, origin: string) {
  const [{ atMs: createdMs } = { atMs: 0 }] = attempts;
  const { atMs, plan } = attempts.at(-1) ?? { atMs: 0, plan: {} };
  const startMs = atMs + (plan.queuedMs ?? 0);
  const approvedMs = startMs + (plan.waitsMs ?? 0);
  const isCompleted = nowMs >= approvedMs + (plan.durationMs ?? 1000);
  const running = nowMs < startMs ? 'queued' : nowMs < approvedMs ? 'waiting' : 'in_progress';
  return {
    id,
    path: `.github/workflows/${workflow}`,
    display_title: title,
    event,
    status: isCompleted ? 'completed' : running,
    conclusion: isCompleted ? (plan.conclusion ?? 'success') : null,
    url: `${origin}/repos/${repository}/actions/runs/${id}`,
    html_url: `https://github.com/${repository}/actions/runs/${id}`,
    created_at: spelled(createdMs),
    run_attempt: attempts.length,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const DOCS = 'https://docs.github.com/rest';

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ message, documentation_url: DOCS, status: String(status) }, { status, headers });
}

function overLimit(kind: 'hourly' | 'secondary', untilMs: number, nowMs: number): Response {
  const isHourly = kind === 'hourly';
  const headers = {
    date: new Date(nowMs).toUTCString(),
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': isHourly ? '0' : '4990',
    'x-ratelimit-reset': String(Math.ceil((isHourly ? untilMs : untilMs + 1_800_000) / 1000)),
  };
  return isHourly
    ? refuse(403, 'API rate limit exceeded for user ID 1.', headers)
    : refuse(
        403,
        'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
        headers,
      );
}
