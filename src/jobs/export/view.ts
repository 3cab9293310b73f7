import {
  type ButtonParts,
  type Layout,
  type Line,
  layout,
  type Message,
  message,
  moment,
  type Part,
} from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import {
  countOf,
  cut,
  formatDuration,
  formatSize,
  joinFacts,
  lowerFirst,
  sanitizeUserText,
  singleLine,
} from '../../slack/text.ts';
import { deployButtons } from '../deployment/view.ts';
import {
  answeredStart,
  confirmStart,
  keyRemedyText,
  noPlaceMessage,
  notStartedReason,
  personName,
  platformReasonText,
  projectMissingText,
} from '../wording-view.ts';
import {
  cardMessage,
  downloadButton,
  failureLine,
  hasEnded,
  percentOf,
  progressMessage,
  runButtonOf,
  site,
  stateOf,
  tookText,
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

/** The key of the one message of a schedule. */
export const standingKey = (scheduleId: string) => `${scheduleId}.standing`;

/** The key of the message whose thread has the run's messages. */
export const rootKey = (run: ExportRun) =>
  run.schedule === undefined ? cardKey(run) : standingKey(run.schedule);

/** The key of the direct message with a link that is kept out of the thread. */
export const privateKey = ({ id, job, attempt }: ExportRun, resumed: number) =>
  job === 'link' ? `${id}.link` : `${id}.private.${attempt}.${resumed}`;

/** Returns every message of a run in its present form. Earlier endings stay as they were. */
export function exportMessages(run: ExportRun): OutboxMessage[] {
  const { state, attempt, ending, answer, earlier } = run;
  if (run.job === 'link') return linkMessages(run);
  if (ending?.kind === 'noPlace' || state === 'accepted') return [];
  const user = run.requester.id;
  const isGone = isRetracted(run);
  const retracted = isGone && { retracted: true as const };
  const place = run.inDirectMessage ? { user } : { channel: run.asked.channel };
  const messages: OutboxMessage[] = [
    { key: cardKey(run), place, kind: 'state', message: cardMessage(run), ...retracted, ...ofSchedule(run) },
  ];

  const wasWatched = run.startedAtMs !== undefined || run.unknownJobId !== undefined;
  const isKnown = wasWatched || (run.joined && run.polls > 0);
  // While the first link is made the message stays as it is: the next edit is the last.
  const isEnding = state === 'bundling' && run.relinked === 0 && run.pollFailure === undefined;
  if (!isEnding && run.schedule === undefined && (isKnown || failureLine(run).length > 0)) {
    const kind = hasEnded(run) ? 'state' : 'progress';
    messages.push({ ...inThread(run, 'progress', progressMessage(run)), kind, ...retracted });
  }
  if (state === 'unknown') messages.push(inThread(run, `question.${attempt}`, questionMessage(run)));
  if (answer) messages.push(inThread(run, `question.${answer.attempt}`, answeredMessage(run, answer)));
  if (earlier) messages.push(...doneMessages(run, earlier.ending, earlier.resumed));
  if (ending?.kind === 'done') messages.push(...doneMessages(run, ending, run.resumed));
  else if (isGone)
    // The requester gets the answer in the conversation of the request.
    for (const { id } of run.watchers)
      messages.push(toPerson(id, `${run.id}.refused.${attempt}.${id}`, retractedMessage(run)));
  else if (ending && ending.kind !== 'left') {
    // A failed further link gets its own message, since the old link may still work.
    const name = `end.${attempt}.${run.resumed}${run.relinked > 0 ? `.${run.relinked}` : ''}`;
    const message = endingMessage(run, ending);
    // A lost permission is shown only to the person.
    const isPrivate = ending.kind === 'notStarted' && ending.why === 'permission';
    messages.push(isPrivate ? toPerson(user, `${run.id}.${name}`, message) : inThread(run, name, message));
  }
  return messages;
}

/** A message in the thread, or in the requester's direct messages if the thread refuses it. */
const inThread = (run: ExportRun, name: string, message: Message): OutboxMessage => ({
  ...{ key: `${run.id}.${name}`, place: { under: rootKey(run) }, kind: 'ending', message },
  fallbackRecipient: run.requester.id,
});

const toPerson = (user: string, key: string, message: Message): OutboxMessage => ({
  ...{ key, place: { user }, kind: 'ending', message },
});

/** If somebody deleted the message with a link, its expiry is not worth a new post. */
const withoutRepost = { kind: 'state', repost: false } as const;

/** The card of a scheduled export is in the schedule's thread. At the end, it becomes the message with the link. */
function ofSchedule(run: ExportRun): Partial<OutboxMessage> {
  if (run.schedule === undefined) return {};
  const link = latestLink(run);
  const place = { under: standingKey(run.schedule) };
  return link === undefined
    ? { place }
    : { place, message: doneMessage(run, link, []), ...(link.expired && withoutRepost) };
}

/** The messages with a link. A further link edits the same ones, unless the job was watched again for it. */
function doneMessages(run: ExportRun, ending: DoneEnding, resumed: number): OutboxMessage[] {
  // The card of a scheduled export has the link already, so only watchers need a further message.
  const mention = run.schedule === undefined ? peopleOf(run) : run.watchers;
  const shown = inThread(run, `end.${run.attempt}.${resumed}`, doneMessage(run, ending, mention));
  const messages = mention.length === 0 ? [] : [shown];
  if (ending.privately) {
    const direct = linkMessage(run, ending, `${site(run)} is exported`, []);
    messages.push(toPerson(run.requester.id, privateKey(run, resumed), direct));
  }
  return ending.expired ? messages.map((one) => ({ ...one, ...withoutRepost })) : messages;
}

export function questionMessage(run: ExportRun): Message {
  const { unknownJobId } = run;
  const sentence = `Did the export of ${site(run)} start? The platform gave no clear answer.`;
  const wrongId = unknownJobId && { code: cut(singleLine(unknownJobId), 200) };
  return layout({
    icon: '⚠️',
    mention: [run.requester],
    lines: [sentence, wrongId && ['The platform has no job with that ID: ', wrongId]],
    small: ['Look in its dashboard first: starting again could run it twice.'],
    buttons: [
      { ...runButtonOf(run, "It's there: watch it", exportActions.watchIt), style: 'primary' },
      { ...runButtonOf(run, 'Start again', exportActions.startAgain), confirm: confirmSecond },
      runButtonOf(run, 'Leave it', exportActions.leave),
    ],
  });
}

const confirmSecond = confirmStart('this exports the same pages twice');

export const answeredMessage = (run: ExportRun, { action, by }: NonNullable<ExportRun['answer']>): Message =>
  answeredStart(`the export of ${site(run)}`, action, by);

/** The beginning of the run's id, which its log lines have. */
const refLine = ({ id }: ExportRun) => `ref ${id.slice(0, 8)}`;

/** The endings with a message in the thread. */
type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' | 'done' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions the requester and the watchers. */
function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
  const { icon } = stateOf(run);
  const ended = (lines: Line[], button: ButtonParts | false, small?: string) =>
    layout({ icon, mention: peopleOf(run), lines, small: [small], buttons: [button] });
  const startAgain = runButtonOf(run, 'Start again', exportActions.tryAgain);
  const confirmed = { ...startAgain, confirm: confirmSecond };
  const checkNow = runButtonOf(run, 'Check now', exportActions.checkNow);
  const hasDomain = run.domain !== '';
  switch (ending.kind) {
    case 'failed': {
      const at = percentOf(run) && ` at ${percentOf(run)}`;
      const after = tookText(run) && ` after ${tookText(run)}`;
      const lines = [`The export of ${site(run)} failed${at}${after}.`, platformReasonText(ending.reason)];
      return ended(lines, hasDomain && startAgain, `Your live site is not affected. · ${refLine(run)}`);
    }
    case 'notStarted': {
      if (ending.why === 'permission') return notPermittedMessage(run, ending);
      const canRetry = !['domain', 'project'].includes(ending.why);
      const small = ending.why === 'other' ? refLine(run) : undefined;
      return ended([notStartedText(run, ending), reasonLine(ending)], canRetry && startAgain, small);
    }
    case 'lost': {
      // The adopted job id was a person's guess; the export of the first start may still run.
      const wasFound = run.answer?.action === 'watchIt' && run.answer.attempt === run.attempt;
      const knows = run.joined || wasFound ? 'does not know' : 'no longer knows';
      const button = hasDomain && !run.joined && (wasFound ? confirmed : startAgain);
      return ended([`The platform ${knows} the export of ${site(run)} (404).`], button);
    }
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      const text = `I stopped watching the export of ${site(run)} after ${after}. It may still finish.`;
      return ended([text], checkNow);
    }
    case 'noLink': {
      const which = run.relinked > 0 ? 'new ' : '';
      const text = `${site(run)} is exported, but I could not get a ${which}download link yet${noLinkReason(run, ending)}.`;
      return ended([text, reasonLine(ending)], { ...checkNow, label: 'Get the link' });
    }
    case 'broken': {
      const isKnown = run.jobId !== undefined;
      const next = isKnown
        ? 'It may still finish at the platform.'
        : "It may or may not have started: look in the platform's dashboard before you start it again.";
      const text = `Something broke on my side during the export of ${site(run)}. ${next}`;
      return ended([text], isKnown ? checkNow : confirmed, `ref ${ending.ref}`);
    }
  }
}

