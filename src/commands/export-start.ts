import { type ExportRun, exportRun, maySee } from '../jobs/export/run.ts';
import { cardKey, runningMessage } from '../jobs/export/view.ts';
import { type Message, message } from '../slack/blocks.ts';
import { messageAddress } from '../slack/text.ts';
import type { Caller, CommandTools } from './command.ts';
import { type ExportTarget, newRun } from './export-runs.ts';

/** Keeps the export, or answers what to say instead: somebody else's is busy with the same. */
export async function startExport(
  what: ExportTarget,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const taken = await tools.intake.start(newRun(what, caller, tools), caller);
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
  return runningMessage(other, tools.now(), { thread, mayFollow: maySee(other, caller) }, caller.requestId);
}

/** The address of a run's card, for those who can open it; nothing while it has none. */
export async function threadOf(
  run: ExportRun,
  caller: Pick<Caller, 'user' | 'channel'>,
  { delivery, workspaceUrl }: Pick<CommandTools, 'delivery' | 'workspaceUrl'>,
): Promise<string | undefined> {
  if (!maySee(run, caller)) return undefined;
  const card = await delivery(cardKey(run)).catch(() => undefined);
  if (card?.kind !== 'shown') return undefined;
  return messageAddress(workspaceUrl, card);
}
