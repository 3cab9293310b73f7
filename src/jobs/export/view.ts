import {
  type ButtonParts,
  type Layout,
  layout,
  type Message,
  message,
  type Part,
} from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import {
  cut,
  formatDuration,
  formatSize,
  lowerFirst,
  sanitizeUserText,
  singleLine,
} from '../../slack/text.ts';
import { keyRemedyText, personName, platformReasonText, projectMissingText } from '../wording-view.ts';
import {
  cardMessage,
  downloadButton,
  hasEnded,
  noPlaceMessage,
  pageCountText,
  percentOf,
  progressMessage,
  runButtonOf,
  runButtonValue,
  shownStateOf,
  site,
  tookText,
  troubleLine,
} from './progress-view.ts';
import {
  type DoneEnding,
  type Ending,
  type ExportRun,
  exportActions,
  isRetracted,
  latestLink,
  linkActions,
} from './record.ts';

/** The key of a run's card. The card in direct messages is a different message from the channel's. */
export const cardKey = (run: ExportRun) => `${run.id}.card${run.inDirectMessage ? '.dm' : ''}`;

/** The key of the direct message with a link that is kept out of the thread. */
export const privateKey = ({ id, job, attempt }: ExportRun, resumed: number) =>
  job === 'link' ? `${id}.link` : `${id}.private.${attempt}.${resumed}`;

