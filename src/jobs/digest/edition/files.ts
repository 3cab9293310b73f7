import { backoffMs } from '../../../runtime/timing.ts';
import { lacksScope, SlackApiError } from '../../../slack/errors.ts';
import { fileRateLimit, holdWhenLimited, retryOf } from '../../../slack/rate-limits.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { type StepResult, saveAs } from '../../run-job.ts';
import type { DigestFile, EditionRun } from './record.ts';

/** If Slack cannot be reached for this long, the file is left out. */
const GIVE_UP_MS = 3_600_000;

/** A file is left out after this many consecutive "refused" or "missing" answers, or begun completions. */
const MAX_FAILURES = 6;

/** After this many checks, each pause twice the previous one, a file of unclear completion counts as missing. */
const UNCLEAR_CHECKS = 4;

export const wantedFile: DigestFile = { state: 'wanted', failures: 0, attempt: 1 };

/** The upload and the thread to share it in. */
interface Upload {
  filename: string;
  place: { channel: string; threadTs: string };
  /** Loads its source, and returns a function that makes its bytes. An error in that function costs only this file. */
  load(): Promise<() => Uint8Array | Promise<Uint8Array>>;
}

/** The file types that the workspace refuses, cached for a day. */
export const fileSupportKey = (teamId: string) => `slack-files:${teamId}`;
export const chartSupportKey = (teamId: string) => `slack-charts:${teamId}`;

/**
 * Takes the next step for a file: upload of its bytes, completion, check that Slack can show it. The id is saved before
 * the completion, which is made once; Slack resolves an unclear one. Returns undefined if the file is there, or has
 * failed.
 */
export async function stepCsvFile(
  run: EditionRun,
  upload: Upload,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const file = run.csv;
  if (file === undefined || file.state === 'done' || file.state === 'failed') return undefined;
  const waitMs = (file.nextMs ?? 0) - context.now();
  if (waitMs > 0) return runAgainIn(waitMs);
  const save: Save = (changes, inMs = 0) => {
    const next = { trouble: undefined, ...changes, nextMs: inMs > 0 ? context.now() + inMs : undefined };
    return saveAs({ ...run, csv: { ...file, ...next } });
  };
  try {
    return file.state === 'wanted' || file.fileId === undefined
      ? await send(run, upload, save, context)
      : await complete(run, { ...file, fileId: file.fileId }, upload, save, context);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    return afterError(run, file, error, save, context);
  }
}

/** If Slack is unreachable, a file ends only by time; if Slack answers, by count or at once. */
async function afterError(
  run: EditionRun,
  file: DigestFile,
  error: SlackApiError,
  save: Save,
  context: JobContext,
): Promise<StepResult<EditionRun>> {
  const { kind, code, method } = error;
  const about = { run: run.id };
  const nowMs = context.now();
  // If the app lacks the scope, or no upload can begin, all files are refused.
  const takesNone = lacksScope(error) || (kind === 'refused' && method === 'files.getUploadURLExternal');
  const { sinceMs, inARow } = file.trouble ?? { sinceMs: nowMs, inARow: 0 };
  const retry = takesNone ? undefined : retryOf(error, inARow, about, context);
  if (retry !== undefined) {
    if (nowMs - sinceMs >= GIVE_UP_MS) return save({ state: 'failed' });
    return save({ trouble: { sinceMs, inARow: retry.failures } }, retry.inMs);
  }
  context.log.warn({ ...about, kind, code, method }, 'a file of a digest was not taken');
  if (takesNone) {
    await context.figures.markUnsupported(fileSupportKey(run.teamId));
    return save({ state: 'failed' });
  }
  const failures = file.failures + 1;
  // An upload address expires.
  if (method === 'files.upload' && failures < MAX_FAILURES)
    return save({ failures }, backoffMs(context.timing, failures, context.random()));
  // Slack drops uploads that are not completed in time.
  if (kind === 'missing' && file.attempt < MAX_FAILURES)
    return save({ state: 'wanted', fileId: undefined, attempt: file.attempt + 1 });
  return save({ state: 'failed' });
}

