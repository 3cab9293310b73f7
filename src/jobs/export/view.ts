import { type Message, message, type Part } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { cut, formatDuration, oneLine } from '../../slack/text.ts';
import { keyRemedyText, personName, shortId } from '../wording-view.ts';
import { exportActions, type StartAnother } from './buttons.ts';
import { endingMessage, privateLinkMessage } from './ending-view.ts';
import { bareDomain, exportDurationMs, pageCountText, percent, runButtonOf, site } from './phrases.ts';
import { type DoneEnding, type Ending, type ExportRun, fractionOf } from './record.ts';

/** Errors in a row before people are told that the platform does not answer. */
const TROUBLE_SHOWN_AT = 3;

/** The key of a run's card; the card in direct messages is another message than the one in the channel. */
export const cardKey = (run: ExportRun) => `${run.id}.card${run.inDirectMessage ? '.dm' : ''}`;

/** Every message of a run as it should look now. Earlier endings stay as they were. */
export function exportMessages(run: ExportRun): OutboxMessage[] {
  const inThread = { under: cardKey(run) };
  const otherwise = run.requester.id;
  const messages: OutboxMessage[] = [];
  if (run.ending?.kind === 'noPlace' || run.state === 'accepted') return messages;

  const place = run.inDirectMessage ? { user: run.requester.id } : { channel: run.asked.channel };
  messages.push({ key: cardKey(run), place, kind: 'state', message: cardMessage(run) });

  const isKnown = run.startedAtMs !== undefined || (run.joined && run.looks.length > 0);
  // While its first link is made it stays as it is: the next edit is the last.
  const isEnding = run.state === 'bundling' && run.relinked === 0 && run.trouble === undefined;
  if (!isEnding && (isKnown || troubleLine(run).length > 0)) {
    const kind = hasEnded(run) ? 'state' : 'progress';
    messages.push({ key: `${run.id}.progress`, place: inThread, kind, message: progressMessage(run) });
  }
  if (run.state === 'unknown') {
    const key = questionKey(run, run.attempt);
    messages.push({ key, place: inThread, kind: 'ending', message: questionMessage(run), otherwise });
  }
  if (run.answer) {
    const key = questionKey(run, run.answer.attempt);
    messages.push({ key, place: inThread, kind: 'ending', message: answeredMessage(run.answer), otherwise });
  }
  if (run.earlier) messages.push(...doneMessages(run, run.earlier.ending, run.earlier.resumed));
  if (run.ending?.kind === 'done') messages.push(...doneMessages(run, run.ending, run.resumed));
  else if (run.ending && run.ending.kind !== 'left') {
    // That no further link can be had is news, and the old one may still work.
    const suffix = run.relinked > 0 ? `.${run.relinked}` : '';
    const key = `${run.id}.end.${run.attempt}.${run.resumed}${suffix}`;
    const message = endingMessage(run, run.ending);
    // What somebody may no longer do is nobody else's business.
    const isPrivate = run.ending.kind === 'notStarted' && run.ending.why === 'permission';
    if (isPrivate) messages.push({ key, place: { user: otherwise }, kind: 'ending', message });
    else messages.push({ key, place: inThread, kind: 'ending', message, otherwise });
  }
  return messages;
}

/** A link and where it is told. A further one edits the same messages, unless the job was watched again for it. */
function doneMessages(run: ExportRun, ending: DoneEnding, resumed: number): OutboxMessage[] {
  // That a link has ended is not worth a new post where somebody deleted the message.
  const options: Pick<OutboxMessage, 'kind' | 'repost'> = ending.over
    ? { kind: 'state', repost: false }
    : { kind: 'ending' };
  const threadMessage: OutboxMessage = {
    key: `${run.id}.end.${run.attempt}.${resumed}`,
    place: { under: cardKey(run) },
    message: endingMessage(run, ending),
    otherwise: run.requester.id,
    ...options,
  };
  if (!ending.privately) return [threadMessage];
  const place = { user: run.requester.id };
  const directMessage = {
    key: privateKey(run, resumed),
    place,
    message: privateLinkMessage(run, ending),
    ...options,
  };
  return [threadMessage, directMessage];
}

/** The key of the direct message with a link that the thread must not have. */
export const privateKey = (run: ExportRun, resumed: number) => `${run.id}.private.${run.attempt}.${resumed}`;

const questionKey = (run: ExportRun, attempt: number) => `${run.id}.question.${attempt}`;

