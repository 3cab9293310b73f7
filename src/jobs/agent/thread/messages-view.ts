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
  FAILURE_SHOWN_AFTER,
  keyRemedyText,
  personName,
  platformReasonText,
  projectMissingText,
  pullRequestName,
} from '../../wording-view.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import {
  afterText,
  andMoreText,
  jobName,
  previewButton,
  pullRequestButton,
  quoted,
  quotedShort,
  refText,
  unsentText,
  waitingText,
} from './phrases.ts';
import {
  acceptsInstructions,
  findInstruction,
  type Instruction,
  isJobRefused,
  type RoundEnding,
  type SendProblem,
  sendProblemsOf,
  type ThreadRound,
  type ThreadRun,
  unsentOf,
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
    ...sendProblemsOf(thread).map((problem) => sendProblemBelow(thread, problem)),
    ...delayMessages(thread),
    ...brokenMessages(thread),
  ];
  return messages.map(({ name, ...one }) => ({ key: `${thread.id}.${name}`, place, ...one }));
}

/** The state of a round in which this thread sent instructions, and the ending. */
function roundMessages(thread: ThreadRun, round: ThreadRound): Below[] {
  const { n, ending, last, authors } = round;
  const messages: Below[] = [];
  if (last)
    messages.push({
      name: `round.${n}`,
      kind: 'state',
      // An open round changes with each reply, so that people see theirs was taken.
      ...(!ending && thread.state !== 'ended' && { repost: false }),
      message: roundStatusMessage(thread, round, last),
    });
  if (ending)
    messages.push({
      name: `end.${n}`,
      kind: 'ending',
      message: endingMessage(thread, round, ending),
      fallbackRecipient: (last?.by ?? authors[0] ?? thread.owner).id,
    });
  return messages;
}

/** Length of an instruction, its author and the number of others together. */
const SHORT_LENGTH = 58;

