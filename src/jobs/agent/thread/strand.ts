import type { Wait } from '../../../runtime/later.ts';
import type { JobContext } from '../../engine/context.ts';
import type { Save } from '../../engine/job.ts';
import type { ThreadEvent, ThreadRun } from './record.ts';

/** A change of the thread, or when the strand is due, which it may also throw as `Later`; nothing if there is nothing to do. */
export type StrandResult = Promise<Save<ThreadRun> | Wait | undefined>;

/** One concern of a thread. */
export type Strand = (thread: ThreadRun, context: JobContext, events: readonly ThreadEvent[]) => StrandResult;
