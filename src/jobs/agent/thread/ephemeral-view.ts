import type { KnownBlock } from '@slack/types';
import type { z } from 'zod';
import {
  type ButtonParts,
  joinParts,
  type Line,
  layout,
  type Message,
  message,
  moment,
  openThreadLink,
  type Part,
} from '../../../slack/blocks.ts';
import { countOf, cut, formatCount, sanitizeUserText, singleLine } from '../../../slack/text.ts';
import { exportOffer } from '../../export/progress-view.ts';
import { overviewMessage } from '../../help-view.ts';
import type { Need, RunNeeds } from '../../shared/feature.ts';
import { LABELS, noPlaceMessage, notPermittedText, personName, shortId } from '../../shared/wording-view.ts';
import type { Background } from '../background.ts';
import type { ThreadText } from '../thread-text.ts';
import { agentActions, checkButton, type mentionButton, stopButton, threadButtonOf } from './buttons.ts';
import { sendProblemMessage } from './messages-view.ts';
import {
  andMoreText,
  backgroundName,
  jobName,
  LEFT_OUT_TEXT,
  leftOutText,
  modeText,
  pullRequestButton,
  quoted,
  quotedShort,
  sendWithLabel,
  sourceName,
  tooLongText,
  tooManyText,
  unsentText,
  waitingCount,
  waitingText,
} from './phrases.ts';
import {
  type Ephemeral,
  findInstruction,
  heldOf,
  type Instruction,
  isFinished,
  isHeldReply,
  isJobRefused,
  isSoleAuthor,
  openRoundOf,
  type SendProblem,
  sendProblemsOf,
  type ThreadRun,
} from './record.ts';
import { stateOf, threadPermalink } from './view.ts';

/** Answers a request to follow without a whole job id. */
const badFollowLine: Part[] = ['Which job? Write ', { code: '@Docket follow' }, ' and its whole ID.'];

/** The message of an ephemeral in a followed thread. */
export function ephemeralMessage(thread: ThreadRun, ephemeral: Ephemeral): Message {
  const { kind, about, characters = 0, excerpt, most = 0 } = ephemeral;
  if (kind === 'question') return questionMessage(thread, ephemeral);
  if (kind === 'status') return statusMessage(thread);
  const contact = sanitizeUserText(about ?? '', 200) || 'your Docket admins';
  const { agentJobId, ended } = thread;
  const job = agentJobId === undefined ? "a job that's being created" : `job ${shortId(agentJobId)}`;
  const lines: Record<typeof kind, Line[]> = {
    files: [`I'll send the text. ${LEFT_OUT_TEXT}`],
    edited: ['The agent already has this. Reply with the correction instead.'],
    lateMention: ['I only read new replies. Write it again with @Docket.'],
    notPermitted: [notPermittedText('agent', contact)],
    noLongerAllowed: [
      `You may no longer ask the agent here, so your waiting requests weren't sent. Ask ${contact}.`,
    ],
    tooEmpty: ["That has no text, so nothing was sent. Write what the agent should do; it can't get files."],
    tooLong: [`${tooLongText(characters, most)} Split it into several replies.`, quoted(excerpt)],
    tooMany: [tooManyText(most), quoted(excerpt)],
    mode: [modeText(about)],
    leftOut: [
      `${leftOutText(about === 'apps' ? about : 'unread')}, so I send only your request ${quoted(excerpt)}.`,
    ],
    badFollow: [badFollowLine],
    followsAlready: [
      about !== undefined && about === agentJobId
        ? 'This thread already follows that job.'
        : [`This thread follows ${job}. Type `, { code: '@Docket stop' }, ' first.'],
    ],
    stopped: [`I stopped following ${job} here.${unsentText(ended?.unsent ?? 0)}`],
    over: ['This thread no longer follows a job, so nothing was sent. Ask in a thread that follows one.'],
    help: [
      'Mention @Docket with what the agent should do, or with one of these:',
      [{ code: '@Docket stop' }, ' — stop following the job'],
      [{ code: '@Docket only when mentioned' }, ' — ignore other replies'],
      [{ code: '@Docket all replies' }, ' — every reply goes to the agent'],
      [{ code: '@Docket follow <job id>' }, ' — follow another job, after a stop'],
      'A reply that starts with "aside" never goes to the agent.',
    ],
  };
  return message(lines[kind]);
}

