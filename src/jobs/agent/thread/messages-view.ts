import {
  type ButtonParts,
  type Line,
  layout,
  type Message,
  message,
  type Part,
} from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { countOf, formatDuration, sanitizeUserText, singleLine, upperFirst } from '../../../slack/text.ts';
import {
  keyRemedyText,
  personName,
  platformReasonText,
  projectMissingText,
  pullRequestName,
} from '../../wording-view.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import {
  andMoreText,
  FAILURE_SHOWN_AFTER,
  jobName,
  pullRequestButton,
  quoted,
  quotedShort,
  quotedShortBy,
  refText,
  unsentText,
  waitingText,
} from './phrases.ts';
import {
  acceptsInstructions,
  findInstruction,
  hasUnsent,
  type Instruction,
  isJobRefused,
  nextWaitingOf,
  type RoundEnding,
  type SendProblem,
  sendProblemsOf,
  type ThreadRound,
  type ThreadRun,
  waitingOf,
} from './record.ts';

/** Opens the modal that asks what the agent should do. */
export const instructButton: ButtonParts = {
  label: 'Instruct the agent',
  action: agentActions.instruct,
  value: JSON.stringify({ v: 1 }),
};

type Below = Omit<OutboxMessage, 'key' | 'place'> & { name: string };

/** Returns the messages under the card about the work: rounds, failed sends, delays, and our own error. */
export function workMessages(thread: ThreadRun, place: OutboxMessage['place']): OutboxMessage[] {
  const messages = [
    ...thread.rounds.flatMap((round) => (round.final ? [] : roundMessages(thread, round))),
    ...sendProblemsOf(thread).map((trouble) => troubleBelow(thread, trouble)),
    ...delayMessages(thread),
    ...brokenMessages(thread),
  ];
  return messages.map(({ name, ...one }) => ({ key: `${thread.id}.${name}`, place, ...one }));
}

/** The state of a round in which this thread sent instructions, and the ending. */
function roundMessages(thread: ThreadRun, round: ThreadRound): Below[] {
  const { n, ending, last, authors } = round;
  const isOpen = !ending && thread.state !== 'ended';
  // An open round changes with each reply, so that people see theirs was taken.
  const status = last && {
    name: `round.${n}`,
    kind: 'state' as const,
    ...(isOpen && { repost: false }),
    message: statusMessage(thread, round, last),
  };
  const end = ending && {
    name: `end.${n}`,
    kind: 'ending' as const,
    message: endingMessage(thread, round, ending),
    fallbackRecipient: (last?.by ?? authors[0] ?? thread.owner).id,
  };
  return [status, end].filter((one) => one !== undefined);
}

/** Of several instructions, the last is named. */
function statusMessage(
  thread: ThreadRun,
  round: ThreadRound,
  last: NonNullable<ThreadRound['last']>,
): Message {
  const { n, count, ending, sinceMs } = round;
  const about = quotedShortBy(last, count - 1);
  if (ending || thread.state === 'ended') {
    const { icon, words } = ENDED[ending?.kind ?? 'stopped'];
    return layout({
      icon,
      lines: [[`${about} · `, { bold: words }, ending ? endedFacts(round, ending) : '']],
    });
  }
  const since: Part = { time: sinceMs, format: '{ago}' };
  return layout({
    icon: '⏳',
    lines: [[`${about} · `, { bold: 'the agent is working' }, ' · sent ', since]],
    small: [thread.rounds.every((other) => other.n <= n) && waitingText(thread)],
  });
}

const ENDED: Record<RoundEnding['kind'] | 'stopped', { icon: string; words: string }> = {
  newPr: { icon: '✅', words: 'finished' },
  samePr: { icon: '✅', words: 'finished' },
  noPr: { icon: '➖', words: 'finished' },
  failed: { icon: '❌', words: 'failed' },
  archived: { icon: '📁', words: 'the job was archived' },
  gone: { icon: '❌', words: 'the platform no longer knows the job' },
  gaveUp: { icon: '💤', words: 'no longer watched' },
  stopped: { icon: '💤', words: 'stopped following the job' },
};

