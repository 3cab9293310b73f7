import {
  type ButtonParts,
  joinParts,
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
import { deployOffers, isDeployed, updateLine } from '../deployment/view.ts';
import { answeredStart, confirmStart, notStartedReason, startQuestion } from '../operation/view.ts';
import {
  keyRejectedText,
  LABELS,
  noPlaceMessage,
  personName,
  platformReasonText,
  projectMissingText,
} from '../shared/wording-view.ts';
import {
  downloadButton,
  failureOf,
  isExportEnded,
  jobParts,
  onlyPages,
  pagesText,
  percentOf,
  progressMessage,
  runButtonOf,
  site,
  stateOf,
  tookText,
  WORDS,
  whoText,
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
  const { state, attempt, ending, answer } = run;
  if (run.job === 'link') return linkMessages(run);
  if (ending?.kind === 'noPlace' || state === 'accepted') return [];
  const isGone = isRetracted(run);
  const retracted = isGone && { retracted: true as const };
  const place = run.inDirectMessage ? { user: run.by.id } : { channel: run.asked.channel };
  const messages: OutboxMessage[] = [
    { key: cardKey(run), place, kind: 'state', message: cardMessage(run), ...retracted, ...ofSchedule(run) },
  ];

  const endings = isGone ? refusedMessages(run) : endingMessages(run);
  const wasWatched = run.startedAtMs !== undefined || run.unknownJobId !== undefined;
  const isKnown = wasWatched || (run.joined && run.polls > 0);
  // While the first link is made, the line stays as it is: the ending replaces it soon.
  const isEnding = state === 'bundling' && run.relinked === 0 && run.pollFailure === undefined;
  if (!isEnding && run.schedule === undefined && (isKnown || failureOf(run).length > 0)) {
    const line = inThread(run, 'progress', progressMessage(run));
    // An edit notifies nobody, so the ending is a new post, after which this line is deleted.
    const replacedBy = isGone ? undefined : endings[0]?.key;
    messages.push(
      isExportEnded(run)
        ? { ...line, kind: 'state', retracted: true, replacedBy }
        : { ...line, kind: 'progress' },
    );
  }
  if (state === 'unknown') messages.push(inThread(run, `question.${attempt}`, questionMessage(run)));
  if (answer) messages.push(inThread(run, `question.${answer.attempt}`, answeredMessage(run, answer)));
  return [...messages, ...endings];
}

/** The requester gets the answer in the conversation of the request. */
const refusedMessages = (run: ExportRun): OutboxMessage[] =>
  run.watchers.map(({ id }) => toPerson(id, `${run.id}.refused.${run.attempt}.${id}`, retractedMessage(run)));

/** The messages with a result: of the link before, and of the latest ending. */
function endingMessages(run: ExportRun): OutboxMessage[] {
  const { attempt, ending, earlier } = run;
  const messages = earlier ? doneMessages(run, earlier.ending, earlier.resumed) : [];
  if (ending?.kind === 'done') return [...messages, ...doneMessages(run, ending, run.resumed)];
  if (ending === undefined || ending.kind === 'left' || ending.kind === 'noPlace') return messages;
  // A failed further link gets its own message, since the old link may still work.
  const name = `end.${attempt}.${run.resumed}${run.relinked > 0 ? `.${run.relinked}` : ''}`;
  const message = endingMessage(run, ending);
  // A lost permission is shown only to the person.
  const isPrivate = ending.kind === 'notStarted' && ending.why === 'permission';
  const shown = isPrivate ? toPerson(run.by.id, `${run.id}.${name}`, message) : inThread(run, name, message);
  return [...messages, shown];
}

/** A message in the thread, or in the requester's direct messages if the thread refuses it. */
const inThread = (run: ExportRun, name: string, message: Message): OutboxMessage => ({
  key: `${run.id}.${name}`,
  place: { under: rootKey(run) },
  kind: 'ending',
  message,
  fallbackRecipient: run.by.id,
});

const toPerson = (user: string, key: string, message: Message): OutboxMessage => ({
  key,
  place: { user },
  kind: 'ending',
  message,
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
  const { privately, refusal } = ending;
  // The direct message with the link notifies the requester.
  const isNotified = run.schedule !== undefined || (privately && refusal === undefined);
  const mention = isNotified ? run.watchers : peopleOf(run);
  const name = `end.${run.attempt}.${resumed}`;
  const suffix = refusal === undefined ? '' : '.refused';
  const shown = inThread(run, name + suffix, doneMessage(run, ending, mention));
  // The card of a scheduled export has the link already, so only watchers need a further message.
  const messages = run.schedule !== undefined && mention.length === 0 ? [] : [shown];
  // An edit would not notify the requester, to whom nothing was sent.
  if (refusal !== undefined && messages.length > 0)
    messages.push({ ...shown, key: `${run.id}.${name}`, retracted: true, replacedBy: shown.key });
  if (privately) {
    const direct = doneMessage(run, ending, [], true);
    messages.push(toPerson(run.by.id, privateKey(run, resumed), direct));
  }
  return ending.expired ? messages.map((one) => ({ ...one, ...withoutRepost })) : messages;
}

export function questionMessage(run: ExportRun): Message {
  const { unknownJobId } = run;
  const wrongId = unknownJobId && { code: cut(singleLine(unknownJobId), 200) };
  const buttons: ButtonParts[] = [
    primary(runButtonOf(run, LABELS.watchIt, exportActions.watchIt)),
    { ...runButtonOf(run, LABELS.startAnyway, exportActions.startAgain), confirm: confirmSecond },
    runButtonOf(run, LABELS.dontStart, exportActions.leave),
  ];
  const more: Line = wrongId && ['The platform has no job with the ID ', wrongId, '.'];
  return startQuestion(run.by, `export of ${site(run)}`, buttons, more);
}

const confirmSecond = confirmStart('this exports the same pages twice');

export const answeredMessage = (run: ExportRun, answer: NonNullable<ExportRun['answer']>): Message =>
  answeredStart(`the export of ${site(run)}`, answer);

/** The beginning of the run's id, which its log lines have. */
const refLine = ({ id }: ExportRun) => `ref ${id.slice(0, 8)}`;

/** The card of a run. It changes only with the state, until it shows the result. */
function cardMessage(run: ExportRun): Message {
  const { ending, schedule } = run;
  const { icon } = stateOf(run);
  const link = stateOf(run) === WORDS.done ? latestLink(run) : undefined;
  const isPublic = link && !link.privately && !link.expired;
  const pages = link ? pagesText(run) : '';
  // A lost permission is shown only to the person.
  const hasReason =
    ending?.kind === 'failed' || (ending?.kind === 'notStarted' && ending.why !== 'permission');
  return layout({
    icon,
    lines: [
      joinParts([stateParts(run), pages]),
      hasReason ? outcomeOf(run, ending)[0][0] : ending?.kind === 'left' && unclearText,
      ...(schedule === undefined ? deploymentLines(run) : []),
    ],
    small: [joinFacts(whoText(run), onlyPages(run), link?.privately ? sentText(link) : '')],
    buttons: [isPublic && downloadButton(exportActions.download, link)],
  });
}

/** Such as "**Exported** · docs.acme.com 4.3". */
const stateParts = (run: ExportRun): Part[] => [{ bold: stateOf(run).label }, ` · ${site(run)}`];

const unclearText = "It's unclear whether the first start worked.";

const sentText = ({ refusal }: DoneEnding) =>
  refusal === undefined ? 'link sent privately' : 'link not sent';

/** One line for each deployment that has got this export, or was to get it. */
const deploymentLines = ({ updates = [] }: ExportRun): Line[] => updates.map(updateLine);

/** The endings with a message in the thread. */
type ThreadEnding = Exclude<Ending, { kind: 'left' | 'noPlace' | 'done' }>;
type NotStarted = Extract<Ending, { kind: 'notStarted' }>;

/** Returns the one message that ends a run, or its watch. It mentions the requester and the watchers. */
function endingMessage(run: ExportRun, ending: ThreadEnding): Message {
  if (ending.kind === 'notStarted' && ending.why === 'permission') return notPermittedMessage(run, ending);
  const [why, next, ...small] = outcomeOf(run, ending);
  const [percent, took] = ending.kind === 'failed' ? [percentOf(run), tookText(run)] : [];
  const reached = [percent && `at ${percent}`, took && `after ${took}`].filter(Boolean).join(', ');
  return layout({
    icon: stateOf(run).icon,
    mention: peopleOf(run),
    lines: [joinParts([stateParts(run), reached]), ...why],
    small: [joinParts([whoText(run), jobParts(run), ...small])],
    buttons: [next],
  });
}

/** Returns why an export ended without a link, in full sentences; what can be done, if anything; further small print. */
function outcomeOf(
  run: ExportRun,
  ending: ThreadEnding,
): [why: Line[], next: ButtonParts | false, ...small: Line[]] {
  const tryAgain = runButtonOf(run, LABELS.tryAgain, exportActions.tryAgain);
  const startAnyway = runButtonOf(run, LABELS.startAnyway, exportActions.startAgain);
  const carefully = { ...startAnyway, confirm: confirmSecond };
  const checkNow = runButtonOf(run, LABELS.checkNow, exportActions.checkNow);
  const hasDomain = run.domain !== '';
  switch (ending.kind) {
    case 'failed': {
      const small = ["your live site isn't affected", refLine(run)];
      return [[platformReasonText(ending.reason)], hasDomain && tryAgain, ...small];
    }
    case 'notStarted': {
      const why = [notStartedText(run, ending), reasonLine(ending)];
      const small = [ending.why === 'plan' && 'HTTP 403', ending.why === 'other' && refLine(run)];
      return [why, !['domain', 'project'].includes(ending.why) && tryAgain, ...small];
    }
    case 'lost': {
      // The adopted job id was a person's guess; the export of the first start may still run.
      const wasFound = run.answer?.action === 'watchIt' && run.answer.attempt === run.attempt;
      const knows = run.joined || wasFound ? "doesn't know" : 'no longer knows';
      const next = hasDomain && !run.joined && (wasFound ? carefully : tryAgain);
      return [[`The platform ${knows} this export.`], next, 'HTTP 404'];
    }
    case 'gaveUp':
      return [
        [`I stopped watching it after ${formatDuration(ending.afterMs)}. It may still finish.`],
        checkNow,
      ];
    case 'noLink': {
      const which = run.relinked > 0 ? 'new ' : '';
      const why = [`I couldn't get a ${which}download link${noLinkReason(run, ending)}.`, reasonLine(ending)];
      return [why, runButtonOf(run, 'New link', exportActions.newLink)];
    }
    case 'broken': {
      const text =
        run.jobId === undefined
          ? "I can't tell whether the export started, so look in the platform's dashboard before you start it again."
          : 'The export may still finish at the platform.';
      const next = run.jobId === undefined ? carefully : checkNow;
      return [[`Something broke on my side. ${text}`], next, `ref ${ending.ref}`];
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
  const tryAgain = runButtonOf(run, LABELS.tryAgain, exportActions.tryAgain);
  return layout({ icon: '❌', lines: [stateParts(run), ...outcomeOf(run, ending)[0]], buttons: [tryAgain] });
}

/** The platform's own words, if any. */
const reasonLine = ({ reason = '' }: { reason?: string | undefined }): string =>
  singleLine(reason) && platformReasonText(reason);

/** An ephemeral to the requester. */
function notPermittedMessage(run: ExportRun, { reason }: NotStarted): Message {
  const whom = sanitizeUserText(reason ?? '', 200) || 'your Docket admins';
  const what = `You can't start exports here any more, so the export of ${site(run)} didn't start.`;
  return message([`${what} Ask ${whom}.`]);
}

/** Why there is no link, if somebody has to act before [New link] can help. */
function noLinkReason(run: ExportRun, { why, adminsAlerted }: Extract<Ending, { kind: 'noLink' }>): string {
  if (why === 'key') return `: ${lowerFirst(keyRejectedText(adminsAlerted))}`;
  return why === 'project' ? `: ${lowerFirst(projectMissingText(run))}` : '';
}

function notStartedText(run: ExportRun, { why, adminsAlerted }: NotStarted): string {
  if (why === 'domain')
    return (run.version ?? run.paths) === undefined
      ? "The platform doesn't accept this site. Check the spelling and type the command again."
      : 'The platform rejected the site, the version or a page path. Check them and type the command again.';
  if (why === 'other' || why === 'permission')
    return 'The platform refused it. If this keeps happening, ask your Docket admins.';
  return notStartedReason(why, run, adminsAlerted);
}

/**
 * The result: the link while it works, then a note that it has expired. `isDirect`: it is the direct message with a link
 * that the thread does not have.
 */
function doneMessage(run: ExportRun, done: DoneEnding, mention: { id: string }[], isDirect = false): Message {
  const hasLink = isDirect || !done.privately;
  const newLink = runButtonOf(run, 'New link', exportActions.newLink);
  const updates = isDirect || (done.expired && run.schedule !== undefined) ? [] : updatesOf(run);
  if (hasLink && done.expired) return expiredMessage(site(run), [primary(newLink), ...updates]);
  const facts = [
    run.pageCount === undefined ? '' : countOf(run.pageCount, 'page'),
    done.sizeBytes === undefined ? '' : formatSize(done.sizeBytes),
    tookText(run) && `took ${tookText(run)}`,
  ];
  const lines: Line[] = [
    joinParts([[{ bold: WORDS.done.label }, ` · ${site(run)}`], facts.filter(Boolean).join(', ')]),
    !hasLink &&
      done.refusal !== undefined &&
      `Slack doesn't let me send ${personName(run.by.name)} direct messages, so nobody has the link yet.`,
    ...(run.schedule === undefined ? [] : deploymentLines(run)),
  ];
  const small = [whoText(run), run.schedule !== undefined && onlyPages(run), jobParts(run)];
  const parts = { icon: WORDS.done.icon, mention, lines };
  if (!hasLink) {
    const sent = [sentText(done), done.refusal !== undefined && `Slack's answer: ${done.refusal}`];
    const ownLink = runButtonOf(run, 'Get my own link', exportActions.ownLink);
    return layout({ ...parts, small: [joinParts([...small, ...sent])], buttons: [ownLink, ...updates] });
  }
  const entries = [
    newLink,
    runButtonOf(run, 'Helm values', exportActions.settings),
    ...(run.domain === '' || run.schedule !== undefined
      ? []
      : [runButtonOf(run, 'Start another', exportActions.another)]),
  ];
  return layout({
    ...parts,
    small: [joinParts([...small, linkLife(done)])],
    buttons: [downloadButton(exportActions.download, done), ...updates],
    menu: { entries, value: newLink.value },
  });
}

/** The deployments that the message offers: not those that have it, or may get it. */
const updatesOf = (run: ExportRun) =>
  deployOffers(
    run,
    (run.deployments ?? []).filter(
      (name) => !run.updates?.some((update) => update.deployment === name && isDeployed(update)),
    ),
  );

const peopleOf = ({ by, watchers }: ExportRun) => [by, ...watchers];

const primary = (button: ButtonParts) => ({ ...button, style: 'primary' as const });

/** How long a link works, and for whom. */
const linkLife = ({ linkEndsAtMs }: DoneEnding): Part[] =>
  linkEndsAtMs === undefined
    ? ["the link works for anyone who has it; the platform didn't say how long"]
    : ['the link works until ', moment(linkEndsAtMs), ' for anyone who has it'];

/** The first button makes a new link. */
const expiredMessage = (what: string, buttons: ButtonParts[]): Message =>
  layout({
    icon: '⌛',
    lines: [
      [{ bold: 'Link expired' }, ` · ${what}`],
      'The export still exists, so a new link takes a second.',
    ],
    buttons,
  });

/** The messages of a person's own link; none while a link is made, or if Slack refuses them. */
function linkMessages(run: ExportRun): OutboxMessage[] {
  const { state, ending, relinked } = run;
  const isDone = ending?.kind === 'done';
  if (state !== 'ended' || (isDone && ending.refusal !== undefined)) return [];
  const key = privateKey(run, 0);
  const link = latestLink(run);
  const messages: OutboxMessage[] = [];
  if (link !== undefined) {
    const shown = toPerson(run.by.id, key, ownLinkMessage(run, link));
    messages.push(link.expired || !isDone ? { ...shown, ...withoutRepost } : shown);
  }
  // A failed further link gets its own message, since the previous link may still work.
  if (!isDone) {
    const lines: Line[] = [[{ bold: 'No link yet' }, ` · ${site(run)}`], "I couldn't get a download link."];
    const failed = layout({ icon: '⚠️', lines, buttons: [againButton(run)] });
    const name = link === undefined ? key : `${key}.${relinked + 1}`;
    messages.push(toPerson(run.by.id, name, failed));
  }
  return messages;
}

const againButton = (run: ExportRun) => ({
  label: 'New link',
  action: linkActions.again,
  value: JSON.stringify({ v: 1, run: run.id, made: run.relinked + 1 }),
});

const ownLinkMessage = (run: ExportRun, link: DoneEnding): Message =>
  link.expired
    ? expiredMessage(site(run), [primary(againButton(run))])
    : ownLink(run, link, undefined, [againButton(run)]);

/** The ephemeral with the link itself, for a person whose direct messages Slack refuses. */
export const refusedLinkMessage = (run: ExportRun, link: DoneEnding): Message =>
  ownLink(run, link, "Slack doesn't let me send you direct messages, so here it is, for you alone.");

const ownLink = (run: ExportRun, link: DoneEnding, why: Line, buttons: ButtonParts[] = []): Message =>
  layout({
    icon: '✅',
    lines: [[{ bold: 'Your own link' }, ` · ${site(run)}`], why],
    small: [joinParts([linkLife(link), link.refusal !== undefined && `Slack's answer: ${link.refusal}`])],
    buttons: [downloadButton(linkActions.download, link), ...buttons],
  });
