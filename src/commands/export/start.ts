import { readDomain } from '../../domain.ts';
import { cardPermalink, MAX_OTHERS } from '../../jobs/export/feature.ts';
import { site } from '../../jobs/export/progress-view.ts';
import {
  type ExportRun,
  type ExportTarget,
  exportActions,
  exportQuotas,
  exportRun,
  jobAlias,
  newExportRun,
} from '../../jobs/export/record.ts';
import { misspeltMessage, runningMessage, targetButtons } from '../../jobs/export/reply-view.ts';
import { chooseJob, type JobChoice, mayMean, searchedProjects, type TypedJob } from '../../jobs/typed-job.ts';
import { canSee, filterVisible } from '../../jobs/visibility.ts';
import {
  chooseProjectMessage,
  listNames,
  MAX_LISTED_NAMES,
  personName,
  unknownProjectText,
} from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, resolveProject } from '../../projects.ts';
import { editDistance } from '../../runtime/edit-distance.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { formatCount, sanitizeUserText } from '../../slack/text.ts';
import type { Acceptance, Quota } from '../../store/runs.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { pathsOn } from './args.ts';

/** A requested export; `domain` and `project` are as typed. */
export interface ExportRequest {
  domain: string | undefined;
  project: string | undefined;
  version: string | undefined;
  /** As `readPaths` returns them. */
  paths: string[] | undefined;
  privately: boolean;
}

/**
 * The target and its project. `missing`: a form has to ask for the field. `refused`: the problem, with its fix. `meant`
 * is a known domain that is one or two letters away; `suggested` is the likely domain in a text that is not one.
 */
export type ResolvedTarget =
  | { kind: 'ok'; domain: string; project: Project; paths: string[] | undefined; meant: string | undefined }
  | { kind: 'missing'; field: 'domain' | 'project'; problem: string; domain?: string }
  | {
      kind: 'refused';
      field: 'domain' | 'project' | 'paths';
      problem: string;
      domain?: string;
      meant?: string | undefined;
    }
  | { kind: 'badDomain'; field: 'domain'; typed: string; suggested: string | undefined };

const noDomain = {
  kind: 'missing',
  field: 'domain',
  problem: 'Type the domain of the docs site, such as docs.acme.com.',
} as const;

/** Resolves the target, before any call to the outside. */
export function resolveTarget(
  { domain: typed, project: named, paths: pages }: Pick<ExportRequest, 'domain' | 'project' | 'paths'>,
  channel: string,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): ResolvedTarget {
  const unknownProject = (known: readonly string[]) =>
    ({ kind: 'refused', field: 'project', problem: unknownProjectText(named ?? '', known) }) as const;
  const domainText = typed ?? defaultDomain(projects, { named, channel }, docsDomain);
  if (domainText === undefined) {
    const resolved = resolveProject(projects, { named, channel });
    return resolved.kind === 'unknownProject' ? unknownProject(resolved.known) : noDomain;
  }
  const parsed = readDomain(domainText);
  if (parsed.kind === 'unclear')
    return parsed.typed.trim() === ''
      ? noDomain
      : { kind: 'badDomain', field: 'domain', typed: parsed.typed, suggested: parsed.suggested };
  const { domain } = parsed;
  const paths = pages && pathsOn(domain, pages);
  if (paths?.kind === 'unclear') return { kind: 'refused', field: 'paths', problem: paths.problem };
  const resolved = resolveProject(projects, { named, channel, domain });
  switch (resolved.kind) {
    case 'project': {
      const known = [
        ...(docsDomain ? [docsDomain] : []),
        ...projects.flatMap(({ domains }) => domains ?? []),
      ];
      const meant = nearestDomain(domain, known);
      return { kind: 'ok', domain, project: resolved.project, paths: paths?.value, meant };
    }
    case 'unknownProject':
      return unknownProject(resolved.known);
    case 'ask': {
      const names = resolved.among.map(({ name }) => name).join(' and ');
      const problem = `${names} have this domain: choose one.`;
      return { kind: 'missing', field: 'project', problem, domain };
    }
    case 'domainRefused': {
      const problem = refusedDomainText(domain, named, resolved.known);
      return {
        kind: 'refused',
        field: 'domain',
        problem,
        domain,
        meant: nearestDomain(domain, resolved.known),
      };
    }
  }
}

