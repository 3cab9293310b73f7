import type { ExportRun } from '../../../../src/jobs/export/record.ts';
import { exportMessages } from '../../../../src/jobs/export/view.ts';
import { reads } from '../../slack/rendering.ts';

export const THREAD = 'https://acme.example/archives/C0DOCS/p1789914659000100';

export const REQUEST = '123.456.abcdef';

/** The message of a run whose key ends or goes on with `part`. */
export function messageOf(run: ExportRun, part: string): string | undefined {
  const shown = exportMessages(run).find(({ key }) => key.startsWith(`${run.id}.${part}`));
  return shown && reads(shown.message);
}
