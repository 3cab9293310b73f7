import {
  type ButtonParts,
  type Layout,
  layout,
  type Message,
  message,
  type Part,
} from '../../slack/blocks.ts';
import { formatDuration, formatSize, lowerFirst, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { downloadButton, linkExpiredParts, linkValidityParts } from '../bundle-link-view.ts';
import { keyRemedyText, personName, platformReasonText, projectMissingText } from '../wording-view.ts';
import { exportActions } from './buttons.ts';
import { exportDurationMs, pageCountText, percent, runButtonOf, runMenuOf, site } from './phrases.ts';
import { type DoneEnding, type Ending, type ExportRun, fractionOf, refOf } from './record.ts';

/** Endings that the thread shows: all but an abandoned start and a card without a place. */
export type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions the requester and the watchers. */
export function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
  const startAgain = runButtonOf(run, 'Start again', exportActions.tryAgain);
  const goOn = (label: string) => [runButtonOf(run, label, exportActions.checkNow)];
  switch (ending.kind) {
    case 'done':
      return doneMessage(run, ending);
    case 'failed': {
      const fraction = fractionOf(run);
      const at = fraction === undefined ? '' : ` at ${percent(fraction)}`;
      const took = exportDurationMs(run);
      const after = took === undefined ? '' : ` after ${formatDuration(took)}`;
      return ended(run, '❌', `The export of ${site(run)} failed${at}${after}.`, {
        more: [platformReasonText(ending.reason)],
        small: `Your live site is not affected. · ref ${refOf(run.id)}`,
        buttons: run.domain === '' ? [] : [startAgain],
      });
    }
    case 'notStarted': {
      if (ending.why === 'permission') return notPermittedMessage(run, ending);
      const canRetry = !['domain', 'project'].includes(ending.why);
      return ended(run, '❌', notStartedText(run, ending), {
        more: reasonLines(ending),
        ...(['permission', 'other'].includes(ending.why) && { small: `ref ${refOf(run.id)}` }),
        buttons: canRetry ? [startAgain] : [],
      });
    }
    case 'lost': {
      // The adopted job id was a person's guess; the export of the first start may still run.
      const wasFound = run.answer?.action === 'watchIt' && run.answer.attempt === run.attempt;
      const knows = run.joined || wasFound ? 'does not know' : 'no longer knows';
      return ended(run, '❌', `The platform ${knows} the export of ${site(run)} (404).`, {
        buttons:
          run.domain === '' || run.joined
            ? []
            : [wasFound ? { ...startAgain, confirm: confirmSecond } : startAgain],
      });
    }
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      const text = `I stopped watching the export of ${site(run)} after ${after}. It may still finish.`;
      return ended(run, '💤', text, { buttons: goOn('Check now') });
    }
    case 'noLink': {
      const which = run.relinked > 0 ? 'new ' : '';
      const text = `${site(run)} is exported, but I could not get a ${which}download link yet${noLinkReason(run, ending)}.`;
      return ended(run, '⚠️', text, { more: reasonLines(ending), buttons: goOn('Get the link') });
    }
    case 'broken': {
      const isStarted = run.jobId !== undefined;
      const what = isStarted
        ? 'It may still finish at the platform.'
        : "It may or may not have started: look in the platform's dashboard before you start it again.";
      return ended(run, '❌', `Something broke on my side during the export of ${site(run)}. ${what}`, {
        small: `ref ${ending.ref}`,
        buttons: isStarted ? goOn('Check now') : [{ ...startAgain, confirm: confirmSecond }],
      });
    }
  }
}

/** An ephemeral to the requester; no other message of the run stays. */
export function retractedMessage(run: ExportRun): Message {
  const { ending } = run;
  if (ending?.kind !== 'notStarted')
    return message([[`No export with the ID "${sanitizeUserText(run.jobId ?? '', 60)}".`]]);
  if (ending.why === 'permission') return notPermittedMessage(run, ending);
  const reason = reasonLines(ending).map((line) => [line]);
  const tryAgain = runButtonOf(run, 'Try again', exportActions.tryAgain);
  return message([[`❌ ${notStartedText(run, ending)}`], ...reason], [tryAgain]);
}

/** The platform's own words, if any. */
const reasonLines = ({ reason = '' }: { reason?: string | undefined }) =>
  singleLine(reason) === '' ? [] : [platformReasonText(reason)];

const confirmSecond = {
  title: 'Start it again?',
  text: 'If the first one did start, this exports the same pages twice.',
  yes: 'Start again',
  no: 'Cancel',
};

/** An ending in one sentence. A phone shows the sentence before the names. */
function ended(
  run: ExportRun,
  icon: string,
  sentence: string,
  { more = [], small, buttons = [] }: { more?: string[]; small?: string; buttons?: ButtonParts[] },
): Message {
  const rest = more.map((line) => [line]);
  return layout({
    lines: [[`${icon} `, ...mentionParts(run), ` ${sentence}`], ...rest],
    small: small === undefined ? [] : [[small]],
    buttons,
    text: [[sentence, ' ', ...mentionParts(run)], ...rest, ...(small === undefined ? [] : [[small]])],
  });
}

