import { z } from 'zod';
import type { GithubWorkflow } from '../projects.ts';
import { type Answer, firstLine, type Sender } from './sender.ts';

/** What a workflow is told. It makes its own link from the job id. */
interface Export {
  jobId: string;
  domain: string;
  version?: string | undefined;
}

/** A run of a workflow. `conclusion` is set once its `status` is `completed`. */
export interface GithubRun {
  id: number;
  url: string;
  status: string;
  conclusion: string | undefined;
}

/** GitHub tells the run only of a workflow, and GitHub Enterprise Server only since 3.21; else use `findRun`. */
interface Dispatched {
  happened: 'yes';
  run?: Pick<GithubRun, 'id' | 'url'>;
}

/**
 * A call to GitHub has no result. Decide by `happened` and `retryable`: `no` is a proof that nothing was started.
 * `message` is safe for logs. `text` is GitHub's own, one line without links, and may be shown to a person.
 */
export class GithubError extends Error {
  override readonly name = 'GithubError';
  readonly happened: 'no' | 'unknown';
  /** The same call may succeed later, and repeating it is safe. */
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  declare readonly text: string | undefined;

  constructor(call: Call, answer: Answer, text?: string) {
    super(`GitHub, ${call.name}: ${answer.status === undefined ? answer.reason : `status ${answer.status}`}`);
    const { happened, isTransient } = meaningOf(answer);
    this.happened = happened;
    this.retryable = isTransient && (happened === 'no' || call.method === 'GET');
    this.status = answer.status;
    this.retryAfterMs = answer.status === undefined ? undefined : answer.retryAfterMs;
    // Not enumerable, so that no log writes it.
    Object.defineProperty(this, 'text', { value: text });
  }
}

/** Redirects are those of a renamed repository. GitHub also answers 403 at its rate limits. */
function meaningOf(answer: Answer): { happened: 'no' | 'unknown'; isTransient: boolean } {
  if (answer.status === undefined) return { happened: answer.isSent ? 'unknown' : 'no', isTransient: true };
  const { status, headers, retryAfterMs } = answer;
  if (status < 300 || status >= 500 || status === 408) return { happened: 'unknown', isTransient: true };
  const isLimited = retryAfterMs !== undefined || headers['x-ratelimit-remaining'] === '0';
  return { happened: 'no', isTransient: status === 429 || (status === 403 && isLimited) };
}

interface Call {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body?: object;
  isTooLate?: () => boolean;
  signal?: AbortSignal | undefined;
}

const link = z.url({ protocol: /^https?$/ }).max(500);
const runId = z.number().int().positive();
const dispatchedSchema = z.object({ workflow_run_id: runId, html_url: link });
const runSchema = z.object({
  id: runId,
  html_url: link,
  status: z.string().max(40),
  conclusion: z.string().max(40).nullish(),
  display_title: z.string().catch(''),
});
const runsSchema = z.object({ workflow_runs: z.array(runSchema) });

/** Ten runs are about 200 KB. */
const MAX_BYTES = 2_000_000;

/** The newer version of the API is unknown to older GitHub Enterprise Servers. */
const API_VERSION = '2022-11-28';

/** Our clock and GitHub's may differ by this much. */
const CLOCKS_MS = 30_000;

/** Returns calls for one workflow, or one event, of a repository. They reject only with `GithubError`. */
export function createGithub(sender: Pick<Sender, 'send' | 'timeoutMs'>, target: GithubWorkflow) {
  const { apiUrl, repository, workflow, event, ref, token } = target;
  const runsPath =
    workflow === undefined ? 'actions/runs' : `actions/workflows/${encodeURIComponent(workflow)}/runs`;

  /** Returns the JSON of a 2xx answer, undefined if it is none. */
  async function call(one: Call): Promise<unknown> {
    const { method, path, body, isTooLate, signal } = one;
    const answer = await sender.send({
      method,
      url: `${apiUrl}/repos/${repository}/${path}`,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': API_VERSION,
      },
      body: body && JSON.stringify(body),
      maxBytes: MAX_BYTES,
      isTooLate,
      signal,
    });
    const json = answer.status === undefined ? undefined : parseJson(answer.text);
    if (answer.status !== undefined && answer.status >= 200 && answer.status < 300) return json;
    const said = z.object({ message: z.string() }).safeParse(json).data?.message;
    throw new GithubError(one, answer, said && firstLine(said.slice(0, 2000).replace(/\s+/gu, ' '), [token]));
  }

  async function read<T extends z.ZodType>(schema: T, name: string, path: string, signal?: AbortSignal) {
    const parsed = schema.safeParse(await call({ name, method: 'GET', path, signal }));
    if (parsed.success) return parsed.data;
    throw new GithubError(
      { name, method: 'GET', path },
      { status: undefined, isSent: true, reason: 'unreadable' },
    );
  }

  return {
    /** Starts the workflow. It must not happen twice. */
    async dispatch({ jobId, domain, version }: Export, isTooLate: () => boolean): Promise<Dispatched> {
      // For both requests together.
      const signal = AbortSignal.timeout(sender.timeoutMs);
      const inputs = { job_id: jobId, domain, ...(version !== undefined && { version }) };
      const name = 'dispatch';
      if (workflow === undefined) {
        const body = { event_type: event, client_payload: inputs };
        await call({ name, method: 'POST', path: 'dispatches', body, isTooLate, signal });
        return { happened: 'yes' };
      }
      const path = `actions/workflows/${encodeURIComponent(workflow)}/dispatches`;
      const send = (more: object) =>
        call({ name, method: 'POST', path, body: { ref, inputs, ...more }, isTooLate, signal });
      const json = await send({ return_run_details: true }).catch((error: GithubError) => {
        // GitHub Enterprise Server before 3.21 refuses the key.
        if (error.status === 422 && error.text?.includes('return_run_details')) return send({});
        throw error;
      });
      const { data: run } = dispatchedSchema.safeParse(json);
      return { happened: 'yes', ...(run && { run: { id: run.workflow_run_id, url: run.html_url } }) };
    },

    /**
     * Returns the run that a dispatch at about `sinceMs` started: the one with the job id in its title, else the only
     * one. Undefined if there is none yet, or if it could be another.
     */
    async findRun(jobId: string, sinceMs: number, signal?: AbortSignal): Promise<GithubRun | undefined> {
      const from = new Date(sinceMs - CLOCKS_MS).toISOString().replace(/\.\d+/, '');
      const kind = workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch';
      const query = new URLSearchParams({ event: kind, created: `>=${from}`, per_page: '10' });
      const { workflow_runs: runs } = await read(runsSchema, 'runs', `${runsPath}?${query}`, signal);
      const named = runs.find(({ display_title: title }) => title.includes(jobId));
      // Without a title of its own, a run has that of its event.
      const others = runs.filter(({ display_title: title }) => workflow !== undefined || title === event);
      const run = named ?? (others.length === 1 ? others[0] : undefined);
      return run && toRun(run);
    },

    /** Returns a run by its id. */
    getRun: async (id: number, signal?: AbortSignal): Promise<GithubRun> =>
      toRun(await read(runSchema, 'run', `actions/runs/${id}`, signal)),
  };
}

const toRun = ({ id, html_url: url, status, conclusion }: z.output<typeof runSchema>): GithubRun => ({
  id,
  url,
  status,
  conclusion: conclusion ?? undefined,
});

/** Returns undefined if the text is not JSON: the parser's error would quote it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
