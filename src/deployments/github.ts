import { z } from 'zod';
import type { GithubWorkflow } from '../projects.ts';
import { verdictOf } from '../runtime/answers.ts';
import { parseJson } from '../runtime/json.ts';
import type { createKey } from '../runtime/key-file.ts';
import { type Answer, firstLine, isRedirect, reasonIn, type Send } from './sender.ts';

/** The inputs of a workflow, which makes its own link from the job id. */
interface Export {
  jobId: string;
  domain?: string | undefined;
  version?: string | undefined;
}

/**
 * A call to GitHub failed. Decide by `happened` and `retryable`: `no` proves that nothing was started.
 * `message` is safe for logs. `text` is GitHub's own, one line without links, and may be shown to a person.
 */
export class GithubError extends Error {
  override readonly name = 'GithubError';
  declare readonly happened: 'no' | 'unknown';
  /** The same call may succeed later, and repeating it is safe. */
  declare readonly retryable: boolean;
  declare readonly status: number | undefined;
  /** The status, a code or a few words. */
  declare readonly reason: string;
  declare readonly retryAfterMs: number | undefined;
  declare readonly text: string | undefined;

  constructor(call: string, isRead: boolean, answer: Answer, text?: string) {
    const { outcome, status, isSent, reason, retryAfterMs } = answer;
    super(`GitHub, ${call}: ${reason}`);
    const limitMs = limitOf(answer, text);
    // An answer of 2xx that is not GitHub's, such as the page of a single sign-on, counts as none.
    const counted = limitMs !== undefined ? 429 : outcome === 'ok' ? undefined : status;
    const verdict = verdictOf(isRead ? 'read' : 'dispatch', counted);
    const happened = !isSent || verdict === 'final' || verdict === 'hour' ? 'no' : 'unknown';
    const retryable = !isSent || verdict === 'hour' || verdict === 'patient';
    Object.assign(this, { happened, retryable, status, reason, retryAfterMs: limitMs ?? retryAfterMs });
    // Not enumerable, so that no log writes it.
    Object.defineProperty(this, 'text', { value: text });
  }
}

/**
 * Returns how long to wait for one of GitHub's limits, by its REST guide; undefined for other answers. The reset belongs to
 * the hourly limit. At the secondary limits, GitHub may only say so in words.
 */
export function limitOf({ status, headers, retryAfterMs }: Answer, text = ''): number | undefined {
  const isHourly = headers['x-ratelimit-remaining'] === '0';
  const isForbidden = status === 403 && (isHourly || retryAfterMs !== undefined || /rate limit/i.test(text));
  if (status !== 429 && !isForbidden) return undefined;
  const resetMs = Number(headers['x-ratelimit-reset']) * 1000 - (Date.parse(`${headers.date}`) || Date.now());
  return retryAfterMs ?? (isHourly && resetMs > 0 ? resetMs : 60_000);
}

const runId = z.number().int().positive();
const dispatchedSchema = z.object({ workflow_run_id: runId.optional().catch(undefined) });
/** Ends of a workflow that are no failures: somebody stopped it, or a condition in it did. */
export const STOPPED = ['cancelled', 'skipped'];

/** A run of a workflow. `conclusion` is set once it has ended. `waits`: for an approval of an environment. */
const runSchema = z
  .object({ id: runId, conclusion: z.string().max(40).nullish(), status: z.unknown() })
  .transform(({ id, conclusion, status }) => ({
    id,
    conclusion: conclusion ?? undefined,
    waits: status === 'waiting' ? (true as const) : undefined,
  }));

/** The host of the pages has no `api.` before it. On GitHub Enterprise Server, it is the same one. */
export const HOST_OF_API = /^(https:\/\/)api\.(?=github\.com$|[\w-]+\.ghe\.com$)/;

/** More redirects are not followed. */
const MAX_REDIRECTS = 3;

/**
 * Returns calls for one workflow, or one event, of a repository. They reject only with `GithubError`. `onExpiry` gets the
 * day on which the token ends, in UTC.
 */
export function createGithub(
  send: Send,
  target: Omit<GithubWorkflow, 'token'>,
  token: ReturnType<typeof createKey>,
  onExpiry?: (day: string) => void,
) {
  const { repository, workflow, event, ref } = target;
  const base = target.apiUrl.replace(/\/$/, '');
  // On the host that the settings name: an answer may name another one.
  const pages = `${new URL(base).origin.replace(HOST_OF_API, '$1')}/${repository}/actions/runs`;
  const withPage = <Run extends { id: number }>(run: Run) => ({ ...run, url: `${pages}/${run.id}` });

  /** Returns the JSON of a 2xx answer. */
  async function call<T>(
    name: string,
    path: string,
    schema: z.ZodType<T>,
    post?: { body: string; isTooLate: () => boolean },
  ): Promise<T> {
    let url = `${base}/repos/${repository}${path && `/${path}`}`;
    for (let redirects = 0; ; ) {
      const used = token.current();
      const headers = {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${used}`,
        // Older GitHub Enterprise Servers do not know the newer version.
        'x-github-api-version': '2022-11-28',
      };
      const answer = await send({ url, headers, maxLength: 200_000, ...post });
      const [day] =
        /^\d{4}-\d\d-\d\d/.exec(`${answer.headers['github-authentication-token-expiration']}`) ?? [];
      // The token of an installation always ends within an hour.
      if (day !== undefined && !used.startsWith('ghs_')) onExpiry?.(day);
      // GitHub redirects if a repository was renamed. Neither this nor a 401 has started anything.
      const { location } = answer.headers;
      const to = typeof location === 'string' ? URL.parse(location, url)?.href : undefined;
      if (answer.status === 401 && token.isRenewed(used)) continue;
      if (isRedirect(answer) && to?.startsWith(`${base}/`) && redirects++ < MAX_REDIRECTS) url = to;
      else if (answer.outcome === 'ok') {
        const { data, success } = schema.safeParse(answer.status === 204 ? {} : parseJson(answer.text));
        if (success) return data;
        throw new GithubError(name, post === undefined, { ...answer, reason: 'unreadable' });
      } else {
        const reason = reasonIn(answer.text).slice(0, 2000).replace(/\s+/gu, ' ');
        throw new GithubError(name, post === undefined, answer, firstLine(reason, token.all));
      }
    }
  }

  return {
    /**
     * Starts the workflow; not repeatable. Returns the run, if GitHub names it: never for an event, and on GitHub
     * Enterprise Server only since 3.21.
     */
    async dispatch({ jobId, domain, version }: Export, isTooLate: () => boolean) {
      // An input that is unknown is left out. GitHub takes no empty one that a workflow requires.
      const inputs = { job_id: jobId, ...(domain && { domain }), ...(version !== undefined && { version }) };
      async function send(path: string, content: object) {
        const post = { body: JSON.stringify(content), isTooLate };
        const { workflow_run_id: id } = await call('dispatch', path, dispatchedSchema, post);
        return { run: id === undefined ? undefined : withPage({ id }) };
      }
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
    getRun: async (id: number) => withPage(await call('run', `actions/runs/${id}`, runSchema)),

    /** Asks for the repository: resolves if it is there and the token may see it. */
    check: () => call('repository', '', z.unknown()),
  };
}