/** Of several instructions, the last is named, so short that the next words fit the second line of a phone. */
function roundStatusMessage(
  thread: ThreadRun,
  { n, count, ending, sinceMs }: ThreadRound,
  { excerpt, by }: NonNullable<ThreadRound['last']>,
): Message {
  const rest = andMoreText(count - 1);
  const quote = quoted(excerpt, rest === '' ? 40 : 26);
  const room = Math.max(12, SHORT_LENGTH - `${quote} ()${rest}`.length);
  const about = `${quote} (${sanitizeUserText(by.name, room)})${rest} · `;
  if (ending || thread.state === 'ended') {
    const { icon, words } = ENDED[ending?.kind ?? 'stopped'];
    const hasTime = ending && ending.kind !== 'archived' && ending.kind !== 'gone';
    const took = hasTime ? ` · took ${formatDuration(ending.atMs - sinceMs)}` : '';
    const facts = ending?.kind === 'gaveUp' ? afterText(ending.afterMs) : took;
    return layout({ icon, lines: [[about, { bold: words }, facts]] });
  }
  return layout({
    icon: '⏳',
    lines: [[about, { bold: 'the agent is working' }, ' · sent ', { time: sinceMs, format: '{ago}' }]],
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

/** Says that a job was archived, and when, if that is known. */
const archivedParts = ({ archivedAtMs: time }: Partial<ThreadRun['seen']> = {}, job: string): Part[] => [
  `${job} was archived`,
  // This format has no "today", which would not fit after "on".
  ...(time === undefined ? [] : [' on ', { time, format: '{date_short}' }]),
  '; it takes no more instructions.',
];

/** Mentions everybody who sent instructions in the round from this thread, or who follows a job that worked unasked. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const { n, count, last, found, authors } = round;
  const say = (line: Line, button?: ButtonParts | false, small?: Line) =>
    layout({
      icon: ENDED[ending.kind].icon,
      mention: authors,
      lines: [line],
      small: [small],
      buttons: [button, ['newPr', 'samePr'].includes(ending.kind) && previewButton(thread)],
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
      const again =
        isOpen &&
        !!findInstruction(thread, last?.id)?.text &&
        acceptsInstructions(thread) &&
        threadButtonOf(thread, 'Send again', agentActions.sendAgain, ['round', String(n)]);
      const line = `The agent could not finish ${own ?? `its work on ${job}`}.${elsewhere}`;
      return say(line, again, again && count > 1 && '[Send again] sends the last one.');
    }
    case 'archived': {
      const rest = last ? '' : ` The job: ${job}.`;
      return say([...archivedParts(thread.seen, last ? upperFirst(theJob) : 'This job'), rest]);
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

function sendProblemBelow(thread: ThreadRun, problem: SendProblem): Below {
  const isOpen = problem.answer === undefined;
  return {
    name: `problem.${problem.id}.${problem.attempt}`,
    kind: isOpen ? 'ending' : 'state',
    ...(!isOpen && { repost: false, interactive: true }),
    message: sendProblemMessage(thread, problem),
    fallbackRecipient: problem.by.id,
    ...(isOpen && problem.why === 'unknown' && thread.state !== 'ended' && { lasting: true }),
  };
}

/** Returns the message about a send that failed, or whose result is unknown. */
export function sendProblemMessage(thread: ThreadRun, problem: SendProblem): Message {
  const { answer, excerpt, why } = problem;
  if (answer === undefined)
    return why === 'unknown' ? unknownSendMessage(thread, problem) : notSentMessage(thread, problem, why);
  const name = personName(answer.by.name);
  // Only an unclear send can be left as it is.
  if (answer.action === 'leave')
    return message([`${name} chose not to send it again: ${quoted(excerpt)} got no clear answer.`]);
  const result = why === 'unknown' ? 'got no clear answer' : 'was not sent';
  return message([`${name} chose to send ${quoted(excerpt)} again. It ${result} at first.`]);
}

function unknownSendMessage(thread: ThreadRun, problem: SendProblem): Message {
  const { by, creates, excerpt } = problem;
  const { agentJobId, seen } = thread;
  const what = quotedShort(excerpt);
  const question = creates ? `Was the job for ${what} created?` : `Did ${what} reach the agent?`;
  const isOpen = thread.state !== 'ended';
  const button = (label: string, action: string, more: Partial<ButtonParts> = {}) =>
    isOpen && { ...sendProblemButton(thread, problem, label, action), ...more };
  const confirm = {
    title: 'Send it again?',
    text: creates ? 'This may create a second job.' : 'It may arrive twice.',
    yes: 'Send again',
    no: 'Cancel',
  };
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
      agentJobId !== undefined && button('Check now', agentActions.checkJob, { style: 'primary' }),
      acceptsInstructions(thread) && button('Send again', agentActions.sendAgain, { confirm }),
      button('Leave it', agentActions.leave),
    ],
  });
}

const sendProblemButton = (thread: ThreadRun, { id, attempt }: SendProblem, label: string, action: string) =>
  threadButtonOf(thread, label, action, [id], attempt);

function notSentMessage(
  thread: ThreadRun,
  problem: SendProblem,
  why: Exclude<SendProblem['why'], 'unknown'>,
): Message {
  const { adminsAlerted, by, creates, excerpt, reason = '' } = problem;
  const reasons: Record<typeof why, Line> = {
    refused: creates ? 'The platform refused to create it.' : 'The platform refused it.',
    key: `My platform key was rejected; ${keyRemedyText(adminsAlerted)}.`,
    forbidden: `The platform doesn't let me ${creates ? 'create agent jobs' : 'instruct this job'} (403).`,
    down: "The docs platform isn't answering. Try again in a little while.",
    project: `${projectMissingText(thread)}. Ask the people who run Docket.`,
    archived: archivedParts(thread.seen, 'This job'),
    gone: 'The platform does not know this job (404).',
    unsupported: [
      "This platform doesn't let me create agent jobs. Create one in its dashboard, then type ",
      { code: '/docs-agent follow <job id>' },
      '.',
    ],
  };
  const not = creates ? 'The job was not created' : 'Not sent';
  return layout({
    icon: '❌',
    // The message about a refused job is private, and mentions nobody.
    mention: isJobRefused(problem) ? [] : [by],
    lines: [`${not}: ${quoted(excerpt)}`, reasons[why], singleLine(reason) && platformReasonText(reason)],
    buttons: remedyButtons(thread, problem),
  });
}

