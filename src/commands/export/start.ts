import { readDomain } from '../../domain.ts';
import { cardPermalink } from '../../jobs/export/feature.ts';
import { badDomainMessage, runningMessage, site } from '../../jobs/export/progress-view.ts';
import {
  type ExportRun,
  exportActions,
  exportQuotas,
  exportRun,
  jobAlias,
  newExportRun,
} from '../../jobs/export/record.ts';
import { targetButtons } from '../../jobs/shared/offer-view.ts';
import { canSee, filterVisible, type RunRequest } from '../../jobs/shared/origin.ts';
import type { ExportTarget } from '../../jobs/shared/target.ts';
import { jobFilter, soleJob, type TypedJob } from '../../jobs/shared/typed-job.ts';
import {
  chooseProjectMessage,
  listNames,
  MAX_LISTED_NAMES,
  personName,
  unknownProjectText,
} from '../../jobs/shared/wording-view.ts';
import { defaultDomain, resolveProject } from '../../projects.ts';
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

/**
 * The target of a request, or why there is none: `unsure` whether a similar domain was meant; `missing`: a form has to
 * ask for the field; `refused`: the problem, with its fix.
 */
type Resolution =
  | { kind: 'target'; target: ExportTarget }
  | { kind: 'unsure'; answer: Message }
  | { kind: 'missing'; field: Field; problem: string; domain?: string }
  | { kind: 'refused'; field: Field; problem: string; answer: Message };
type Field = 'domain' | 'project' | 'paths';

/** Resolves a request, before any call to the outside. `isSure`: the person chose the domain over a similar one. */
export function resolveRequest(
  request: ExportRequest,
  { channel, requestId }: Pick<RunRequest, 'channel' | 'requestId'>,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
  isSure = false,
): Resolution {
  const query = { named: request.project, channel: channel.id };
  const refused = (field: Field, problem: string, answer: Message = message([[problem]])) =>
    ({ kind: 'refused', field, problem, answer }) as const;
  const parsed = readDomain(request.domain ?? defaultDomain(projects, query, docsDomain) ?? '');
  const domain = parsed.kind === 'domain' ? parsed.domain : undefined;
  const found = resolveProject(projects, { ...query, domain });
  if (found.kind === 'unknownProject')
    return refused('project', unknownProjectText(request.project ?? '', found.known));
  if (parsed.kind === 'unclear') {
    const { typed, suggested } = parsed;
    const what = 'Type the domain of the docs site, such as docs.acme.com.';
    if (typed.trim() === '') return { kind: 'missing', field: 'domain', problem: what };
    const fix = suggested === undefined ? 'Type it like docs.acme.com.' : `Did you mean ${suggested}?`;
    // Without the button the person types it.
    const use = targetButtons(`Export ${suggested}`, {
      ...request,
      domain: suggested ?? '',
      request: requestId,
    });
    const problem = `${cut(singleLine(typed), 40)} isn't a host name. ${fix}`;
    return refused('domain', problem, badDomainMessage(typed, suggested, use));
  }
  const wanted = { ...request, domain: parsed.domain, request: requestId };
  if (found.kind === 'ambiguous') {
    const names = found.among.map(({ name }) => name).join(' and ');
    const problem = `${names} have this domain: choose one.`;
    return { kind: 'missing', field: 'project', problem, domain: parsed.domain };
  }
  if (found.kind === 'domainRefused') {
    const { known } = found;
    const meant = nearest(parsed.domain, known, maxSlips);
    const problem = refusedDomainText(parsed.domain, request.project, known);
    return refused('domain', problem, meant === undefined ? undefined : askWhetherMeant(wanted, meant, []));
  }
  const paths = request.paths && pathsOn(parsed.domain, request.paths);
  if (paths?.kind === 'unclear') return refused('paths', paths.problem);
  const known = [docsDomain ?? [], ...projects.map(({ domains }) => domains ?? [])].flat();
  const meant = isSure ? undefined : nearest(parsed.domain, known, maxSlips);
  if (meant !== undefined) {
    const chosen = { ...wanted, chosen: true as const };
    const buttons = targetButtons(`Export ${parsed.domain}`, chosen, { action: exportActions.useTyped });
    return { kind: 'unsure', answer: askWhetherMeant(wanted, meant, buttons) };
  }
  const { version, privately } = request;
  const { name: project } = found.project;
  return {
    kind: 'target',
    target: { project, domain: parsed.domain, version, paths: paths?.value, privately },
  };
}

/** With more than two differing letters, one host name is rarely a misspelling of another. */
const maxSlips = () => 2;

function refusedDomainText(domain: string, project: string | undefined, known: readonly string[]): string {
  if (known.length === 0) return `${domain} isn't set up for exports, and no other domain is.`;
  return project === undefined
    ? `${domain} isn't set up for exports. Set up here: ${listNames(known)}.`
    : `${domain} isn't in project ${sanitizeUserText(project, 60)}. Its domains: ${listNames(known)}.`;
}

/** Asks whether a known domain was meant, before anything is public. */
const askWhetherMeant = (
  wanted: Parameters<typeof targetButtons>[1],
  meant: string,
  others: ReturnType<typeof targetButtons>,
): Message =>
  message(
    [[`I don't know ${wanted.domain}. Did you mean `, { code: meant }, '? Nothing was started.']],
    [...targetButtons(`Export ${meant}`, { ...wanted, domain: meant }), ...others],
  );