function endedFacts({ sinceMs }: ThreadRound, { kind, atMs, afterMs }: RoundEnding): string {
  if (kind === 'gaveUp') return afterText(afterMs);
  return kind === 'archived' || kind === 'gone' ? '' : ` · took ${formatDuration(atMs - sinceMs)}`;
}

const afterText = (afterMs: number | undefined) =>
  afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`;

/** Says that a job was archived, and when, if that is known. */
const archivedParts = (time: number | undefined, job: string): Part[] => [
  `${job} was archived`,
  // This format has no "today", which would not fit after "on".
  ...(time === undefined ? [] : [' on ', { time, format: '{date_short}' }]),
  '; it takes no more instructions.',
];

/** Mentions everybody who sent instructions in the round from this thread, or who follows a job that worked unasked. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const { count, last, found, authors } = round;
  const say = (line: Line, button?: ButtonParts | false, small?: Line) =>
    layout({
      icon: ENDED[ending.kind].icon,
      mention: authors,
      lines: [line],
      small: [small],
      buttons: [button],
    });
  const job = jobName(thread);
  // The last instruction and the number of others, else all of the agent's work.
  const own = last && `${quotedShort(last.excerpt)}${andMoreText(count - 1)}`;
  const work = own ?? `the agent's work on ${job}`;
  const theJob = last ? `the job of ${quotedShort(last.excerpt)}` : job;
  const isOpen = thread.state !== 'ended';
  const elsewhere = last || found ? '' : ' It was instructed from elsewhere.';
  const name = pullRequestName(ending.prLink);
  const named = `${name === '' ? '.' : `: ${name}${elsewhere && '.'}`}${elsewhere}`;
  const [open] = pullRequestButton(ending.prLink).map((one) => ({ ...one, style: 'primary' as const }));
  switch (ending.kind) {
    case 'newPr':
      return say(`The agent opened a pull request for ${own ?? job}${named}`, open);
    case 'samePr':
      return say(`Done, in the same pull request: ${work}. See its latest commits${named}`, open);
    case 'noPr':
      return say(`Done, without a pull request: ${work}.${last ? ' Naming the page helps.' : elsewhere}`);
    case 'failed': {
      const canResend = isOpen && !!findInstruction(thread, last?.id)?.text && acceptsInstructions(thread);
      const ids = ['round', String(round.n)];
      return say(
        `The agent could not finish ${own ?? `its work on ${job}`}.${elsewhere}`,
        canResend && threadButtonOf(thread, 'Send again', agentActions.sendAgain, ids),
        canResend && count > 1 && '[Send again] sends the last one.',
      );
    }
    case 'archived': {
      const rest = last ? '' : ` The job: ${job}.`;
      return say([...archivedParts(ending.archivedAtMs, last ? upperFirst(theJob) : 'This job'), rest]);
    }
    case 'gone':
      return say(`The platform does not know ${theJob} (404).`, isOpen && stopButton(thread));
    case 'gaveUp': {
      const still = `The agent may still finish ${count > 1 ? 'them' : 'it'}.`;
      const text = `I stopped watching ${work}${afterText(ending.afterMs)}. ${still}`;
      return say(text, isOpen && checkButton(thread));
    }
  }
}

function troubleBelow(thread: ThreadRun, trouble: SendProblem): Below {
  const isOpen = trouble.answer === undefined;
  return {
    name: `trouble.${trouble.id}.${trouble.attempt}`,
    kind: isOpen ? 'ending' : 'state',
    ...(!isOpen && { repost: false, interactive: true }),
    message: troubleMessage(thread, trouble),
    fallbackRecipient: trouble.by.id,
    ...(isOpen && trouble.why === 'unknown' && thread.state !== 'ended' && { lasting: true }),
  };
}

/** Returns the message about a send that failed, or whose result is unknown. */
export function troubleMessage(thread: ThreadRun, trouble: SendProblem): Message {
  const { answer, why } = trouble;
  if (answer) return message([answeredText(trouble, answer)]);
  return why === 'unknown'
    ? questionMessage(thread, trouble)
    : notSentMessage(thread, trouble, REASONS[why](trouble, thread));
}

