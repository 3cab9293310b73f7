import { Later } from '../../../runtime/later.ts';
import type { UploadedFile } from '../../../slack/client.ts';
import { lacksScope, SlackApiError } from '../../../slack/errors.ts';
import { retryOf } from '../../../slack/rate-limits.ts';
import { singleLine } from '../../../slack/text.ts';
import type { JobContext } from '../../engine/context.ts';
import { save } from '../../engine/job.ts';
import { awaitTime } from '../../engine/waits.ts';
import { deliveryCheckMs } from '../../shared/place.ts';

import { comparePages, type PageChange, totalOf } from '../model.ts';
import { daysOf, rangeBefore } from '../weeks.ts';
import { type EditionRun, rootKey } from './record.ts';

type DigestFile = NonNullable<EditionRun['csv']>;

/** A file is not tried again this long after its digest was posted. */
const GIVE_UP_MS = 3_600_000;

/** After this many checks, each pause twice the previous one, the completion of a file counts as not happened. */
const MAX_CHECKS = 5;

/** The changes of a file, which is due again after `inMs`. */
type Progress = Partial<DigestFile> & { inMs?: number };

/**
 * Takes the next step for the list of all pages as a file in the thread: upload of its bytes, completion, check that
 * Slack can show it. The id is saved before the completion, which is made once; Slack resolves an unclear one. Returns
 * undefined if the file is there, or has failed.
 */
export async function stepCsv(run: EditionRun, context: JobContext) {
  const { csv, pages } = run;
  const root = await context.outbox.deliveryState(rootKey(run));
  if (root.kind !== 'shown' || pages === undefined || csv?.state !== 'open') return undefined;
  const nowMs = context.now();
  awaitTime(csv.nextMs ?? 0, context);
  const days = daysOf(run.range);
  const title = `page-views-${run.week ?? [...new Set([days[0], days.at(-1)])].join('..')}.csv`;
  const place = { channel: root.channel, threadTs: root.ts };
  const call =
    csv.fileId === undefined
      ? upload(run, title, context)
      : complete(run, csv, { fileId: csv.fileId, title, ...place }, context);
  const progress = await call.catch((error: unknown) => afterError(run, csv, error, context));
  const { inMs, ...changes } = progress;
  const isOver = inMs !== undefined && nowMs - run.sinceMs >= GIVE_UP_MS;
  const nextMs = inMs === undefined ? undefined : nowMs + inMs;
  const next: Partial<DigestFile> = isOver ? { state: 'failed' } : { ...changes, nextMs };
  return save({ ...run, csv: { ...csv, ...next } });
}

function afterError(run: EditionRun, { attempt }: DigestFile, error: unknown, context: JobContext): Progress {
  if (!(error instanceof SlackApiError)) throw error;
  const { kind, method } = error;
  const isRefused = lacksScope(error);
  const retryMs = isRefused ? undefined : retryOf(error, 0, { run: run.id }, context)?.inMs;
  const inMs = Math.max(retryMs ?? 0, deliveryCheckMs(run, context, context.timing.retryMaxMs));
  // An upload address expires.
  if (retryMs !== undefined || method === 'files.upload') return { inMs };
  // Slack drops uploads that are not completed in time.
  if (kind === 'missing' && !isRefused) return { fileId: undefined, attempt: attempt + 1, checks: 0, inMs };
  context.log.warn({ run: run.id, kind, code: error.code, method }, 'a file of a digest was not taken');
  return { state: 'failed' };
}

/** Safe to repeat: an upload without completion is in no conversation, and Slack drops it. */
async function upload(run: EditionRun, filename: string, context: JobContext): Promise<Progress> {
  const { slack, timing } = context;
  const isCompared = run.pages?.sumBefore !== undefined;
  const before = isCompared ? context.store.figures.pages(run, rangeBefore(run.range)) : [];
  const bytes = pagesCsv(await comparePages(context.store.figures.pages(run, run.range), before), isCompared);
  const { fileId, uploadUrl } = await slack.getUploadAddress({ filename, bytes: bytes.length });
  await slack.uploadBytes(uploadUrl, bytes, timing.slackCallMs);
  return { fileId };
}

async function complete(
  run: EditionRun,
  { attempt, checks }: DigestFile,
  file: UploadedFile,
  { slack, timing, calls: { callOnce } }: JobContext,
): Promise<Progress> {
  const step = `csv ${file.fileId} ${attempt}`;
  const completed = await callOnce(run, step, timing.slackCallMs, (isTooLate) =>
    slack.completeUpload(file, isTooLate),
  );
  if (completed.kind === 'inFlight') throw new Later(completed.forMs);
  if (completed.kind === 'notHappened') throw completed.error;
  if (completed.kind === 'done') return { state: 'done' };
  // A shared file is there, even if Slack does not know its contents yet.
  const { sharedIn } = await slack.fileInfo(file.fileId);
  if (sharedIn.includes(file.channel)) return { state: 'done' };
  const inMs = Math.min(timing.retryMaxMs, timing.retryMinMs * 2 ** checks);
  return checks < MAX_CHECKS ? { checks: checks + 1, inMs } : { attempt: attempt + 1, checks: 0, inMs };
}

const COLUMNS = 'path,people,ai,total,people_before,ai_before,total_before,change';
/** Without it, spreadsheets misread UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
const END_OF_LINE = '\r\n';

/** Rows of a piece: one text of all rows would take many times its size while it grows. */
const PIECE = 250;

/** Spreadsheets run text that begins so, some also in the wide forms. */
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
  const parts = [Buffer.from(BYTE_ORDER_MARK + COLUMNS + END_OF_LINE)];
  for (let start = 0; start < sorted.length; start += PIECE) {
    const rows = sorted.slice(start, start + PIECE).map((page) => rowOf(page, isCompared));
    parts.push(Buffer.from(rows.join('')));
  }
  return Buffer.concat(parts);
}

function rowOf({ path, human, ai, before }: PageChange, isCompared: boolean): string {
  const [total, totalBefore] = [human + ai, totalOf(before)];
  const compared = isCompared ? `${before.human},${before.ai},${totalBefore},${total - totalBefore}` : ',,,';
  const text = singleLine(path);
  const cell = `${FORMULA.test(text) ? "'" : ''}${text.replaceAll('"', '""')}`;
  return `"${cell}",${human},${ai},${total},${compared}${END_OF_LINE}`;
}
