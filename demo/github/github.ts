import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import { createWire, fetchOf, listenLocally, type Wire } from '../wire.ts';
import { type Conclusion, isCreatedIn, type Run, type RunPlan, runBody, runState } from './runs.ts';

export interface Workflow {
  /** Of `workflow_dispatch`; without them the workflow has no such trigger. */
  inputs?: Record<string, { required?: boolean }>;
  /** Types of `repository_dispatch` that it runs on. */
  events?: string[];
}

export interface Repository {
  /** Default `main` alone, which is the default branch if it is the first. */
  branches?: string[];
  /** By file name. */
  workflows: Record<string, Workflow>;
}

export interface StandInGitHubOptions {
  nowMs?: () => number;
  token?: string;
  /** By owner/name. Default: `acme/infra` with `update-docs.yml`, which takes `job_id`, `version` and `domain`. */
  repositories?: Record<string, Repository>;
  /** false: an Enterprise Server that does not know `return_run_details`. Default true. */
  runDetails?: boolean;
  /** What a run does when no plan was made. */
  runPlan?: RunPlan;
}

/** GitHub's REST API as far as dispatches and their runs go, moved only by its clock and these controls. */
export interface StandInGitHub {
  readonly wire: Wire;
  /** Reaches it inside this process, at any host name. */
  readonly fetch: typeof fetch;
  readonly token: string;
  /** Replaces the token: the one before is refused. */
  renewToken(): void;
  /** All runs, oldest first. */
  readonly runs: readonly Run[];
  /** For one coming run. */
  plan(plan: RunPlan): void;
  /** Ends a run; without an id, the newest. */
  finish(conclusion?: Conclusion, id?: number): void;
  /** Loopback only; without a port, any free one. */
  listen(port?: number): Promise<{ url: string; close(): Promise<void> }>;
}

type Env = { Bindings: Partial<HttpBindings> };
/** One call, authorized, to a repository that is there. */
interface ApiCall {
  name: string;
  repository: Repository;
  params: Record<string, string>;
  query: Record<string, string>;
  body: Record<string, unknown>;
  origin: string;
  /** The header `X-GitHub-Api-Version`. */
  version: string;
}

const DOCS = 'https://docs.github.com/rest';
const VERSIONS = ['2022-11-28', '2026-03-10'];
const MAX_INPUTS = 25;
const INFRA: Repository = {
  workflows: {
    'update-docs.yml': {
      inputs: { job_id: { required: true }, version: {}, domain: { required: true } },
      events: ['docs-export'],
    },
  },
};

