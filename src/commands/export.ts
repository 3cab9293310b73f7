import { createHash } from 'node:crypto';
import { z } from 'zod';
import { person } from '../jobs/export/phrases.ts';
import {
  type ExportRun,
  exportActions,
  exportRun,
  isMentioned,
  runButton,
  startAnother,
  type TransitionName,
  transitions,
  WATCHERS,
} from '../jobs/export/run.ts';
import { cardKey, runningMessage } from '../jobs/export/view.ts';
import { type Message, message } from '../slack/blocks.ts';
import { cut, oneLine } from '../slack/text.ts';
import type { Caller, CommandTools, SlashCommand } from './command.ts';
import { defineButton } from './command.ts';
import { readDomain } from './domain.ts';

/** There is one project until several can be configured. */
const PROJECT = 'default';

const whichSite = message([
  ['Which site? Type ', { code: '/docs-export docs.acme.com' }, ' with your own domain.'],
]);

export const exportCommand: SlashCommand = {
  name: '/docs-export',
  usage: '[domain]',
  summary: 'Exports a docs site as a static bundle and posts the download link when it is ready.',
  examples: ['/docs-export docs.acme.com'],
  may: 'export',

  async run(text, caller, tools) {
    const words = text.split(/\s+/).filter(Boolean);
    const typed = words[0] ?? tools.defaultDomain;
    if (typed === undefined) return whichSite;
    if (words.length > 1)
      return message([
        ['Type one domain and nothing else, such as ', { code: '/docs-export docs.acme.com' }],
      ]);
    const read = readDomain(typed);
    if (read.kind === 'unclear' && oneLine(read.typed) === '') return whichSite;
    return read.kind === 'domain'
      ? startExport(read.domain, caller, tools)
      : badDomain(read.typed, read.suggested, caller);
  },
};

const useDomainValue = z.object({ v: z.literal(1), domain: z.string(), request: z.string() });

/** "Use it" under a domain that was not quite one. */
export const useDomainButton = defineButton({
  action: exportActions.useDomain,
  may: 'export',
  value: useDomainValue,
  async run({ domain, request }, caller, tools) {
    const read = readDomain(domain);
    if (read.kind !== 'domain') return badDomain(read.typed, read.suggested, caller);
    return startExport(read.domain, { ...caller, requestId: `${request} use` }, tools);
  },
});

/** "Start another" for somebody who was told that an export runs already. */
export const startAnotherButton = defineButton({
  action: exportActions.startAnother,
  may: 'export',
  value: startAnother,
  async run({ domain, request }, caller, tools) {
    const run = newRun(domain, { ...caller, requestId: `${request} another` }, tools.now());
    // The other export keeps the claim: it is what later requests are told of.
    await tools.intake.start({ ...run, claim: undefined }, caller);
    return undefined;
  },
});

/** The buttons that set a run going again, or lay it to rest. */
export const runButtons = (
  ['startAgain', 'leave', 'tryAgain', 'checkNow', 'newLink', 'notify', 'refresh'] as const
).map((name) =>
  defineButton({
    action: exportActions[name],
    may: 'export',
    value: runButton,
    run: (button, caller, tools) => moveOn(name, button, caller, tools),
  }),
);

/** Buttons that are links. Slack sends a click all the same and wants it acknowledged. */
export const linkActions = [exportActions.download, exportActions.openThread];

async function startExport(
  domain: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const run = newRun(domain, caller, tools.now());
  const taken = await tools.intake.start(run, caller);
  if (taken.kind !== 'claimed') return undefined;
  return running(taken.by, domain, caller, tools);
}

function newRun(domain: string, { teamId, user, channel, requestId }: Caller, nowMs: number): ExportRun {
  const isDirect = channel.name === 'directmessage' || channel.name.startsWith('mpdm-');
  return {
    v: 1,
    id: digest(teamId, requestId),
    teamId,
    job: 'export',
    rev: 1,
    claim: digest('export', teamId, PROJECT, domain),
    project: PROJECT,
    domain,
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
    state: 'accepted',
    sinceMs: nowMs,
    attemptAtMs: nowMs,
    nextLookAtMs: nowMs,
    looks: [],
  };
}

