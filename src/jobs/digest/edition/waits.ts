import { postWhereAsked, reportPrivately } from '../../card.ts';
import type { JobContext } from '../../context.ts';
import { limitsOf } from '../figures/limits.ts';
import { causeOf, type FiguresRun, READER_PARTS } from '../figures/record.ts';
import { PAGE_LIMIT } from '../figures/requests.ts';
import { isRefusal, type PlatformCause } from '../model.ts';
import type { EditionRun } from './record.ts';
import { stuckReply, waitsMessage } from './reply-view.ts';

const MINUTE_MS = 60_000;

const HOUR_MS = 60 * MINUTE_MS;

/** A requester is informed of waits longer than this. */
const MIN_TOLD_MS = 30_000;

/** This many consecutive failures are not chance. */
const MIN_FAILURES = 3;

/** Whether to report a failure: a transient one may pass by itself. */
const isLasting = ({ pollFailure: trouble }: FiguresRun) =>
  trouble !== undefined && trouble.kind !== 'limit' && (isRefusal(trouble) || trouble.inARow >= MIN_FAILURES);

/** Returns why a digest is late, once its owner should know: at once if only a person can fix it. */
export function stuckBy(
  { dueAtMs }: Pick<EditionRun, 'dueAtMs'>,
  figures: FiguresRun,
  { now }: Pick<JobContext, 'now'>,
): PlatformCause | undefined {
  const cause = causeOf(figures);
  const lateMs = now() - dueAtMs;
  return cause !== undefined && lateMs >= (isRefusal(cause) ? 0 : HOUR_MS) ? cause : undefined;
}

/** Returns when the limits will have allowed this many `requests`, in whole minutes. */
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

/** Returns the remaining requests for these figures; a list of pages is assumed to have `pages` entries. */
function requestsLeft(figures: FiguresRun, pages: number | undefined): number | undefined {
  const { spans, readers, requests, maxRequests } = figures;
  const listed = figures.pages?.state === 'collecting' ? figures.pages : undefined;
  const left = maxRequests === undefined ? undefined : Math.max(0, maxRequests - requests);
  if (listed !== undefined && pages === undefined) return left;
  const ofPages = listed && Math.max(1, Math.ceil(((pages ?? 0) - listed.offset) / PAGE_LIMIT));
  const ofReaders = readers && READER_PARTS.length - readers.done.length;
  const all = spans.filter(({ counts }) => counts === undefined).length + (ofReaders ?? 0) + (ofPages ?? 0);
  return Math.min(all, left ?? all);
}

type PagesWait = Pick<EditionRun, 'pagesByMs' | 'pagesFromMs' | 'pagesHeld'>;

/**
 * If the last estimate no longer holds, returns the expected time of the delayed lists of pages: a list is assumed as
 * long as the other range's. If the platform fails, or refuses again after a wait, returns why the time is unknown.
 * Returns undefined if nothing is new.
 */
export async function findPagesWait(
  run: PagesWait,
  all: readonly (FiguresRun | undefined)[],
  context: JobContext,
): Promise<PagesWait | undefined> {
  const open = all.flatMap((one) => (one && one.state !== 'ended' ? [one] : []));
  const saidMs = run.pagesByMs ?? run.pagesFromMs;
  const isBroken = saidMs !== undefined && saidMs <= context.now();
  const failing = open.find((one) => isLasting(one) || (isBroken && one.pollFailure?.kind === 'limit'));
  const pagesHeld = failing && causeOf(failing);
  if (pagesHeld !== undefined && pagesHeld.kind !== run.pagesHeld?.kind)
    return { pagesByMs: undefined, pagesFromMs: undefined, pagesHeld };
  // No second promise is made.
  if (run.pagesHeld !== undefined) return undefined;
  const held = open.find(({ limitedUntilMs }) => limitedUntilMs !== undefined);
  if (held?.limitedUntilMs === undefined) return undefined;
  if (saidMs !== undefined && saidMs > context.now() && saidMs > held.limitedUntilMs - MINUTE_MS)
    return undefined;
  const pages = all.find((one) => one?.pages?.state === 'complete')?.pages?.offset;
  let requests: number | undefined = 0;
  for (const one of open) {
    const left = requestsLeft(one, pages);
    requests = left === undefined || requests === undefined ? undefined : requests + left;
  }
  const pagesByMs = requests && (await doneAtMs(held, requests, context));
  return pagesByMs
    ? { pagesByMs, pagesFromMs: undefined }
    : { pagesByMs: undefined, pagesFromMs: held.limitedUntilMs };
}

/**
 * Informs the requester, once, of the delay by limits and its expected end, or of the failure. Returns whether it did.
 * For a weekly digest sent by hand, only in the conversation of the request.
 */
export async function reportWait(
  run: EditionRun,
  figures: FiguresRun,
  context: JobContext,
): Promise<boolean> {
  const { limitedUntilMs } = figures;
  if (run.waitReported) return false;
  if (run.kind === 'weekly' && isLasting(figures)) {
    await postWhereAsked(run.id, `wait ${run.sinceMs}`, stuckReply(run, causeOf(figures)), context);
    return true;
  }
  if (limitedUntilMs === undefined || limitedUntilMs - context.now() < MIN_TOLD_MS) return false;
  const requests = figures.spans.filter(({ counts }) => counts === undefined).length;
  const message = waitsMessage(run, (await doneAtMs(figures, requests, context)) ?? limitedUntilMs);
  if (run.kind !== 'weekly')
    return (await reportPrivately(run, { name: 'wait', userId: run.owner.id, message }, context)) === 0;
  await postWhereAsked(run.id, `wait ${run.sinceMs}`, message, context);
  return true;
}