export function cardMessage(run: ExportRun): Message {
  const state = stateLabel(run);
  // The card changes with its state word only: an id that comes sooner waits for it.
  const job = run.jobId === undefined || state === 'Queued' ? '' : ` · job ${shortId(run.jobId)}`;
  return message([
    [{ bold: `📦 Static export · ${site(run)} — ${state}` }],
    [
      `${run.joined ? 'Watched' : 'Asked for'} by @${personName(run.requester.name)}${pathsPart(run)}${job} · details in the thread`,
    ],
  ]);
}

/** Which pages were asked for, where it is not all of them. */
function pathsPart({ paths }: ExportRun): string {
  if (paths === undefined) return '';
  const [first = ''] = paths;
  return paths.length === 1 ? ` · only ${cut(oneLine(first), 60)}` : ` · only ${paths.length} pages`;
}

/** Whether the export itself has ended; another link may still be on its way. */
const hasEnded = (run: ExportRun) => run.state === 'ended' || (run.state === 'bundling' && run.relinked > 0);

/** One or two words for where a run stands. */
export function stateLabel(run: ExportRun): string {
  switch (run.state) {
    case 'accepted':
    case 'carding':
    case 'starting':
      return 'Queued';
    case 'watching':
      return run.status === 'queued' ? 'Queued' : 'Running';
    case 'bundling':
      return run.relinked > 0 ? 'Done' : 'Running';
    case 'unknown':
      return 'Start unclear';
    case 'ended':
      return endingLabel(run.ending);
  }
}

function endingLabel(ending: Ending | undefined): string {
  switch (ending?.kind) {
    case 'done':
      return 'Done';
    case 'failed':
      return 'Failed';
    case 'notStarted':
    case 'noPlace':
      return 'Not started';
    case 'lost':
      return 'Lost';
    case 'gaveUp':
      return 'No longer watched';
    case 'noLink':
      return 'Done, without a link yet';
    case 'left':
      return 'Start unclear';
    case 'broken':
    case undefined:
      return 'Stopped by an error';
  }
}

export function progressMessage(run: ExportRun): Message {
  const line: Part[] = [statusLabel(run), ...progressParts(run)];
  if (hasEnded(run)) {
    const took = exportDurationMs(run);
    return message([took === undefined ? line : [...line, ` · took ${formatDuration(took)}`]]);
  }
  if (run.startedAtMs !== undefined) line.push(' · started ', { time: run.startedAtMs, format: '{ago}' });
  const trouble = troubleLine(run);
  if (trouble.length === 0 && run.stalled && run.state === 'watching') {
    const since: Part = { time: run.movedAtMs ?? run.sinceMs, format: '{time}' };
    trouble.push('⚠️ No progress since ', since, '. Still checking.');
  }
  const buttons =
    run.state === 'watching'
      ? [
          runButtonOf(run, 'Refresh', exportActions.refresh),
          runButtonOf(run, 'Notify me too', exportActions.notify),
        ]
      : [];
  return message(trouble.length === 0 ? [line] : [line, trouble], buttons);
}

/** The platform's own word where it is not one of the known ones. */
function statusLabel(run: ExportRun): string {
  const status = oneLine(run.status ?? '');
  const known = ['queued', 'running', 'completed', 'failed', ''];
  return run.state !== 'watching' || known.includes(status) ? stateLabel(run) : cut(status, 40);
}

/** What the platform says of the progress: never more than that. */
function progressParts(run: ExportRun): string[] {
  if (run.state === 'watching' && run.status === 'queued') return [];
  const parts: string[] = [];
  const fraction = fractionOf(run);
  if (fraction !== undefined) {
    const cells = Math.floor(Math.round(fraction * 1e6) / 1e5);
    if (!hasEnded(run)) parts.push(`${'▓'.repeat(cells)}${'░'.repeat(10 - cells)} ${percent(fraction)}`);
  } else if (oneLine(run.progressText ?? '') !== '') {
    parts.push(cut(oneLine(run.progressText ?? ''), 60));
  }
  if (run.pageCount !== undefined)
    parts.push(pageCountText(run.pageCount) + (hasEnded(run) ? '' : ' so far'));
  return parts.map((part) => ` · ${part}`);
}