/** What the menu of a card keeps: the whole id for copying, the source, the model and the age of the job. */
export function detailsMessage(thread: ThreadRun): Message<KnownBlock> {
  const { agentJobId = '', owner, seen, title } = thread;
  const id = cut(singleLine(agentJobId), 200);
  const model = sanitizeUserText(seen?.model ?? '', 60);
  return message([
    ['Job: ', id === '' ? 'being created' : { code: id }],
    seen && `Works on: ${sourceName(thread)}`,
    model && `Model: ${model}`,
    seen?.createdAtMs !== undefined && ['Created: ', moment(seen.createdAtMs)],
    `${title === undefined ? 'Followed' : 'Requested'} by: ${personName(owner.name)}`,
    seen && ['Last checked: ', { time: seen.atMs, format: '{ago}' }],
  ]);
}

/** Asks whether to stop, since an entry of a menu has no confirmation of its own. */
export function stopQuestion(thread: ThreadRun): Message {
  const { text } = stopButton(thread, droppedText(thread)).confirm;
  return layout({
    lines: [[{ bold: 'Stop following?' }, ` · ${jobName(thread)}`], text],
    buttons: [threadButtonOf(thread, 'Stop following', agentActions.stop)],
  });
}

/** "2 waiting requests are dropped."; empty if none waits or is held. */
function droppedText(thread: ThreadRun): string {
  const many = waitingCount(thread) + thread.instructions.filter(({ state }) => state === 'held').length;
  return many === 0 ? '' : `${countOf(many, 'waiting request')} ${many === 1 ? 'is' : 'are'} dropped.`;
}

/** The known status, without a poll. */
function statusMessage(thread: ThreadRun): Message {
  const { icon, label } = stateOf(thread);
  const { seen, state } = thread;
  const last = openRoundOf(thread)?.last;
  const facts = [
    last && `Working on ${quotedShort(last.excerpt)}`,
    waitingText(thread),
    seen && ['last checked ', { time: seen.atMs, format: '{ago}' }],
  ];
  return layout({
    icon,
    lines: [[{ bold: label }, ` · ${jobName(thread)}`]],
    small: [joinParts(facts)],
    buttons: [...pullRequestButton(seen?.prLink), state !== 'ended' && checkButton(thread)],
  });
}

function questionMessage(
  thread: ThreadRun,
  { to, about, excerpt }: Pick<Ephemeral, 'to' | 'about' | 'excerpt'>,
): Message {
  const one = findInstruction(thread, about);
  // It was answered before the ephemeral was posted.
  if (one !== undefined && one.state !== 'held') return message([answeredText(one)]);
  if (one?.background) {
    const { id, background } = one;
    const button = (label: string, action: string) => threadButtonOf(thread, label, action, [id]);
    const title = `Send ${backgroundName(background)}, too?`;
    return backgroundMessage([{ bold: title }, ` · ${quotedShort(one.excerpt)}`], background, [
      button(sendWithLabel(background), agentActions.sendWithBackground),
      button('Send only mine', agentActions.sendAlone),
      button('Read all', agentActions.showBackground),
      button('Cancel', agentActions.cancel),
    ]);
  }
  const ids = about === undefined ? [] : [about];
  const all = !isSoleAuthor(thread, to) && 'Your answer applies to all your held replies here.';
  return layout({
    icon: '⏸',
    lines: [[{ bold: 'Is this for the agent?' }, ` · ${quoted(excerpt)}`], all],
    buttons: [
      { ...threadButtonOf(thread, 'Send', agentActions.send, ids), style: 'primary' },
      threadButtonOf(thread, "Don't send", agentActions.notForAgent, ids),
      // In other modes a person's answer does not change which replies count.
      thread.mode === 'auto' &&
        thread.answers[to] !== 'always' &&
        threadButtonOf(thread, 'Always send mine', agentActions.always, ids),
    ],
  });
}

