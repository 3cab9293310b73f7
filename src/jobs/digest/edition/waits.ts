import { postWhereAsked, reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { limitsOf } from '../figures/limits.ts';
import type { FiguresRun } from '../figures/record.ts';
import type { EditionRun } from './record.ts';
import { waitsMessage } from './reply-view.ts';

const MINUTE_MS = 60_000;

/** Somebody who asked is told of a wait that is longer. */
const MIN_TOLD_MS = 30_000;

/** Returns when the limits that hold these figures up will have let so many requests through, in whole minutes. */
async function doneAtMs(
  figures: FiguresRun,
  requests: number,
  context: JobContext,
): Promise<number | undefined> {
  const docs = context.docs(figures.project);
  if (docs === undefined) return undefined;
  const { needed } = limitsOf(figures, docs, context);
  const waits = await Promise.all(needed.map((limit) => context.rateLimiter.freeInMs(limit, requests)));
  const doneMs = Math.max(context.now() + Math.max(...waits), figures.limitedUntilMs ?? 0);
  return Math.ceil(doneMs / MINUTE_MS) * MINUTE_MS;
}

/**
 * Tells whoever asked, once, about when the digest comes, where limits hold its totals up. Returns whether it did. Of a
 * weekly one that was sent by hand they hear only where they asked.
 */
export async function reportWait(
  run: EditionRun,
  figures: FiguresRun,
  context: JobContext,
): Promise<boolean> {
  const { limitedUntilMs } = figures;
  if (run.waitReported || limitedUntilMs === undefined || limitedUntilMs - context.now() < MIN_TOLD_MS)
    return false;
  const requests = figures.spans.filter(({ counts }) => counts === undefined).length;
  const message = waitsMessage(run, (await doneAtMs(figures, requests, context)) ?? limitedUntilMs);
  if (run.kind === 'weekly') await postWhereAsked(run.id, 'wait', message, context);
  else await reportPrivately(run, { name: 'wait', userId: run.owner.id, message }, context);
  return true;
}