/**
 * Starts an export, or with a `jobId` watches that job. Returns the reply if another run has the same export.
 * `another`: starts beside that run, which keeps the claim.
 */
export async function startExport(
  target: Parameters<typeof newExportRun>[0],
  caller: Caller,
  tools: CommandTools,
  another = false,
): Promise<Message | undefined> {
  const run = newExportRun(target, caller, tools);
  const reply = await acceptExport('start', another ? { ...run, claim: undefined } : run, caller, tools);
  // A new run cannot be stale.
  return reply === 'stale' ? undefined : reply;
}

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
  const quotas = exportQuotas(run, limits);
  const acceptance = await (how === 'start'
    ? intake.start(run, caller, quotas)
    : intake.resume(run, caller, { claims: true, quotas }));
  if (acceptance.kind === 'stale') return 'stale';
  if (!('by' in acceptance)) return undefined;
  const isFull = acceptance.kind === 'full';
  await audit({ subject: site(run), result: isFull ? 'refused: too many at once' : 'running already' });
  const other = await intake.loadKnown(acceptance.by, exportRun, caller);
  if (!isFull) return alreadyRunningReply(other, run, caller, tools);
  const { max = 0 } = quotas[acceptance.quota] ?? {};
  const { by, asked } = run;
  const whose = by.id === caller.user.id ? 'You have' : `${personName(by.name)} has`;
  const where = asked.channel === caller.channel.id ? 'this channel' : { channel: asked.channel };
  const full: Part[] =
    acceptance.quota === 0
      ? [`${whose} ${countOf(max, 'export')} running`]
      : [`${countOf(max, 'export')} ${max === 1 ? 'runs' : 'run'} in `, where];
  const thread = other && (await cardPermalink(other, caller, tools));
  const text = [...full, '; start more when one has ended.'];
  throw new UserFacingError(message([text], openThreadButton(exportActions.openThread, thread)));
}

async function alreadyRunningReply(
  other: ExportRun | undefined,
  run: ExportRun,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  if (other === undefined || other.state === 'ended') {
    const what = run.domain === '' ? 'This export' : `An export of ${site(run)}`;
    return message([`${what} is just ending. Try again in a moment.`]);
  }
  const thread = await cardPermalink(other, caller, tools);
  const mayFollow = await canSee(other, caller, tools.isPublic);
  const reader = { thread, mayFollow, readerId: caller.user.id };
  const wanted = { request: caller.requestId, privately: run.privately };
  return runningMessage(other, tools.now(), reader, wanted);
}

/** Watches an existing export job, wherever it was started. */
export async function watchExport(
  jobId: string,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const found = resolveProject(tools.projects, { named, channel: caller.channel.id });
  if (found.kind === 'unknownProject') return message([[unknownProjectText(named ?? '', found.known)]]);
  if (found.kind !== 'project') {
    const names = tools.projects.slice(0, MAX_LISTED_NAMES).map(({ name }) => name);
    throw new UserFacingError(
      chooseProjectMessage('Which project is it in', names, `/docs-export watch ${jobId}`),
      names,
    );
  }
  const project = found.project.name;
  const other = await findRunOfJob({ project, jobId }, caller, tools);
  if (other.reply !== undefined) return other.reply;
  const { domain = '', version, paths, privately = false } = other.run ?? {};
  return startExport({ project, domain, version, paths, privately, jobId }, caller, tools);
}

/** Returns the run of an export job. If that is not `own`, and at work or shown in a thread, it also returns the reply. */
export async function findRunOfJob(
  { project, jobId, own }: { project: string; jobId: string; own?: ExportRun },
  caller: Caller,
  tools: CommandTools,
): Promise<{ run?: ExportRun; reply?: Message }> {
  const alias = jobAlias(caller.teamId, project, jobId);
  const id = await tools.intake.read(caller, ({ runs }) => runs.byAlias(alias));
  const run = id === undefined ? undefined : await tools.intake.loadKnown(id, exportRun, caller);
  // A person may have entered it as another export's id, before the platform answered that it knows none.
  if (run?.jobId !== jobId) return {};
  if (run.id === own?.id) return { run };
  if (run.state === 'ended') {
    const thread = own === undefined ? await cardPermalink(run, caller, tools) : undefined;
    const open = openThreadButton(exportActions.openThread, thread);
    return { run, ...(thread && { reply: message(['This export already has a thread.'], open) }) };
  }
  return { run, reply: await alreadyRunningReply(run, own ?? run, caller, tools) };
}

export const watchExample = '/docs-export watch se_3f9a77bd04c24a06';

/**
 * Returns the typed export job, or the problem. Known are the running ones that this person may see, and their own.
 * Other people's jobs are not found, as if they did not exist.
 */
export async function findExportJob(
  typed: TypedJob | undefined,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
) {
  const isMeant = typed && jobFilter(typed, named, tools.projects);
  const runs = await tools.intake.read(caller, async ({ runs }) => {
    const { runs: active } = await runs.latestOf(exportRun, 'export', caller.teamId);
    const own = await runs.ofPerson(caller.teamId, caller.user.id);
    return [...active, ...(await runs.loadAll(own, exportRun))];
  });
  // An id that the platform does not know in this project may belong to another one.
  const fitting = runs.filter((run) => run.ending?.kind !== 'lost' && isMeant?.(run.jobId, run.project));
  const visible = await filterVisible(fitting, (run) => run, caller, tools.isPublic);
  const known = visible.map(({ jobId: id = '', project }) => ({ id, project }));
  return soleJob(typed, known, watchExample);
}
