import { type ButtonParts, layout, type Message, message, type Part } from '../../../slack/blocks.ts';
import type { OutboxMessage } from '../../../slack/outbox.ts';
import { sanitizeUserText, singleLine } from '../../../slack/text.ts';
import { keyRemedyText, personName, platformReasonText, projectMissingText } from '../../wording-view.ts';
import { FAILURE_SHOWN_AFTER } from '../watch/record.ts';
import { agentActions, checkButton, stopButton, threadButtonOf } from './buttons.ts';
import { archivedParts, instructionCountText, quoted, quotedBy, quotedShort, toldTo } from './phrases.ts';
import {
  acceptsInstructions,
  type Instruction,
  isJobRefused,
  nextWaitingOf,
  type SendProblem,
  type ThreadRun,
  waitingOf,
} from './record.ts';

/** Returns the messages about failed sends and sends of unknown result. */
export function troubleMessages(thread: ThreadRun, place: OutboxMessage['place']): OutboxMessage[] {
  return thread.sendProblems.map((trouble) => {
    const open = trouble.answer === undefined;
    return {
      key: `${thread.id}.trouble.${trouble.id}.${trouble.attempt}`,
      place,
      kind: open ? 'ending' : 'state',
      ...(!open && { repost: false, interactive: true }),
      message: troubleMessage(thread, trouble),
      fallbackRecipient: trouble.by.id,
      ...(open && trouble.why === 'unknown' && thread.state !== 'ended' && { lasting: true }),
    };
  });
}

export function troubleMessage(thread: ThreadRun, trouble: SendProblem): Message {
  if (trouble.answer) return message([[answeredText(trouble, trouble.answer)]]);
  return trouble.why === 'unknown' ? questionMessage(thread, trouble) : notSentMessage(thread, trouble);
}

function questionMessage(thread: ThreadRun, trouble: SendProblem): Message {
  const { by, creates, excerpt } = trouble;
  const what = quotedShort(excerpt);
  const question = creates ? `Was the job for ${what} created?` : `Did ${what} reach the agent?`;
  const { seen } = thread;
  const small: Part[][] = [];
  if (seen) {
    const word = sanitizeUserText(seen.rawStatus, 40) || seen.status;
    small.push([`The job's state: ${word}, seen `, { time: seen.atMs, format: '{ago}' }]);
  }
  const sendAgain = acceptsInstructions(thread)
    ? troubleButtons(thread, trouble, 'Send again', agentActions.sendAgain)
    : [];
  const buttons: ButtonParts[] = [
    ...(thread.agentJobId === undefined
      ? []
      : troubleButtons(thread, trouble, 'Check now', agentActions.checkJob).map(primary)),
    ...sendAgain.map((button) => ({ ...button, confirm: creates ? confirmSecond : confirmTwice })),
    ...troubleButtons(thread, trouble, 'Leave it', agentActions.leave),
  ];
  if (creates)
    small.push([
      `Look in the platform's dashboard first. If the job is there, ${buttons.length === 0 ? '' : 'choose [Leave it] and '}type `,
      { code: '/docs-agent follow <job id>' },
      '.',
    ]);
  return toldTo([by], '⚠️', [`${question} The platform gave no clear answer.`], { small, buttons });
}

const primary = (button: ButtonParts): ButtonParts => ({ ...button, style: 'primary' });

const confirmTwice = {
  title: 'Send it again?',
  text: 'It may arrive twice.',
  yes: 'Send again',
  no: 'Cancel',
};
const confirmSecond = { ...confirmTwice, text: 'This may create a second job.' };

/** An ended thread has no such buttons. */
function troubleButtons(thread: ThreadRun, { id, attempt }: SendProblem, label: string, action: string) {
  return thread.state === 'ended' ? [] : [threadButtonOf(thread, label, action, [id], attempt)];
}

function notSentMessage(thread: ThreadRun, trouble: SendProblem): Message {
  const not = trouble.creates ? 'The job was not created' : 'Not sent';
  const more = [reasonParts(thread, trouble)];
  if (singleLine(trouble.reason ?? '') !== '') more.push([platformReasonText(trouble.reason)]);
  const buttons = remedyButtons(thread, trouble);
  // This message is private, and mentions nobody.
  return toldTo(isJobRefused(trouble) ? [] : [trouble.by], '❌', [`${not}: ${quoted(trouble.excerpt)}`], {
    more,
    buttons,
  });
}

function remedyButtons(thread: ThreadRun, trouble: SendProblem): ButtonParts[] {
  if (isJobRefused(trouble)) return [threadButtonOf(thread, 'Try again', agentActions.tryAgain)];
  if (thread.state === 'ended') return [];
  if (trouble.why === 'gone' || thread.notFound) return [checkButton(thread), stopButton(thread)];
  if (trouble.why === 'archived' || !acceptsInstructions(thread)) return [checkButton(thread)];
  return troubleButtons(thread, trouble, 'Send again', agentActions.sendAgain);
}