/** Asks about earlier messages: who wrote the newest two, and how they begin. The last of the buttons is in the menu. */
function backgroundMessage(
  title: Line,
  { count, newest, leftOut }: Background,
  [first, ...others]: ButtonParts[],
): Message {
  const more = count - newest.length;
  const cancel = others.pop();
  return layout({
    icon: '⏸',
    lines: [
      title,
      ...newest.map(({ name, start }) => `${sanitizeUserText(name, 60)}: ${sanitizeUserText(start, 60)}`),
      more > 0 && `+ ${formatCount(more)} more`,
    ],
    small: [leftOut && `${leftOutText(leftOut)}.`],
    buttons: [first && { ...first, style: 'primary' }, ...others],
    menu: cancel && { entries: [cancel], value: cancel.value ?? '' },
  });
}

/** Held replies and sends of unknown result need a decision by their authors. */
export const threadNeeds: RunNeeds<ThreadRun> = {
  of(thread) {
    if (thread.state === 'ended') return [];
    const sends = sendProblemsOf(thread).filter(({ why, answer }) => why === 'unknown' && !answer);
    // One answer covers all held replies of a person; for a sole author, only one.
    const held = thread.instructions.filter(
      (one) =>
        one.state === 'held' &&
        (!isHeldReply(one) || isSoleAuthor(thread, one.by.id) || heldOf(thread, one.by.id)[0]?.id === one.id),
    );
    return [
      ...sends.map((one): Need => ({ user: one.by.id, id: sendId(one) })),
      ...held.map(({ by, id }): Need => ({ user: by.id, id: heldId(id) })),
    ];
  },

  line(thread, need, { workspaceUrl }) {
    const { problem, held } = subjectOf(thread, need);
    const where = openThreadLink(threadPermalink(thread, workspaceUrl()));
    if (problem !== undefined) {
      const question = problem.creates ? 'Was the agent job created?' : 'Did this reach the agent?';
      return ['❔ ', { bold: question }, ` · ${quotedShort(problem.excerpt)}`, ...where];
    }
    if (held?.background)
      return [
        '⏸ ',
        { bold: 'Send the earlier messages, too?' },
        ` · ${quotedShort(held.excerpt)} · ${jobName(thread)}`,
        ...where,
      ];
    const more = isSoleAuthor(thread, need.user) ? 0 : heldOf(thread, need.user).length - 1;
    const what = `${quotedShort(held?.excerpt)}${andMoreText(more)} · ${jobName(thread)}`;
    return ['⏸ ', { bold: 'Is this for the agent?' }, ` · ${what}`, ...where];
  },

  question(thread, need) {
    const { problem, held } = subjectOf(thread, need);
    return problem
      ? sendProblemMessage(thread, problem)
      : questionMessage(thread, { to: need.user, about: held?.id, excerpt: held?.excerpt });
  },

  answered(thread, need) {
    const { problem, held } = subjectOf(thread, need);
    return problem?.answer ? sendProblemMessage(thread, problem) : message([answeredText(held)]);
  },
};

function answeredText(one: Instruction | undefined): string {
  const quote = quoted(one?.excerpt);
  if (one?.state === 'notForAgent') return `Not sent, as you chose: ${quote}`;
  if (one?.state === 'withdrawn') return `Not sent, because its message was deleted: ${quote}`;
  const isSent = one !== undefined && (one.state === 'sent' || !isFinished(one));
  return isSent ? `${quote} goes to the agent.` : 'Already handled: its thread shows the result.';
}

