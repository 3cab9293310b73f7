import { z } from 'zod';
import type { GithubWorkflow } from '../projects.ts';
import { parseJson } from '../runtime/json.ts';
import { type Answer, firstLine, type Send } from './sender.ts';

/** The inputs of a workflow, which makes its own link from the job id. */
interface Export {
  jobId: string;
  domain: string;
  version?: string | undefined;
}

/**
 * A call to GitHub failed. Decide by `happened` and `retryable`: `no` proves that nothing was started.
 * `message` is safe for logs. `text` is GitHub's own, one line without links, and may be shown to a person.
 */
export class GithubError extends Error {
  override readonly name = 'GithubError';
  readonly happened: 'no' | 'unknown';
  /** The same call may succeed later, and repeating it is safe. */
  readonly retryable: boolean;
  readonly status: number | undefined;
  /** The status, a code or a few words. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  declare readonly text: string | undefined;

  constructor(call: string, isRead: boolean, answer: Answer, text?: string) {
    const { outcome, status, isSent, reason, headers, retryAfterMs } = answer;
    super(`GitHub, ${call}: ${reason}`);
    // GitHub redirects if a repository was renamed, and may answer 403 at its rate limits.
    const isRefused = outcome === 'refused' && status !== 408;
    const isLimited = retryAfterMs !== undefined || headers['x-ratelimit-remaining'] === '0';
    this.happened = isRefused || !isSent ? 'no' : 'unknown';
    this.retryable = isRefused ? status === 429 || (status === 403 && isLimited) : isRead || !isSent;
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    // Not enumerable, so that no log writes it.
    Object.defineProperty(this, 'text', { value: text });
  }
}

const link = z.url({ protocol: /^https?$/ }).max(500);
const runId = z.number().int().positive();
const dispatchedSchema = z
  .object({ workflow_run_id: runId, html_url: link })
  .transform(({ workflow_run_id: id, html_url: url }) => ({ run: { id, url } }))
  .or(z.unknown().transform(() => ({ run: undefined })));
/** A run of a workflow. `conclusion` is set once it has ended. */
const runSchema = z
  .object({
    id: runId,
    html_url: link,
    conclusion: z.string().max(40).nullish(),
  })
  .transform(({ id, html_url: url, conclusion }) => ({ id, url, conclusion: conclusion ?? undefined }));

/** Returns calls for one workflow, or one event, of a repository. They reject only with `GithubError`. */
export function createGithub(send: Send, target: GithubWorkflow) {
  const { apiUrl, repository, workflow, event, ref, token } = target;

  /** Returns the JSON of a 2xx answer. */
  async function call<T>(
    name: string,
    path: string,
    schema: z.ZodType<T>,
    post?: { body: string; isTooLate: () => boolean },
  ): Promise<T> {
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      // Older GitHub Enterprise Servers do not know the newer version.
      'x-github-api-version': '2022-11-28',
    };
    const url = `${apiUrl.replace(/\/$/, '')}/repos/${repository}/${path}`;
    const answer = await send({ url, headers, maxLength: 200_000, ...post });
    const json = parseJson(answer.text);
    const isRead = post === undefined;
    if (answer.outcome === 'ok') {
      const { data, success } = schema.safeParse(json);
      if (success) return data;
      throw new GithubError(name, isRead, { ...answer, reason: 'unreadable' });
    }
    const reason = z.object({ message: z.string() }).safeParse(json).data?.message;
    const text = reason && firstLine(reason.slice(0, 2000).replace(/\s+/gu, ' '), [token]);
    throw new GithubError(name, isRead, answer, text);
  }

  return {
    /**
     * Starts the workflow; not repeatable. Returns the run, if GitHub names it: never for an event, and on GitHub
     * Enterprise Server only since 3.21.
     */
    async dispatch({ jobId, domain, version }: Export, isTooLate: () => boolean) {
      const inputs = { job_id: jobId, domain, ...(version !== undefined && { version }) };
      const send = (path: string, body: object) =>
        call('dispatch', path, dispatchedSchema, { body: JSON.stringify(body), isTooLate });
      if (workflow === undefined) return send('dispatches', { event_type: event, client_payload: inputs });
      const body = { ref, inputs };
      const path = `actions/workflows/${encodeURIComponent(workflow)}/dispatches`;
      return send(path, { ...body, return_run_details: true }).catch((error: GithubError) => {
        // An older server refuses the key. The second request still has to leave within the margin of `callOnce`.
        if (error.status !== 422 || !error.text?.includes('return_run_details')) throw error;
        return send(path, body);
      });
    },

    /** Returns a run by its id. */
    getRun: (id: number) => call('run', `actions/runs/${id}`, runSchema),
  };
}
