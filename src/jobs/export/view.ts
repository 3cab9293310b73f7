import { type Layout, layout, type Message, message, type Part } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import {
  cut,
  formatDuration,
  formatSize,
  lowerFirst,
  sanitizeUserText,
  singleLine,
} from '../../slack/text.ts';
import { downloadButton, linkExpiredParts, linkValidityParts } from '../link/view.ts';
import { keyRemedyText, personName, platformReasonText, projectMissingText } from '../wording-view.ts';
import {
  cardMessage,
  exportDurationMs,
  hasEnded,
  pageCountText,
  percent,
  progressMessage,
  runButtonOf,
  runMenuOf,
  site,
  troubleLine,
} from './progress-view.ts';
import {
  type DoneEnding,
  type Ending,
  type ExportRun,
  exportActions,
  fractionOf,
  isRetracted,
  refOf,
} from './record.ts';

const confirmSecond = {
  title: 'Start it again?',
  text: 'If the first one did start, this exports the same pages twice.',
  yes: 'Start again',
  no: 'Cancel',
};

/** The key of a run's card. The card in direct messages is a different message from the channel's. */
export const cardKey = (run: ExportRun) => `${run.id}.card${run.inDirectMessage ? '.dm' : ''}`;

/** Returns every message of a run in its present form. Earlier endings stay as they were. */
export function exportMessages(run: ExportRun): OutboxMessage[] {
  const { ending, answer, earlier } = run;
  if (ending?.kind === 'noPlace' || run.state === 'accepted') return [];
  const user = run.requester.id;
  const messages: OutboxMessage[] = [];

  const place = run.inDirectMessage ? { user } : { channel: run.asked.channel };
  const retracted = isRetracted(run) ? { retracted: true as const } : {};
  messages.push({ key: cardKey(run), place, kind: 'state', message: cardMessage(run), ...retracted });

  const wasWatched = run.startedAtMs !== undefined || run.unknownJobId !== undefined;
  const isKnown = wasWatched || (run.joined && run.snapshots.length > 0);
  // While the first link is made the message stays as it is: the next edit is the last.
  const isEnding = run.state === 'bundling' && run.relinked === 0 && run.pollFailure === undefined;
  if (!isEnding && (isKnown || troubleLine(run).length > 0)) {
    const kind = hasEnded(run) ? 'state' : 'progress';
    const inThread = { under: cardKey(run) };
    const message = progressMessage(run);
    messages.push({ key: `${run.id}.progress`, place: inThread, kind, message, ...retracted });
  }
  if (run.state === 'unknown') messages.push(inThread(run, `question.${run.attempt}`, questionMessage(run)));
  if (answer) messages.push(inThread(run, `question.${answer.attempt}`, answeredMessage(run, answer)));
  if (earlier) messages.push(...doneMessages(run, earlier.ending, earlier.resumed));
  if (ending?.kind === 'done') messages.push(...doneMessages(run, ending, run.resumed));
  else if (isRetracted(run))
    // The requester gets the answer in the conversation of the request.
    for (const { id } of run.watchers)
      messages.push({
        key: `${run.id}.refused.${run.attempt}.${id}`,
        place: { user: id },
        kind: 'ending',
        message: retractedMessage(run),
      });
  else if (ending && ending.kind !== 'left') {
    // A failed further link gets its own message, since the old link may still work.
    const suffix = run.relinked > 0 ? `.${run.relinked}` : '';
    const name = `end.${run.attempt}.${run.resumed}${suffix}`;
    const message = endingMessage(run, ending);
    // A lost permission is shown only to the person.
    const isPrivate = ending.kind === 'notStarted' && ending.why === 'permission';
    messages.push(
      isPrivate
        ? { key: `${run.id}.${name}`, place: { user }, kind: 'ending', message }
        : inThread(run, name, message),
    );
  }
  return messages;
}

/** A message in the thread, or in the requester's direct messages if the thread refuses it. */
const inThread = (run: ExportRun, name: string, content: Message): OutboxMessage => ({
  key: `${run.id}.${name}`,
  place: { under: cardKey(run) },
  kind: 'ending',
  message: content,
  fallbackRecipient: run.requester.id,
});

/** The messages with a link. A further link edits the same ones, unless the job was watched again for it. */
function doneMessages(run: ExportRun, ending: DoneEnding, resumed: number): OutboxMessage[] {
  const ended = inThread(run, `end.${run.attempt}.${resumed}`, endingMessage(run, ending));
  const direct: OutboxMessage = {
    key: privateKey(run, resumed),
    place: { user: run.requester.id },
    kind: 'ending',
    message: privateLinkMessage(run, ending),
  };
  const messages = ending.privately ? [ended, direct] : [ended];
  // If somebody deleted the message, its expiry is not worth a new post.
  return ending.expired ? messages.map((one) => ({ ...one, kind: 'state', repost: false })) : messages;
}

