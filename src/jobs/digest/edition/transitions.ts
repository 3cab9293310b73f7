import { LATE_MS } from '../schedule-times.ts';
import type { DigestFile, EditionRun } from './record.ts';

/** Returns that a weekly digest is late if it is posted now, for any cause. */
export const lateNow = ({ kind, dueAtMs }: EditionRun, nowMs: number): Pick<EditionRun, 'late'> =>
  kind === 'weekly' && nowMs - dueAtMs > LATE_MS ? { late: true } : {};

/**
 * Returns a digest that resumes after a failure, or lacks its pages or a file, with the figures and sections now
 * `planned`; undefined if it is complete or in progress. Posted parts stay and are edited. A post that Slack refused is
 * retried as the same message, since an earlier attempt may have succeeded.
 */
export function restart(
  run: EditionRun,
  { figures, figuresBefore, sections }: Pick<EditionRun, 'figures' | 'figuresBefore' | 'sections'>,
  nowMs: number,
): EditionRun | undefined {
  const { ended, noPages, csv, picture, ...rest } = run;
  const isWhole = noPages !== 'failed' && ![csv, picture].some(canBeHad);
  if (ended === undefined || (ended.why === 'done' && isWhole)) return undefined;
  return {
    ...rest,
    figures,
    figuresBefore,
    sections,
    state: run.totals === undefined ? 'collecting' : 'posted',
    sinceMs: nowMs,
    ...(ended.why === 'place' && { attempt: (run.attempt ?? 1) + 1, ...lateNow(run, nowMs) }),
    ...(csv && { csv: goOn(csv) }),
    ...(picture && { picture: goOn(picture), ...(canBeHad(picture) && { chart: 'picture' as const }) }),
  };
}

/** Returns a digest without numbers so far, after another request for it. */
export const askAgain = (run: EditionRun, nowMs: number): EditionRun | undefined =>
  run.state === 'collecting' && (run.stuck ?? run.waitReported)
    ? { ...run, sinceMs: nowMs, waitReported: undefined }
    : undefined;

const canBeHad = (file: DigestFile | undefined) => file?.state === 'failed' && !file.refused;

/** The upload may be shared already. */
const goOn = (file: DigestFile): DigestFile =>
  canBeHad(file)
    ? {
        state: file.fileId === undefined ? 'wanted' : 'uploaded',
        fileId: file.fileId,
        failures: 0,
        attempt: file.attempt,
      }
    : file;
