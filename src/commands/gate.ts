import { missingScopeText, notPermittedText } from '../jobs/shared/wording-view.ts';
import type { Metrics, Refusal, RequestKind, RequestOutcome, Tracing } from '../metrics/metrics.ts';
import type { Permission } from '../permissions.ts';
import type { PermissionResult, Policy } from '../policy.ts';
import { type Log, logScope } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { type Message, message } from '../slack/blocks.ts';
import type { Identity, PersonFacts } from '../slack/client.ts';
import type { AuditEntry, AuditStore } from '../store/audit.ts';
import { type Caller, type CommandTools, UserFacingError } from './intake.ts';

type Request<T> = (caller: Caller, tools: CommandTools) => Promise<T>;

type AuditedRequest = Pick<AuditEntry, 'what' | 'subject' | 'job' | 'result'>;

export type Gate = ReturnType<typeof createGate>;

interface GateParts {
  tools: Omit<CommandTools, 'botUserId' | 'workspaceUrl' | 'audit' | 'requirePermission' | 'hasPermission'>;
  policy: Omit<Policy, 'contactText'>;
  /** The bot's identity; undefined until it is known. */
  identity: () => Identity | undefined;
  /** Whether the app is installed for a whole organization, so that it has no identity. */
  isOrgWide: () => boolean;
  audit: AuditStore;
  metrics: Pick<Metrics, 'refusals' | 'requests'>;
  tracing: Tracing;
  /** Creates a reference for a request that has none. */
  newRef: () => string;
  now: () => number;
  monotonicMs: () => number;
  log: Log;
}

/** Maximum delay of an answer by an audit line; the log has it as well. */
const AUDIT_TIMEOUT_MS = 200;

/** Answers to requests of people or workspaces that cannot be checked. */
export const gateAnswers = {
  personUnknown: 'Slack took too long to say who you are, so nothing was started. Try again in a moment.',
  slackUnavailable: "I can't reach Slack's API right now, so nothing was started. Try again in a minute.",
  orgWide:
    "I'm installed for the whole organization, but I can only work in one workspace. Nothing was started.",
  otherWorkspace: 'This Docket belongs to another workspace. Nothing was started.',
};

const outdatedMessage = (what: string, instead: string) =>
  message([`This ${what} is from another version of me and no longer works. ${instead}`]);

/** Answers to requests that this version does not know, or no longer knows. */
export const outdated = {
  button: outdatedMessage('button', 'Use a newer message, or type the command again.'),
  command: outdatedMessage('command', 'Ask your Docket admins to reinstall me with my new manifest.'),
  modal: outdatedMessage('form', 'Open it again.'),
  shortcut: outdatedMessage('shortcut', 'Reload Slack, then look for its new name.'),
} as const;

/**
 * Returns the gate that every command, click, shortcut and submitted modal passes first: it checks the workspace and
 * the permission. It turns every later error into a message and never rejects. Refusals get an audit line.
 */
export function createGate(parts: GateParts) {
  const { tools, policy, identity, isOrgWide, metrics, tracing, newRef, now, monotonicMs, log } = parts;

  async function writeAudit({ user: { id, name }, channel, teamId }: Caller, line: AuditedRequest) {
    const entry = { ...line, atMs: now(), user: { id, name }, channel: channel.id };
    try {
      await withTimeout(AUDIT_TIMEOUT_MS, parts.audit.add(teamId, entry));
    } catch (error) {
      log.warn({ err: error, what: line.what }, 'no audit line was written');
    }
  }

  async function run<T>(what: string, may: Permission, unverified: Caller, request: Request<T>): Promise<T> {
    const bot = identity();
    if (bot === undefined) {
      metrics.refusals.add({ reason: 'slack_away' });
      throw new UserFacingError(message([isOrgWide() ? gateAnswers.orgWide : gateAnswers.slackUnavailable]));
    }
    const { teamId, botUserId, url: workspaceUrl } = bot;
    const caller = { ...unverified, teamId };
    const check = (permission: Permission) =>
      policy.check(caller.user.id, permission, { external: teamId !== unverified.teamId });

    /** Returns the person if they have the permission. Otherwise adds an audit line and throws `UserFacingError`. */
    async function authorize(permission: Permission, subject = '', why?: string): Promise<PersonFacts> {
      const verdict = await check(permission);
      if (verdict.kind === 'allowed') return verdict.person;
      const { result, reason, text } = refusalOf(verdict, permission);
      metrics.refusals.add({ reason });
      const about = { what, user: caller.user.id, channel: caller.channel.id, team: unverified.teamId };
      log.warn({ ...about, subject, result }, 'a request was refused');
      await writeAudit(caller, { what, subject, result: `refused: ${result}` });
      throw new UserFacingError(message([why, text]));
    }

    const { id, name, fullMember } = await authorize(may);
    caller.user = { id, name, fullMember };
    return request(caller, {
      ...tools,
      audit: (line) => writeAudit(caller, { ...line, what }),
      requirePermission: async (...required) => void (await authorize(...required)),
      hasPermission: async (permission) => (await check(permission)).kind === 'allowed',
      botUserId,
      workspaceUrl,
    });
  }

  /** Runs a request for a person with the permission. Returns the reason if there is no answer. */
  async function pass<T>(
    kind: RequestKind,
    what: string,
    may: Permission,
    unverified: Caller,
    request: Request<T>,
  ): Promise<T | Message> {
    const about = { what, user: unverified.user.id, channel: unverified.channel.id };
    const outcomeOf = async (): Promise<[RequestOutcome, T | Message]> => {
      try {
        return ['ok', await run(what, may, unverified, request)];
      } catch (error) {
        if (error instanceof UserFacingError) return ['refused', error.reply];
        const ref = logScope()?.ref ?? newRef();
        log.error({ ...about, err: error, ref }, 'a request failed');
        return ['failed', message([`Something broke on my side. ref ${ref}`])];
      }
    };
    const [outcome, answer] = await tracing.span(`${kind} ${what}`, outcomeOf);
    const durationMs = Math.round(monotonicMs() - unverified.receivedAtMs);
    metrics.requests.observe({ kind, name: what, outcome }, durationMs);
    // Logged later, so that it does not delay the answer.
    if (outcome !== 'failed') setImmediate(() => log.info({ ...about, outcome, durationMs }, 'request'));
    return answer;
  }

  return { pass };
}

/** Why a person is refused, for the audit log and for them. */
function refusalOf(
  verdict: Exclude<PermissionResult, { kind: 'allowed' }>,
  may: Permission,
): { result: string; reason: Refusal; text: string } {
  if (verdict.kind === 'unknown')
    return verdict.missingScope
      ? { result: 'not known to Slack', reason: 'missing_scope', text: missingScopeText }
      : { result: 'not known in time', reason: 'person_unknown', text: gateAnswers.personUnknown };
  if (verdict.outsider)
    return {
      result: 'another workspace',
      reason: 'another_workspace',
      text: gateAnswers.otherWorkspace,
    };
  const text = notPermittedText(may, verdict.contacts);
  return { result: 'not permitted', reason: 'not_permitted', text };
}