type Save = (changes: Partial<DigestFile>, inMs?: number) => StepResult<EditionRun>;

type FileMethod = Parameters<typeof fileRateLimit>[0];

/** Returns for how many milliseconds a file call must wait for a slot of the workspace; 0 if it may be made. */
function takeFileSlot(
  run: EditionRun,
  method: FileMethod,
  { rateLimiter, timing }: JobContext,
): Promise<number> {
  const slot = { id: run.id };
  return rateLimiter.takeSlot(fileRateLimit(method, run.teamId, timing), slot);
}

const holdFiles = (run: EditionRun, method: FileMethod, { rateLimiter, timing }: JobContext) =>
  holdWhenLimited(rateLimiter, fileRateLimit(method, run.teamId, timing));

/** Safe to repeat: an upload without completion is in no conversation, and Slack drops it. */
async function send(run: EditionRun, upload: Upload, save: Save, context: JobContext) {
  const { slack, timing, log } = context;
  const waitMs = await takeFileSlot(run, 'begin', context);
  if (waitMs > 0) return runAgainIn(waitMs);
  const make = await upload.load();
  let bytes: Uint8Array;
  try {
    bytes = await make();
  } catch (err) {
    log.error({ err, run: run.id }, 'a file of a digest cannot be made');
    return save({ state: 'failed' });
  }
  const { fileId, uploadUrl } = await slack
    .getUploadAddress({ filename: upload.filename, bytes: bytes.length })
    .catch(holdFiles(run, 'begin', context));
  await slack.uploadBytes(uploadUrl, bytes, timing.slackCallMs);
  return save({ state: 'uploaded', fileId, failures: 0 });
}

async function complete(
  run: EditionRun,
  file: DigestFile & { fileId: string },
  upload: Upload,
  save: Save,
  context: JobContext,
): Promise<StepResult<EditionRun>> {
  const { slack, callOnceInSlack, steps, timing } = context;
  const { fileId, attempt } = file;
  const { filename, place } = upload;
  const step = `csv ${fileId} ${attempt}`;
  const isNew = (await steps.result(run.id, step)) === undefined;
  const waitMs = isNew ? await takeFileSlot(run, 'complete', context) : 0;
  if (waitMs > 0) return runAgainIn(waitMs);
  const completed = await callOnceInSlack(run.id, step, async () => {
    await slack
      .completeUpload({ fileId, title: filename, ...place })
      .catch(holdFiles(run, 'complete', context));
    return true;
  });
  if (completed.kind === 'inFlight') return runAgainIn(completed.forMs);
  if (completed.kind === 'notHappened') throw completed.error;
  const infoMs = await takeFileSlot(run, 'info', context);
  if (infoMs > 0) return runAgainIn(infoMs);
  const info = await slack
    .fileInfo(fileId)
    .catch(holdFiles(run, 'info', context))
    .catch(unfinished);
  // A shared file is there, even if Slack does not know its contents yet.
  if (info.sharedIn.includes(place.channel)) return save({ state: 'done' });
  if (file.failures >= MAX_FAILURES) return save({ state: 'failed' });
  // Slack shares a file after its answer. If it is still not shared after the checks, the completion did not happen.
  const isUnclear = completed.kind === 'unknown' && file.failures >= UNCLEAR_CHECKS;
  if (isUnclear && attempt >= MAX_FAILURES) return save({ state: 'failed' });
  const next = isUnclear ? { attempt: attempt + 1, failures: 0 } : { failures: file.failures + 1 };
  return save(next, timing.retryMinMs * 2 ** file.failures);
}

/** The state of a file whose upload was never finished. */
function unfinished(error: unknown) {
  if (error instanceof SlackApiError && error.kind === 'missing') return { sharedIn: [] as string[] };
  throw error;
}
