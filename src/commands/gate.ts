import { contactsText, missingScopeText } from '../jobs/wording-view.ts';
import type { Permission, PermissionResult, Person, Policy } from '../policy.ts';
import type { Log } from '../runtime/log.ts';
import { within } from '../runtime/within.ts';
import { type Message, message } from '../slack/blocks.ts';
import type { Identity } from '../slack/client.ts';
import type { AuditStore } from '../store/audit.ts';
import type { Caller, CommandTools } from './tools.ts';
import { UserFacingError } from './user-facing-error.ts';

/** What a request came to: its answer, or a message that says why there is none. */
export type GateResult<T> = { kind: 'answered'; value: T } | { kind: 'refused'; message: Message };

/**
 * What every command, click, shortcut and submitted modal passes first: is it from this workspace, and may this person? Whatever goes
 * wrong behind it becomes a message; it never rejects. Refusals leave an audit line.
 */
export interface Gate {
  pass<T>(
    what: string,
    may: Permission,
    unverified: Caller,
    run: (caller: Caller, tools: CommandTools) => Promise<T>,
  ): Promise<GateResult<T>>;
}

export interface GateParts {
  tools: Omit<CommandTools, 'botUserId' | 'workspaceUrl' | 'audit' | 'requirePermission'>;
  policy: Policy;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  audit: AuditStore;
  newRef: () => string;
  now: () => number;
  log: Log;
}

/** The longest that an audit line may hold up an answer; the log has it too. */
const AUDIT_TIMEOUT_MS = 200;

const personUnknown = message([
  ["Slack didn't tell me in time who you are, so nothing was started. Try again in a moment."],
]);
const scopeMissing = message([[missingScopeText]]);
const slackUnavailable = message([
  ["I can't reach Slack's API right now, so nothing was started. Try again in a minute."],
]);
const otherWorkspace = message([['This Docket belongs to another workspace. Nothing was started.']]);

const outdatedMessage = (what: string, instead: string) =>
  message([[`This ${what} is from another version of me and no longer works. ${instead}`]]);

/** Answers to what this version does not know (any more). */
export const outdated = {
  button: outdatedMessage('button', 'Use a newer message, or type the command again.'),
  command: outdatedMessage('command', 'Whoever runs me has to install me again, with my new manifest.'),
  modal: outdatedMessage('dialog', 'Open it again.'),
  shortcut: outdatedMessage('shortcut', 'Load Slack anew, then look for its new name.'),
} as const;

export function createGate(parts: GateParts): Gate {
  const { tools, policy, audit, newRef, now, log } = parts;

  async function writeAudit(
    what: string,
    { teamId, user, channel }: Caller,
    line: Parameters<CommandTools['audit']>[0],
  ) {
    const { id, name } = user;
    const { job, ...rest } = line;
    const entry = {
      atMs: now(),
      user: { id, name },
      channel: channel.id,
      what,
      ...rest,
      ...(job && { job }),
    };
    try {
      await within(AUDIT_TIMEOUT_MS, audit.add(parts.identity()?.teamId ?? teamId, entry));
    } catch (error) {
      log.warn({ err: error, what }, 'no audit line was written');
    }
  }

  async function auditRefusal(what: string, unverified: Caller, result: string, subject: string) {
    const { user, channel, teamId } = unverified;
    const about = { what, user: user.id, channel: channel.id, team: teamId, subject, result };
    log.warn(about, 'a request was refused');
    await writeAudit(what, unverified, { subject, result: `refused: ${result}` });
  }

  /** Who it is, when this person may; else the refusal, with its audit line. */
  async function authorize(
    what: string,
    may: Permission,
    unverified: Caller,
    teamId: string,
    subject = '',
  ): Promise<{ kind: 'admitted'; person: Person } | { kind: 'refused'; message: Message }> {
    const verdict = await policy.check(unverified.user.id, may, { external: teamId !== unverified.teamId });
    if (verdict.kind === 'allowed') return { kind: 'admitted', person: verdict.person };
    const { result, reply } = refusalOf(verdict, may, policy);
    await auditRefusal(what, unverified, result, subject);
    return { kind: 'refused', message: reply };
  }

  return {
    async pass(what, may, unverified, run) {
      const about = { what, user: unverified.user.id, channel: unverified.channel.id };
      try {
        const identity = parts.identity();
        if (identity === undefined) return { kind: 'refused', message: slackUnavailable };
        const { teamId } = identity;
        const authorization = await authorize(what, may, unverified, teamId);
        if (authorization.kind === 'refused') return authorization;
        const { id, name, fullMember } = authorization.person;
        const caller = { ...unverified, teamId, user: { id, name, fullMember } };
        const value = await run(caller, {
          ...tools,
          audit: (line) => writeAudit(what, caller, line),
          async requirePermission(permission, subject) {
            const also = await authorize(
              what,
              permission,
              { ...unverified, user: caller.user },
              teamId,
              subject,
            );
            if (also.kind === 'refused') throw new UserFacingError(also.message);
          },
          botUserId: identity.botUserId,
          workspaceUrl: identity.url,
        });
        log.info(about, 'request');
        return { kind: 'answered', value };
      } catch (error) {
        if (error instanceof UserFacingError) return { kind: 'refused', message: error.reply };
        const ref = newRef();
        log.error({ ...about, err: error, ref }, 'a request broke');
        return { kind: 'refused', message: message([[`Something broke on my side. ref ${ref}`]]) };
      }
    },
  };
}

const permissionText: Record<Permission, string> = {
  export: 'start exports here, so nothing was started',
  agent: 'instruct the docs agent here, so nothing was sent',
  digest: 'change digests here, so nothing was changed',
  admin: 'see this',
  status: 'see this',
};

/** Why somebody is not let in, for the audit log and for them. */
function refusalOf(
  verdict: Exclude<PermissionResult, { kind: 'allowed' }>,
  may: Permission,
  policy: Policy,
): { result: string; reply: Message } {
  if (verdict.kind === 'unknown')
    return verdict.missingScope
      ? { result: 'not known to Slack', reply: scopeMissing }
      : { result: 'not known in time', reply: personUnknown };
  if (verdict.outsider) return { result: 'another workspace', reply: otherWorkspace };
  return {
    result: 'not permitted',
    reply: notPermittedMessage(may, contactsText(verdict.ask, policy.isOpen(may))),
  };
}

function notPermittedMessage(may: Permission, whom: string): Message {
  return message([[`You can't ${permissionText[may]}. Ask ${whom}.`]]);
}
