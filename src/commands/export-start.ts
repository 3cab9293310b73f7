import { createHash } from 'node:crypto';
import { readDomain } from '../domain.ts';
import { type ExportRun, exportRun, maySee } from '../jobs/export/run.ts';
import { cardKey, runningMessage } from '../jobs/export/view.ts';
import { defaultDomain, type Project, projectMeant } from '../projects.ts';
import type { Message } from '../slack/blocks.ts';
import { message } from '../slack/blocks.ts';
import { cut, messageAddress, oneLine } from '../slack/text.ts';
import type { Caller, CommandTools } from './command.ts';

/** An export as somebody asks for it; `domain` and `project` are as typed. */
export interface WantedExport {
  domain: string | undefined;
  project: string | undefined;
  version: string | undefined;
  paths: string[] | undefined;
  privately: boolean;
}

/** What to export, in which project; or what is still missing or wrong. */
export type Resolved =
  | { kind: 'ok'; domain: string; project: Project }
  | { kind: 'noDomain' }
  | { kind: 'badDomain'; typed: string; suggested: string | undefined }
  | { kind: 'unknownProject'; named: string; known: string[] }
  | { kind: 'domainRefused'; domain: string; known: string[] }
  | { kind: 'ask'; domain: string; among: Project[] };

/** Finds out what is meant, before anything outside is asked. */
export function resolve(
  { domain: typed, project: named }: Pick<WantedExport, 'domain' | 'project'>,
  channel: string,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): Resolved {
  const word = typed ?? defaultDomain(projects, { named, channel }, docsDomain);
  if (word === undefined) {
    const meant = projectMeant(projects, { named, channel });
    return meant.kind === 'unknownProject' ? { ...meant, named: named ?? '' } : { kind: 'noDomain' };
  }
  const read = readDomain(word);
  if (read.kind === 'unclear')
    return read.typed.trim() === ''
      ? { kind: 'noDomain' }
      : { kind: 'badDomain', typed: read.typed, suggested: read.suggested };
  const { domain } = read;
  const meant = projectMeant(projects, { named, channel, domain });
  switch (meant.kind) {
    case 'project':
      return { kind: 'ok', domain, project: meant.project };
    case 'unknownProject':
      return { ...meant, named: named ?? '' };
    default:
      return { ...meant, domain };
  }
}

/** What is wrong with a project or a domain, with what can be had instead. */
export function refusal(found: Extract<Resolved, { kind: 'unknownProject' | 'domainRefused' }>): string {
  const known = found.known.slice(0, 10).join(', ');
  if (found.kind === 'unknownProject')
    return `There is no project ${cut(oneLine(found.named), 60)} here. There is: ${known}.`;
  const instead = known === '' ? 'No domain is set up for it.' : `Set up here: ${known}.`;
  return `${found.domain} isn't set up for exports. ${instead}`;
}

/** Keeps the export, or answers what to say instead: somebody else's is busy with the same. */
export async function startExport(
  what: Omit<WantedExport, 'domain' | 'project'> & { domain: string; project: string },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const taken = await tools.intake.start(newRun(what, caller, tools), caller);
  if (taken.kind !== 'claimed') return undefined;
  await tools.note({ subject: what.domain, result: 'running already' });
  return running(taken.by, what.domain, caller, tools);
}

/** A run that starts an export. Who may have its link is decided here, but for channels that are shared. */
export function newRun(
  what: Omit<WantedExport, 'domain' | 'project'> & { domain: string; project: string },
  caller: Caller,
  { links, now }: Pick<CommandTools, 'links' | 'now'>,
): ExportRun {
  const { domain, project, version, paths, privately } = what;
  return {
    ...emptyRun(caller, now()),
    claim: digest('export', caller.teamId, project, domain, version ?? '', ...(paths ?? []).toSorted()),
    project,
    domain,
    ...(version !== undefined && { version }),
    ...(paths !== undefined && { paths }),
    privately: privately || links === 'requester' || !caller.user.fullMember,
    joined: false,
  };
}

/** A run that watches an export job which exists. `domain` is empty when nobody here started it. */
export function joinedRun(
  what: Pick<ExportRun, 'project' | 'domain' | 'version' | 'paths' | 'privately'> & { jobId: string },
  caller: Caller,
  { links, now }: Pick<CommandTools, 'links' | 'now'>,
): ExportRun {
  return {
    ...emptyRun(caller, now()),
    ...what,
    claim: digest('watch', caller.teamId, what.project, what.jobId),
    privately: what.privately || links === 'requester' || !caller.user.fullMember,
    joined: true,
  };
}

function emptyRun({ teamId, user, channel, requestId }: Caller, nowMs: number) {
  const isDirect = channel.name === 'directmessage' || channel.name.startsWith('mpdm-');
  return {
    v: 1 as const,
    id: digest(teamId, requestId),
    teamId,
    job: 'export' as const,
    rev: 1,
    people: [user.id],
    requester: { id: user.id, name: user.name },
    watchers: [],
    asked: {
      channel: channel.id,
      joinable: !isDirect,
      isPublic: !isDirect && channel.name !== 'privategroup',
      atMs: nowMs,
    },
    inDirectMessage: false,
    attempt: 1,
    resumed: 0,
    relinked: 0,
    state: 'accepted' as const,
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextLookAtMs: nowMs,
    looks: [],
  };
}

/** Ids and claims that are the same for the same parts. */
export const digest = (...parts: string[]) =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);

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
  return runningMessage(other, tools.now(), await threadOf(other, caller, tools), caller.requestId);
}

/** The address of a run's card, for those who can open it; nothing while it has none. */
export async function threadOf(
  run: ExportRun,
  caller: Pick<Caller, 'user' | 'channel'>,
  { delivery, workspaceUrl }: Pick<CommandTools, 'delivery' | 'workspaceUrl'>,
): Promise<string | undefined> {
  if (!maySee(run, { user: caller.user.id, channel: caller.channel.id })) return undefined;
  const card = await delivery(cardKey(run)).catch(() => undefined);
  if (card?.kind !== 'shown') return undefined;
  return messageAddress(workspaceUrl, card);
}
