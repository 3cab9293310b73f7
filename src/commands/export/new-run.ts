import { type ExportRun, exportClaim } from '../../jobs/export/record.ts';
import { idOf } from '../../store/ids.ts';
import type { Caller, CommandTools } from '../command.ts';
import type { ExportRequest } from './target.ts';

/** An export of which everything is known: `project` is a name in the settings, `domain` a host name. */
export type ExportTarget = Omit<ExportRequest, 'domain' | 'project'> & { domain: string; project: string };

/** A run that starts an export. Who may have its link is decided here, but for channels that are shared. */
export function newRun(
  target: ExportTarget,
  caller: Caller,
  { links, now }: Pick<CommandTools, 'links' | 'now'>,
): ExportRun {
  const { domain, project, version, paths, privately } = target;
  return {
    ...baseRun(caller, now()),
    claim: exportClaim({ teamId: caller.teamId, project, domain, version, paths }),
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
  target: Pick<ExportRun, 'project' | 'domain' | 'version' | 'paths' | 'privately'> & { jobId: string },
  caller: Caller,
  { links, now }: Pick<CommandTools, 'links' | 'now'>,
): ExportRun {
  return {
    ...baseRun(caller, now()),
    ...target,
    claim: idOf('watch', caller.teamId, target.project, target.jobId),
    privately: target.privately || links === 'requester' || !caller.user.fullMember,
    joined: true,
  };
}

function baseRun({ teamId, user, channel, requestId }: Caller, nowMs: number) {
  return {
    v: 2 as const,
    id: idOf(teamId, requestId),
    teamId,
    job: 'export' as const,
    rev: 1,
    people: [user.id],
    requester: { id: user.id, name: user.name },
    watchers: [],
    asked: { ...conversationOf(channel), atMs: nowMs },
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

/**
 * Where somebody asked for something. `joinable`: the app can be invited there. Slack names public channels alone; one
 * without a name counts as private.
 */
export function conversationOf({ id, name }: Caller['channel']) {
  const isDirect = name === 'directmessage' || name.startsWith('mpdm-') || id.startsWith('D');
  const isNamed = name !== '' && name !== 'privategroup';
  return { channel: id, joinable: !isDirect, isPublic: !isDirect && isNamed };
}
