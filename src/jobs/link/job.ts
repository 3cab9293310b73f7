import { z } from 'zod';
import type { DocsApi } from '../../docs-api/client.ts';
import { DocsApiError } from '../../docs-api/errors.ts';
import type { Log } from '../../log.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { AuditStore } from '../../store/audit.ts';
import type { LinkStore } from '../../store/links.ts';
import type { RunStore } from '../../store/runs.ts';
import { backoffMs, type Timing } from '../../timing.ts';
import { makeLink, mayComeYet } from '../bundle-link.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { type LinkRun, linkRun } from './run.ts';
import { linkMessages } from './view.ts';

export interface LinkContext {
  runs: RunStore;
  docs: (project: string) => DocsApi | undefined;
  links: LinkStore;
  outbox: Outbox;
  audit: AuditStore;
  tellAdmins: (teamId: string, project: string) => Promise<boolean>;
  /** Sees to it that the run is looked at soon. */
  wake: (run: LinkRun) => Promise<void>;
  /** Aborted when the process is to stop. */
  stopping: AbortSignal;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

/** Makes one person's own link, sends it by direct message, and takes it out of there when it ends. */
export const linkJob = defineJob<{ runId: string }, LinkContext>({
  name: 'link',
  queue: 'docs-export',
  concurrency: 5,
  data: z.object({ runId: z.string() }),

  async run({ runId }, context) {
    const run = await context.runs.load(runId, linkRun);
    if (run === undefined) {
      await context.runs.forget('link', runId);
      return done;
    }
    await show(run, context);
    switch (run.state) {
      case 'making':
        return make(run, context);
      case 'sent': {
        const leftMs = (run.linkEndsAtMs ?? context.now()) - context.now();
        if (run.linkEndsAtMs === undefined) return settle(run, context);
        return leftMs > 0 ? lookAgainIn(leftMs) : advance(run, { state: 'over' }, context);
      }
      case 'over':
      case 'failed':
        return settle(run, context);
    }
  },

  async giveUp({ runId }, context, ref) {
    const run = await context.runs.load(runId, linkRun);
    if (run?.state !== 'making') return;
    const failed: LinkRun = { ...run, state: 'failed' };
    const saved = await context.runs.save(failed);
    if (saved === undefined) return;
    await show(saved, context);
    await note(saved, `broken: ref ${ref}`, context);
    await context.runs.settle(saved, true);
  },
});

async function show(run: LinkRun, { outbox }: LinkContext) {
  for (const shown of linkMessages(run)) await outbox.show(run.teamId, shown, run.rev);
}

async function make(run: LinkRun, context: LinkContext): Promise<Outcome> {
  const { now, timing, random } = context;
  if (now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - now());
  const docs = context.docs(run.project);
  if (docs === undefined) return end(run, { state: 'failed' }, 'no such project', context);
  try {
    const { link, linkEndsAtMs } = await makeLink(docs, run.exportJobId, `${run.id}.${run.made}`, context);
    return end(run, { state: 'sent', link, linkEndsAtMs }, 'sent', context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return lookAgainIn(0);
    if (error.kind === 'key_rejected') await context.tellAdmins(run.teamId, run.project);
    const failures = run.failures + 1;
    const nextMs = now() + Math.max(error.retryAfterMs ?? 0, backoffMs(timing, failures, random()));
    if (!mayComeYet(error, nextMs, run.sinceMs, context))
      return end(run, { state: 'failed' }, error.kind, context);
    return advance(run, { failures, nextLookAtMs: nextMs }, context, nextMs - now());
  }
}

/** Leaves an audit line, then saves: after a crash it may stand there twice, but is never missing. */
async function end(run: LinkRun, changes: Partial<LinkRun>, result: string, context: LinkContext) {
  await note(run, result, context);
  return advance(run, changes, context);
}

async function note({ teamId, to, site, exportJobId }: LinkRun, result: string, context: LinkContext) {
  await context.audit.add(teamId, {
    atMs: context.now(),
    user: to,
    channel: '',
    what: 'link',
    subject: site,
    job: exportJobId,
    result,
  });
}

async function advance(
  run: LinkRun,
  changes: Partial<LinkRun>,
  context: LinkContext,
  inMs = 0,
): Promise<Outcome> {
  const saved = await context.runs.save({ ...run, ...changes });
  if (saved !== undefined) return lookAgainIn(inMs);
  context.log.info({ run: run.id, rev: run.rev }, 'the run was changed meanwhile');
  await context.wake(run);
  return done;
}

async function settle(run: LinkRun, context: LinkContext): Promise<Outcome> {
  await context.runs.settle(run, true);
  return done;
}
