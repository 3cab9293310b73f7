import { cardPermalink } from '../../jobs/export/permalink.ts';
import { type ExportRun, exportRun } from '../../jobs/export/record.ts';
import { exportLine } from '../../jobs/export/view.ts';
import { filterVisible } from '../../jobs/visibility.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../command.ts';

/** More lines than this help nobody; the rest is counted. */
const MAX_LINES = 15;

/** What runs: the person's own exports, and those whose threads this person can read from here. */
export async function exportStatus(caller: Caller, tools: CommandTools): Promise<Message> {
  const { lines, rest } = await runningExports(caller, tools, MAX_LINES);
  if (lines.length === 0)
    return message([
      ['No export that you can see here is running. Start one with ', { code: '/docs-export' }, '.'],
    ]);
  return message(rest > 0 ? [...lines, [`and ${rest} more`]] : lines);
}

/** A line for each of them, the oldest first, `most` at most; `rest` counts the others. Rejects with `TellUser`. */
export async function runningExports(
  caller: Caller,
  tools: CommandTools,
  max: number,
): Promise<{ lines: Part[][]; rest: number }> {
  const active = await tools.intake.listActive(exportRun, 'export', caller);
  const open = active
    .filter((run) => run.state !== 'ended')
    .toSorted((one, other) => one.attemptAtMs - other.attemptAtMs);
  const visible = await filterVisible(open, (run) => run, caller, tools.isPublic);
  const lines = await Promise.all(
    visible
      .slice(0, max)
      .map(async (run: ExportRun) => exportLine(run, await cardPermalink(run, caller, tools))),
  );
  return { lines, rest: visible.length - lines.length };
}