export function createStandInGitHub(options: StandInGitHubOptions = {}): StandInGitHub {
  const { nowMs = Date.now, repositories = { 'acme/infra': INFRA }, runDetails = true } = options;
  const newToken = () => `github_pat_${randomUUID().replaceAll('-', '')}`;
  let token = options.token ?? newToken();
  const wire = createWire(nowMs);
  const runs: Run[] = [];
  const plans: RunPlan[] = [];
  const app = new Hono<Env>();

  function dispatched(call: ApiCall, workflow: string, rest: Pick<Run, 'event' | 'branch' | 'given'>): Run {
    const run: Run = {
      id: 17_000_000_001 + runs.length,
      number: runs.length + 1,
      repository: call.name,
      workflow,
      workflowId: workflowIdOf(call, workflow),
      atMs: nowMs(),
      plan: plans.shift() ?? options.runPlan ?? {},
      ...rest,
    };
    runs.push(run);
    noteCaused(`run ${run.id} of ${workflow}`);
    return run;
  }

  function route(method: 'GET' | 'POST', template: string, answer: (call: ApiCall) => Response): void {
    const path = `/repos/{owner}/{repo}${template}`;
    app.on(method, path.replace(/\{(\w+)\}/gu, ':$1'), async (c) => {
      const { owner = '', repo = '', ...params }: Record<string, string> = c.req.param();
      const [query, text] = [c.req.query(), await c.req.text()];
      const body = parsed(text);
      const name = `${owner}/${repo}`;
      const detail = { repository: name, ...params, ...(text !== '' && { body: body ?? text }), query };
      const { origin } = new URL(c.req.url);
      return wire.serve(c, `${method} ${path}`, detail, () => {
        const refused = unauthorized(c);
        if (refused) return refused;
        // Names are not case sensitive.
        const found = Object.entries(repositories).find(([key]) => key.toLowerCase() === name.toLowerCase());
        if (!found) return refuse(404, 'Not Found');
        if (method === 'POST' && body === undefined) return refuse(400, 'Problems parsing JSON');
        const version = c.req.header('x-github-api-version') ?? '2022-11-28';
        return answer({
          name: found[0],
          repository: found[1],
          params,
          query,
          body: body ?? {},
          origin,
          version,
        });
      });
    });
  }

  function unauthorized(c: Context<Env>): Response | undefined {
    if (!c.req.header('user-agent'))
      return new Response('Request forbidden by administrative rules. Please set a User-Agent header.', {
        status: 403,
      });
    const given = /^(?:Bearer|token) (\S+)$/iu.exec(c.req.header('authorization') ?? '')?.[1];
    // Without a token, a private repository is not there.
    if (given === undefined) return refuse(404, 'Not Found');
    if (given !== token) return refuse(401, 'Bad credentials');
    const version = c.req.header('x-github-api-version');
    if (version !== undefined && !VERSIONS.includes(version))
      return refuse(400, `"${version}" is not a supported version of the REST API.`);
    return undefined;
  }

  route('POST', '/actions/workflows/{workflow}/dispatches', (call) => {
    const { repository, body, version, origin } = call;
    const workflow = workflowOf(call);
    if (workflow === undefined) return refuse(404, 'Not Found');
    const known = ['ref', 'inputs', ...(runDetails ? ['return_run_details'] : [])];
    const unknown = Object.keys(body).find((key) => !known.includes(key));
    if (unknown !== undefined) return refuse(422, `"${unknown}" is not a permitted key.`);
    const { ref, inputs = {}, return_run_details: details = version === '2026-03-10' } = body;
    if (typeof ref !== 'string') return refuse(422, `"ref" wasn't supplied.`);
    if (!isObject(inputs)) return refuse(422, "For 'properties/inputs', it is not an object.");
    if (typeof details !== 'boolean') return refuse(422, `"return_run_details" is not a boolean.`);
    const branch = ref.replace(/^refs\/heads\//, '');
    if (!(repository.branches ?? ['main']).includes(branch)) return refuse(422, `No ref found for: ${ref}`);
    const problem = wrongInputs(repository.workflows[workflow]?.inputs, inputs);
    if (problem !== undefined) return refuse(422, problem);
    const run = dispatched(call, workflow, { event: 'workflow_dispatch', branch, given: inputs });
    if (!runDetails || !details) return new Response(null, { status: 204 });
    const { url, html_url } = runBody(run, nowMs(), urlsOf(origin)) as { url: string; html_url: string };
    return Response.json({ workflow_run_id: run.id, run_url: url, html_url });
  });

  route('POST', '/dispatches', (call) => {
    const { event_type: type, client_payload: payload = {}, ...rest } = call.body;
    const unknown = Object.keys(rest)[0];
    if (unknown !== undefined) return refuse(422, `"${unknown}" is not a permitted key.`);
    if (typeof type !== 'string' || type === '') return refuse(422, `"event_type" wasn't supplied.`);
    if (type.length > 100) return refuse(422, 'event_type is too long (maximum is 100 characters)');
    if (!isObject(payload)) return refuse(422, 'client_payload is not an object.');
    if (Object.keys(payload).length > 10) return refuse(422, 'No more than 10 properties are allowed');
    const branch = call.repository.branches?.[0] ?? 'main';
    for (const [name, { events }] of Object.entries(call.repository.workflows))
      if (events?.includes(type))
        dispatched(call, name, { event: 'repository_dispatch', branch, given: payload });
    return new Response(null, { status: 204 });
  });

  function list(call: ApiCall, own: (run: Run) => boolean): Response {
    const { event, created, branch, status, per_page = '30', page = '1' } = call.query;
    const all = runs.filter((run) => run.repository === call.name && own(run));
    if (created !== undefined && all.some((run) => isCreatedIn(created, run) === undefined))
      return refuse(422, 'The created filter is invalid.');
    const found = all.filter((run) => {
      const state = runState(run, nowMs());
      return (
        nowMs() >= run.atMs + (run.plan.listedAfterMs ?? 0) &&
        (event === undefined || run.event === event) &&
        (branch === undefined || run.branch === branch) &&
        (status === undefined || [state.status, state.conclusion].some((one) => one === status)) &&
        (created === undefined || isCreatedIn(created, run) === true)
      );
    });
    const size = Math.min(100, Number(per_page));
    const shown = found.toReversed().slice((Number(page) - 1) * size, Number(page) * size);
    return Response.json({
      total_count: found.length,
      workflow_runs: shown.map((run) => runBody(run, nowMs(), urlsOf(call.origin))),
    });
  }

  route('GET', '/actions/workflows/{workflow}/runs', (call) => {
    const workflow = workflowOf(call);
    return workflow === undefined ? refuse(404, 'Not Found') : list(call, (run) => run.workflow === workflow);
  });
  route('GET', '/actions/runs', (call) => list(call, () => true));
  route('GET', '/actions/runs/{run}', ({ name, params, origin }) => {
    const run = runs.find(({ id, repository }) => String(id) === params.run && repository === name);
    return run ? Response.json(runBody(run, nowMs(), urlsOf(origin))) : refuse(404, 'Not Found');
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
    renewToken() {
      token = newToken();
    },
    runs,
    plan: (plan) => void plans.push(plan),
    finish(conclusion = 'success', id) {
      const run = id === undefined ? runs.at(-1) : runs.find((one) => one.id === id);
      if (!run) throw new Error('the stand-in has no such run');
      run.ended = { conclusion, atMs: nowMs() };
    },
    listen: (port) => listenLocally(createServer(getRequestListener(app.fetch)), port),
  };
}

const urlsOf = (origin: string) => ({ api: origin, web: 'https://github.com' });

/** Workflows are numbered by their place. */
const workflowIdOf = ({ repository }: ApiCall, name: string) =>
  501 + Object.keys(repository.workflows).indexOf(name);

/** The file name of the workflow that a path names by that or by its id. */
function workflowOf(call: ApiCall): string | undefined {
  const { workflow } = call.params;
  return Object.keys(call.repository.workflows).find(
    (name) => name === workflow || String(workflowIdOf(call, name)) === workflow,
  );
}

function wrongInputs(known: Workflow['inputs'], given: Record<string, unknown>): string | undefined {
  if (known === undefined) return "Workflow does not have 'workflow_dispatch' trigger";
  if (Object.keys(given).length > MAX_INPUTS) return `You may only define up to ${MAX_INPUTS} inputs`;
  const unexpected = Object.keys(given).filter((name) => !Object.hasOwn(known, name));
  if (unexpected.length > 0) return `Unexpected inputs provided: ${JSON.stringify(unexpected)}`;
  const missing = Object.keys(known).find((name) => known[name]?.required && (given[name] ?? '') === '');
  if (missing !== undefined) return `Required input '${missing}' not provided`;
  const wrong = Object.entries(given).find(([, value]) => typeof value !== 'string');
  return wrong && `Invalid value for input '${wrong[0]}'`;
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

function refuse(status: number, message: string): Response {
  return Response.json({ message, documentation_url: DOCS, status: String(status) }, { status });
}
