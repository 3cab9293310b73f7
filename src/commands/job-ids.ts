import { listedThread, visibleThread } from '../jobs/agent/thread/record.ts';
import { MAX_OTHERS } from '../jobs/export/feature.ts';
import { site } from '../jobs/export/progress-view.ts';
import { exportQuotas, exportRun, jobAlias } from '../jobs/export/record.ts';
import { mayBePart, mayMean, readTypedJob, type TypedJob, unknownJobs } from '../jobs/typed-job.ts';
import { filterVisible, type Viewer } from '../jobs/visibility.ts';
import { listNames, MAX_LISTED_NAMES } from '../jobs/wording-view.ts';
import { projectNamed } from '../projects.ts';
import { type Message, message, type Part } from '../slack/blocks.ts';
import { cut, formatCount, singleLine } from '../slack/text.ts';
import type { Caller, CommandTools } from './intake.ts';

/** A job of the platform. `project` is set for jobs known here; `about` describes the job. */
export interface FoundJob {
  id: string;
  project?: string;
  about?: string;
}

/** The job that a person means. `one` may be unknown here: then only the platform can decide. */
export type JobChoice =
  | { kind: 'one'; job: FoundJob }
  | { kind: 'several'; jobs: FoundJob[] }
  | { kind: 'none' };

type Tools = Pick<CommandTools, 'intake' | 'isPublic' | 'projects'>;

/**
 * Returns the matching export job, among those that this person may see: running ones, their own, and, in an address,
 * those whose full id it contains. Other people's jobs are not found, as if they did not exist.
 */
export async function findExportJob(
  typed: TypedJob,
  named: string | undefined,
  caller: Caller,
  tools: Tools,
): Promise<JobChoice> {
  const names = projectNames(tools.projects, named);
  const whole = typed.kind === 'id' ? [typed.id] : typed.kind === 'address' ? typed.parts : [];
  const aliases = names
    .slice(0, MAX_PROJECTS)
    .flatMap((name) => whole.map((id) => jobAlias(caller.teamId, name, id)));
  const quotas = exportQuotas(caller.teamId, caller.user.id, caller.channel.id);
  const runs = await tools.intake.read(caller, async ({ runs }) => {
    const [{ runs: active }, own, aliased] = await Promise.all([
      runs.someOf(exportRun, 'export', quotas, MAX_OTHERS),
      runs.ofPerson(caller.teamId, caller.user.id),
      Promise.all(aliases.map(runs.byAlias)),
    ]);
    const ids = new Set([...own, ...aliased.flatMap((id) => id ?? [])]);
    for (const { id } of active) ids.delete(id);
    return [...active, ...(await runs.loadAll([...ids], exportRun))];
  });
  const fitting = runs.filter(
    ({ jobId, project, ending }) =>
      jobId !== undefined &&
      // An id that the platform does not know in this project may belong to another one.
      ending?.kind !== 'lost' &&
      names.includes(project) &&
      mayMean(typed, jobId),
  );
  const visible = await filterVisible(fitting, (run) => run, caller, tools.isPublic);
  const jobs = visible.map((run) => ({
    id: run.jobId ?? '',
    project: run.project,
    ...(run.domain !== '' && { about: site(run) }),
  }));
  return choose(typed, jobs, tools);
}

/** The projects in which a job is searched; `named` as it was typed. */
const projectNames = (projects: Tools['projects'], named: string | undefined) =>
  (named === undefined ? projects : [projectNamed(projects, named)]).flatMap((one) => one?.name ?? []);

/** Maximum number of projects searched at once. */
const MAX_PROJECTS = 5;

/** Returns the matching agent job, among those followed where this person may see it. */
export async function findAgentJob(
  typed: TypedJob,
  named: string | undefined,
  caller: Caller,
  tools: Tools,
): Promise<JobChoice> {
  const entries = mayBePart(typed)
    ? await tools.intake.read(caller, ({ threads }) => threads.followedIndex(caller.teamId))
    : [];
  return chooseAgentJob(typed, named, entries, caller, tools);
}