/** The key of the direct message with a link that is kept out of the thread. */
export const privateKey = (run: ExportRun, resumed: number) => `${run.id}.private.${run.attempt}.${resumed}`;

const LOOK_FIRST = 'Look in its dashboard first: starting again could run it twice.';

export function questionMessage(run: ExportRun): Message {
  const { unknownJobId } = run;
  const question = `Did the export of ${site(run)} start? The platform gave no clear answer.`;
  const wrongId: Part[][] =
    unknownJobId === undefined
      ? []
      : [['The platform has no job with that ID: ', { code: cut(singleLine(unknownJobId), 200) }]];
  return mentioning([run.requester], '⚠️', question, {
    more: wrongId,
    small: [[LOOK_FIRST]],
    buttons: [
      { ...runButtonOf(run, "It's there: watch it", exportActions.watchIt), style: 'primary' },
      { ...runButtonOf(run, 'Start again', exportActions.startAgain), confirm: confirmSecond },
      runButtonOf(run, 'Leave it', exportActions.leave),
    ],
  });
}

export function answeredMessage(run: ExportRun, { action, by }: NonNullable<ExportRun['answer']>): Message {
  const start = `the export of ${site(run)}`;
  const who = personName(by);
  const texts = {
    startAgain: `It was unclear whether ${start} had started. ${who} started it again.`,
    leave: `It's unclear whether ${start} started. ${who} chose not to start it again.`,
    watchIt: `It was unclear whether ${start} had started. It had: ${who} found it.`,
    late: `It was unclear whether ${start} had started. It had: the platform's answer came late.`,
  };
  return message([[texts[action]]]);
}

/** Endings that the thread shows: all but an abandoned start and a card without a place. */
type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions the requester and the watchers. */
function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
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
        more: [[platformReasonText(ending.reason)]],
        small: [[`Your live site is not affected. · ref ${refOf(run.id)}`]],
        buttons: run.domain === '' ? [] : [startAgain],
      });
    }
    case 'notStarted': {
      if (ending.why === 'permission') return notPermittedMessage(run, ending);
      const canRetry = !['domain', 'project'].includes(ending.why);
      return ended(run, '❌', notStartedText(run, ending), {
        more: reasonLines(ending),
        ...(ending.why === 'other' && { small: [[`ref ${refOf(run.id)}`]] }),
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
        small: [[`ref ${ending.ref}`]],
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
  const tryAgain = runButtonOf(run, 'Try again', exportActions.tryAgain);
  return message([[`❌ ${notStartedText(run, ending)}`], ...reasonLines(ending)], [tryAgain]);
}

/** The platform's own words, if any. */
const reasonLines = ({ reason = '' }: { reason?: string | undefined }): Part[][] =>
  singleLine(reason) === '' ? [] : [[platformReasonText(reason)]];

type Rest = Omit<Layout, 'lines' | 'text'> & { more?: Part[][] };

const ended = (run: ExportRun, icon: string, sentence: string, rest: Rest) =>
  mentioning([run.requester, ...run.watchers], icon, sentence, rest);

/** A sentence that mentions people. A phone shows the sentence before the names. */
function mentioning(
  people: readonly { id: string }[],
  icon: string,
  sentence: string,
  { more = [], small = [], ...rest }: Rest,
): Message {
  const mentions = people.flatMap(({ id }, index): Part[] =>
    index === 0 ? [{ mention: id }] : [' ', { mention: id }],
  );
  const lines = [[`${icon} `, ...mentions, ` ${sentence}`], ...more];
  return layout({ lines, small, ...rest, text: [[sentence, ' ', ...mentions], ...more, ...small] });
}

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
  return ended(run, '✅', `${sentence}${facts}`, linkContent(run, done));
}

/** A direct message to the requester, if the thread must not have the link. */
function privateLinkMessage(run: ExportRun, done: DoneEnding): Message {
  const { more = [], small = [], ...rest } = linkContent(run, done);
  const sentence = `${site(run)} is exported`;
  return layout({
    lines: [[`✅ ${sentence}`], ...more],
    small,
    ...rest,
    text: [[sentence], ...more, ...small],
  });
}

/** The link while it works, then a note that it has expired. */
function linkContent(run: ExportRun, done: DoneEnding): Rest {
  const settings = runButtonOf(run, 'Deployment settings', exportActions.settings);
  if (done.expired && done.linkEndsAtMs !== undefined) {
    const newLink = { ...runButtonOf(run, 'New link', exportActions.newLink), style: 'primary' as const };
    return { more: [linkExpiredParts(done.linkEndsAtMs)], buttons: [newLink, settings] };
  }
  return {
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
