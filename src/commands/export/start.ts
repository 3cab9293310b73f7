import { exportRun } from '../../jobs/export/record.ts';
import { runningMessage } from '../../jobs/export/view.ts';
import { maySee } from '../../jobs/may-see.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../command.ts';
import { startWithin } from './limits.ts';
import { type ExportTarget, newRun } from './new-run.ts';
import { threadOf } from './thread.ts';

/** Keeps the export, or answers what to say instead: somebody else's is busy with the same. */
export async function startExport(
  what: ExportTarget,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const taken = await startWithin(newRun(what, caller, tools), caller, tools);
  if (taken.kind !== 'claimed') return undefined;
  await tools.note({ subject: what.domain, result: 'running already' });
  return running(taken.by, what.domain, caller, tools);
}

/** What to say when somebody asks for an export that another run is busy with. */
export async function running(
  runId: string,
  domain: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const other = await tools.intake.load(runId, exportRun, caller);
  if (other === undefined || other.state === 'ended')
    return message([
      [`${domain === '' ? 'This export' : `An export of ${domain}`} is just ending. Try again in a moment.`],
    ]);
  const thread = await threadOf(other, caller, tools);
  return runningMessage(
    other,
    tools.now(),
    { thread, mayFollow: await maySee(other, caller, tools.isPublic) },
    caller.requestId,
  );
}
