import { cardPermalink } from '../../jobs/export/permalink.ts';
import { type ExportTarget, exportRun, newExportRun } from '../../jobs/export/record.ts';
import { runningMessage } from '../../jobs/export/view.ts';
import { canSee } from '../../jobs/visibility.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { startWithinQuotas } from './limits.ts';

/** Keeps the export, or answers what to say instead: somebody else's is busy with the same. */
export async function startExport(
  target: ExportTarget,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const acceptance = await startWithinQuotas(newExportRun(target, caller, tools), caller, tools);
  if (acceptance.kind !== 'claimed') return undefined;
  await tools.audit({ subject: target.domain, result: 'running already' });
  return alreadyRunningReply(acceptance.by, target.domain, caller, tools);
}

/** What to say when somebody asks for an export that another run is busy with. */
export async function alreadyRunningReply(
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
  const thread = await cardPermalink(other, caller, tools);
  return runningMessage(
    other,
    tools.now(),
    { thread, mayFollow: await canSee(other, caller, tools.isPublic) },
    caller.requestId,
  );
}
