import { LATE_MS } from '../schedule-times.ts';
import type { DigestFile, EditionRun } from './record.ts';

/** Returns that a weekly digest is late where it is posted now, whatever held it up. */
export const lateNow = ({ kind, dueAtMs }: EditionRun, nowMs: number): Pick<EditionRun, 'late'> =>
  kind === 'weekly' && nowMs - dueAtMs > LATE_MS ? { late: true } : {};

/**
 * Returns a digest that ended for a failure, or without its pages or a file, as it goes on from there, with the figures
 * and sections that are `planned` now; nothing when it is posted whole, or on its way. What was posted of it stays, and
 * is edited. What Slack refused is tried again as the same message, since an earlier post of it may be there all the same.
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

/** Returns a digest for which the platform gave no numbers so far as somebody asks for it once more. */
export const askAgain = (run: EditionRun, nowMs: number): EditionRun | undefined =>
  run.state === 'collecting' && (run.stuck ?? run.waitReported)
    ? { ...run, sinceMs: nowMs, waitReported: undefined }
    : undefined;

const canBeHad = (file: DigestFile | undefined) => file?.state === 'failed' && !file.refused;

/** What was uploaded may be shared already. */
const goOn = (file: DigestFile): DigestFile =>
  canBeHad(file)
    ? {
        state: file.fileId === undefined ? 'wanted' : 'uploaded',
        fileId: file.fileId,
        failures: 0,
        attempt: file.attempt,
      }
    : file;
