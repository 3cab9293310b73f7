import Papa from 'papaparse';
import { backoffMs } from '../../../runtime/timing.ts';
import { lacksScope, SlackApiError } from '../../../slack/errors.ts';
import { holdWhenLimited, retryOf, slackRateLimit } from '../../../slack/rate-limits.ts';
import { singleLine } from '../../../slack/text.ts';
import type { JobContext } from '../../context.ts';
import { type StepResult, save, wait } from '../../job.ts';
import { rangeKey } from '../figures/record.ts';
import { comparePages, type PageChange, totalOf } from '../model.ts';
import { typedRange, weekBefore } from '../weeks.ts';
import { type DigestFile, type EditionRun, rootKey } from './record.ts';

/** A file is not tried again this long after its digest was posted. */
const GIVE_UP_MS = 3_600_000;

/** After this many checks, each pause twice the previous one, the completion of a file counts as not happened. */
const MAX_CHECKS = 5;

/** The changes of a file, which is due again after `inMs`, or only a pause in milliseconds. */
type Progress = number | (Partial<DigestFile> & { inMs?: number });

/**
 * Takes the next step for the list of all pages as a file in the thread: upload of its bytes, completion, check that
 * Slack can show it. The id is saved before the completion, which is made once; Slack resolves an unclear one. Returns
 * undefined if the file is there, or has failed.
 */
export async function stepCsv(
  run: EditionRun,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const { csv, pages } = run;
  const root = await context.outbox.deliveryState(rootKey(run));
  if (root.kind !== 'shown' || pages === undefined || csv?.state !== 'open') return undefined;
  const nowMs = context.now();
  const waitMs = (csv.nextMs ?? 0) - nowMs;
  if (waitMs > 0) return wait(waitMs);
  const title = `page-views-${run.week ?? typedRange(run.range)}.csv`;
  const place = { channel: root.channel, threadTs: root.ts };
  const call =
    csv.fileId === undefined
      ? upload(run, title, context)
      : complete(run, csv, { fileId: csv.fileId, title, ...place }, context);
  const progress = await call.catch((error: unknown) => afterError(run, csv, error, context));
  if (typeof progress === 'number') return wait(progress);
  const { inMs, ...changes } = progress;
  const isOver = inMs !== undefined && nowMs - run.sinceMs >= GIVE_UP_MS;
  const nextMs = inMs === undefined ? undefined : nowMs + inMs;
  const next: Partial<DigestFile> = isOver ? { state: 'failed' } : { ...changes, nextMs };
  return save({ ...run, csv: { ...csv, ...next } });
}

function afterError(
  run: EditionRun,
  { failures: before, attempt }: DigestFile,
  error: unknown,
  context: JobContext,
): Progress {
  if (!(error instanceof SlackApiError)) throw error;
  const { kind, code, method } = error;
  const about = { run: run.id };
  const isRefused = lacksScope(error);
  const known = isRefused ? undefined : retryOf(error, before, about, context);
  if (known !== undefined) return known;
  context.log.warn({ ...about, kind, code, method }, 'a file of a digest was not taken');
  const failures = before + 1;
  const inMs = backoffMs(context.timing, failures, context.random());
  // An upload address expires.
  if (method === 'files.upload') return { failures, inMs };
  // Slack drops uploads that are not completed in time.
  if (kind === 'missing' && !isRefused)
    return { fileId: undefined, attempt: attempt + 1, failures, checks: 0, inMs };
  return { state: 'failed' };
}

/** The limits of the workspace for file calls: `take` returns for how many milliseconds a call must wait. */
function slotsOf({ id, teamId }: EditionRun, { rateLimiter, timing }: JobContext) {
  type Method = 'begin' | 'complete' | 'info';
  const limitOf = (method: Method) => slackRateLimit(`files-${method}`, teamId, timing);
  return {
    take: (method: Method) => rateLimiter.takeSlot(limitOf(method), { id }),
    hold: (method: Method) => holdWhenLimited(rateLimiter, limitOf(method)),
  };
}

