import { retention } from '../../../runtime/timing.ts';
import type { ButtonParts } from '../../../slack/blocks.ts';
import type { JobContext } from '../../engine/context.ts';
import { buttonUrl, personName } from '../../shared/wording-view.ts';
import { openPreview, previewAlias, previewSupport, siteActions, siteEvents } from '../../site/record.ts';
import { threadButtonOf } from './buttons.ts';
import type { ThreadEvent, ThreadRun } from './record.ts';
// The preview of the job's branch, which a run of `jobs/site` builds.

/**
 * Opens the preview of the agent's latest work, or builds one; false while it is being built, if the branch is unknown,
 * or if the platform makes no previews.
 */
export function previewButton(thread: ThreadRun): ButtonParts | false {
  const { preview, previews, seen } = thread;
  const url = buttonUrl(preview?.url);
  if (url !== undefined) return openPreview(url);
  if (preview?.isBuilding || previews !== true || seen?.ref === undefined) return false;
  return threadButtonOf(thread, 'Build preview', siteActions.ofThread);
}

/** Says that a preview is being built; empty if none is. */
export const previewText = ({ preview }: ThreadRun) =>
  preview?.isBuilding ? `The preview for ${personName(preview.by.name)} is on its way.` : '';

type PreviewEvent = Extract<ThreadEvent, { kind: 'preview' }>;

/** The card shows the preview, and so does the message of the last round, unless that is so old that it has no record. */
export function applyPreview(thread: ThreadRun, event: PreviewEvent, nowMs: number): ThreadRun {
  const { kind: _, ...preview } = event;
  const { isBuilding, run, url } = preview;
  // A later preview may have begun.
  if (!isBuilding && thread.preview?.run !== run) return thread;
  const last = thread.rounds.at(-1);
  const isRecent = nowMs - (last?.ending?.atMs ?? nowMs) < retention.runMs / 2;
  const rounds = thread.rounds.map((one) => (one === last && isRecent ? { ...one, final: undefined } : one));
  return { ...thread, rounds, preview: isBuilding || url ? preview : undefined };
}

/** Whether the platform makes previews, as far as Docket knows. */
export const hasPreviews = async ({ teamId, project }: ThreadRun, { store }: JobContext): Promise<boolean> =>
  !(await store.support.isMissing(previewSupport(teamId, project)));

/** Marks the latest preview of the branch as older than a round. Runs before the save: after a crash, it is repeated. */
export async function markPreviewOlder({ id, seen }: ThreadRun, n: number, { store, sendEvent }: JobContext) {
  const preview = seen?.ref === undefined ? undefined : await store.runs.byAlias(previewAlias(id, seen.ref));
  if (preview) await sendEvent(siteEvents, preview, { kind: 'newerWork' }, `round ${n}`);
}