/** Returns every message of a run in its present form. Earlier endings stay as they were. */
export function exportMessages(run: ExportRun): OutboxMessage[] {
  const { ending, answer, earlier } = run;
  if (run.job === 'link') return linkMessages(run);
  if (ending?.kind === 'noPlace' || run.state === 'accepted') return [];
  const user = run.requester.id;
  const retracted = isRetracted(run) ? { retracted: true as const } : {};
  const place = run.inDirectMessage ? { user } : { channel: run.asked.channel };
  const messages: OutboxMessage[] = [
    { key: cardKey(run), place, kind: 'state', message: cardMessage(run), ...retracted },
  ];

  const wasWatched = run.startedAtMs !== undefined || run.unknownJobId !== undefined;
  const isKnown = wasWatched || (run.joined && run.snapshots.length > 0);
  // While the first link is made the message stays as it is: the next edit is the last.
  const isEnding = run.state === 'bundling' && run.relinked === 0 && run.pollFailure === undefined;
  if (!isEnding && (isKnown || troubleLine(run).length > 0))
    messages.push({
      key: `${run.id}.progress`,
      place: { under: cardKey(run) },
      kind: hasEnded(run) ? 'state' : 'progress',
      message: progressMessage(run),
      ...retracted,
    });
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
    const message = inThread(run, `end.${run.attempt}.${run.resumed}${suffix}`, endingMessage(run, ending));
    // A lost permission is shown only to the person.
    const isPrivate = ending.kind === 'notStarted' && ending.why === 'permission';
    messages.push(isPrivate ? { ...message, place: { user } } : message);
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

/** If somebody deleted the message with a link, its expiry is not worth a new post. */
const withoutRepost = { kind: 'state', repost: false } as const;

/** The messages with a link. A further link edits the same ones, unless the job was watched again for it. */
function doneMessages(run: ExportRun, ending: DoneEnding, resumed: number): OutboxMessage[] {
  const ended = inThread(run, `end.${run.attempt}.${resumed}`, doneMessage(run, ending));
  const direct: OutboxMessage = {
    key: privateKey(run, resumed),
    place: { user: run.requester.id },
    kind: 'ending',
    message: privateLinkMessage(run, ending),
  };
  const messages = ending.privately ? [ended, direct] : [ended];
  return ending.expired ? messages.map((one) => ({ ...one, ...withoutRepost })) : messages;
}

export function questionMessage(run: ExportRun): Message {
  const { unknownJobId } = run;
  const sentence = `Did the export of ${site(run)} start? The platform gave no clear answer.`;
  const wrongId = unknownJobId && { code: cut(singleLine(unknownJobId), 200) };
  return mentioning([run.requester], '⚠️', sentence, {
    more: wrongId ? [['The platform has no job with that ID: ', wrongId]] : [],
    small: [['Look in its dashboard first: starting again could run it twice.']],
    buttons: [
      { ...runButtonOf(run, "It's there: watch it", exportActions.watchIt), style: 'primary' },
      { ...runButtonOf(run, 'Start again', exportActions.startAgain), confirm: confirmSecond },
      runButtonOf(run, 'Leave it', exportActions.leave),
    ],
  });
}

const confirmSecond = {
  title: 'Start it again?',
  text: 'If the first one did start, this exports the same pages twice.',
  yes: 'Start again',
  no: 'Cancel',
};

export function answeredMessage(run: ExportRun, { action, by }: NonNullable<ExportRun['answer']>): Message {
  const start = `the export of ${site(run)}`;
  const texts = {
    startAgain: `It was unclear whether ${start} had started. ${personName(by)} started it again.`,
    leave: `It's unclear whether ${start} started. ${personName(by)} chose not to start it again.`,
    watchIt: `It was unclear whether ${start} had started. It had: ${personName(by)} found it.`,
    late: `It was unclear whether ${start} had started. It had: the platform's answer came late.`,
  };
  return message([[texts[action]]]);
}

type Rest = Omit<Layout, 'lines' | 'text'> & { more?: Part[][] };

/** A sentence that mentions people. A phone shows the sentence before the names. */
function mentioning(
  people: readonly { id: string }[],
  icon: string,
  sentence: string,
  { more = [], small = [], ...rest }: Rest,
): Message {
  const mentions = people.flatMap(({ id }): Part[] => [' ', { mention: id }]);
  const lines = [[`${icon} `, ...mentions.slice(1), ` ${sentence}`], ...more];
  return layout({ lines, small, ...rest, text: [[sentence, ...mentions], ...more, ...small] });
}

/** The beginning of the run's id, which its log lines have. */
const refLine = ({ id }: ExportRun) => `ref ${id.slice(0, 8)}`;

/** The endings with a message in the thread. */
type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' | 'done' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions the requester and the watchers. */
function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
  const ended = (sentence: string, buttons: ButtonParts[], rest: Rest = {}) =>
    mentioning([run.requester, ...run.watchers], shownStateOf(run).icon, sentence, { buttons, ...rest });
  const startAgain = runButtonOf(run, 'Start again', exportActions.tryAgain);
  const confirmed = { ...startAgain, confirm: confirmSecond };
  const goOn = (label: string) => [runButtonOf(run, label, exportActions.checkNow)];
  switch (ending.kind) {
    case 'failed': {
      const at = percentOf(run) && ` at ${percentOf(run)}`;
      const after = tookText(run) && ` after ${tookText(run)}`;
      return ended(`The export of ${site(run)} failed${at}${after}.`, run.domain === '' ? [] : [startAgain], {
        more: [[platformReasonText(ending.reason)]],
        small: [[`Your live site is not affected. · ${refLine(run)}`]],
      });
    }
    case 'notStarted': {
      if (ending.why === 'permission') return notPermittedMessage(run, ending);
      const buttons = ['domain', 'project'].includes(ending.why) ? [] : [startAgain];
      const small = ending.why === 'other' ? [[refLine(run)]] : [];
      return ended(notStartedText(run, ending), buttons, { more: reasonLines(ending), small });
    }
    case 'lost': {
      // The adopted job id was a person's guess; the export of the first start may still run.
      const wasFound = run.answer?.action === 'watchIt' && run.answer.attempt === run.attempt;
      const knows = run.joined || wasFound ? 'does not know' : 'no longer knows';
      const buttons = run.domain === '' || run.joined ? [] : [wasFound ? confirmed : startAgain];
      return ended(`The platform ${knows} the export of ${site(run)} (404).`, buttons);
    }
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      const text = `I stopped watching the export of ${site(run)} after ${after}. It may still finish.`;
      return ended(text, goOn('Check now'));
    }
    case 'noLink': {
      const which = run.relinked > 0 ? 'new ' : '';
      const text = `${site(run)} is exported, but I could not get a ${which}download link yet${noLinkReason(run, ending)}.`;
      return ended(text, goOn('Get the link'), { more: reasonLines(ending) });
    }
    case 'broken': {
      const text = `Something broke on my side during the export of ${site(run)}.`;
      const small = [[`ref ${ending.ref}`]];
      return run.jobId === undefined
        ? ended(
            `${text} It may or may not have started: look in the platform's dashboard before you start it again.`,
            [confirmed],
            { small },
          )
        : ended(`${text} It may still finish at the platform.`, goOn('Check now'), { small });
    }
  }
}

