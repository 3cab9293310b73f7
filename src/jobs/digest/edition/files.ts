import { backoffMs } from '../../../runtime/timing.ts';
import { lacksScope, SlackApiError } from '../../../slack/errors.ts';
import { fileRateLimit, holdWhenLimited } from '../../../slack/rate-limits.ts';
import { retryOf } from '../../../slack/retry.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { type StepResult, saveAs } from '../../run-job.ts';
import type { DigestFile, EditionRun } from './record.ts';

/** A file that Slack cannot be asked for in so long is left out. */
const GIVE_UP_MS = 3_600_000;

/** Answers in a row that it is not taken, or not there, after which a file is left out; also begun completions. */
const MAX_FAILURES = 6;

/** Checks, each twice as late as the one before, after which a file whose completion is unclear is not there. */
const UNCLEAR_CHECKS = 4;

export const wantedFile: DigestFile = { state: 'wanted', failures: 0, attempt: 1 };

/** What is uploaded, and where it is shared; without a channel it is only for a block of ours. */
export interface Upload {
  name: 'picture' | 'csv';
  filename: string;
  title: string;
  place?: { channel: string; threadTs: string };
  /** Loads what it is made of, and returns what makes its bytes: an error of that costs the digest this file alone. */
  load(): Promise<() => Uint8Array | Promise<Uint8Array>>;
}

/** Names what the workspace does not take, for a day. */
export const fileSupportKey = (teamId: string) => `slack-files:${teamId}`;
export const chartSupportKey = (teamId: string) => `slack-charts:${teamId}`;

/**
 * Takes a file one step further: bytes to an upload address, the completion, and until Slack can show it. The id is
 * saved before the completion, which is made once; what became of an unclear one Slack says. Returns nothing when the
 * file is there, or has failed.
 */
export async function stepFile(
  run: EditionRun,
  upload: Upload,
  context: JobContext,
): Promise<StepResult<EditionRun> | undefined> {
  const file = run[upload.name];
  if (file === undefined || file.state === 'done' || file.state === 'failed') return undefined;
  const waitMs = (file.nextMs ?? 0) - context.now();
  if (waitMs > 0) return runAgainIn(waitMs);
  const save: Save = (changes, inMs = 0) => {
    const next = { trouble: undefined, ...changes, nextMs: inMs > 0 ? context.now() + inMs : undefined };
    return saveAs({ ...run, [upload.name]: { ...file, ...next } });
  };
  try {
    return file.state === 'wanted' || file.fileId === undefined
      ? await send(run, upload, save, context)
      : await complete(run, { ...file, fileId: file.fileId }, upload, save, context);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    return afterError(run, file, upload, error, save, context);
  }
}

/** Slack that cannot be asked ends a file by time alone; what it answers, by count, or at once. */
async function afterError(
  run: EditionRun,
  file: DigestFile,
  { name }: Upload,
  error: SlackApiError,
  save: Save,
  context: JobContext,
): Promise<StepResult<EditionRun>> {
  const { kind, code, method } = error;
  const about = { run: run.id, file: name };
  const nowMs = context.now();
  // No file at all is taken where the app lacks the scope, or none can be begun.
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
    return save({ state: 'failed', refused: true });
  }
  const failures = file.failures + 1;
  // An upload address expires.
  if (method === 'files.upload' && failures < MAX_FAILURES)
    return save({ failures }, backoffMs(context.timing, failures, context.random()));
  // Slack drops what is not completed in time.
  if (kind === 'missing' && file.attempt < MAX_FAILURES)
    return save({ state: 'wanted', fileId: undefined, attempt: file.attempt + 1 });
  return save({ state: 'failed' });
}

type Save = (changes: Partial<DigestFile>, inMs?: number) => StepResult<EditionRun>;

type FileMethod = Parameters<typeof fileRateLimit>[0];

/** Returns how long a call for files has to wait for its turn in the workspace; 0 when it may be made. */
function takeFileSlot(
  run: EditionRun,
  method: FileMethod,
  upload: Upload,
  { rateLimiter, timing }: JobContext,
): Promise<number> {
  const slot = { id: `${run.id} ${upload.name}` };
  return rateLimiter.takeSlot(fileRateLimit(method, run.teamId, timing), slot);
}

const holdFiles = (run: EditionRun, method: FileMethod, { rateLimiter, timing }: JobContext) =>
  holdWhenLimited(rateLimiter, fileRateLimit(method, run.teamId, timing));

/** Safe to repeat: what is never completed is in no conversation, and Slack drops it. */
async function send(run: EditionRun, upload: Upload, save: Save, context: JobContext) {
  const { slack, timing, log } = context;
  const waitMs = await takeFileSlot(run, 'begin', upload, context);
  if (waitMs > 0) return runAgainIn(waitMs);
  const make = await upload.load();
  let bytes: Uint8Array;
  try {
    bytes = await make();
  } catch (err) {
    log.error({ err, run: run.id, file: upload.name }, 'a file of a digest cannot be made');
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
  const { title, place } = upload;
  const step = `${upload.name} ${fileId} ${attempt}`;
  const isNew = (await steps.result(run.id, step)) === undefined;
  const waitMs = isNew ? await takeFileSlot(run, 'complete', upload, context) : 0;
  if (waitMs > 0) return runAgainIn(waitMs);
  const completed = await callOnceInSlack(run.id, step, async () => {
    await slack.completeUpload({ fileId, title, ...place }).catch(holdFiles(run, 'complete', context));
    return true;
  });
  if (completed.kind === 'inFlight') return runAgainIn(completed.forMs);
  if (completed.kind === 'notHappened') throw completed.error;
  const infoMs = await takeFileSlot(run, 'info', upload, context);
  if (infoMs > 0) return runAgainIn(infoMs);
  const info = await slack
    .fileInfo(fileId)
    .catch(holdFiles(run, 'info', context))
    .catch(unfinished);
  // A file that is shared is there, whatever Slack knows of its contents so far.
  const isThere =
    place === undefined ? info.ready : info.sharedIn.some(({ channel }) => channel === place.channel);
  if (isThere) return save({ state: 'done' });
  if (file.failures >= MAX_FAILURES) return save({ state: 'failed' });
  // Sharing comes later than the answer. What is not there after that did not happen.
  const isUnclear = completed.kind === 'unknown' && file.failures >= UNCLEAR_CHECKS;
  if (isUnclear && attempt >= MAX_FAILURES) return save({ state: 'failed' });
  const next = isUnclear ? { attempt: attempt + 1, failures: 0 } : { failures: file.failures + 1 };
  return save(next, timing.retryMinMs * 2 ** file.failures);
}

/** What is known of a file whose upload was never finished. */
function unfinished(error: unknown) {
  if (error instanceof SlackApiError && error.kind === 'missing') return { ready: false, sharedIn: [] };
  throw error;
}
