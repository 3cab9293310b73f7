import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import { createWire, fetchOf, listenLocally, type Wire } from '../wire.ts';
import { type AgentControls, type AgentPlan, createAgentJobs } from './agent-jobs.ts';
import { createViews, type ViewControls } from './analytics.ts';
import {
  ANALYTICS_QUERIES,
  type AnalyticsOperation,
  type AnalyticsQuery,
  analyticsQueryFrom,
} from './analytics-query.ts';
import { createBudget } from './budget.ts';
import { type BuildControls, type BuildPlan, createBuilds } from './builds.ts';
import { gzippedTar, linkWorks, presignedPath, siteFiles, sitePaths } from './bundle.ts';
import {
  type ExportPlan,
  type ExportRecord,
  exportBody,
  exportState,
  pagesOf,
  spelledDate,
} from './export-jobs.ts';
import { createExports, type ExportControls } from './exports.ts';
import { createReaders, type ReaderControls } from './readers.ts';
import { branchFrom, promptFrom, startRequestFrom } from './requests.ts';

export interface StandInPlatformOptions {
  /** Epoch milliseconds. Default: the clock of this machine. */
  nowMs?: () => number;
  /** Domains that can be exported. Default `docs.acme.com`. */
  domains?: string[];
  projectId?: string;
  /** Must begin with `keyPrefix`. */
  apiKey?: string;
  keyPrefix?: string;
  /** Further organizations: each key sees its own domains and their exports, and no others. */
  others?: { apiKey: string; domains: string[] }[];
  /** What an export does when no plan was made. */
  exportPlan?: Omit<ExportPlan, 'domain'>;
  /** What an instruction does when no plan was made. Default: it opens a pull request after a second. */
  agentPlan?: Omit<AgentPlan, 'jobId'>;
  /** Where the agent works. */
  repository?: string;
  /** How long a bundle link works. Default one hour. */
  linkLifeMs?: number;
  /** The organization's plan includes static export. Default true; false answers 403. */
  enterprise?: boolean;
  /** Default true; 404 or 405 is a platform without the operation. */
  createAgentJobs?: true | 404 | 405;
  /** Previews and updates of the site. Default true; 404 or 405 is a platform without them. */
  buildSites?: true | 404 | 405;
  /** What a preview or an update does when no plan was made. Default: it is done after a second. */
  buildPlan?: BuildPlan;
  /** false: only what the contract shows, nothing that a live platform is known to add. Default true. */
  additions?: boolean;
  /** Adds `Retry-After` (seconds) to 429. Default false. */
  retryAfter?: boolean;
  /** Instructions to jobs in any past hour. Default 100. */
  followUpsPerHour?: number;
  /** Another seed, other page views and readers. */
  seed?: string;
  /** Size of a site that is made up of as many pages. Default: one of some hundred. */
  pages?: number;
  /** Analytics of an organization in any past hour; Infinity lifts the limit. Default 100. */
  analyticsPerHour?: number;
  /** Analytics that the platform lacks: 404. Without `additions`, all but page views. */
  without?: readonly AnalyticsOperation[];
}

/** A strict docs platform, moved only by its clock and by these controls. */
export interface StandInPlatform extends ExportControls {
  readonly wire: Wire;
  /** Reaches the platform inside this process, at any host name. */
  readonly fetch: typeof fetch;
  readonly apiKey: string;
  /** Replaces the key: the one before is refused. */
  renewKey(): void;
  /** The key of the organization that started an export, by job id. */
  readonly keysOfExports: ReadonlyMap<string, string>;
  readonly keyPrefix: string;
  readonly projectId: string;
  readonly domains: string[];
  /** Loopback only; without a port, any free one. */
  listen(port?: number): Promise<{ url: string; close(): Promise<void> }>;
  /** May be changed at any time; counts for links made from then on. */
  linkLifeMs: number;
  /** Ends all bundle links at once, whatever they say. */
  endLinks(): void;
  /** May be changed at any time. */
  enterprise: boolean;
  readonly agent: AgentControls;
  readonly site: BuildControls;
  /** The organization's plan includes previews. May be changed at any time; false answers 403. */
  previews: boolean;
  /** May be changed at any time. */
  buildSites: true | 404 | 405;
  readonly views: ViewControls;
  readonly readers: ReaderControls;
  /** Requests for each of the analytics so far, whatever became of them. */
  analyticsRequests(): Record<AnalyticsOperation, number>;
  /** Operations that it lacks, such as `POST /v1/static-export/jobs`, and what it answers. May be changed at any time. */
  readonly lacks: Map<string, 404 | 405>;
  /** Uses of the past hour, out of 100 each unless the options say else. */
  readonly used: { followUps(): number; analytics(): number };
  readonly limitsPerHour: { followUps: number; analytics: number };
}