function remedyButtons(thread: ThreadRun, problem: SendProblem): ButtonParts[] {
  if (isJobRefused(problem)) return [threadButtonOf(thread, 'Try again', agentActions.tryAgain)];
  if (thread.state === 'ended') return [];
  if (problem.why === 'gone' || thread.notFound) return [checkButton(thread), stopButton(thread)];
  if (problem.why === 'archived' || !acceptsInstructions(thread)) return [checkButton(thread)];
  return [sendProblemButton(thread, problem, 'Send again', agentActions.sendAgain)];
}

/** What delays instructions: a limit, or a platform that does not answer. */
function delayMessages(thread: ThreadRun): Below[] {
  const { limit, retry, state } = thread;
  const messages: Below[] = [];
  if (limit) {
    const { discardedBy: by } = limit;
    // One that is tried again still waits for the limit.
    const waiting = by ? waitingOf(thread) : unsentOf(thread);
    const hasEnded = waiting.length === 0 || state === 'ended';
    // If nobody discarded them, they were sent or the thread has ended: the text fits both.
    const end = by
      ? `${personName(by.name)} discarded what was waiting.`
      : 'Nothing is waiting for the limit now.';
    messages.push({
      name: `limit.${limit.n}`,
      kind: hasEnded ? 'state' : 'ending',
      ...(hasEnded ? { repost: false } : { lasting: true }),
      ...(hasEnded && by && { interactive: true }),
      message: hasEnded ? message([end]) : limitMessage(thread, limit, waiting),
      fallbackRecipient: (waiting[0]?.by ?? thread.owner).id,
    });
  }
  if (retry && retry.inARow >= FAILURE_SHOWN_AFTER) {
    const [first] = unsentOf(thread);
    const isOver = retry.expired || first === undefined || state === 'ended';
    const { creates, excerpt } = first ?? {};
    const what = `${creates ? 'the job for ' : ''}${quotedShort(excerpt)} is not ${creates ? 'created' : 'sent'} yet`;
    const text = isOver
      ? // It is true whether it was finally sent or not.
        "The docs platform didn't answer for a while."
      : `The docs platform isn't answering, so ${what}. I'll keep trying.`;
    messages.push({ name: `retry.${retry.sinceMs}`, kind: 'progress', message: message([text]) });
  }
  return messages;
}

type Limit = NonNullable<ThreadRun['limit']>;

const MINUTE_MS = 60_000;

function limitMessage(thread: ThreadRun, { perHour, untilMs }: Limit, waiting: Instruction[]): Message {
  const [first, ...others] = waiting;
  const isOne = first !== undefined && others.length === 0;
  const kept = isOne
    ? `${quoted(first.excerpt)} (${personName(first.by.name)})`
    : countOf(waiting.length, 'instruction');
  const why =
    perHour === undefined
      ? "The platform's limit is reached."
      : `${countOf(perHour, 'instruction')} an hour ${perHour === 1 ? 'is' : 'are'} used up for this project.`;
  const label = isOne ? 'Discard' : 'Discard all';
  const ids = waiting.map(({ id }) => id);
  const confirm = {
    title: 'Discard all?',
    // Some of them may be other people's.
    text: 'The waiting instructions, from everyone, will not be sent.',
    yes: 'Discard all',
    no: 'Keep them',
  };
  // Each answer gives a slightly different time: the message changes only with its minute.
  const minuteMs = Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS;
  const until: Part[] = [' until about ', { time: minuteMs, format: '{time}' }, ` · ${kept}`];
  return layout({
    icon: '🕒',
    lines: [[{ bold: 'Kept' }, ...until], why],
    buttons: [
      {
        ...threadButtonOf(thread, label, agentActions.discard, ids, first?.attempt),
        ...(!isOne && { confirm }),
      },
    ],
  });
}

/** An edit of the card notifies nobody, so our own error is posted as a message to the owner. */
function brokenMessages(thread: ThreadRun): Below[] {
  const { ended, owner } = thread;
  if (ended?.why !== 'broken') return [];
  const sentence = `I stopped following ${jobName(thread)}: something broke on my side.${unsentText(ended.unsent)}${refText(ended.ref)}`;
  const message = layout({ icon: '❌', mention: [owner], lines: [sentence] });
  return [{ name: 'broken', kind: 'ending', message, fallbackRecipient: owner.id }];
}
