import { earlierAttemptMessage, site, unchangedProgressMessage } from '../../jobs/export/progress-view.ts';
import {
  type ExportRun,
  exportActions,
  exportKind,
  exportRun,
  linkActions,
  linkButton,
  newLinkRun,
  type RunButton,
  runButton,
} from '../../jobs/export/record.ts';
import {
  isMentioned,
  MAX_WATCHERS,
  relink,
  type TransitionName,
  transitions,
} from '../../jobs/export/transitions.ts';
import { type Message, message, moment } from '../../slack/blocks.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton } from '../registry.ts';
import { acceptExport } from './start.ts';

/** The buttons that restart or end a run. */
export const runButtons = (Object.keys(transitions) as TransitionName[]).map((name) =>
  defineButton({
    action: exportActions[name],
    may: 'export',
    value: runButton,
    run: (button, caller, tools) => retryStale('export', () => applyTransition(name, button, caller, tools)),
  }),
);

/** A link for one person, if the thread has none. */
export const ownLinkButton = defineButton({
  action: exportActions.ownLink,
  may: 'export',
  value: runButton,
  async run(button, caller, tools) {
    const run = await loadExport(button, caller, tools);
    if (run.state === 'bundling') return linkBeingMade;
    if (run.ending?.kind !== 'done') return handledByMessage(run, button.attempt, caller);
    const { expired, privately, refusal } = run.ending;
    const wasSent = privately && !expired && refusal === undefined;
    if (run.requester.id === caller.user.id && wasSent) return linkSentMessage(run);
    const acceptance = await tools.intake.start(newLinkRun(run, caller, tools.now), caller);
    const own =
      acceptance.kind === 'claimed'
        ? await tools.intake.loadKnown(acceptance.by, exportRun, caller)
        : undefined;
    return own?.state === 'ended' ? linkSentMessage(own) : linkOnItsWay;
  },
});

const linkNotFound = message([["I no longer remember this link. Ask for a new one in the export's thread."]]);

const newerLinkExists = message([
  ['You already asked for a newer link: see the latest message about it here.'],
]);

/** [New link] and [Get the link] in a direct message. A second click finds the link in progress. */
export const newOwnLinkButton = defineButton({
  action: linkActions.again,
  may: 'export',
  value: linkButton,
  run({ run: runId, made }, caller, tools) {
    return retryStale('link', async () => {
      const run = await tools.intake.loadVisible(runId, exportKind, caller, linkNotFound);
      if (run.job !== 'link') return linkNotFound;
      if (run.state !== 'ended') return undefined;
      if (run.relinked + 1 !== made) return newerLinkExists;
      const acceptance = await tools.intake.resume(relink(run, tools.now()), caller, { claims: true });
      if (acceptance.kind === 'claimed') return newerLinkExists;
      return acceptance.kind === 'stale' ? 'stale' : undefined;
    });
  },
});

async function applyTransition(
  name: TransitionName,
  button: RunButton,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | 'stale' | undefined> {
  const run = await loadExport(button, caller, tools);
  const isOfAttempt = button.attempt === run.attempt;
  const isCurrent = isOfAttempt && (forAttempt.includes(name) || button.resumed === run.resumed);
  const next = isCurrent ? transitions[name](run, caller.user, tools.now()) : undefined;
  if (next === undefined) return unchangedMessage(name, run, button.attempt, caller);
  // Only a start blocks other identical ones, and counts toward the quotas.
  if (next.state === 'postingCard') {
    const reply = await acceptExport('resume', next, caller, tools);
    if (reply !== undefined) return reply;
  } else if ((await tools.intake.resume(next, caller)).kind === 'stale') return 'stale';
  await tools.audit({ subject: site(run), job: run.jobId, result: 'accepted' });
  return name === 'notify' ? willMention : undefined;
}

/** These apply to a start even if its watch was resumed later. */
const forAttempt: readonly TransitionName[] = ['refresh', 'notify'];

const willMention = message([["I'll mention you when it ends."]]);

const mentionsFull = message([
  [
    `${MAX_WATCHERS} more people are already mentioned when it ends, which is the limit. Look in this thread then.`,
  ],
]);

const linkComing = message([['A new link is on its way. It will appear in that message.']]);

const linkBeingMade = message([["I'm making a link right now. Click again in a moment."]]);

const linkOnItsWay = message([['Your own link is on its way, by direct message.']]);

/** To a person whose link was sent by direct message. */
function linkSentMessage({ ending }: ExportRun): Message {
  const time = ending?.kind === 'done' ? ending.linkEndsAtMs : undefined;
  if (time === undefined) return message([['I already sent you a link: see your direct messages with me.']]);
  const until = moment(time);
  return message([
    ['I already sent you a link, and it works until ', until, ': see your direct messages with me.'],
  ]);
}

/** Returns the run of a button. Rejects with `UserFacingError` if it is gone, or if this person may not see it. */
export const loadExport = (
  { run: id, domain }: RunButton,
  caller: Caller,
  { intake }: CommandTools,
): Promise<ExportRun> => intake.loadVisible(id, exportKind, caller, notFoundMessage(domain));

function notFoundMessage(domain: string): Message {
  const toType = domain === '' ? [] : [' To start a new one, type ', { code: `/docs-export ${domain}` }, '.'];
  return message([['I no longer remember this export.', ...toType]]);
}

/** Whether the question that a button was shown for is still open. */
export const isQuestionOpen = (run: ExportRun, { attempt }: RunButton) =>
  run.state === 'unknown' && run.attempt === attempt;

/** Why a click changed nothing; undefined if the wanted state is there already. */
function unchangedMessage(
  name: TransitionName,
  run: ExportRun,
  attempt: number,
  caller: Caller,
): Message | undefined {
  if (forAttempt.includes(name)) {
    if (attempt !== run.attempt) return earlierAttemptMessage;
    if (name === 'notify' && run.state !== 'ended')
      return isMentioned(run, caller.user.id) ? willMention : mentionsFull;
    return run.state === 'bundling' ? linkBeingMade : unchangedProgressMessage(run);
  }
  if (name === 'newLink' && run.state === 'bundling') return linkComing;
  return handledByMessage(run, attempt, caller);
}

/** The first click on the question of this attempt counts. */
export function handledByMessage(
  { answer }: ExportRun,
  attempt: number,
  { user }: Caller,
): Message | undefined {
  if (answer?.attempt !== attempt || answer.action === 'late') return handledMessage(undefined, user.id);
  const did = { leave: 'chose to leave it', startAgain: 'started it again', watchIt: 'found it' };
  return handledMessage({ id: answer.byId, name: answer.by, did: did[answer.action] }, user.id);
}