function questionMessage(thread: ThreadRun, trouble: SendProblem): Message {
  const { by, creates, excerpt } = trouble;
  const what = quotedShort(excerpt);
  const question = creates ? `Was the job for ${what} created?` : `Did ${what} reach the agent?`;
  const { seen } = thread;
  const button = (label: string, action: string, more?: Partial<ButtonParts>) =>
    thread.state !== 'ended' && troubleButton(thread, trouble, label, action, more);
  const confirm = creates ? confirmSecond : confirmTwice;
  const isOpen = thread.state !== 'ended';
  return layout({
    icon: '⚠️',
    mention: [by],
    lines: [`${question} The platform gave no clear answer.`],
    small: [
      seen && [
        `The job's state: ${sanitizeUserText(seen.rawStatus, 40) || seen.status}, seen `,
        // The message changes only with the minute, though each poll sees the job.
        { time: Math.floor(seen.atMs / MINUTE_MS) * MINUTE_MS, format: '{ago}' },
      ],
      creates && [
        `Look in the platform's dashboard first. If the job is there, ${isOpen ? 'choose [Leave it] and ' : ''}type `,
        { code: '/docs-agent follow <job id>' },
        '.',
      ],
    ],
    buttons: [
      thread.agentJobId !== undefined && button('Check now', agentActions.checkJob, { style: 'primary' }),
      acceptsInstructions(thread) && button('Send again', agentActions.sendAgain, { confirm }),
      button('Leave it', agentActions.leave),
    ],
  });
}

const confirmTwice = {
  title: 'Send it again?',
  text: 'It may arrive twice.',
  yes: 'Send again',
  no: 'Cancel',
};
const confirmSecond = { ...confirmTwice, text: 'This may create a second job.' };

const troubleButton = (
  thread: ThreadRun,
  { id, attempt }: SendProblem,
  label: string,
  action: string,
  more: Partial<ButtonParts> = {},
): ButtonParts => ({ ...threadButtonOf(thread, label, action, [id], attempt), ...more });

function notSentMessage(thread: ThreadRun, trouble: SendProblem, reason: Part[]): Message {
  const not = trouble.creates ? 'The job was not created' : 'Not sent';
  const said = singleLine(trouble.reason ?? '') && platformReasonText(trouble.reason);
  return layout({
    icon: '❌',
    // The message about a refused job is private, and mentions nobody.
    mention: isJobRefused(trouble) ? [] : [trouble.by],
    lines: [`${not}: ${quoted(trouble.excerpt)}`, reason, said],
    buttons: remedyButtons(thread, trouble),
  });
}

function remedyButtons(thread: ThreadRun, trouble: SendProblem): ButtonParts[] {
  if (isJobRefused(trouble)) return [threadButtonOf(thread, 'Try again', agentActions.tryAgain)];
  if (thread.state === 'ended') return [];
  if (trouble.why === 'gone' || thread.notFound) return [checkButton(thread), stopButton(thread)];
  if (trouble.why === 'archived' || !acceptsInstructions(thread)) return [checkButton(thread)];
  return [troubleButton(thread, trouble, 'Send again', agentActions.sendAgain)];
}

/** Why it was not sent; an unclear send has a question instead. */
const REASONS: Record<
  Exclude<SendProblem['why'], 'unknown'>,
  (trouble: SendProblem, thread: ThreadRun) => Part[]
> = {
  refused: ({ creates }) => [creates ? 'The platform refused to create it.' : 'The platform refused it.'],
  key: ({ adminsTold }) => [`My platform key was rejected; ${keyRemedyText(adminsTold)}.`],
  forbidden: ({ creates }) => [
    `The platform doesn't let me ${creates ? 'create agent jobs' : 'instruct this job'} (403).`,
  ],
  down: () => ["The docs platform isn't answering. Try again in a little while."],
  project: (_, thread) => [`${projectMissingText(thread)}. Ask the people who run Docket.`],
  archived: ({ archivedAtMs }) => archivedParts(archivedAtMs, 'This job'),
  gone: () => ['The platform does not know this job (404).'],
  unsupported: () => [
    "This platform doesn't let me create agent jobs. Create one in its dashboard, then type ",
    { code: '/docs-agent follow <job id>' },
    '.',
  ],
};