const digest = (...parts: string[]) =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);

function badDomain(typed: string, suggested: string | undefined, { requestId }: Caller): Message {
  const shown = { code: cut(oneLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  const value: z.infer<typeof useDomainValue> = { v: 1, domain: suggested, request: requestId };
  return message(
    [[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']],
    [{ label: 'Use it', action: exportActions.useDomain, value: JSON.stringify(value) }],
  );
}

/** What to say when somebody asks for an export that another run is busy with. */
async function running(runId: string, domain: string, caller: Caller, tools: CommandTools): Promise<Message> {
  const other = await tools.intake.load(runId, exportRun, caller);
  if (other === undefined || other.state === 'ended')
    return message([[`An export of ${domain} is just ending. Try again in a moment.`]]);
  const card = await tools.delivery(cardKey(other)).catch(() => undefined);
  const mayOpen = other.inDirectMessage
    ? other.requester.id === caller.user.id
    : other.asked.isPublic || other.asked.channel === caller.channel.id;
  const thread =
    card?.kind === 'shown' && mayOpen
      ? `${tools.workspaceUrl}archives/${card.channel}/p${card.ts.replace('.', '')}`
      : undefined;
  return runningMessage(other, tools.now(), thread, caller.requestId);
}

/** How often a click is tried anew on a run that changes under it, as one does that is being watched. */
const TRIES = 5;

async function moveOn(
  name: TransitionName,
  button: z.infer<typeof runButton>,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const run = await tools.intake.load(button.run, exportRun, caller);
    if (run === undefined) return forgotten(button.domain);
    const shownFor = button.attempt === run.attempt && button.resumed === run.resumed;
    const next = shownFor ? transitions[name](run, caller.user, tools.now()) : undefined;
    if (next === undefined) return notMoved(name, run, button.attempt, caller);
    // Only a start keeps others from starting the same.
    const taken = await tools.intake.resume(next, caller, next.state === 'carding');
    if (taken.kind === 'claimed') return running(taken.by, run.domain, caller, tools);
    if (taken.kind !== 'stale') return name === 'notify' ? willMention : undefined;
  }
  return message([['This export changes too fast just now. Click again.']]);
}

const willMention = message([["I'll mention you when it ends."]]);

const enoughMentions = message([
  [`${WATCHERS} more people are mentioned when it ends already; look into this thread then.`],
]);

const linkComing = message([['A new link is on its way; it comes into that message.']]);

function forgotten(domain: string): Message {
  const again = { code: `/docs-export ${domain}` };
  return message([['I no longer remember this export. To start a new one, type ', again, '.']]);
}

/** Why a click changed nothing; silence where what was wanted is so anyway. */
function notMoved(
  name: TransitionName,
  run: ExportRun,
  attempt: number,
  caller: Caller,
): Message | undefined {
  if (name === 'refresh' && run.state !== 'ended') return undefined;
  if (name === 'notify' && run.state !== 'ended') {
    return isMentioned(run, caller.user.id) ? willMention : enoughMentions;
  }
  if (name === 'newLink' && run.state === 'bundling') return linkComing;
  return answeredBefore(run, attempt, caller);
}

/** A click that came after another one. Whoever clicked twice knows; everybody else is told. */
function answeredBefore(run: ExportRun, attempt: number, caller: Caller): Message | undefined {
  const answer = run.answer?.attempt === attempt ? run.answer : undefined;
  if (answer?.byId === caller.user.id) return undefined;
  if (answer === undefined || answer.action === 'late')
    return message([['That was settled already; look at the newest message in the thread.']]);
  const what = answer.action === 'leave' ? 'left it at that' : 'started it again';
  return message([[`@${person(answer.by)} ${what} already.`]]);
}
