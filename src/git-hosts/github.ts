import { z } from 'zod';
import { checksOf, type HostCalls, outsideText, type Pull } from './pull.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const sha = z.string().regex(/^[0-9a-f]{7,64}$/);
const login = z.object({ login: outsideText }).nullish();

const pullSchema = z
  .object({
    number: z.number(),
    state: z.string(),
    draft: z.boolean().nullish(),
    head: z.object({ sha }),
    user: login,
    created_at: time.nullish(),
    updated_at: time,
    closed_at: time.nullish(),
    merged_at: time.nullish(),
    merged_by: login,
  })
  .transform(
    ({
      number,
      state,
      draft,
      head,
      user,
      created_at,
      updated_at,
      closed_at,
      merged_at,
      merged_by,
    }): Pull => ({
      number,
      state: merged_at ? 'merged' : state === 'closed' ? 'closed' : 'open',
      isDraft: draft ?? false,
      headSha: head.sha,
      author: user?.login,
      createdAtMs: created_at ?? undefined,
      updatedAtMs: updated_at,
      endedAtMs: merged_at ?? closed_at ?? undefined,
      by: merged_by?.login,
    }),
  );

const reviews = z.array(z.object({ user: login, state: z.string() }));
const checkRun = z.object({ name: outsideText, status: z.string(), conclusion: z.string().nullish() });
const checkRuns = z.object({ check_runs: z.array(checkRun) });
const workflowRuns = z.object({ workflow_runs: z.array(checkRun.extend({ name: outsideText.nullish() })) });
const statuses = z.object({ statuses: z.array(z.object({ context: outsideText, state: z.string() })) });

const FAILED = ['failure', 'timed_out', 'startup_failure', 'action_required', 'error'];

/** Returns the calls to GitHub. They remember that a fine-grained token cannot read check runs. */
export function githubCalls(): HostCalls {
  let isFineGrained = false;
  return {
    headers: (token) => ({
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      // Older GitHub Enterprise Servers do not know the newer version.
      'x-github-api-version': '2022-11-28',
    }),
    pathOf: (repository) => `repos/${repository}`,
    list: {
      path: 'pulls?state=all&sort=updated&direction=desc&per_page=100',
      schema: z.array(pullSchema),
    },
    // Reviews, check runs or workflow runs, statuses.
    cost: 3,
    rights: 'Pull requests: read, Actions: read and Commit statuses: read',

    read: (get, number) => get(`pulls/${number}`, pullSchema),

    async details(get, { number, headSha, author }) {
      const given = (await get(`pulls/${number}/reviews?per_page=100`, reviews)) ?? [];
      const options = { mayBeForbidden: true };
      const seen = isFineGrained
        ? undefined
        : await get(`commits/${headSha}/check-runs?per_page=100`, checkRuns, options);
      isFineGrained = seen === undefined;
      const runs =
        seen?.check_runs ??
        (await get(`actions/runs?head_sha=${headSha}&per_page=100`, workflowRuns))?.workflow_runs ??
        [];
      const older = (await get(`commits/${headSha}/status?per_page=100`, statuses))?.statuses ?? [];
      return {
        review: reviewOf(given.filter(({ user }) => author === undefined || user?.login !== author)),
        ...checksOf([
          ...runs.map(({ name, status, conclusion }) => ({
            name: name ?? 'a workflow',
            state: stateOf(status === 'completed' ? (conclusion ?? '') : 'pending'),
          })),
          ...older.map(({ context, state }) => ({ name: context, state: stateOf(state) })),
        ]),
      };
    },
  };
}

function stateOf(state: string) {
  if (state === 'pending') return 'running' as const;
  return FAILED.includes(state) ? ('failed' as const) : ('passed' as const);
}

/** The last review of each person counts; a comment does not change what that person decided before. */
function reviewOf(given: z.infer<typeof reviews>) {
  const last = new Map<string, string>();
  for (const { user, state } of given) {
    const name = user?.login ?? '';
    if (state !== 'COMMENTED' || !last.has(name)) last.set(name, state);
  }
  const states = [...last.values()];
  if (states.includes('CHANGES_REQUESTED')) return 'changesRequested' as const;
  if (states.includes('APPROVED')) return 'approved' as const;
  return states.includes('COMMENTED') ? ('commented' as const) : ('none' as const);
}