/** An ephemeral to the requester; no other message of the run stays. */
export function retractedMessage(run: ExportRun): Message {
  const { ending } = run;
  if (ending?.kind === 'noPlace') return noPlaceMessage(run.asked.joinable, ending.code, 'started');
  if (ending?.kind !== 'notStarted')
    return message([`No export with the ID "${sanitizeUserText(run.jobId ?? '', 60)}".`]);
  if (ending.why === 'permission') return notPermittedMessage(run, ending);
  const tryAgain = runButtonOf(run, 'Try again', exportActions.tryAgain);
  return message([`❌ ${notStartedText(run, ending)}`, reasonLine(ending)], [tryAgain]);
}

/** The platform's own words, if any. */
const reasonLine = ({ reason = '' }: { reason?: string | undefined }): string =>
  singleLine(reason) && platformReasonText(reason);

/** An ephemeral to the requester. */
function notPermittedMessage(run: ExportRun, { reason }: NotStarted): Message {
  const whom = sanitizeUserText(reason ?? '', 200) || 'the people who run Docket';
  const what = `You may no longer start exports here, so the export of ${site(run)} was not started.`;
  return message([`${what} Ask ${whom}.`]);
}

/** Why there is no link, if somebody has to act before [Get the link] can help. */
function noLinkReason(run: ExportRun, { why, adminsAlerted }: Extract<Ending, { kind: 'noLink' }>): string {
  if (why === 'key') return `: my platform key was rejected, and ${keyRemedyText(adminsAlerted)}`;
  return why === 'project' ? `: ${lowerFirst(projectMissingText(run))}` : '';
}

