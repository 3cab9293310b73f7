import type { z } from 'zod';
import type { LoadedRun, RunBase, RunStore } from '../../store/runs.ts';

/** How much work a restore closes, by what becomes of it. */
export interface RestoreCounts {
  /** Exports and instructions whose outcome people are asked about. */
  exports: number;
  instructions: number;
  /** Due digests and exports, and unread events. */
  skipped: number;
}

/** What the restore of one run uses. Nothing else runs in the meantime. */
export interface RestoreTools {
  runs: Pick<RunStore, 'saveStep' | 'indexed' | 'appendToInbox'>;
  nowMs: number;
  /** The teams that have runs. */
  teams: readonly string[];
  /** Makes Docket search for the messages with these keys before it posts them: they may be from after the backup. */
  search(sinceMs: number, keys: readonly string[]): Promise<void>;
  /** Makes the outcome of a call unknown, even if it was not begun. Returns false if it is known. */
  doubt(run: RunBase, step: string): Promise<boolean>;
  /** Deletes a run. */
  forget(run: RunBase): Promise<void>;
}

/** A run that may have posted messages since `sinceMs` that the backup does not know. */
type Restorable = RunBase & { sinceMs: number };

/**
 * What becomes of a run of one job when its data are those of a backup: work may have been done since, so only a person
 * can repeat it. Safe to do twice.
 */
export interface Restore<R extends Restorable = Restorable> {
  job: R['job'];
  schema: z.ZodType<R>;
  /** It comes before other jobs, because its runs send them events. */
  isFirst?: true;
  /** The keys of its messages: of its present form, and all that may have followed since. */
  keys(run: R): readonly string[];
  close?(loaded: LoadedRun<R>, tools: RestoreTools): Promise<Partial<RestoreCounts>>;
}

export const defineRestore = <R extends Restorable>(restore: Restore<R>) => restore as unknown as Restore;
