import { askWhom } from '../jobs/ask-whom.ts';
import { unseenText } from '../jobs/wording-view.ts';
import type { Permission, Person, Policy, Verdict } from '../policy.ts';
import type { Log } from '../runtime/log.ts';
import { within } from '../runtime/within.ts';
import { type Message, message } from '../slack/blocks.ts';
import type { Identity } from '../slack/client.ts';
import type { AuditStore } from '../store/audit.ts';
import type { Caller, CommandTools, SlashCommand } from './command.ts';
import { TellUser } from './user-facing-error.ts';

/** What a request came to: its answer, or why it was not let in, or what went wrong. */
export type Passed<T> = { kind: 'answered'; value: T } | { kind: 'refused'; message: Message };

/**
 * What every request passes before it does anything: is it from this workspace, and may this person? Whatever goes
 * wrong behind it becomes a message; it never rejects. Refusals leave an audit line.
 */
export interface Gate {
  pass<T>(
    what: string,
    may: Permission,
    stranger: Caller,
    run: (caller: Caller, tools: CommandTools) => Promise<T>,
  ): Promise<Passed<T>>;
}

export interface GateParts {
  tools: Omit<CommandTools, 'botUserId' | 'workspaceUrl' | 'note' | 'may'>;
  policy: Policy;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  audit: AuditStore;
  newRef: () => string;
  now: () => number;
  log: Log;
}

/** The longest that an audit line may hold up an answer; the log has it too. */
const AUDIT_MS = 200;

const notKnown = message([
  ["Slack didn't tell me in time who you are, so nothing was started. Try again in a moment."],
]);
const notShown = message([[unseenText]]);
const slackAway = message([
  ["I can't reach Slack's API right now, so nothing was started. Try again in a minute."],
]);
const otherWorkspace = message([['This Docket belongs to another workspace. Nothing was started.']]);

const fromAnotherVersion = (what: string, instead: string) =>
  message([[`This ${what} is from another version of me and no longer works. ${instead}`]]);

/** Answers to what this version does not know (any more). */
export const outdated = {
  button: fromAnotherVersion('button', 'Use a newer message, or type the command again.'),
  command: fromAnotherVersion('command', 'Whoever runs me has to install me again, with my new manifest.'),
  dialog: fromAnotherVersion('dialog', 'Open it again.'),
  shortcut: fromAnotherVersion('shortcut', 'Load Slack anew, then look for its new name.'),
} as const;

export function createGate(parts: GateParts): Gate {
  const { tools, policy, audit, newRef, now, log } = parts;

  async function note(
    what: string,
    { teamId, user, channel }: Caller,
    line: Parameters<CommandTools['note']>[0],
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
      await within(AUDIT_MS, audit.add(parts.identity()?.teamId ?? teamId, entry));
    } catch (error) {
      log.warn({ err: error, what }, 'no audit line was written');
    }
  }

  async function noteRefusal(what: string, stranger: Caller, result: string, subject: string) {
    const { user, channel, teamId } = stranger;
    const about = { what, user: user.id, channel: channel.id, team: teamId, subject, result };
    log.warn(about, 'a request was refused');
    await note(what, stranger, { subject, result: `refused: ${result}` });
  }

  /** Who it is, when this person may; else the refusal, with its audit line. */
  async function admit(
    what: string,
    may: Permission,
    stranger: Caller,
    teamId: string,
    subject = '',
  ): Promise<{ kind: 'admitted'; person: Person } | { kind: 'refused'; message: Message }> {
    const verdict = await policy.check(stranger.user.id, may, { external: teamId !== stranger.teamId });
    if (verdict.kind === 'allowed') return { kind: 'admitted', person: verdict.person };
    const { result, told } = refusalOf(verdict, may, policy);
    await noteRefusal(what, stranger, result, subject);
    return { kind: 'refused', message: told };
  }

  return {
    async pass(what, may, stranger, run) {
      const about = { what, user: stranger.user.id, channel: stranger.channel.id };
      try {
        const identity = parts.identity();
        if (identity === undefined) return { kind: 'refused', message: slackAway };
        const { teamId } = identity;
        const admission = await admit(what, may, stranger, teamId);
        if (admission.kind === 'refused') return admission;
        const { id, name, fullMember } = admission.person;
        const caller = { ...stranger, teamId, user: { id, name, fullMember } };
        const value = await run(caller, {
          ...tools,
          note: (line) => note(what, caller, line),
          async may(permission, subject) {
            const also = await admit(what, permission, { ...stranger, user: caller.user }, teamId, subject);
            if (also.kind === 'refused') throw new TellUser(also.message);
          },
          botUserId: identity.botUserId,
          workspaceUrl: identity.url,
        });
        log.info(about, 'request');
        return { kind: 'answered', value };
      } catch (error) {
        if (error instanceof TellUser) return { kind: 'refused', message: error.told };
        const ref = newRef();
        log.error({ ...about, err: error, ref }, 'a request broke');
        return { kind: 'refused', message: message([[`Something broke on my side. ref ${ref}`]]) };
      }
    },
  };
}

const whatFor: Record<Permission, string> = {
  export: 'start exports here, so nothing was started',
  agent: 'instruct the docs agent here, so nothing was sent',
  digest: 'change digests here, so nothing was changed',
  admin: 'see this',
  status: 'see this',
};

/** Why somebody is not let in, for the audit log and for them. */
function refusalOf(
  verdict: Exclude<Verdict, { kind: 'allowed' }>,
  may: Permission,
  policy: Policy,
): { result: string; told: Message } {
  if (verdict.kind === 'unknown')
    return verdict.missingScope
      ? { result: 'not known to Slack', told: notShown }
      : { result: 'not known in time', told: notKnown };
  if (verdict.outsider) return { result: 'another workspace', told: otherWorkspace };
  return { result: 'not permitted', told: notPermitted(may, askWhom(verdict.ask, policy.open(may))) };
}

function notPermitted(may: Permission, whom: string): Message {
  return message([[`You can't ${whatFor[may]}. Ask ${whom}.`]]);
}

/** Help is derived from the command, so that it cannot fall behind. */
export function helpMessage({ name, usage, summary, examples }: SlashCommand): Message {
  return message([
    [{ code: `${name} ${usage}` }],
    [summary],
    ...examples.map((example) => ['For example: ', { code: example }]),
  ]);
}