/** The same among index entries of followed threads. */
export async function chooseAgentJob(
  typed: TypedJob,
  named: string | undefined,
  entries: readonly unknown[],
  viewer: Viewer,
  { projects, isPublic }: Pick<Tools, 'projects' | 'isPublic'>,
): Promise<JobChoice> {
  const names = projectNames(projects, named);
  const threads = entries.flatMap((entry) => {
    const { agentJobId: id } = entry as { agentJobId?: unknown };
    // The check of the id alone is cheap.
    if (typeof id !== 'string' || !mayMean(typed, id)) return [];
    const thread = listedThread.safeParse(entry).data;
    return thread && thread.state !== 'ended' && names.includes(thread.project) ? [{ ...thread, id }] : [];
  });
  const visible = await filterVisible(threads, visibleThread, viewer, isPublic);
  return choose(typed, visible, { projects });
}

/** Returns the choice among matching jobs: the one with this exact id, else all; else what may be an unknown id. */
function choose(
  typed: TypedJob,
  jobs: readonly FoundJob[],
  { projects }: Pick<CommandTools, 'projects'>,
): JobChoice {
  const distinct = [...new Map(jobs.map((job) => [`${job.project} ${job.id}`, job])).values()];
  const exact = distinct.filter(({ id }) => typed.kind === 'id' && id === typed.id);
  const known = (exact.length > 0 ? exact : distinct).toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const unknown = unknownJobs(
    typed,
    projects.map(({ projectId }) => projectId),
  ).map((id) => ({ id }));
  const [first, ...others] = known.length > 0 ? known : unknown;
  if (first === undefined) return { kind: 'none' };
  return others.length === 0 ? { kind: 'one', job: first } : { kind: 'several', jobs: [first, ...others] };
}

/** Continues with the matching job, or returns a message. `command` and `example` are texts to type. */
export async function withJob<R>(
  choice: JobChoice,
  { typed, command, example }: { typed: TypedJob; command: string; example: string },
  tools: Pick<CommandTools, 'projects'>,
  goOn: (job: FoundJob) => Promise<R>,
): Promise<R | Message> {
  switch (choice.kind) {
    case 'one':
      return goOn(choice.job);
    case 'several':
      return whichJobMessage(choice.jobs, command, tools);
    case 'none':
      return noJobMessage(typed, example);
  }
}

/** Asks which of several jobs is meant. `command` is the text to type, without the id. */
export function whichJobMessage(
  jobs: readonly FoundJob[],
  command: string,
  { projects }: Pick<CommandTools, 'projects'>,
): Message {
  const rest = jobs.length - MAX_LISTED_NAMES;
  const lines = jobs.slice(0, MAX_LISTED_NAMES).map(({ id, project, about }): Part[] => {
    const flag = project === undefined || projects.length === 1 ? '' : ` --project ${project}`;
    return [
      { code: `${command} ${cut(singleLine(id), 200)}${flag}` },
      about === undefined ? '' : ` · ${about}`,
    ];
  });
  const more: Part[][] = rest > 0 ? [[`and ${formatCount(rest)} more; type more of the ID.`]] : [];
  return message([['Which one? Type the whole command:'], ...lines, ...more]);
}

/** The answer to a text that matches no job that this person may see. `example` is a valid command. */
const noJobMessage = (typed: TypedJob, example: string): Message =>
  message([[noJobText(typed), ' Type its whole ID, such as ', { code: example }, '.']]);

const noJobText = (typed: TypedJob) =>
  typed.kind === 'address'
    ? "I can't tell which part of that address is the job's ID."
    : 'No job that you can see here matches that.';

/** Returns the job typed into a modal's field, or the problem. */
export async function readJobField(
  text: string,
  find: (typed: TypedJob) => Promise<JobChoice>,
): Promise<{ job: FoundJob } | { problem: string }> {
  const typed = readTypedJob(text);
  if (typed === undefined) return { problem: "Copy the job's whole ID." };
  const found = await find(typed);
  switch (found.kind) {
    case 'one':
      return { job: found.job };
    case 'several': {
      const ids = cut(listNames(found.jobs.map(({ id }) => singleLine(id))), 100);
      return { problem: `Copy one of these IDs: ${ids}` };
    }
    case 'none':
      return { problem: `${noJobText(typed)} Copy its whole ID.` };
  }
}