/** An ephemeral to the requester; no other message of the run stays. */
export function retractedMessage(run: ExportRun): Message {
  const { ending } = run;
  if (ending?.kind === 'noPlace') return noPlaceMessage(run, ending.code);
  if (ending?.kind !== 'notStarted')
    return message([[`No export with the ID "${sanitizeUserText(run.jobId ?? '', 60)}".`]]);
  if (ending.why === 'permission') return notPermittedMessage(run, ending);
  const tryAgain = runButtonOf(run, 'Try again', exportActions.tryAgain);
  return message([[`❌ ${notStartedText(run, ending)}`], ...reasonLines(ending)], [tryAgain]);
}

/** The platform's own words, if any. */
const reasonLines = ({ reason = '' }: { reason?: string | undefined }): Part[][] =>
  singleLine(reason) === '' ? [] : [[platformReasonText(reason)]];

/** An ephemeral to the requester. */
function notPermittedMessage(run: ExportRun, { reason }: NotStarted): Message {
  const whom = sanitizeUserText(reason ?? '', 200) || 'the people who run Docket';
  const what = `You may no longer start exports here, so the export of ${site(run)} was not started.`;
  return message([[`${what} Ask ${whom}.`]]);
}

/** Why there is no link, if somebody has to act before [Get the link] can help. */
function noLinkReason(run: ExportRun, { why, adminsTold }: Extract<Ending, { kind: 'noLink' }>): string {
  if (why === 'key') return `: my platform key was rejected, and ${keyRemedyText(adminsTold)}`;
  return why === 'project' ? `: ${lowerFirst(projectMissingText(run))}` : '';
}

function notStartedText(run: ExportRun, { why, adminsTold }: NotStarted): string {
  const notStarted = `The export of ${site(run)} was not started`;
  switch (why) {
    case 'domain':
      return (run.version ?? run.paths) === undefined
        ? `The platform doesn't accept ${site(run)}, so nothing was started. Check the spelling and type the command again.`
        : `Nothing was started for ${site(run)}: the platform doesn't accept its domain, its label or its pages. Check them and type the command again.`;
    case 'plan':
      return `${notStarted}: the platform doesn't allow it (403); ${adminsTold ? 'the admins have been told' : 'ask the people who run Docket'}.`;
    case 'key':
      return `${notStarted}: my platform key was rejected; ${keyRemedyText(adminsTold)}.`;
    case 'limit':
      return `${notStarted}: the platform's limit is reached. Try again later.`;
    case 'down':
      return `${notStarted}: the docs platform isn't answering. Try again in a little while.`;
    case 'project':
      return `${notStarted}: ${lowerFirst(projectMissingText(run))}. Ask the people who run Docket.`;
    case 'permission':
    case 'other':
      return `The platform refused the export of ${site(run)}. Nothing was started. If this keeps happening, tell the people who run Docket.`;
  }
}

function doneMessage(run: ExportRun, done: DoneEnding): Message {
  const facts = [
    `${site(run)} is exported`,
    run.pageCount === undefined ? '' : pageCountText(run.pageCount),
    done.sizeBytes === undefined ? '' : formatSize(done.sizeBytes),
    tookText(run) && `took ${tookText(run)}`,
  ];
  const sentence = facts.filter(Boolean).join(' · ');
  const people = [run.requester, ...run.watchers];
  if (!done.privately) return mentioning(people, '✅', sentence, linkContent(run, done));
  const whom = run.watchers.length === 0 ? 'you' : personName(run.requester.name);
  const sent =
    done.refusal === undefined
      ? `I sent ${whom} the link privately.`
      : `Slack doesn't let me send ${whom} direct messages (${done.refusal}), so nobody has the link yet.`;
  const ownLink = runButtonOf(run, 'Get my own link', exportActions.ownLink);
  return mentioning(people, '✅', `${sentence}. ${sent}`, { buttons: [ownLink] });
}

