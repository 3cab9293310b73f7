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
import { mayChange, pullRequestStateParts } from '../../pull-request/state-view.ts';
import {
  FAILURE_SHOWN_AFTER,
  keyRejectedText,
  LABELS,
  listNames,
  personName,
  platformReasonText,
  projectMissingText,
  pullRequestPart,
  type StateWord,
} from '../../shared/wording-view.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import {
  afterText,
  andMoreText,
  jobName,
  pullRequestButton,
  quoted,
  quotedShort,
  refText,
  unsentText,
  waitingText,
} from './phrases.ts';
import { previewButton, previewText } from './previews.ts';
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

/** Opens the form that asks what the agent should do. */
export const instructButton: ButtonParts = {
  label: LABELS.askAgent,
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

/** One message: a line while the agent works, which its result replaces. The card shows what other threads asked for. */
function roundMessages(thread: ThreadRun, round: ThreadRound): Below[] {
  const { n, ending, found, last, authors } = round;
  const messages: Below[] = [];
  if (last && !found)
    messages.push({
      name: `round.${n}`,
      kind: 'state',
      // An open round changes with each reply, so that people see theirs was taken.
      ...(!ending && thread.state !== 'ended' && { repost: false }),
      ...(ending && { retracted: true, replacedBy: `${thread.id}.end.${n}` }),
      message: ending ? replacedMessage(ending) : workingMessage(thread, round, last),
    });
  if (ending && (last || (found && authors.length > 0)))
    messages.push({
      name: `end.${n}`,
      kind: 'ending',
      message: endingMessage(thread, round, ending),
      fallbackRecipient: (last?.by ?? authors[0] ?? thread.owner).id,
    });
  // They are edited as long as the state of its pull request may change.
  const isLong = thread.state !== 'ended' && mayChange(round.pullRequest);
  return isLong ? messages.map((one) => ({ ...one, permanent: true })) : messages;
}

/** Of several requests, the last is named. */
function workingMessage(
  thread: ThreadRun,
  { n, count, sinceMs }: ThreadRound,
  { excerpt, by }: NonNullable<ThreadRound['last']>,
): Message {
  const isWatched = thread.state !== 'ended';
  const label = isWatched ? 'Working' : 'No longer watched';
  return layout({
    icon: isWatched ? '⏳' : '⌛',
    lines: [[{ bold: label }, ` · ${quotedShort(excerpt)}${andMoreText(count - 1)}`]],
    small: [
      [`Requested by ${personName(by.name)} · sent `, { time: sinceMs, format: '{ago}' }],
      isWatched && thread.rounds.every((other) => other.n <= n) && waitingText(thread),
    ],
  });
}

/** The words for how work ended, which also stand under digests. */
export const ENDED: Record<RoundEnding['kind'], StateWord> = {
  newPr: { icon: '✅', label: 'Pull request' },
  samePr: { icon: '✅', label: 'Pull request updated' },
  noPr: { icon: '➖', label: 'No pull request' },
  failed: { icon: '❌', label: "The agent couldn't finish" },
  archived: { icon: '📁', label: 'Job archived' },
  gone: { icon: '❌', label: 'Job not found' },
  gaveUp: { icon: '⌛', label: 'No longer watched' },
};

/** Stays where the workspace forbids deletions. */
const replacedMessage = ({ kind }: RoundEnding) =>
  layout({ icon: ENDED[kind].icon, lines: [[{ bold: ENDED[kind].label }, ' · the result is below']] });

const archivedText = ({ archivedAtMs: time }: Partial<ThreadRun['seen']> = {}): Part[] => [
  'This job was archived',
  // This format has no "today", which would not fit after "on".
  ...(time === undefined ? [] : [' on ', { time, format: '{date_short}' }]),
  ', so it takes no more requests.',
];

/** Mentions everybody who sent requests in the round from this thread, or who follows a job that worked unasked. */
function endingMessage(thread: ThreadRun, round: ThreadRound, ending: RoundEnding): Message {
  const { n, count, last, authors, sinceMs } = round;
  const { kind, prLink, afterMs, atMs } = ending;
  const { icon, label } = ENDED[kind];
  const isOpen = thread.state !== 'ended';
  const hasPr = kind === 'newPr' || kind === 'samePr';
  // The last request and the number of others, else the job.
  const work = last ? `${quotedShort(last.excerpt)}${andMoreText(count - 1)}` : jobName(thread);
  const [open] = pullRequestButton(prLink).map((one) => ({ ...one, style: 'primary' as const }));
  const hasText = !!findInstruction(thread, last?.id)?.text;
  const mayRetry = kind === 'failed' && isOpen && hasText && acceptsInstructions(thread);
  const tryAgain = threadButtonOf(thread, LABELS.tryAgain, agentActions.sendAgain, ['round', String(n)]);
  const branch = sanitizeUserText(thread.seen?.ref ?? '', 80) || 'its branch';
  const lines: Partial<Record<RoundEnding['kind'], Line>> = {
    noPr: `The agent finished without one. It may have pushed to ${branch}, or answered in its dashboard.`,
    archived: archivedText(thread.seen),
    gone: "The platform doesn't know this job.",
    gaveUp: `I stopped watching${afterText(afterMs)}. The agent may still finish ${count > 1 ? 'them' : 'it'}.`,
  };
  const buttons: Partial<Record<RoundEnding['kind'], ButtonParts | false>> = {
    failed: mayRetry && tryAgain,
    gone: isOpen && stopButton(thread),
    gaveUp: isOpen && checkButton(thread),
  };
  const names = listNames(authors.map(({ name }) => personName(name)));
  const facts = [
    hasPr && `for ${work}`,
    last ? `requested by ${names}` : 'someone asked the agent outside this thread',
    (hasPr || kind === 'noPr' || kind === 'failed') && `took ${formatDuration(atMs - sinceMs)}`,
    kind === 'gone' && 'HTTP 404',
  ];
  return layout({
    icon,
    mention: authors,
    lines: [
      [
        { bold: label },
        ' · ',
        hasPr ? pullRequestPart(prLink, 'the platform sent no link') : work,
        ...pullRequestStateParts(round.pullRequest),
      ],
      lines[kind],
      hasPr && previewText(thread),
    ],
    small: [
      upperFirst(facts.filter(Boolean).join(' · ')),
      mayRetry && count > 1 && '[Try again] sends the last one.',
    ],
    buttons: [hasPr && open, buttons[kind], hasPr && previewButton(thread)],
  });
}

function sendProblemBelow(thread: ThreadRun, problem: SendProblem): Below {
  const isOpen = problem.answer === undefined;
  return {
    name: `problem.${problem.id}.${problem.attempt}`,
    kind: isOpen ? 'ending' : 'state',
    ...(!isOpen && { repost: false, interactive: true }),
    message: sendProblemMessage(thread, problem),
    fallbackRecipient: problem.by.id,
    ...(isOpen && problem.why === 'unknown' && thread.state !== 'ended' && { permanent: true }),
  };
}

/** Returns the message about a send that failed, or whose result is unclear. Once answered, it quotes nothing. */
export function sendProblemMessage(thread: ThreadRun, problem: SendProblem): Message {
  const { answer, excerpt, why } = problem;
  if (answer === undefined)
    return why === 'unknown' ? unclearSendMessage(thread, problem) : notSentMessage(thread, problem, why);
  const name = personName(answer.by.name);
  if (answer.action === 'late')
    return message(["The agent got this request after all: the platform's answer came late."]);
  // Nothing else shows the outcome of a request that stays unclear.
  if (answer.action === 'leave')
    return layout({
      icon: '➖',
      lines: [[{ bold: 'Not sent again' }, ` · it's unclear whether the agent got ${quotedShort(excerpt)}`]],
      small: [`Decided by ${name}`],
    });
  const unclear = `It was unclear whether the agent got this request. ${name} sent it anyway.`;
  return message([why === 'unknown' ? unclear : `This request wasn't sent at first. ${name} sent it again.`]);
}

/** The job's state as it was last seen. */
const seenText = ({ seen }: ThreadRun): Part[] | undefined =>
  seen && [
    `The job's state: ${sanitizeUserText(seen.rawStatus, 40) || seen.status}, seen `,
    // The message changes only with the minute, though each poll sees the job.
    { time: Math.floor(seen.atMs / MINUTE_MS) * MINUTE_MS, format: '{ago}' },
  ];

function unclearSendMessage(thread: ThreadRun, problem: SendProblem): Message {
  const { by, creates, excerpt } = problem;
  const { agentJobId } = thread;
  const what = quotedShort(excerpt);
  const question = creates ? `Was the agent job for ${what} created?` : `Did ${what} reach the agent?`;
  const isOpen = thread.state !== 'ended';
  const button = (label: string, action: string, more: Partial<ButtonParts> = {}) =>
    isOpen && { ...sendProblemButton(thread, problem, label, action), ...more };
  const confirm = {
    title: 'Send it anyway?',
    text: creates ? 'This may create a second job.' : 'It may arrive twice.',
    yes: LABELS.sendAnyway,
    no: 'Cancel',
  };
  return layout({
    icon: '❔',
    mention: [by],
    lines: [
      [{ bold: question }, ' The platform gave no clear answer.'],
      creates && [
        `Look in its dashboard first. If the job is there, ${isOpen ? `choose [${LABELS.dontSend}], then ` : ''}type `,
        { code: '/docs-agent follow <job id>' },
        '.',
      ],
    ],
    small: [seenText(thread)],
    buttons: [
      agentJobId !== undefined && button(LABELS.checkNow, agentActions.checkJob, { style: 'primary' }),
      acceptsInstructions(thread) && button(LABELS.sendAnyway, agentActions.sendAnyway, { confirm }),
      button(LABELS.dontSend, agentActions.leave),
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
    refused: creates ? 'The platform refused to create the job.' : 'The platform refused this request.',
    key: `${keyRejectedText(adminsAlerted)}.`,
    forbidden: `The platform doesn't let me ${creates ? 'create agent jobs' : 'ask the agent in this job'}.`,
    down: "The docs platform isn't answering. Try again in a little while.",
    project: `${projectMissingText(thread)}. Ask your Docket admins.`,
    archived: archivedText(thread.seen),
    gone: "The platform doesn't know this job.",
    unsupported: [
      "This platform doesn't let me create agent jobs. Create one in its dashboard, then type ",
      { code: '/docs-agent follow <job id>' },
      '.',
    ],
  };
  const codes: Partial<Record<typeof why, string>> = { forbidden: 'HTTP 403', gone: 'HTTP 404' };
  return layout({
    icon: '❌',
    // The message about a refused job is private, and mentions nobody.
    mention: isJobRefused(problem) ? [] : [by],
    lines: [
      [{ bold: creates ? 'Job not created' : 'Not sent' }, ` · ${quoted(excerpt)}`],
      reasons[why],
      singleLine(reason) && platformReasonText(reason),
    ],
    small: [codes[why]],
    buttons: remedyButtons(thread, problem),
  });
}

function remedyButtons(thread: ThreadRun, problem: SendProblem): ButtonParts[] {
  if (isJobRefused(problem)) return [threadButtonOf(thread, LABELS.tryAgain, agentActions.tryAgain)];
  if (thread.state === 'ended') return [];
  if (problem.why === 'gone' || thread.notFound) return [checkButton(thread), stopButton(thread)];
  if (problem.why === 'archived' || !acceptsInstructions(thread)) return [checkButton(thread)];
  return [sendProblemButton(thread, problem, LABELS.tryAgain, agentActions.sendAgain)];
}

/** What delays requests: an agent that works, a limit, or a platform that does not answer. Once it is over, the message goes. */
function delayMessages(thread: ThreadRun): Below[] {
  const { limit, retry, state, turn } = thread;
  const messages: Below[] = [];
  const wait = turn ?? limit;
  if (wait) {
    const { discardedBy: by } = wait;
    // One that is tried again still waits.
    const waiting = by ? waitingOf(thread) : unsentOf(thread);
    const hasEnded = wait.isOver || waiting.length === 0 || state === 'ended';
    const end = by ? `${personName(by.name)} discarded what was waiting.` : NOTHING_WAITS;
    messages.push({
      name: `limit.${wait.n}`,
      kind: hasEnded ? 'state' : 'ending',
      ...(hasEnded ? { repost: false } : { permanent: true }),
      ...(hasEnded && (by ? { interactive: true } : { retracted: true })),
      message: hasEnded
        ? message([end])
        : 'untilMs' in wait
          ? limitMessage(thread, wait, waiting)
          : turnMessage(thread, wait, waiting),
      fallbackRecipient: (waiting[0]?.by ?? thread.owner).id,
    });
  }
  if (turn?.before !== undefined)
    messages.push({
      name: `limit.${turn.before}`,
      kind: 'state',
      retracted: true,
      replacedBy: `${thread.id}.limit.${turn.n}`,
      message: message([NOTHING_WAITS]),
    });
  if (retry && retry.inARow >= FAILURE_SHOWN_AFTER) {
    const [first] = unsentOf(thread);
    const isOver = retry.expired || first === undefined || state === 'ended';
    const { creates, excerpt } = first ?? {};
    const label = creates ? 'Job not created yet' : 'Not sent yet';
    const now = "The docs platform isn't answering. I'll keep trying.";
    const lines = isOver
      ? // It is true whether it was finally sent or not.
        ["The docs platform didn't answer for a while."]
      : [[{ bold: label }, ` · ${quotedShort(excerpt)}`], now];
    const message = layout({ icon: '🕒', lines });
    messages.push({
      name: `retry.${retry.sinceMs}`,
      kind: 'progress',
      message,
      ...(isOver && { retracted: true }),
    });
  }
  return messages;
}

const NOTHING_WAITS = 'Nothing is waiting any more.';

/** Says what the first request waits for. Once the agent has worked for long, asks what to do. */
function turnMessage(
  thread: ThreadRun,
  { n, workedMs }: NonNullable<ThreadRun['turn']>,
  waiting: Instruction[],
): Message {
  const [first, ...others] = waiting;
  const behind = others.length;
  const round = thread.rounds.at(-1);
  const unclear = thread.instructions.find(({ state }) => state === 'unknown');
  // It is on its way, or its send failed for now: no button sends it sooner.
  const isNext = first?.sentNowBy !== undefined || first?.state === 'sending' || round?.ending !== undefined;
  const isForWork = !unclear && !isNext;
  const work = round?.last
    ? `${quotedShort(round.last.excerpt)} (${personName(round.last.by.name)})`
    : 'work from outside this thread';
  const goes = unclear
    ? `waits until it's clear whether ${quotedShort(unclear.excerpt)} reached the agent`
    : `goes to the agent ${isNext ? 'next' : `when ${work} is done`}`;
  const what = quotedShort(first?.excerpt);
  const isAsked = workedMs !== undefined && isForWork;
  const isUnseen = isAsked && (thread.pollFailure?.inARow ?? 0) >= FAILURE_SHOWN_AFTER;
  const question = isUnseen
    ? "I can't see whether the agent is done"
    : `The agent has worked for ${formatDuration(workedMs ?? 0)}`;
  const confirm = {
    title: 'Send it now?',
    text: 'The agent may stop what it is doing.',
    yes: 'Send now',
    no: 'Cancel',
  };
  const facts = [
    first && `Requested by ${personName(first.by.name)}`,
    behind > 0 && `${countOf(behind, 'more request')} ${behind === 1 ? 'waits' : 'wait'} behind it`,
  ];
  return layout({
    icon: isAsked ? '❔' : '🕒',
    mention: isAsked && first ? [first.by] : [],
    lines: [
      isAsked ? [{ bold: question }, ` · ${what} waits for it`] : [{ bold: 'Waiting' }, ` · ${what} ${goes}`],
    ],
    small: [facts.filter(Boolean).join(' · '), isUnseen && seenText(thread)],
    buttons: [
      isForWork && {
        ...threadButtonOf(thread, 'Send now', agentActions.sendNow, ids(waiting.slice(0, 1))),
        confirm,
      },
      isAsked && threadButtonOf(thread, 'Keep waiting', agentActions.keepWaiting, [String(n)]),
      discardButton(thread, waiting),
    ],
  });
}

const ids = (instructions: readonly Instruction[]) => instructions.map(({ id }) => id);

/** Drops all that wait. */
function discardButton(thread: ThreadRun, waiting: Instruction[]): ButtonParts {
  const discard = threadButtonOf(thread, 'Discard', agentActions.discard, ids(waiting), waiting[0]?.attempt);
  const confirm = {
    title: 'Discard all?',
    // Some of them may be other people's.
    text: "The waiting requests, from everyone, won't be sent.",
    yes: 'Discard all',
    no: 'Keep them',
  };
  return waiting.length === 1 ? discard : { ...discard, confirm };
}

const MINUTE_MS = 60_000;

function limitMessage(
  thread: ThreadRun,
  { perHour, untilMs }: NonNullable<ThreadRun['limit']>,
  waiting: Instruction[],
): Message {
  const [first, ...others] = waiting;
  const isOne = first !== undefined && others.length === 0;
  const what = isOne ? quotedShort(first.excerpt) : countOf(waiting.length, 'request');
  const whose = thread.project === 'default' ? 'This project' : sanitizeUserText(thread.project, 60);
  const used = countOf(perHour ?? 0, first?.creates ? 'new agent job' : 'request');
  const why =
    perHour === undefined
      ? "The platform's limit is reached"
      : `${whose} has used its ${used}${first?.creates ? '' : ' to the agent'} for this hour`;
  // Each answer gives a slightly different time: the message changes only with its minute.
  const minuteMs = Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS;
  const until: Part[] = [
    ` · ${what} · I'll send ${isOne ? 'it' : 'them'} from about `,
    { time: minuteMs, format: '{time}' },
  ];
  return layout({
    icon: '🕒',
    lines: [[{ bold: 'Waiting' }, ...until]],
    small: [isOne && `Requested by ${personName(first.by.name)}`, why],
    buttons: [discardButton(thread, waiting)],
  });
}

/** An edit of the card notifies nobody, so our own error is posted as a message to the owner. */
function brokenMessages(thread: ThreadRun): Below[] {
  const { ended, owner } = thread;
  if (ended?.why !== 'broken') return [];
  const message = layout({
    icon: '❌',
    mention: [owner],
    lines: [
      [{ bold: 'Stopped by an error' }, ` · ${jobName(thread)}`],
      `Something broke on my side, so I stopped following this job.${unsentText(ended.unsent)}`,
    ],
    small: [refText(ended.ref)],
  });
  return [{ name: 'broken', kind: 'ending', message, fallbackRecipient: owner.id }];
}