function reasonParts(thread: ThreadRun, { why, creates, adminsTold, archivedAtMs }: SendProblem): Part[] {
  switch (why) {
    case 'unknown':
    case 'refused':
      return [creates ? 'The platform refused to create it.' : 'The platform refused it.'];
    case 'key':
      return [`My platform key was rejected; ${keyRemedyText(adminsTold)}.`];
    case 'forbidden':
      return [`The platform doesn't let me ${creates ? 'create agent jobs' : 'instruct this job'} (403).`];
    case 'down':
      return ["The docs platform isn't answering. Try again in a little while."];
    case 'project':
      return [`${projectMissingText(thread)}. Ask the people who run Docket.`];
    case 'archived':
      return archivedParts(archivedAtMs, 'This job');
    case 'gone':
      return ['The platform does not know this job (404).'];
    case 'unsupported':
      return [
        "This platform doesn't let me create agent jobs. Create one in its dashboard, then type ",
        { code: '/docs-agent follow <job id>' },
        '.',
      ];
  }
}

function answeredText(
  { why, excerpt }: SendProblem,
  { action, by }: NonNullable<SendProblem['answer']>,
): string {
  const wasUnclear = why === 'unknown';
  switch (action) {
    case 'sendAgain':
      return `${personName(by.name)} chose to send ${quoted(excerpt)} again. It ${wasUnclear ? 'got no clear answer' : 'was not sent'} at first.`;
    case 'leave':
      return `${personName(by.name)} chose not to send it again: ${quoted(excerpt)} ${wasUnclear ? 'got no clear answer' : 'was not sent'}.`;
  }
}

/** Returns the messages about delays of instructions: a limit, or a platform that does not answer. */
export function limitMessages(thread: ThreadRun, place: OutboxMessage['place']): OutboxMessage[] {
  const { limit, retry } = thread;
  const messages: OutboxMessage[] = [];
  if (limit) {
    const waiting = waitingOf(thread);
    const hasEnded = limit.expired === true || waiting.length === 0 || thread.state === 'ended';
    messages.push({
      key: `${thread.id}.limit.${limit.n}`,
      place,
      kind: hasEnded ? 'state' : 'ending',
      ...(hasEnded && { repost: false }),
      ...(hasEnded && limit.discardedBy && { interactive: true }),
      message: hasEnded ? endedLimitMessage(limit) : limitMessage(thread, limit, waiting),
      fallbackRecipient: (waiting[0]?.by ?? thread.owner).id,
      ...(!hasEnded && { lasting: true }),
    });
  }
  if (retry && retry.inARow >= FAILURE_SHOWN_AFTER) {
    const key = `${thread.id}.retry.${retry.sinceMs}`;
    messages.push({ key, place, kind: 'progress', message: retryMessage(thread, retry) });
  }
  return messages;
}

/** If nobody discarded them, they were sent or the thread has ended: the text fits both. */
const endedLimitMessage = ({ discardedBy: by }: NonNullable<ThreadRun['limit']>) =>
  message([
    [by ? `${personName(by.name)} discarded what was waiting.` : 'Nothing is waiting for the limit now.'],
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
  { kind, perHour, untilMs }: NonNullable<ThreadRun['limit']>,
  waiting: Instruction[],
): Message {
  const many = waiting.length;
  const [first] = waiting;
  const kept = many === 1 && first ? quotedBy(first) : instructionCountText(many);
  const used = perHour === 1 ? 'is' : 'are';
  const why =
    kind === 'ours'
      ? `${instructionCountText(perHour)} an hour ${used} used up for this project.`
      : "The platform's limit is reached.";
  const ids = waiting.map(({ id }) => id);
  const discard = threadButtonOf(
    thread,
    many === 1 ? 'Discard' : 'Discard all',
    agentActions.discard,
    ids,
    first?.attempt,
  );
  // Each check gives a slightly different time: the message changes only with its minute.
  const minuteMs = Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS;
  const until: Part[] = [' until about ', { time: minuteMs, format: '{time}' }, ` · ${kept}`];
  return layout({
    lines: [['🕒 ', { bold: 'Kept' }, ...until], [why]],
    buttons: [many === 1 ? discard : { ...discard, confirm: confirmDiscard }],
    text: [['Kept', ...until], [why]],
  });
}

/** The first text is true whether it was finally sent or not. */
function retryMessage(thread: ThreadRun, { expired: over }: NonNullable<ThreadRun['retry']>): Message {
  if (over || thread.state === 'ended') return message([["The docs platform didn't answer for a while."]]);
  const head = nextWaitingOf(thread);
  const quote = quotedShort(head?.excerpt);
  const what = head?.creates ? `the job for ${quote} is not created yet` : `${quote} is not sent yet`;
  return message([[`The docs platform isn't answering, so ${what}. I'll keep trying.`]]);
}
