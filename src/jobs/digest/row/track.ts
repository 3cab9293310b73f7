import type { Instruction, ThreadRun } from '../../agent/thread/record.ts';
import type { JobContext } from '../../engine/context.ts';
import { editionRun } from '../edition/record.ts';
import { lastCompleteWeek } from '../weeks.ts';
import { newRow } from './record.ts';

/** More rows than these are not begun: each may take requests of the hour for half a year. */
const MAX_OF_PROJECT = 100;

/**
 * Begins the row of a request from a digest, once, if Docket can learn when its pull request is merged. If there are too
 * many rows, the log says so, unless the request is not new.
 */
export async function trackRow(
  { id: thread, teamId, project }: ThreadRun,
  { id: instruction, atMs, origin }: Instruction,
  { gitHost, store, wake, now, log }: JobContext,
  isNew = true,
): Promise<void> {
  if (origin === undefined || gitHost(project) === undefined) return;
  const { channel, subject } = origin;
  const [edition] = await store.runs.loadAll([origin.digest], editionRun);
  const chosen = edition?.range ?? lastCompleteWeek(atMs).range;
  const base = { teamId, project, channel, subject, thread, instruction };
  const row = newRow({ ...base, askedAtMs: atMs, chosen }, now());
  const quotas = [{ name: ['digest-rows', teamId, project].join(':'), max: MAX_OF_PROJECT }];
  const { kind } = await store.runs.accept(row, { quotas });
  if (kind === 'accepted') await wake(row);
  if (kind === 'full' && isNew)
    log.warn({ run: thread, project }, 'too many rows of digests: this one is not followed');
}