/** Only an unclear send can be left as it is. */
function answeredText(
  { why, excerpt }: SendProblem,
  { action, by }: NonNullable<SendProblem['answer']>,
): string {
  if (action === 'leave')
    return `${personName(by.name)} chose not to send it again: ${quoted(excerpt)} got no clear answer.`;
  const result = why === 'unknown' ? 'got no clear answer' : 'was not sent';
  return `${personName(by.name)} chose to send ${quoted(excerpt)} again. It ${result} at first.`;
}

/** What delays instructions: a limit, or a platform that does not answer. */
function delayMessages(thread: ThreadRun): Below[] {
  const { limit, retry } = thread;
  const messages: Below[] = [];
  if (limit) {
    const waiting = waitingOf(thread);
    const hasEnded = waiting.length === 0 || thread.state === 'ended';
    messages.push({
      name: `limit.${limit.n}`,
      kind: hasEnded ? 'state' : 'ending',
      ...(hasEnded ? { repost: false } : { lasting: true }),
      ...(hasEnded && limit.discardedBy && { interactive: true }),
      message: hasEnded ? endedLimitMessage(limit) : limitMessage(thread, limit, waiting),
      fallbackRecipient: (waiting[0]?.by ?? thread.owner).id,
    });
  }
  if (retry && retry.inARow >= FAILURE_SHOWN_AFTER)
    messages.push({ name: `retry.${retry.sinceMs}`, kind: 'progress', message: retryMessage(thread, retry) });
  return messages;
}

/** If nobody discarded them, they were sent or the thread has ended: the text fits both. */
const endedLimitMessage = ({ discardedBy: by }: NonNullable<ThreadRun['limit']>) =>
  message([
    by ? `${personName(by.name)} discarded what was waiting.` : 'Nothing is waiting for the limit now.',
  ]);

/** Some of them may be other people's. */
const confirmDiscard = {
  title: 'Discard all?',
  text: 'The waiting instructions, from everyone, will not be sent.',
  yes: 'Discard all',
  no: 'Keep them',
};

const MINUTE_MS = 60_000;

function limitMessage(
  thread: ThreadRun,
  { perHour, untilMs }: NonNullable<ThreadRun['limit']>,
  waiting: Instruction[],
): Message {
  const [first, ...others] = waiting;
  const isOne = first !== undefined && others.length === 0;
  const kept = isOne
    ? `${quoted(first.excerpt)} (${personName(first.by.name)})`
    : countOf(waiting.length, 'instruction');
  const why =
    perHour === undefined
      ? "The platform's limit is reached."
      : `${countOf(perHour, 'instruction')} an hour ${perHour === 1 ? 'is' : 'are'} used up for this project.`;
  const ids = waiting.map(({ id }) => id);
  const label = isOne ? 'Discard' : 'Discard all';
  const discard = threadButtonOf(thread, label, agentActions.discard, ids, first?.attempt);
  // Each answer gives a slightly different time: the message changes only with its minute.
  const minuteMs = Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS;
  const until: Part[] = [' until about ', { time: minuteMs, format: '{time}' }, ` · ${kept}`];
  return layout({
    icon: '🕒',
    lines: [[{ bold: 'Kept' }, ...until], why],
    buttons: [isOne ? discard : { ...discard, confirm: confirmDiscard }],
  });
}

/** The first text is true whether it was finally sent or not. */
function retryMessage(thread: ThreadRun, { expired }: NonNullable<ThreadRun['retry']>): Message {
  const head = nextWaitingOf(thread);
  if (expired || !hasUnsent(thread) || thread.state === 'ended')
    return message(["The docs platform didn't answer for a while."]);
  const quote = quotedShort(head?.excerpt);
  const what = head?.creates ? `the job for ${quote} is not created yet` : `${quote} is not sent yet`;
  return message([`The docs platform isn't answering, so ${what}. I'll keep trying.`]);
}

/** An edit of the card notifies nobody, so our own error is posted as a message to the owner. */
function brokenMessages(thread: ThreadRun): Below[] {
  const { ended, owner } = thread;
  if (ended?.why !== 'broken') return [];
  const sentence = `I stopped following ${jobName(thread)}: something broke on my side.${unsentText(ended.unsent)}${refText(ended.ref)}`;
  return [
    {
      name: 'broken',
      kind: 'ending',
      message: layout({ icon: '❌', mention: [owner], lines: [sentence] }),
      fallbackRecipient: owner.id,
    },
  ];
}