function troubleLine(run: ExportRun): Part[] {
  const { trouble } = run;
  if (trouble === undefined) return [];
  const next: Part = { time: trouble.nextMs, format: '{time}' };
  switch (trouble.kind) {
    case 'limit':
      return ["The platform's limit is reached; nothing is lost. I go on about ", next, '.'];
    case 'key':
      return [
        `⚠️ My platform key was rejected; ${keyRemedyText(trouble.adminsTold)}. I go on when it works again.`,
      ];
    case 'forbidden':
      return ["⚠️ The platform doesn't let me look at this export (403). I go on when it does again."];
    case 'project':
      return [
        `⚠️ My settings no longer have the project ${cut(oneLine(run.project), 60)}. I go on when it is back.`,
      ];
    case 'down':
    case 'lost':
      if (run.startedAtMs === undefined && !run.joined)
        return ["The docs platform isn't answering, so nothing is started yet. I keep trying."];
      if (trouble.inARow < TROUBLE_SHOWN_AT) return [];
      return ["I can't reach the platform and keep trying; the job itself may be fine."];
  }
}

function questionMessage(run: ExportRun): Message {
  return message(
    [
      [
        '⚠️ ',
        { mention: run.requester.id },
        ` The platform gave no clear answer, so I can't tell whether the export of ${site(run)} started.`,
      ],
      [
        "Look in the platform's dashboard first. If the export is there, choose [Leave it] and type ",
        { code: '/docs-export watch <job id>' },
        '.',
      ],
    ],
    [
      runButtonOf(run, 'Start again', exportActions.startAgain),
      runButtonOf(run, 'Leave it', exportActions.leave),
    ],
  );
}

function answeredMessage({ action, by }: NonNullable<ExportRun['answer']>): Message {
  const texts = {
    startAgain: `The platform gave no clear answer to the first start. Started again by @${personName(by)}.`,
    leave: `The platform gave no clear answer to the start. Left at that by @${personName(by)}.`,
    late: "The platform's answer came late: the export did start.",
  };
  return message([[texts[action]]]);
}

/** One line for a list of exports. `thread` is the address of its card, for those who can open it. */
export function exportLine(run: ExportRun, thread: string | undefined): Part[] {
  const progress = run.state === 'watching' ? progressParts(run).join('') : '';
  const open: Part[] = thread === undefined ? [] : [' · ', { link: thread, label: 'Open thread' }];
  const askedAt: Part = { time: run.attemptAtMs, format: '{ago}' };
  return [
    { bold: site(run) },
    ` — ${statusLabel(run)}${progress} · asked for by @${personName(run.requester.name)} `,
    askedAt,
    ...open,
  ];
}

/** To whoever asked, when the card could not be posted where they asked. */
export function noPlaceMessage(run: ExportRun, code: string): Message {
  if (run.asked.joinable && (code === 'not_in_channel' || code === 'channel_not_found')) {
    return message([
      [
        "I can't post here yet, so nothing was started. Type ",
        { code: '/invite @Docket' },
        ', then run the command again.',
      ],
    ]);
  }
  return message([
    [`Slack doesn't let me post here (${code}), so nothing was started. Run the command in another channel.`],
  ]);
}

/**
 * To somebody who asks for an export that is under way. `thread` is the address of its card, `mayFollow` whether they
 * can read its messages, `request` the id of what they asked.
 */
export function runningMessage(
  run: ExportRun,
  nowMs: number,
  { thread, mayFollow }: { thread: string | undefined; mayFollow: boolean },
  request: string,
): Message {
  const open =
    thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];
  const by = `@${personName(run.requester.name)}`;
  if (run.state === 'unknown') {
    const answer = mayFollow
      ? 'Answer the question in its thread first.'
      : `Ask ${by} to answer the question about it.`;
    const text = `I can't tell whether ${by}'s export of ${site(run)} started, so I start no other. ${answer}`;
    return message([[text]], open);
  }
  const fraction = fractionOf(run);
  const progress = fraction === undefined ? 'under way' : `at ${percent(fraction)}`;
  const ago = formatDuration(nowMs - run.attemptAtMs);
  const value: StartAnother = { v: 1, like: run.id, domain: bareDomain(run), request };
  const startAnother = {
    label: 'Start another',
    action: exportActions.startAnother,
    value: JSON.stringify(value),
  };
  // A mention reaches nobody where they cannot read along.
  const notify = mayFollow ? [runButtonOf(run, 'Notify me too', exportActions.notify)] : [];
  if (run.joined)
    return message(
      [[`@${personName(run.requester.name)} watches the export of ${site(run)} already; it is ${progress}.`]],
      [...open, ...notify],
    );
  return message(
    [[`An export of ${site(run)} is ${progress} (started by ${by} ${ago} ago).`]],
    [...open, ...notify, startAnother],
  );
}