const mentionParts = (run: ExportRun): Part[] =>
  [run.requester, ...run.watchers].flatMap(({ id }, index) =>
    index === 0 ? [{ mention: id }] : [' ', { mention: id }],
  );

/** An ephemeral to the requester. */
function notPermittedMessage(run: ExportRun, { reason }: NotStarted): Message {
  const whom = sanitizeUserText(reason ?? '', 200) || 'the people who run Docket';
  const what = `You may no longer start exports here, so the export of ${site(run)} was not started.`;
  return message([[`${what} Ask ${whom}.`]]);
}

function doneMessage(run: ExportRun, done: DoneEnding): Message {
  const took = exportDurationMs(run);
  const facts = [
    run.pageCount === undefined ? '' : ` · ${pageCountText(run.pageCount)}`,
    done.sizeBytes === undefined ? '' : ` · ${formatSize(done.sizeBytes)}`,
    took === undefined ? '' : ` · took ${formatDuration(took)}`,
  ].join('');
  const sentence = `${site(run)} is exported`;
  if (done.privately) {
    const whom = run.watchers.length === 0 ? 'you' : personName(run.requester.name);
    const sent =
      done.refusal === undefined
        ? `I sent ${whom} the link privately.`
        : `Slack doesn't let me send ${whom} direct messages (${done.refusal}), so nobody has the link yet.`;
    return ended(run, '✅', `${sentence}${facts}. ${sent}`, {
      buttons: [runButtonOf(run, 'Get my own link', exportActions.ownLink)],
    });
  }
  const { more, ...rest } = linkContent(run, done);
  return layout({
    lines: [['✅ ', ...mentionParts(run), ` ${sentence}${facts}`], ...more],
    ...rest,
    text: [[`${sentence}${facts} `, ...mentionParts(run)], ...more, ...(rest.small ?? [])],
  });
}

/** A direct message to the requester, if the thread must not have the link. */
export function privateLinkMessage(run: ExportRun, done: DoneEnding): Message {
  const { more, ...rest } = linkContent(run, done);
  const sentence = `${site(run)} is exported`;
  const text = [[sentence], ...more, ...(rest.small ?? [])];
  return layout({ lines: [[`✅ ${sentence}`], ...more], ...rest, text });
}

/** The link while it works, then a note that it has expired. */
function linkContent(
  run: ExportRun,
  done: DoneEnding,
): Pick<Layout, 'small' | 'buttons' | 'menu'> & { more: Part[][] } {
  const settings = runButtonOf(run, 'Deployment settings', exportActions.settings);
  if (done.expired && done.linkEndsAtMs !== undefined) {
    const newLink = { ...runButtonOf(run, 'New link', exportActions.newLink), style: 'primary' as const };
    return { more: [linkExpiredParts(done.linkEndsAtMs)], buttons: [newLink, settings] };
  }
  return {
    more: [],
    small: [linkValidityParts(done.linkEndsAtMs)],
    buttons: [downloadButton(exportActions.download, done.link), settings],
    menu: runMenuOf(run, [{ label: 'New link', action: exportActions.newLink }]),
  };
}

/** Why there is no link, if somebody has to act before [Get the link] can help. */
function noLinkReason(run: ExportRun, { why, adminsTold }: Extract<Ending, { kind: 'noLink' }>): string {
  if (why === 'key') return `: my platform key was rejected, and ${keyRemedyText(adminsTold)}`;
  return why === 'project'
    ? `: my settings no longer have the project ${sanitizeUserText(run.project, 60)}`
    : '';
}

function notStartedText(run: ExportRun, { why, adminsTold }: NotStarted): string {
  switch (why) {
    case 'domain':
      return (run.version ?? run.paths) === undefined
        ? `The platform doesn't accept ${site(run)}, so nothing was started. Check the spelling and type the command again.`
        : `Nothing was started for ${site(run)}: the platform doesn't accept its domain, its label or its pages. Check them and type the command again.`;
    case 'plan':
      return `The export of ${site(run)} was not started: the platform doesn't allow it (403); ${adminsTold ? 'the admins have been told' : 'ask the people who run Docket'}.`;
    case 'key':
      return `The export of ${site(run)} was not started: my platform key was rejected; ${keyRemedyText(adminsTold)}.`;
    case 'limit':
      return `The export of ${site(run)} was not started: the platform's limit is reached. Try again later.`;
    case 'down':
      return `The export of ${site(run)} was not started: the docs platform isn't answering. Try again in a little while.`;
    case 'project':
      return `The export of ${site(run)} was not started: ${lowerFirst(projectMissingText(run))}. Ask the people who run Docket.`;
    case 'permission':
    case 'other':
      return `The platform refused the export of ${site(run)}. Nothing was started. If this keeps happening, tell the people who run Docket.`;
  }
}