function notStartedText(run: ExportRun, { why, adminsAlerted }: NotStarted): string {
  if (why === 'domain')
    return (run.version ?? run.paths) === undefined
      ? `The platform doesn't accept ${site(run)}, so nothing was started. Check the spelling and type the command again.`
      : `Nothing was started for ${site(run)}: the platform doesn't accept its domain, its label or its pages. Check them and type the command again.`;
  if (why === 'other' || why === 'permission')
    return `The platform refused the export of ${site(run)}. Nothing was started. If this keeps happening, tell the people who run Docket.`;
  return `The export of ${site(run)} was not started: ${notStartedReason(why, run, adminsAlerted)}.`;
}

function doneMessage(run: ExportRun, done: DoneEnding, mention: { id: string }[]): Message {
  const sentence = joinFacts(
    `${site(run)} is exported`,
    run.pageCount === undefined ? '' : countOf(run.pageCount, 'page'),
    done.sizeBytes === undefined ? '' : formatSize(done.sizeBytes),
    tookText(run) && `took ${tookText(run)}`,
  );
  if (!done.privately) return linkMessage(run, done, sentence, mention, updatesOf(run));
  const whom =
    run.watchers.length === 0 && run.schedule === undefined ? 'you' : personName(run.requester.name);
  const sent =
    done.refusal === undefined
      ? `I sent ${whom} the link privately.`
      : `Slack doesn't let me send ${whom} direct messages (${done.refusal}), so nobody has the link yet.`;
  const ownLink = runButtonOf(run, 'Get my own link', exportActions.ownLink);
  const buttons = [ownLink, ...updatesOf(run)];
  return layout({ icon: '✅', mention, lines: [`${sentence}. ${sent}`], buttons });
}