type Env = { Bindings: Partial<HttpBindings> };

/** One call of the API, authorized, with its body read. `body` is undefined when it was no JSON. */
interface ApiCall {
  params: Record<string, string>;
  query: Record<string, string>;
  text: string;
  body: unknown;
  origin: string;
  /** The organization whose key it carries. */
  organization: { apiKey: string; domains: string[] };
}

const LIMIT_PER_HOUR = 100;

const ANALYTICS_PATHS: Record<AnalyticsOperation, string> = {
  views: '/v1/analytics/{projectId}/views',
  visitors: '/v1/analytics/{projectId}/visitors',
  searches: '/v1/analytics/{projectId}/searches',
  feedback: '/v1/analytics/{projectId}/feedback/by-page',
  assistant: '/v1/analytics/{projectId}/assistant',
};

export function createStandInPlatform(options: StandInPlatformOptions = {}): StandInPlatform {
  const {
    nowMs = Date.now,
    domains = ['docs.acme.com'],
    projectId = 'prj_acme',
    keyPrefix = 'adm_',
    createAgentJobs: creation = true,
    additions = true,
    seed = 'acme',
    others = [],
  } = options;
  const newKey = () => `${keyPrefix}${randomUUID().replaceAll('-', '')}`;
  const own = { apiKey: options.apiKey ?? newKey(), domains };
  if (!own.apiKey.startsWith(keyPrefix))
    throw new Error('the key of the stand-in must begin with its prefix');

  const wire = createWire(nowMs);
  const newId = (kind: string) => `${kind}_${randomUUID().replaceAll('-', '')}`;
  const exports = createExports(nowMs, () => newId('se'), options.exportPlan ?? {});
  const agent = createAgentJobs(nowMs, () => newId('aj'), options.agentPlan, options.repository);
  const builds = createBuilds(nowMs, () => newId('st'), options.buildPlan);
  const views = createViews(seed, nowMs, options.pages);
  const readers = createReaders(seed, nowMs, views);
  const lacking = additions ? [] : (['visitors', 'searches', 'feedback', 'assistant'] as const);
  for (const operation of [...lacking, ...(options.without ?? [])]) readers.without.set(operation, 404);
  const limitsPerHour = {
    followUps: options.followUpsPerHour ?? LIMIT_PER_HOUR,
    analytics: options.analyticsPerHour ?? LIMIT_PER_HOUR,
  };
  const budgets = {
    followUps: createBudget(limitsPerHour.followUps, nowMs),
    creations: createBudget(LIMIT_PER_HOUR, nowMs),
    analytics: createBudget(limitsPerHour.analytics, nowMs),
    previews: createBudget(5, nowMs, 60_000),
    updates: createBudget(10, nowMs, 10_000),
  };
  let linkSecret = randomUUID();
  const keysOfExports = new Map<string, string>();
  const bundles = new Map<string, Uint8Array<ArrayBuffer>>();
  const app = new Hono<Env>();

  const { plan, hold, release, finish, fail, forget } = exports;
  const platform: StandInPlatform = {
    wire,
    fetch: fetchOf(app),
    get apiKey() {
      return own.apiKey;
    },
    renewKey() {
      const before = own.apiKey;
      own.apiKey = newKey();
      for (const [jobId, key] of keysOfExports) if (key === before) keysOfExports.set(jobId, own.apiKey);
    },
    keysOfExports,
    keyPrefix,
    projectId,
    domains,
    linkLifeMs: options.linkLifeMs ?? 3_600_000,
    endLinks() {
      linkSecret = randomUUID();
    },
    enterprise: options.enterprise ?? true,
    starts: exports.starts,
    exports: exports.exports,
    ...{ plan, hold, release, finish, fail, forget },
    agent,
    site: {
      ...builds,
      clear() {
        builds.clear();
        budgets.previews.clear();
        budgets.updates.clear();
      },
    },
    previews: true,
    buildSites: additions ? (options.buildSites ?? true) : 404,
    views,
    readers,
    analyticsRequests() {
      const made = (operation: AnalyticsOperation) =>
        wire.calls.filter(({ name }) => name === `GET ${ANALYTICS_PATHS[operation]}`).length;
      const operations = Object.keys(ANALYTICS_PATHS) as AnalyticsOperation[];
      return Object.fromEntries(operations.map((operation) => [operation, made(operation)])) as Record<
        AnalyticsOperation,
        number
      >;
    },
    used: { followUps: budgets.followUps.used, analytics: budgets.analytics.used },
    limitsPerHour,
    lacks: new Map(),
    listen: (port) => listenLocally(createServer(getRequestListener(app.fetch)), port),
  };

  /** The organization that asks, or why it is refused. */
  function authorized(c: Context<Env>): ApiCall['organization'] | Response {
    const key = /^Bearer (\S+)$/u.exec(c.req.header('authorization') ?? '')?.[1];
    if (key === undefined) return refuse(401, 'Missing bearer token');
    if (!key.startsWith(keyPrefix)) return refuse(401, 'This is not an admin API key');
    const known = [own, ...others].find((one) => one.apiKey === key);
    return known ?? refuse(401, 'Invalid API key');
  }

  function exportOf({ params, organization }: ApiCall): ExportRecord | undefined {
    const job = exports.find(params.jobId ?? '');
    return job && keysOfExports.get(job.jobId) === organization.apiKey ? job : undefined;
  }

  function route(method: 'GET' | 'POST', template: string, answer: (call: ApiCall) => Response): void {
    app.on(method, template.replace(/\{(\w+)\}/gu, ':$1'), async (c) => {
      const params: Record<string, string> = c.req.param();
      const query = c.req.query();
      const text = await c.req.text();
      const isJson = /^application\/json\b/iu.test(c.req.header('content-type') ?? '');
      const body = isJson ? parsed(text) : undefined;
      const detail = {
        ...params,
        ...(Object.keys(query).length > 0 ? { query } : {}),
        ...(text === '' ? {} : { body: body ?? text }),
      };
      const { origin } = new URL(c.req.url);
      return wire.serve(c, `${method} ${template}`, detail, () => {
        const organization = authorized(c);
        if (organization instanceof Response) return organization;
        const lacking = platform.lacks.get(`${method} ${template}`);
        if (lacking !== undefined) return absent(lacking);
        return answer({ params, query, text, body, origin, organization });
      });
    });
  }

  function limited(budget: { use(): { waitMs: number } | undefined }): Response | undefined {
    const full = budget.use();
    if (!full) return undefined;
    const seconds = String(Math.ceil(full.waitMs / 1000));
    return refuse(429, 'Rate limit exceeded', options.retryAfter ? { 'retry-after': seconds } : {});
  }

  route('POST', '/v1/static-export/jobs', ({ body, organization }) => {
    if (!platform.enterprise) return refuse(403, 'Static export requires the Enterprise plan');
    const request = startRequestFrom(body, organization.domains, additions);
    if ('refused' in request) return refuse(400, request.refused, {}, request.detail);
    const job = exports.start(request);
    keysOfExports.set(job.jobId, organization.apiKey);
    noteCaused(`export ${job.jobId} of ${job.domain} started`);
    if (!additions) return Response.json({ jobId: job.jobId });
    // The contract: a job is queued when started, however quick its plan is.
    return Response.json({ ...exportBody(job, nowMs(), additions), status: 'queued' }, { status: 202 });
  });

  route('GET', '/v1/static-export/jobs/{jobId}', (call) => {
    const job = exportOf(call);
    return job ? Response.json(exportBody(job, nowMs(), additions)) : refuse(404, 'Job not found');
  });

  route('POST', '/v1/static-export/jobs/{jobId}/bundle', (call) => {
    const { text, origin } = call;
    const job = exportOf(call);
    if (!job) return refuse(404, 'Job not found');
    if (text !== '') return refuse(400, 'No body is expected');
    if (exportState(job, nowMs()).status !== 'completed') return refuse(409, 'The job has not completed yet');
    const expiresAtMs = nowMs() + platform.linkLifeMs;
    noteCaused(`link to the bundle of ${job.jobId}`);
    return Response.json({
      ...(additions ? { jobId: job.jobId, sizeBytes: bundleOf(job).length } : {}),
      bundleUrl: origin + presignedPath(linkSecret, job.jobId, expiresAtMs),
      ...spelledDate('expiresAt', expiresAtMs, job.plan.dates ?? 'iso'),
    });
  });

  function bundleOf(job: ExportRecord): Uint8Array<ArrayBuffer> {
    const paths = job.paths ?? sitePaths(pagesOf(job));
    const bundle =
      bundles.get(job.jobId) ?? gzippedTar(siteFiles(job.domain, paths, job.version), job.startedAtMs);
    bundles.set(job.jobId, bundle);
    return bundle;
  }

  app.get('/bundles/:file{.+\\.tar\\.gz}', (c) => {
    const jobId = c.req.param('file').replace(/\.tar\.gz$/u, '');
    const link = {
      jobId,
      expires: c.req.query('X-Expires') ?? '',
      signature: c.req.query('X-Signature') ?? '',
    };
    return wire.serve(c, 'GET /bundles/{jobId}.tar.gz', { jobId }, () => {
      if (!linkWorks(linkSecret, link, nowMs())) return accessDenied();
      const job = exports.find(jobId);
      if (!job) return accessDenied();
      return new Response(bundleOf(job), { headers: { 'content-type': 'application/gzip' } });
    });
  });

  route('POST', '/v2/agent/{projectId}/job/{jobId}/message', ({ params, body }) => {
    const job = params.projectId === projectId ? agent.find(params.jobId ?? '') : undefined;
    if (!job) return refuse(404, 'Job not found');
    const request = promptFrom(body);
    if ('refused' in request) return refuse(400, request.refused);
    if (job.status === 'archived') return refuse(400, 'This job is archived');
    const full = limited(budgets.followUps);
    if (full) return full;
    noteCaused(`instruction to agent job ${job.id}`);
    return Response.json(agent.send(job.id, request.prompt));
  });

  route('GET', '/v2/agent/{projectId}/job/{jobId}', ({ params }) => {
    const job = params.projectId === projectId ? agent.find(params.jobId ?? '') : undefined;
    return job ? Response.json(job) : refuse(404, 'Job not found');
  });

  route('POST', '/v2/agent/{projectId}/job', ({ params, body }) => {
    if (creation !== true) return absent(creation);
    if (params.projectId !== projectId) return refuse(404, 'Project not found');
    const request = promptFrom(body);
    if ('refused' in request) return refuse(400, request.refused);
    const full = limited(budgets.creations);
    if (full) return full;
    const job = agent.create(request.prompt);
    noteCaused(`agent job ${job.id} created`);
    return Response.json(job, { status: 201 });
  });

  /** Why a preview or an update is refused before its body is read. */
  function refusedBuild(id: string | undefined): Response | undefined {
    const { buildSites: can } = platform;
    if (can !== true) return absent(can);
    return id === projectId ? undefined : refuse(404, 'Project not found');
  }

  route('POST', '/v1/project/preview/{projectId}', ({ params, body, origin }) => {
    const refused = refusedBuild(params.projectId);
    if (refused) return refused;
    if (!platform.previews) return refuse(403, 'Preview deployments are not available on your current plan.');
    const request = branchFrom(body);
    if ('refused' in request) return refuse(400, request.refused);
    const full = limited(budgets.previews);
    if (full) return full;
    const { statusId, branch = '', plan } = builds.start(request.branch);
    noteCaused(`preview of ${branch} started`);
    const previewUrl = plan.previewUrl ?? `${origin}/previews/${encodeURIComponent(branch)}`;
    return Response.json({ statusId, previewUrl }, { status: 202 });
  });

  route('POST', '/v1/project/update/{projectId}', ({ params, text }) => {
    const refused = refusedBuild(params.projectId);
    if (refused) return refused;
    if (text !== '') return refuse(400, 'No body is expected');
    const full = limited(budgets.updates);
    if (full) return full;
    const { statusId } = builds.start(undefined);
    noteCaused('update of the site started');
    return Response.json({ statusId }, { status: 202 });
  });

  route('GET', '/v1/project/update-status/{statusId}', ({ params }) => {
    const body = builds.status(params.statusId ?? '');
    return body ? Response.json({ ...body, projectId }) : refuse(404, 'Status not found');
  });

  app.get('/previews/:branch/:file{.+}?', (c) => {
    const { branch, file = 'index.html' } = c.req.param();
    return wire.serve(c, 'GET /previews/{branch}', { branch }, () => {
      const isBuilt = builds.builds.some((one) => one.branch === branch);
      const files = siteFiles(domains[0] ?? '', sitePaths(12), branch, `./${encodeURIComponent(branch)}/`);
      const found = isBuilt && files.find(({ name }) => name === file);
      const type = file.endsWith('.css') ? 'text/css' : 'text/html';
      const headers = { 'content-type': `${type}; charset=utf-8` };
      return found ? new Response(found.content, { headers }) : refuse(404, 'No such preview');
    });
  });

  function analytics(operation: AnalyticsOperation, answer: (query: AnalyticsQuery) => object): void {
    route('GET', ANALYTICS_PATHS[operation], ({ params, query }) => {
      const lacks = readers.without.get(operation);
      if (lacks !== undefined) return absent(lacks);
      if (params.projectId !== projectId) return refuse(404, 'Project not found');
      const full = limited(budgets.analytics);
      if (full) return full;
      const wanted = analyticsQueryFrom(query, ANALYTICS_QUERIES[operation], nowMs());
      const body = 'refused' in wanted ? wanted : answer(wanted);
      return 'refused' in body ? refuse(400, String(body.refused)) : Response.json(body);
    });
  }

  analytics('views', ({ from, to, ...rows }) => views.page(from, to, rows));
  analytics('visitors', (query) => {
    const { views: read } = views.page(query.from, query.to, query);
    const ofPage = ({ path, human, ai, total }: (typeof read)[number]) => ({
      path,
      human: Math.ceil(human / 2),
      ai: Math.ceil(ai / 2),
      total: Math.ceil(total / 2),
    });
    return { totals: readers.visitors(query), visitors: read.map(ofPage) };
  });
  analytics('searches', readers.searches);
  analytics('feedback', readers.feedback);
  analytics('assistant', readers.assistant);

  app.notFound(async (c) =>
    wire.serve(c, `${c.req.method} unknown`, { path: c.req.path }, () => absent(404)),
  );

  return platform;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(
  status: number,
  error: string,
  headers: Record<string, string> = {},
  detail?: object,
): Response {
  return Response.json({ error, ...(detail && { details: [detail] }) }, { status, headers });
}

/** What an address answers that does not exist, takes only other methods, or is not in the plan. */
const absent = (status: number) =>
  refuse(status, { 404: 'Not found', 405: 'Method not allowed' }[status] ?? 'No such operation');

/** What object storage says of a link that ended or was changed. */
function accessDenied(): Response {
  return new Response('<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>', {
    status: 403,
    headers: { 'content-type': 'application/xml' },
  });
}
