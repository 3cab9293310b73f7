import { z } from 'zod';
import { checksOf, type HostCalls, outsideText, type Pull } from './pull.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const user = z.object({ username: outsideText }).nullish();

const fields = z.object({
  iid: z.number(),
  state: z.string(),
  draft: z.boolean().nullish(),
  sha: z.string().max(64).nullish(),
  created_at: time.nullish(),
  updated_at: time,
  merged_at: time.nullish(),
  closed_at: time.nullish(),
  merge_user: user,
  merged_by: user,
});

const toPull = (one: z.infer<typeof fields>): Pull => ({
  number: one.iid,
  state: one.state === 'merged' || one.state === 'closed' ? one.state : 'open',
  isDraft: one.draft ?? false,
  headSha: one.sha ?? '',
  createdAtMs: one.created_at ?? undefined,
  updatedAtMs: one.updated_at,
  endedAtMs: one.merged_at ?? one.closed_at ?? undefined,
  by: (one.merge_user ?? one.merged_by)?.username,
});

const mergeRequest = z.object({
  detailed_merge_status: z.string().nullish(),
  head_pipeline: z.object({ id: z.number(), status: z.string() }).nullish(),
});
const approvals = z.object({ approved_by: z.array(z.unknown()) });
const jobs = z.array(z.object({ name: outsideText, allow_failure: z.boolean().nullish() }));

/** States of a pipeline in which it will go on by itself. */
const RUNNING = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'];

export const gitlabCalls = (): HostCalls => ({
  headers: (token) => ({ 'private-token': token }),
  pathOf: (repository) => `projects/${encodeURIComponent(repository)}`,
  list: {
    path: 'merge_requests?state=all&order_by=updated_at&sort=desc&per_page=100',
    schema: z.array(fields.transform(toPull)),
  },
  // The merge request, its approvals, and the failed jobs.
  cost: 3,
  rights: 'the scope read_api, and access to the project',

  read: (get, number) => get(`merge_requests/${number}`, fields.transform(toPull)),

  async details(get, { number }) {
    const found = await get(`merge_requests/${number}`, mergeRequest);
    const approved = (await get(`merge_requests/${number}/approvals`, approvals))?.approved_by ?? [];
    const { id, status = '' } = found?.head_pipeline ?? {};
    const failed =
      status === 'failed' ? await get(`pipelines/${id}/jobs?scope[]=failed&per_page=100`, jobs) : [];
    const names = (failed ?? []).flatMap(({ name, allow_failure }) => (allow_failure ? [] : [name]));
    const state = RUNNING.includes(status) ? 'running' : status === 'failed' ? 'failed' : 'passed';
    const isRequested = found?.detailed_merge_status === 'requested_changes';
    return {
      review: isRequested ? 'changesRequested' : approved.length > 0 ? 'approved' : 'none',
      ...checksOf(
        state === 'failed' && names.length > 0
          ? names.map((name) => ({ name, state }))
          : status === ''
            ? []
            : [{ name: 'the pipeline', state }],
      ),
    };
  },
});