/** With more differing letters, one host name is rarely a misspelling of another. */
const MAX_SLIPS = 2;

function nearestDomain(domain: string, known: readonly string[]): string | undefined {
  if (known.includes(domain)) return undefined;
  const slips = new Map(known.map((one) => [one, editDistance(domain, one)]));
  const near = [...slips].filter(([, count]) => count <= MAX_SLIPS);
  return near.toSorted(([, one], [, other]) => one - other)[0]?.[0];
}

function refusedDomainText(domain: string, project: string | undefined, known: readonly string[]): string {
  if (known.length === 0) return `${domain} isn't set up for exports, and no other domain is.`;
  const named = sanitizeUserText(project ?? '', 60);
  return named === ''
    ? `${domain} isn't set up for exports. Set up here: ${listNames(known)}.`
    : `${domain} isn't in project ${named}. Its domains: ${listNames(known)}.`;
}

/** Asks whether a known domain was meant, before anything is public. `refused`: the typed one cannot be exported. */
export const askWhetherMeant = (
  { domain, meant, refused }: { domain: string; meant: string; refused: boolean },
  request: ExportRequest,
  { requestId }: Caller,
): Message => {
  const action = exportActions.useTyped;
  const wanted = { ...request, request: requestId };
  const typed = { ...wanted, domain, chosen: true as const };
  return misspeltMessage(domain, meant, [
    ...targetButtons(meant, { ...wanted, domain: meant }),
    ...(refused ? [] : targetButtons(`Export ${domain}`, typed, { action })),
  ]);
};

/**
 * Starts the export, or replies that another person's run has the same export. `another` starts beside that run, which
 * keeps the claim: later requests are pointed to it.
 */
export async function startExport(
  target: ExportTarget,
  caller: Caller,
  tools: CommandTools,
  how: 'first' | 'chosen' | 'another' = 'first',
): Promise<Message | undefined> {
  const run = newExportRun(target, caller, tools);
  const wanted = how === 'another' ? { ...run, claim: undefined } : run;
  const acceptance = await acceptWithinQuotas('start', wanted, caller, tools);
  if (acceptance.kind !== 'claimed') return undefined;
  await tools.audit({ subject: target.domain, result: 'running already' });
  return alreadyRunningReply(acceptance.by, target.domain, caller, tools);
}

/** The reply if another run has the same export. */
export async function alreadyRunningReply(
  runId: string,
  domain: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const other = await tools.intake.loadKnown(runId, exportRun, caller);
  if (other === undefined || other.state === 'ended')
    return message([
      [`${domain === '' ? 'This export' : `An export of ${domain}`} is just ending. Try again in a moment.`],
    ]);
  const thread = await cardPermalink(other, caller, tools, tools.workspaceUrl);
  return runningMessage(
    other,
    tools.now(),
    { thread, mayFollow: await canSee(other, caller, tools.isPublic), readerId: caller.user.id },
    caller.requestId,
  );
}

/**
 * Stores an export: `start` a new one, `resume` a restarted one. Rejects with `UserFacingError` if the maximum of
 * exports is running.
 */
