import { type ButtonParts, type Message, message, type Part } from '../../slack/blocks.ts';
import { cut, formatDuration, formatSize, oneLine } from '../../slack/text.ts';
import { downloadButton, linkExpiredParts, linkValidityParts } from '../bundle-link-view.ts';
import { keyRemedyText, personName, platformReasonText, projectMissingText } from '../wording-view.ts';
import { exportActions } from './buttons.ts';
import { exportDurationMs, pageCountText, percent, runButtonOf, site } from './phrases.ts';
import { type DoneEnding, type Ending, type ExportRun, fractionOf, refOf } from './record.ts';

/** Endings that are shown in the thread: a start that was left and a card without a place are not. */
export type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions whoever asked, and whoever wanted to be notified. */
export function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
  const button = (label: string, name: 'tryAgain' | 'checkNow') =>
    runButtonOf(run, label, exportActions[name]);
  const ended = (icon: string, text: string, buttons: ButtonParts[], ...lines: string[]) =>
    message([[`${icon} `, ...mentionParts(run), ` ${text}`], ...lines.map((line) => [line])], buttons);
  switch (ending.kind) {
    case 'done':
      return doneMessage(run, ending);
    case 'failed': {
      const fraction = fractionOf(run);
      const at = fraction === undefined ? '' : ` at ${percent(fraction)}`;
      const took = exportDurationMs(run);
      const after = took === undefined ? '' : ` after ${formatDuration(took)}`;
      const buttons = run.domain === '' ? [] : [button('Try again', 'tryAgain')];
      const lines = [
        platformReasonText(ending.reason),
        `Your live site is not affected. ref ${refOf(run.id)}`,
      ];
      return ended('❌', `The export of ${site(run)} failed${at}${after}.`, buttons, ...lines);
    }
    case 'notStarted': {
      if (ending.why === 'permission') return notPermittedMessage(run, ending);
      const canRetry = !['plan', 'domain', 'project'].includes(ending.why);
      const lines = oneLine(ending.reason ?? '') === '' ? [] : [platformReasonText(ending.reason)];
      const buttons = canRetry ? [button('Try again', 'tryAgain')] : [];
      return ended('❌', notStartedText(run, ending), buttons, ...lines);
    }
    case 'lost': {
      const knows = run.joined ? 'does not know' : 'no longer knows';
      const buttons = run.domain === '' || run.joined ? [] : [button('Start another', 'tryAgain')];
      return ended('❌', `The platform ${knows} the export of ${site(run)} (404).`, buttons);
    }
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      const text = `I stopped watching the export of ${site(run)} after ${after}. It may still finish.`;
      return ended('⌛', text, [button('Check now', 'checkNow')]);
    }
    case 'noLink': {
      const which = run.relinked > 0 ? 'new ' : '';
      const reason = noLinkReason(run, ending);
      const text = `The export of ${site(run)} finished, but I couldn't get a ${which}download link yet${reason}.`;
      return ended('⚠️', text, [button('Try again', 'checkNow')]);
    }
    case 'broken': {
      const isStarted = run.jobId !== undefined;
      const what = isStarted
        ? 'It may still finish at the platform.'
        : "It may or may not have started: look in the platform's dashboard before you start it again.";
      const text = `Something broke on my side during the export of ${site(run)}. ${what} ref ${ending.ref}`;
      return ended('❌', text, [
        isStarted ? button('Check now', 'checkNow') : button('Start again', 'tryAgain'),
      ]);
    }
  }
}

const mentionParts = (run: ExportRun): Part[] =>
  [run.requester, ...run.watchers].flatMap(({ id }, index) =>
    index === 0 ? [{ mention: id }] : [' ', { mention: id }],
  );

/** To whoever asked, alone. */
function notPermittedMessage(run: ExportRun, { reason }: NotStarted): Message {
  const whom = cut(oneLine(reason ?? ''), 200) || 'whoever runs Docket';
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
  const ready: Part[] = ['✅ ', ...mentionParts(run), ` The export of ${site(run)} is ready${facts}`];
  if (done.privately) {
    const whom = run.watchers.length === 0 ? 'you' : `@${personName(run.requester.name)}`;
    const sent =
      done.refusal === undefined
        ? `I sent ${whom} the link privately.`
        : `Slack doesn't let me send ${whom} direct messages (${done.refusal}), so nobody has the link yet.`;
    return message([ready, [sent]], [runButtonOf(run, 'Get my own link', exportActions.ownLink)]);
  }
  const { lines, buttons } = linkContent(run, done);
  return message([ready, ...lines], buttons);
}

/** To whoever asked, by direct message, where the thread must not have the link. */
export function privateLinkMessage(run: ExportRun, done: DoneEnding): Message {
  const { lines, buttons } = linkContent(run, done);
  return message([[`📦 The export of ${site(run)} is ready`], ...lines], buttons);
}

/** The link as long as it works, then that it has expired. */
function linkContent(run: ExportRun, done: DoneEnding): { lines: Part[][]; buttons: ButtonParts[] } {
  const newLink = runButtonOf(run, 'New link', exportActions.newLink);
  if (done.over && done.linkEndsAtMs !== undefined)
    return { lines: [linkExpiredParts(done.linkEndsAtMs)], buttons: [newLink] };
  const download = downloadButton(exportActions.download, done.link);
  const settings = runButtonOf(run, 'Deployment settings', exportActions.settings);
  return { lines: [linkValidityParts(done.linkEndsAtMs)], buttons: [download, newLink, settings] };
}

/** Why there is no link, where somebody has to act on it before [Try again] can help. */
function noLinkReason(run: ExportRun, { why, adminsTold }: Extract<Ending, { kind: 'noLink' }>): string {
  if (why === 'key') return `: my platform key was rejected, and ${keyRemedyText(adminsTold)}`;
  return why === 'project' ? `: my settings no longer have the project ${cut(oneLine(run.project), 60)}` : '';
}

function notStartedText(run: ExportRun, { why, adminsTold }: NotStarted): string {
  switch (why) {
    case 'domain':
      return (run.version ?? run.paths) === undefined
        ? `The platform doesn't accept ${site(run)}, so nothing was started. Check the spelling and type the command again.`
        : `The platform doesn't accept this request for ${site(run)}: its domain, its label or its pages. Nothing was started. Check them and type the command again.`;
    case 'plan':
      return "Static export needs the Enterprise plan, and this organization doesn't seem to have it. Nothing was started.";
    case 'key':
      return `My platform key was rejected, so nothing was started; ${keyRemedyText(adminsTold)}.`;
    case 'limit':
      return "The platform's limit is reached, so nothing was started. Try again later.";
    case 'down':
      return "The docs platform isn't answering, so nothing was started. Try again in a little while.";
    case 'project':
      return `${projectMissingText(run)}, so nothing was started. Ask whoever runs Docket.`;
    case 'permission':
    case 'other':
      return `The platform refused the export. Nothing was started. If it stays so, tell whoever runs Docket. ref ${refOf(run.id)}`;
  }
}
