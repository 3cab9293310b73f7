import { runningExports } from '../../jobs/export/feature.ts';
import { exportRun } from '../../jobs/export/record.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../tools.ts';

/** More lines than this help nobody; the rest is counted. */
const MAX_LINES = 15;

/** What runs: the person's own exports, and those whose threads this person can read from here. */
export async function exportStatus(caller: Caller, tools: CommandTools): Promise<Message> {
  const active = await tools.intake.listActive(exportRun, 'export', caller);
  const { lines, rest } = await runningExports(active, caller, tools, MAX_LINES);
  if (lines.length === 0)
    return message([
      ['No export that you can see here is running. Start one with ', { code: '/docs-export' }, '.'],
    ]);
  return message(rest > 0 ? [...lines, [`and ${rest} more`]] : lines);
}
