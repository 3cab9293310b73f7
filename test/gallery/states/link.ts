import type { DoneEnding, ExportRun } from '../../../src/jobs/export/record.ts';
import { exportMessages, refusedLinkMessage } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aLinkRun } from '../../support/jobs/export/builders.ts';
import { type GalleryState, pick, post } from '../state.ts';

const done: DoneEnding = { kind: 'done', link: 'l1', linkEndsAtMs: NOW_MS + 1_800_000, privately: true };
const over = { ...done, expired: true };
const failed: Partial<ExportRun> = { state: 'ended', ending: { kind: 'noLink' } };
const further: Partial<ExportRun> = { ...failed, earlier: { resumed: 0, ending: over }, relinked: 1 };

const shown = (name: string, changes: Partial<ExportRun>, part = 'link') =>
  post(`link/${name}`, pick(exportMessages, aLinkRun(changes), part));

export const linkStates: GalleryState[] = [
  shown('sent', { state: 'ended', ending: done }),
  shown('sent, end unknown', { state: 'ended', ending: { ...done, linkEndsAtMs: undefined } }),
  shown('over', { state: 'ended', ending: over }),
  shown('failed', failed),
  shown('no further one', further, 'link.2'),
  post(
    'link/direct messages refused',
    refusedLinkMessage(aLinkRun(), { ...done, refusal: 'messages_tab_disabled' }),
  ),
];