const updatesOf = ({ id, deployments = [] }: ExportRun) => deployButtons(id, deployments);

const peopleOf = ({ requester, watchers }: ExportRun) => [requester, ...watchers];

/** The link while it works, then a note that it has expired. */
function linkMessage(
  run: ExportRun,
  done: DoneEnding,
  sentence: string,
  mention: { id: string }[],
  updates: ButtonParts[] = [],
): Message {
  const settings = runButtonOf(run, 'Deployment settings', exportActions.settings);
  const newLink = runButtonOf(run, 'New link', exportActions.newLink);
  return layout({
    icon: '✅',
    mention,
    ...(done.expired
      ? {
          lines: [sentence, linkExpiredParts(done, 'The link')],
          buttons: [primary(newLink), settings, ...updates],
        }
      : workingLink(done, [sentence], exportActions.download, newLink, settings, ...updates)),
  });
}

const primary = (button: ButtonParts) => ({ ...button, style: 'primary' as const });

/** A link that works, how long it does, and a warning. `again` makes a further one. */
const workingLink = (
  done: DoneEnding,
  lines: Line[],
  download: string,
  again?: ButtonParts & { value: string },
  ...others: ButtonParts[]
): Layout => ({
  lines,
  small: [
    [
      ...(done.linkEndsAtMs === undefined
        ? ["The platform didn't say how long the link works. "]
        : ['The link works until ', moment(done.linkEndsAtMs), '. ']),
      'Anyone who has it can download the bundle.',
    ],
  ],
  buttons: [downloadButton(download, done), ...others],
  menu: again && { entries: [again], value: again.value },
});

const linkExpiredParts = ({ linkEndsAtMs: time = 0 }: DoneEnding, link: string): Part[] => [
  `🔒 ${link} ended `,
  moment(time),
  '. The export is still there.',
];

/** The messages of a person's own link; none while a link is made, or if Slack refuses them. */
function linkMessages(run: ExportRun): OutboxMessage[] {
  const { state, ending, relinked } = run;
  const isDone = ending?.kind === 'done';
  if (state !== 'ended' || (isDone && ending.refusal !== undefined)) return [];
  const key = privateKey(run, 0);
  const link = latestLink(run);
  const messages: OutboxMessage[] = [];
  if (link !== undefined) {
    const shown = toPerson(run.requester.id, key, ownLinkMessage(run, link));
    messages.push(link.expired || !isDone ? { ...shown, ...withoutRepost } : shown);
  }
  // A failed further link gets its own message, since the previous link may still work.
  if (!isDone) {
    const lines = [`I could not get a download link to the export of ${site(run)} yet.`];
    const failed = layout({ icon: '⚠️', lines, buttons: [againButton(run, 'Get the link')] });
    const name = link === undefined ? key : `${key}.${relinked + 1}`;
    messages.push(toPerson(run.requester.id, name, failed));
  }
  return messages;
}

const ownLinkText = (run: ExportRun) => `Your own link to the export of ${site(run)}`;

const againButton = (run: ExportRun, label: string) => ({
  ...{ label, action: linkActions.again },
  value: JSON.stringify({ v: 1, run: run.id, made: run.relinked + 1 }),
});

function ownLinkMessage(run: ExportRun, link: DoneEnding): Message {
  const again = againButton(run, 'New link');
  return link.expired
    ? message([linkExpiredParts(link, ownLinkText(run))], [primary(again)])
    : layout(workingLink(link, [ownLinkText(run)], linkActions.download, again));
}

/** The ephemeral with the link itself, for a person whose direct messages Slack refuses. */
export function refusedLinkMessage(run: ExportRun, link: DoneEnding): Message {
  const why = `Slack doesn't let me send you direct messages (${link.refusal}), so here it is, for you alone.`;
  return layout(workingLink(link, [ownLinkText(run), why], linkActions.download));
}