/** A direct message to the requester, if the thread must not have the link. */
function privateLinkMessage(run: ExportRun, done: DoneEnding): Message {
  const { more = [], small = [], ...rest } = linkContent(run, done);
  const sentence = `${site(run)} is exported`;
  const lines = [[`✅ ${sentence}`], ...more];
  return layout({ lines, small, ...rest, text: [[sentence], ...more, ...small] });
}

/** The link while it works, then a note that it has expired. */
function linkContent(run: ExportRun, done: DoneEnding): Rest {
  const settings = runButtonOf(run, 'Deployment settings', exportActions.settings);
  const newLink = runButtonOf(run, 'New link', exportActions.newLink);
  if (done.expired)
    return {
      more: [linkExpiredParts(done, 'The link')],
      buttons: [{ ...newLink, style: 'primary' }, settings],
    };
  return {
    small: [linkValidityParts(done)],
    buttons: [downloadButton(exportActions.download, done), settings],
    menu: { entries: [newLink], value: runButtonValue(run) },
  };
}

/** Format of a link's expiry, in each reader's own time. */
export const LINK_END_FORMAT = '{date_short_pretty} {time}';

/** How long a link works, with a warning. */
const linkValidityParts = ({ linkEndsAtMs: time }: DoneEnding): Part[] => [
  ...(time === undefined
    ? ["The platform didn't say how long the link works. "]
    : ['The link works until ', { time, format: LINK_END_FORMAT }, '. ']),
  'Anyone who has it can download the bundle.',
];

const linkExpiredParts = ({ linkEndsAtMs: time = 0 }: DoneEnding, link: string): Part[] => [
  `🔒 ${link} ended `,
  { time, format: LINK_END_FORMAT },
  '. The export is still there.',
];

/** The messages of a person's own link; none while a link is made, or if Slack refuses them. */
function linkMessages(run: ExportRun): OutboxMessage[] {
  const { ending, relinked } = run;
  if (run.state !== 'ended' || (ending?.kind === 'done' && ending.refusal !== undefined)) return [];
  const key = privateKey(run, 0);
  const place = { user: run.requester.id };
  const link = latestLink(run);
  const messages: OutboxMessage[] = [];
  if (link !== undefined)
    messages.push({
      ...{ key, place, kind: 'ending', message: ownLinkMessage(run, link) },
      ...((link.expired || ending?.kind !== 'done') && withoutRepost),
    });
  // A failed further link gets its own message, since the previous link may still work.
  if (ending?.kind !== 'done')
    messages.push({
      key: link === undefined ? key : `${key}.${relinked + 1}`,
      place,
      kind: 'ending',
      message: noOwnLinkMessage(run),
    });
  return messages;
}

const ownLinkText = (run: ExportRun) => `Your own link to the export of ${site(run)}`;

const againButton = (run: ExportRun, label: string) => ({
  label,
  action: linkActions.again,
  value: JSON.stringify({ v: 1, run: run.id, made: run.relinked + 1 }),
});

function ownLinkMessage(run: ExportRun, link: DoneEnding): Message {
  const again = againButton(run, 'New link');
  if (link.expired)
    return message([linkExpiredParts(link, ownLinkText(run))], [{ ...again, style: 'primary' }]);
  return layout({
    lines: [[ownLinkText(run)]],
    small: [linkValidityParts(link)],
    buttons: [downloadButton(linkActions.download, link)],
    menu: { entries: [again], value: again.value },
    text: [[ownLinkText(run)]],
  });
}

function noOwnLinkMessage(run: ExportRun): Message {
  const sentence = `I could not get a download link to the export of ${site(run)} yet.`;
  const buttons = [againButton(run, 'Get the link')];
  return layout({ lines: [[`⚠️ ${sentence}`]], buttons, text: [[sentence]] });
}

/** The ephemeral with the link itself, for a person whose direct messages Slack refuses. */
export function refusedLinkMessage(run: ExportRun, link: DoneEnding): Message {
  const why = `Slack doesn't let me send you direct messages (${link.refusal}), so here it is, for you alone.`;
  return layout({
    lines: [[ownLinkText(run)], [why]],
    small: [linkValidityParts(link)],
    buttons: [downloadButton(linkActions.download, link)],
  });
}
