import { lacksScope, SlackApiError } from '../../../slack/errors.ts';
import { fileRateLimit } from '../../../slack/rate-limits.ts';
import type { JobContext } from '../../context.ts';
import { runAgainIn } from '../../job.ts';
import { failurePauseMs } from '../../retry.ts';
import { type StepResult, saveAs } from '../../run-job.ts';
import type { DigestFile, EditionRun } from './record.ts';

/** Tries in a row after which a digest does without a file. */
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
  content(): Promise<Uint8Array>;
}

/** Names what the workspace does not take, for a day. */
export const lackOfFiles = (teamId: string) => `slack-files:${teamId}`;
export const lackOfCharts = (teamId: string) => `slack-charts:${teamId}`;

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
  const save = (changes: Partial<DigestFile>, inMs = 0) =>
    saveAs({ ...run, [upload.name]: { ...file, ...changes } }, { inMs });
  try {
    return file.state === 'wanted' || file.fileId === undefined
      ? await send(run, upload, save, context)
      : await complete(run, { ...file, fileId: file.fileId }, upload, save, context);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    const { kind, code, method } = error;
    context.log.warn(
      { run: run.id, file: upload.name, kind, code, method },
      'a file of a digest was not taken',
    );
    // A scope that is missing counts as files refused; an address that has expired does not.
    const takesNone = lacksScope(error) || (kind === 'refused' && method !== 'files.upload');
    if (takesNone) await context.figures.markLacking(lackOfFiles(run.teamId));
    const failures = file.failures + 1;
    if (takesNone || kind === 'place' || failures >= MAX_FAILURES) return save({ state: 'failed' });
    return save({ failures }, failurePauseMs(failures, error, context));
  }
}

type Save = (changes: Partial<DigestFile>, inMs?: number) => StepResult<EditionRun>;

/** Returns how long a call for files has to wait for its turn in the workspace; 0 when it may be made. */
function takeFileSlot(
  run: EditionRun,
  method: Parameters<typeof fileRateLimit>[0],
  upload: Upload,
  { rateLimiter, timing }: JobContext,
): Promise<number> {
  const slot = { id: `${run.id} ${upload.name}`, sinceMs: run.sinceMs };
  return rateLimiter.takeSlot(fileRateLimit(method, run.teamId, timing), slot);
}

/** Safe to repeat: what is never completed is in no conversation, and Slack drops it. */
async function send(run: EditionRun, upload: Upload, save: Save, context: JobContext) {
  const { slack, timing } = context;
  const waitMs = await takeFileSlot(run, 'begin', upload, context);
  if (waitMs > 0) return runAgainIn(waitMs);
  const bytes = await upload.content();
  const { fileId, uploadUrl } = await slack.getUploadAddress({
    filename: upload.filename,
    bytes: bytes.length,
  });
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
    await slack.completeUpload({ fileId, title, ...place });
    return true;
  });
  if (completed.kind === 'inFlight') return runAgainIn(completed.forMs);
  if (completed.kind === 'notHappened') throw completed.error;
  const infoMs = await takeFileSlot(run, 'info', upload, context);
  if (infoMs > 0) return runAgainIn(infoMs);
  const info = await slack.fileInfo(fileId).catch(unfinished);
  // A file that is shared is there, whatever Slack knows of its contents so far.
  const isThere =
    place === undefined ? info.ready : info.sharedIn.some(({ channel }) => channel === place.channel);
  if (isThere) return save({ state: 'done' });
  if (file.failures >= MAX_FAILURES) return save({ state: 'failed' });
  // Sharing comes later than the answer. What is not there after that did not happen.
  const isUnclear = completed.kind === 'unknown' && file.failures >= UNCLEAR_CHECKS;
  const next = isUnclear ? { attempt: attempt + 1, failures: 0 } : { failures: file.failures + 1 };
  return save(next, timing.retryMinMs * 2 ** file.failures);
}

/** What is known of a file whose upload was never finished. */
function unfinished(error: unknown) {
  if (error instanceof SlackApiError && error.kind === 'missing') return { ready: false, sharedIn: [] };
  throw error;
}