/** Safe to repeat: an upload without completion is in no conversation, and Slack drops it. */
async function upload(run: EditionRun, filename: string, context: JobContext): Promise<Progress> {
  const { slack, timing, figures } = context;
  const slots = slotsOf(run, context);
  const waitMs = await slots.take('begin');
  if (waitMs > 0) return waitMs;
  const isCompared = run.pages?.sumBefore !== undefined;
  const before = isCompared ? figures.pages(run, rangeKey(weekBefore(run.range))) : [];
  const bytes = pagesCsv(await comparePages(figures.pages(run, rangeKey(run.range)), before), isCompared);
  const address = slack.getUploadAddress({ filename, bytes: bytes.length });
  const { fileId, uploadUrl } = await address.catch(slots.hold('begin'));
  await slack.uploadBytes(uploadUrl, bytes, timing.slackCallMs);
  return { fileId, failures: 0 };
}

async function complete(
  run: EditionRun,
  { attempt, checks }: DigestFile,
  file: { fileId: string; title: string; channel: string; threadTs: string },
  context: JobContext,
): Promise<Progress> {
  const { slack, callOnce, callResult, timing } = context;
  const slots = slotsOf(run, context);
  const step = `csv ${file.fileId} ${attempt}`;
  const isNew = (await callResult(run.id, step)) === undefined;
  const waitMs = isNew ? await slots.take('complete') : 0;
  if (waitMs > 0) return waitMs;
  const completed = await callOnce(run, step, timing.slackCallMs, async () => {
    await slack.completeUpload(file).catch(slots.hold('complete'));
    return true;
  });
  if (completed.kind === 'inFlight') return completed.forMs;
  if (completed.kind === 'notHappened') throw completed.error;
  const infoMs = await slots.take('info');
  if (infoMs > 0) return infoMs;
  const info = await slack.fileInfo(file.fileId).catch(slots.hold('info')).catch(unfinished);
  // A shared file is there, even if Slack does not know its contents yet.
  if (info.sharedIn.includes(file.channel)) return { state: 'done' };
  const inMs = Math.min(timing.retryMaxMs, timing.retryMinMs * 2 ** checks);
  // Slack shares a file after its answer.
  if (checks < MAX_CHECKS) return { checks: checks + 1, failures: 0, inMs };
  return completed.kind === 'done'
    ? { state: 'failed' }
    : { attempt: attempt + 1, checks: 0, failures: 0, inMs };
}

/** The state of a file whose upload was never finished. */
function unfinished(error: unknown) {
  if (error instanceof SlackApiError && error.kind === 'missing') return { sharedIn: [] as string[] };
  throw error;
}

const COLUMNS = ['path', 'people', 'ai', 'total', 'people_before', 'ai_before', 'total_before', 'change'];
/** Without it, spreadsheets misread UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
const END_OF_LINE = '\r\n';

/** Rows per chunk: one string of all rows would take many times its size while it grows. */
const CHUNK = 1000;

/** Spreadsheets run text that begins so, some also in the wide forms. Papa's own pattern stops at a line break. */
const FORMULA = /^[=+\-@＝＋－＠]/u;

/**
 * Returns all pages of either range as CSV in UTF-8, most views first. If the range before is unknown, its cells are
 * empty. Paths are text from readers: they are stripped of invisible and control characters, never start a formula, and
 * are quoted, since a spreadsheet that divides at semicolons would find cells in them.
 */
export function pagesCsv(pages: readonly PageChange[], isCompared: boolean): Buffer {
  const sorted = pages
    .filter((page) => totalOf(page) > 0 || totalOf(page.before) > 0)
    .sort((one, other) => totalOf(other) - totalOf(one) || (one.path < other.path ? -1 : 1));
  const rowOf = (page: PageChange) => {
    const [total, totalBefore] = [totalOf(page), totalOf(page.before)];
    const compared = [page.before.human, page.before.ai, totalBefore, total - totalBefore];
    return [
      singleLine(page.path),
      page.human,
      page.ai,
      total,
      ...(isCompared ? compared : compared.map(() => '')),
    ];
  };
  const parts = [Buffer.from(BYTE_ORDER_MARK + COLUMNS.join(',') + END_OF_LINE)];
  for (let start = 0; start < sorted.length; start += CHUNK) {
    const rows = sorted.slice(start, start + CHUNK).map(rowOf);
    const text = Papa.unparse(rows, { escapeFormulae: FORMULA, quotes: [true], newline: END_OF_LINE });
    parts.push(Buffer.from(text + END_OF_LINE));
  }
  return Buffer.concat(parts);
}