export async function acceptWithinQuotas(
  how: 'start' | 'resume',
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Exclude<Acceptance, { kind: 'full' }>> {
  const { intake } = tools;
  const quotas = quotasOf(run, tools);
  const acceptance = await (how === 'start'
    ? intake.start(run, caller, quotas)
    : intake.resume(run, caller, true, quotas));
  if (acceptance.kind !== 'full') return acceptance;
  await tools.audit({ subject: site(run), result: 'refused: too many at once' });
  const other = await intake.loadKnown(acceptance.by, exportRun, caller);
  const thread = other && (await cardPermalink(other, caller, tools, tools.workspaceUrl));
  const scope = acceptance.quota === 0 ? 'person' : 'channel';
  throw new UserFacingError(quotaMessage(run, scope, quotas[acceptance.quota]?.max ?? 0, caller, thread));
}

/** The quotas of a running export: its first requester's, then the conversation's. */
const quotasOf = (
  { teamId, requester, asked }: ExportRun,
  { limits: { exportsPerPerson, exportsPerChannel } }: Pick<CommandTools, 'limits'>,
): Quota[] =>
  exportQuotas(teamId, requester.id, asked.channel).map((name, index) => ({
    name,
    max: index === 0 ? exportsPerPerson : exportsPerChannel,
  }));

function quotaMessage(
  { requester, asked }: ExportRun,
  scope: 'person' | 'channel',
  max: number,
  { user, channel }: Caller,
  thread: string | undefined,
): Message {
  const exports = `${formatCount(max)} ${max === 1 ? 'export' : 'exports'}`;
  const who = requester.id === user.id ? 'You have' : `${personName(requester.name)} has`;
  const where: Part = asked.channel === channel.id ? 'this channel' : { channel: asked.channel };
  const full: Part[] =
    scope === 'person'
      ? [`${who} ${exports} running`]
      : [`${exports} ${max === 1 ? 'runs' : 'run'} in `, where];
  const buttons =
    thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];
  return message([[...full, '; start more when one has ended.']], buttons);
}

/** Watches an existing export job, wherever it was started. */
export async function watchExport(
  { jobId, project: named }: { jobId: string; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const resolved = resolveProject(tools.projects, { named, channel: caller.channel.id });
  if (resolved.kind === 'unknownProject') return message([[unknownProjectText(named ?? '', resolved.known)]]);
  if (resolved.kind !== 'project') {
    const names = tools.projects.slice(0, MAX_LISTED_NAMES).map(({ name }) => name);
    return chooseProjectMessage('Which project is it in', names, `/docs-export watch ${jobId}`);
  }
  const project = resolved.project.name;
  const other = await findRunOfJob(project, jobId, caller, tools);
  if (other !== undefined && other.state !== 'ended')
    return alreadyRunningReply(other.id, other.domain, caller, tools);

  const target = {
    project,
    domain: other?.domain ?? '',
    version: other?.version,
    paths: other?.paths,
    jobId,
  };
  const joined = newExportRun({ ...target, privately: other?.privately ?? false }, caller, tools);
  const acceptance = await acceptWithinQuotas('start', joined, caller, tools);
  return acceptance.kind === 'claimed'
    ? alreadyRunningReply(acceptance.by, target.domain, caller, tools)
    : undefined;
}

/** Returns the run that starts or watches an export job. */
export async function findRunOfJob(
  project: string,
  jobId: string,
  caller: Caller,
  { intake }: CommandTools,
): Promise<ExportRun | undefined> {
  const alias = jobAlias(caller.teamId, project, jobId);
  const id = await intake.read(caller, ({ runs }) => runs.byAlias(alias));
  const run = id === undefined ? undefined : await intake.loadKnown(id, exportRun, caller);
  // A person may have entered it as another export's id, before the platform answered that it knows none.
  return run?.jobId === jobId ? run : undefined;
}

/** Maximum number of projects searched at once. */
const MAX_PROJECTS = 5;

/**
 * Returns the matching export job, among those that this person may see: running ones, their own, and, in an address,
 * those whose full id it contains. Other people's jobs are not found, as if they did not exist.
 */
export async function findExportJob(
  typed: TypedJob,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<JobChoice> {
  const names = searchedProjects(tools.projects, named);
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
  return chooseJob(typed, jobs, tools.projects);
}
