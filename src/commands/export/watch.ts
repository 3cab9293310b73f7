import { exportRun, jobAlias } from '../../jobs/export/record.ts';
import { projectMeant } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import type { Caller, CommandTools } from '../command.ts';
import { startWithin } from './limits.ts';
import { joinedRun } from './new-run.ts';
import { running } from './start.ts';
import { refusal } from './target.ts';

/** Joins an export job that exists, wherever it was started. */
export async function watchExport(
  { jobId, project: named }: { jobId: string; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const meant = projectMeant(tools.projects, { named, channel: caller.channel.id });
  if (meant.kind === 'unknownProject') return message([[refusal({ ...meant, named: named ?? '' })]]);
  if (meant.kind !== 'project') return whichProject(tools, jobId);
  const project = meant.project.name;
  const known = await tools.intake.byAlias(jobAlias(caller.teamId, project, jobId), caller);
  const other = known === undefined ? undefined : await tools.intake.load(known, exportRun, caller);
  if (other?.jobId === jobId && other.state !== 'ended')
    return running(other.id, other.domain, caller, tools);

  const what = {
    project,
    domain: other?.domain ?? '',
    version: other?.version,
    paths: other?.paths,
    jobId,
  };
  const joined = joinedRun({ ...what, privately: other?.privately ?? false }, caller, tools);
  const taken = await startWithin(joined, caller, tools);
  return taken.kind === 'claimed' ? running(taken.by, what.domain, caller, tools) : undefined;
}

function whichProject({ projects }: CommandTools, jobId: string): Message {
  const [first = ''] = projects.map(({ name }) => name);
  const names = projects.slice(0, 10).map(({ name }) => name);
  return message([
    [`Which project is it in: ${names.join(', ')}? For example: `],
    [{ code: `/docs-export watch ${jobId} --project ${first}` }],
  ]);
}