const sendId = ({ id, attempt }: Pick<SendProblem, 'id' | 'attempt'>) => `send ${id} ${attempt}`;
const heldId = (id: string) => `held ${id}`;

/** Returns what a person's question is about, if it is theirs: a send or a held reply. */
function subjectOf(thread: ThreadRun, { id, user }: Need) {
  return {
    problem: sendProblemsOf(thread).find((one) => sendId(one) === id && one.by.id === user),
    held: thread.instructions.find((one) => heldId(one.id) === id && one.by.id === user),
  };
}

// Answers to people where no thread follows a job.

/** Returns the answer to the owner of a thread that never followed a job. `max` is the number of threads at once. */
export function privateEnding(thread: ThreadRun, max: number): Message | undefined {
  const { agentJobId = '', asked, ended } = thread;
  if (ended?.why === 'noPlace') return noPlaceMessage(asked.joinable, ended.code ?? '', 'sent');
  if (ended?.why === 'tooManyThreads') return tooManyThreadsMessage(max);
  if (ended?.why === 'unknownJob')
    return message([`No agent job has the ID "${sanitizeUserText(agentJobId, 60)}".`]);
  if (ended?.why === 'taken') return takenMessage;
  const refused = ended?.why === 'jobRefused' && sendProblemsOf(thread).find(isJobRefused);
  return refused ? sendProblemMessage(thread, refused) : undefined;
}

/** Answers a person whose job was to be followed in a thread that follows one already. */
export const takenMessage = message([
  'This thread already follows a job, so I started nothing else here. Reply in the thread to ask the agent.',
]);

/** Answers a person whose threads follow the maximum number of jobs. */
export function tooManyThreadsMessage(max: number): Message {
  const what = `You follow ${countOf(max, 'agent job')} already. Stop following one first.`;
  return message([[what, ' ', { code: '/docs-agent list' }, ' shows them.']]);
}

const followHint: Part[] = ['To follow an existing job, reply ', { code: '@Docket follow <job id>' }, '.'];

/** Answers a mention that asks the agent for nothing. `problem` says why the job that it asks for is not followed. */
export function mentionMessage(
  { id, problem }: { id: string; problem?: Message | undefined },
  parsed: Exclude<ThreadText, { kind: 'instruction' }>,
): Message {
  if (parsed.kind === 'follow' && problem) return problem;
  if (parsed.kind === 'badFollow') return message([badFollowLine]);
  if (parsed.kind === 'export') return exportOffer(id, parsed);
  return parsed.kind === 'command' && parsed.command !== 'help'
    ? message(["This thread follows no agent job, so there's nothing to change.", followHint])
    : overviewMessage;
}

/** Answers a mention under a message whose thread takes no instructions. */
export const closedThreadMessage = message([
  [
    `Replies here don't go to the docs agent. Click [${LABELS.askAgent}] above, or type `,
    { code: '/docs-agent new' },
    ' and your request.',
  ],
]);

/** Offers to start a new job with the text of a mention, and with its background if there is any. */
export function offerMessage(mention: string, excerpt: string, background?: Background): Message {
  const value: z.infer<typeof mentionButton> = { v: 1, mention };
  const button = (label: string, action: string) => ({ label, action, value: JSON.stringify(value) });
  const ask = `Start an agent job with ${quoted(excerpt, 60)}?`;
  if (!background?.count) {
    const start = button('Start a job', agentActions.startNew);
    const leftOut = background && `${leftOutText(background.leftOut)}.`;
    return message([[{ bold: ask }], leftOut, followHint], [{ ...start, style: 'primary' }]);
  }
  return backgroundMessage([{ bold: ask }, ` Send ${backgroundName(background)}, too?`], background, [
    button(sendWithLabel(background), agentActions.startWithBackground),
    button('Send only mine', agentActions.startAlone),
    button('Read all', agentActions.showBackground),
    button('Cancel', agentActions.dismiss),
  ]);
}
