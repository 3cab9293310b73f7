import { readDomain } from '../../domain.ts';
import { cardPermalink } from '../../jobs/export/feature.ts';
import { runningMessage, site, targetButtons } from '../../jobs/export/progress-view.ts';
import {
  type ExportRun,
  type ExportTarget,
  exportActions,
  exportQuotas,
  exportRun,
  jobAlias,
  jobIdOf,
  newExportRun,
} from '../../jobs/export/record.ts';
import { chooseJobs, mayMean, searchedProjects, type TypedJob } from '../../jobs/typed-job.ts';
import { canSee, filterVisible } from '../../jobs/visibility.ts';
import {
  chooseProjectMessage,
  listNames,
  MAX_LISTED_NAMES,
  personName,
  unknownProjectText,
} from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, resolveProject } from '../../projects.ts';
import { nearest } from '../../runtime/edit-distance.ts';
import { type Message, message, openThreadButton, type Part } from '../../slack/blocks.ts';
import { countOf, cut, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { type Caller, type CommandTools, UserFacingError } from '../intake.ts';
import { pathsOn } from './args.ts';

/** A requested export: `domain` and `project` as typed, `paths` as `readPaths` returns them. */
export type ExportRequest = Omit<ExportTarget, 'domain' | 'project'> & {
  domain: string | undefined;
  project?: string | undefined;
};

/** What a request still lacks. `missing`: a form has to ask for the field. `refused`: the problem, with its fix. */
interface Unresolved {
  kind: 'missing' | 'refused';
  field: 'domain' | 'project' | 'paths';
  problem: string;
  domain?: string;
  /** A known domain that is one or two letters away. */
  meant?: string | undefined;
  /** The text that is not a domain, and the likely domain in it. */
  typed?: string;
  suggested?: string | undefined;
}

/** The target and its project. `meant` is a known domain that is one or two letters away. */
interface Resolved {
  kind: 'ok';
  domain: string;
  project: Project;
  paths: string[] | undefined;
  meant: string | undefined;
}

/** Resolves the target, before any call to the outside. */
export function resolveTarget(
  { domain: given, project: named, paths: pages }: Pick<ExportRequest, 'domain' | 'project' | 'paths'>,
  channel: string,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): Resolved | Unresolved {
  const refused = (field: Unresolved['field'], problem: string, more: Partial<Unresolved> = {}) =>
    ({ kind: 'refused', field, problem, ...more }) as const;
  const text = given ?? defaultDomain(projects, { named, channel }, docsDomain) ?? '';
  const parsed = readDomain(text);
  const domain = parsed.kind === 'domain' ? parsed.domain : undefined;
  const resolved = resolveProject(projects, { named, channel, domain });
  if (parsed.kind === 'unclear') {
    if (given === undefined && resolved.kind === 'unknownProject')
      return refused('project', unknownProjectText(named ?? '', resolved.known));
    const { typed, suggested } = parsed;
    const what = 'Type the domain of the docs site, such as docs.acme.com.';
    if (typed.trim() === '') return { kind: 'missing', field: 'domain', problem: what };
    const fix = suggested === undefined ? 'Type it like docs.acme.com.' : `Did you mean ${suggested}?`;
    const problem = `${cut(singleLine(typed), 40)} isn't a host name. ${fix}`;
    return refused('domain', problem, { typed, suggested });
  }
  const { domain: site } = parsed;
  const paths = pages && pathsOn(site, pages);
  if (paths?.kind === 'unclear') return refused('paths', paths.problem);
  switch (resolved.kind) {
    case 'project': {
      const known = [docsDomain ?? [], ...projects.map(({ domains }) => domains ?? [])].flat();
      const meant = nearest(site, known, maxSlips);
      return { kind: 'ok', domain: site, project: resolved.project, paths: paths?.value, meant };
    }
    case 'unknownProject':
      return refused('project', unknownProjectText(named ?? '', resolved.known));
    case 'ask': {
      const names = resolved.among.map(({ name }) => name).join(' and ');
      const problem = `${names} have this domain: choose one.`;
      return { kind: 'missing', field: 'project', problem, domain: site };
    }
    case 'domainRefused': {
      const { known } = resolved;
      const meant = nearest(site, known, maxSlips);
      return refused('domain', refusedDomainText(site, named, known), { domain: site, meant });
    }
  }
}

/** With more than two differing letters, one host name is rarely a misspelling of another. */
const maxSlips = () => 2;

function refusedDomainText(domain: string, project: string | undefined, known: readonly string[]): string {
  if (known.length === 0) return `${domain} isn't set up for exports, and no other domain is.`;
  return project === undefined
    ? `${domain} isn't set up for exports. Set up here: ${listNames(known)}.`
    : `${domain} isn't in project ${sanitizeUserText(project, 60)}. Its domains: ${listNames(known)}.`;
}

/** Asks whether a known domain was meant, before anything is public. `refused`: the typed one cannot be exported. */
export function askWhetherMeant(
  { domain, meant, refused }: { domain: string; meant: string; refused: boolean },
  request: ExportRequest,
  { requestId }: Pick<Caller, 'requestId'>,
): Message {
  const wanted = { ...request, request: requestId };
  const typed = { ...wanted, domain, chosen: true as const };
  return message(
    [[`I don't know ${domain}. Did you mean `, { code: meant }, '? Nothing was started.']],
    [
      ...targetButtons(meant, { ...wanted, domain: meant }),
      ...(refused ? [] : targetButtons(`Export ${domain}`, typed, { action: exportActions.useTyped })),
    ],
  );
}

/** How a request began: typed, after a choice between similar domains, or beside a running export. */
export type How = 'first' | 'chosen' | 'another';

/**
 * Starts the export, unless the person may have meant a similar domain or another run has the same export: then it
 * returns the question or the reply. `another` starts beside that run, which keeps the claim.
 */
export async function startExport(
  { domain, project, paths, meant }: Resolved,
  request: ExportRequest,
  caller: Caller,
  tools: CommandTools,
  how: How = 'first',
): Promise<Message | undefined> {
  if (meant !== undefined && how === 'first')
    return askWhetherMeant({ domain, meant, refused: false }, request, caller);
  const run = newExportRun({ ...request, domain, project: project.name, paths }, caller, tools);
  const wanted = how === 'another' ? { ...run, claim: undefined } : run;
  return replyUnlessStale(await acceptExport('start', wanted, caller, tools));
}

/** A new run cannot be stale. */
const replyUnlessStale = (reply: Message | 'stale' | undefined) => (reply === 'stale' ? undefined : reply);

/**
 * Stores an export: `start` a new one, `resume` a restarted one. Returns the reply if another run has the same export,
 * or `stale` if the run has changed. Rejects with `UserFacingError` if the maximum of exports is running.
 */
export async function acceptExport(
  how: 'start' | 'resume',
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | 'stale' | undefined> {
  const { intake, limits, audit } = tools;
  // Its first requester's, then the conversation's.
  const quotas = exportQuotas(run.teamId, run.requester.id, run.asked.channel).map((name, index) => ({
    name,
    max: index === 0 ? limits.exportsPerPerson : limits.exportsPerChannel,
  }));
  const acceptance = await (how === 'start'
    ? intake.start(run, caller, quotas)
    : intake.resume(run, caller, { claims: true, quotas }));
  switch (acceptance.kind) {
    case 'stale':
      return 'stale';
    case 'claimed':
      await audit({ subject: site(run), result: 'running already' });
      return alreadyRunningReply(acceptance.by, run, caller, tools);
    case 'full': {
      await audit({ subject: site(run), result: 'refused: too many at once' });
      const other = await intake.loadKnown(acceptance.by, exportRun, caller);
      const thread = other && (await cardPermalink(other, caller, tools));
      const { max = 0 } = quotas[acceptance.quota] ?? {};
      const full = acceptance.quota === 0 ? personFull(run, max, caller) : channelFull(run, max, caller);
      throw new UserFacingError(
        message(
          [[...full, '; start more when one has ended.']],
          openThreadButton(exportActions.openThread, thread),
        ),
      );
    }
    default:
      return undefined;
  }
}

const personFull = ({ requester }: ExportRun, max: number, { user }: Caller): Part[] => [
  requester.id === user.id ? 'You have' : `${personName(requester.name)} has`,
  ` ${countOf(max, 'export')} running`,
];

const channelFull = ({ asked }: ExportRun, max: number, { channel }: Caller): Part[] => [
  `${countOf(max, 'export')} ${max === 1 ? 'runs' : 'run'} in `,
  asked.channel === channel.id ? 'this channel' : { channel: asked.channel },
];

/** The reply if another run has the same export as `run`. */
export async function alreadyRunningReply(
  runId: string,
  run: Pick<ExportRun, 'domain' | 'version' | 'jobId'>,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const other = await tools.intake.loadKnown(runId, exportRun, caller);
  if (other === undefined || other.state === 'ended') {
    const what = run.domain === '' ? 'This export' : `An export of ${site(run)}`;
    return message([[`${what} is just ending. Try again in a moment.`]]);
  }
  const thread = await cardPermalink(other, caller, tools);
  const mayFollow = await canSee(other, caller, tools.isPublic);
  const reader = { thread, mayFollow, readerId: caller.user.id };
  return runningMessage(other, tools.now(), reader, caller.requestId);
}

/** Watches an existing export job, wherever it was started. */
export async function watchExport(
  jobId: string,
  named: string | undefined,
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
    return alreadyRunningReply(other.id, other, caller, tools);
  const { domain = '', version, paths, privately = false } = other ?? {};
  const joined = newExportRun({ project, domain, version, paths, privately, jobId }, caller, tools);
  return replyUnlessStale(await acceptExport('start', joined, caller, tools));
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

/**
 * Returns the matching export jobs, among those that this person may see: running ones, and their own. Other people's
 * jobs are not found, as if they did not exist.
 */
export async function findExportJob(
  typed: TypedJob,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
) {
  const { teamId, user } = caller;
  const names = searchedProjects(tools.projects, named);
  const runs = await tools.intake.read(caller, async ({ runs }) => {
    const [{ runs: active }, own] = await Promise.all([
      runs.latestOf(exportRun, 'export'),
      runs.ofPerson(teamId, user.id),
    ]);
    return [...active, ...(await runs.loadAll(own, exportRun))];
  });
  const fitting = runs.filter(
    // An id that the platform does not know in this project may belong to another one.
    ({ jobId = '', project, ending }) =>
      ending?.kind !== 'lost' && names.includes(project) && jobId !== '' && mayMean(typed, jobId),
  );
  const visible = await filterVisible(fitting, (run) => run, caller, tools.isPublic);
  const jobs = visible.map((run) => ({
    ...{ id: jobIdOf(run), project: run.project },
    ...(run.domain !== '' && { about: site(run) }),
  }));
  return chooseJobs(typed, jobs);
}
