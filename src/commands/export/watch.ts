import { exportRun, jobAlias, newExportRun } from '../../jobs/export/record.ts';
import { resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { startWithinQuotas } from './limits.ts';
import { alreadyRunningReply } from './start.ts';
import { refusalText } from './target.ts';

/** Joins an export job that exists, wherever it was started. */
export async function watchExport(
  { jobId, project: named }: { jobId: string; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const resolved = resolveProject(tools.projects, { named, channel: caller.channel.id });
  if (resolved.kind === 'unknownProject')
    return message([[refusalText({ ...resolved, named: named ?? '' })]]);
  if (resolved.kind !== 'project') return chooseProjectMessage(tools, jobId);
  const project = resolved.project.name;
  const known = await tools.intake.byAlias(jobAlias(caller.teamId, project, jobId), caller);
  const other = known === undefined ? undefined : await tools.intake.load(known, exportRun, caller);
  if (other?.jobId === jobId && other.state !== 'ended')
    return alreadyRunningReply(other.id, other.domain, caller, tools);

  const target = {
    project,
    domain: other?.domain ?? '',
    version: other?.version,
    paths: other?.paths,
    jobId,
  };
  const joined = newExportRun({ ...target, privately: other?.privately ?? false }, caller, tools);
  const acceptance = await startWithinQuotas(joined, caller, tools);
  return acceptance.kind === 'claimed'
    ? alreadyRunningReply(acceptance.by, target.domain, caller, tools)
    : undefined;
}

function chooseProjectMessage({ projects }: CommandTools, jobId: string): Message {
  const [first = ''] = projects.map(({ name }) => name);
  const names = projects.slice(0, 10).map(({ name }) => name);
  return message([
    [`Which project is it in: ${names.join(', ')}? For example: `],
    [{ code: `/docs-export watch ${jobId} --project ${first}` }],
  ]);
}
