import type { z } from 'zod';
import {
  type ButtonParts,
  compose,
  joinParts,
  type Line,
  layout,
  type Message,
  message,
  openThreadLink,
  type Part,
  preformatted,
} from '../../../slack/blocks.ts';
import { countOf, cutShown, sanitizeUserText, upperFirst } from '../../../slack/text.ts';
import { exportOffer } from '../../export/progress-view.ts';
import type { Need, RunNeeds } from '../../feature.ts';
import { overviewMessage } from '../../help-view.ts';
import { noPlaceMessage, notPermittedText, shortId } from '../../wording-view.ts';
import type { Background } from '../background.ts';
import type { ThreadText } from '../thread-text.ts';
import { agentActions, checkButton, type mentionButton, threadButtonOf } from './buttons.ts';
import { sendProblemMessage } from './messages-view.ts';
import {
  andMoreText,
  backgroundName,
  jobName,
  LEFT_OUT_TEXT,
  modeText,
  pullRequestButton,
  quoted,
  quotedShort,
  tooLongText,
  tooManyText,
  unsentText,
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
  const contact = sanitizeUserText(about ?? '', 200) || 'the people who run Docket';
  const { agentJobId, ended } = thread;
  const job = agentJobId === undefined ? 'a job that is being created' : `job ${shortId(agentJobId)}`;
  const lines: Record<typeof kind, Line[]> = {
    files: [`I'll send the text. ${LEFT_OUT_TEXT}`],
    edited: ['That was already sent. Reply with the correction instead.'],
    lateMention: ['I only read new replies. Write it again with @Docket.'],
    notPermitted: [notPermittedText('agent', contact)],
    noLongerAllowed: [
      `You may no longer instruct the agent here, so your waiting instructions were not sent. Ask ${contact}.`,
    ],
    tooEmpty: ["That has no text, so nothing was sent. Write what the agent should do; it can't get files."],
    tooLong: [`${tooLongText(characters, most)} Split it into several replies.`, quoted(excerpt)],
    tooMany: [tooManyText(most), quoted(excerpt)],
    mode: [modeText(about)],
    badFollow: [badFollowLine],
    followsAlready: [
      about !== undefined && about === agentJobId
        ? 'This thread already follows that job.'
        : [`This thread follows ${job}. Type `, { code: '@Docket stop' }, ' first.'],
    ],
    stopped: [`I stopped following ${job} here.${unsentText(ended?.unsent ?? 0)}`],
    over: [
      'This thread no longer follows a job, so nothing was done. Write it again in a thread that follows one.',
    ],
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
  if (one?.background) return backgroundQuestion(thread, one, one.background);
  const ids = about === undefined ? [] : [about];
  const all = !isSoleAuthor(thread, to) && 'Your answer applies to all your held replies here.';
  return message(
    [`Is this for the agent? ${quoted(excerpt)}`, all],
    [
      { ...threadButtonOf(thread, 'Send', agentActions.send, ids), style: 'primary' },
      threadButtonOf(thread, 'Not for the agent', agentActions.notForAgent, ids),
      // In other modes a person's answer does not change which replies count.
      thread.mode === 'auto' && threadButtonOf(thread, 'Always in this thread', agentActions.always, ids),
    ],
  );
}

function backgroundQuestion(
  thread: ThreadRun,
  { id, excerpt }: Instruction,
  background: Background,
): Message {
  const ask = `Should ${backgroundName(background)} go to the agent with ${quoted(excerpt)}?`;
  const button = (label: string, action: string) => threadButtonOf(thread, label, action, [id]);
  return backgroundMessage([ask], background, [
    button(sendWithLabel(background), agentActions.sendWithBackground),
    button('Only this message', agentActions.sendAlone),
    button('Show all', agentActions.showBackground),
  ]);
}

const sendWithLabel = (background: Background) => `Send with ${backgroundName(background)}`;

/** Maximum characters of the background in an ephemeral. */
const MAX_SHOWN = 1500;

/** Shows the background word by word. If it is too long, shows its beginning and the last of the buttons, [Show all]. */
function backgroundMessage(lines: Line[], background: Background, buttons: ButtonParts[]): Message {
  const shown = cutShown(background.text, MAX_SHOWN);
  const isWhole = shown === background.text;
  const after = isWhole
    ? 'Nothing else of the conversation goes along.'
    : 'This is only the beginning. [Show all] shows every word.';
  const [first, ...others] = isWhole ? buttons.slice(0, -1) : buttons;
  return compose(
    [
      message(lines),
      preformatted(shown),
      message([after], [first && { ...first, style: 'primary' as const }, ...others]),
    ],
    [...lines, shown, after],
  );
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
      const question = problem.creates ? 'Was the job created?' : 'Did it reach the agent?';
      return ['⚠️ ', { bold: 'Send unclear' }, ` · ${quotedShort(problem.excerpt)} · ${question}`, ...where];
    }
    if (held?.background)
      return [
        '⏸ ',
        { bold: 'Held' },
        ` · ${quotedShort(held.excerpt)} · Should the conversation go along? · ${jobName(thread)}`,
        ...where,
      ];
    const more = isSoleAuthor(thread, need.user) ? 0 : heldOf(thread, need.user).length - 1;
    const what = `${quotedShort(held?.excerpt)}${andMoreText(more)} · Is this for the agent? · ${jobName(thread)}`;
    return ['⏸ ', { bold: 'Held' }, ` · ${what}`, ...where];
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
  if (one?.state === 'notForAgent') return `Not sent, because you said it's not for the agent: ${quote}`;
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
    return message([`No job with the ID "${sanitizeUserText(agentJobId, 60)}".`]);
  if (ended?.why === 'taken') return takenMessage;
  const refused = ended?.why === 'jobRefused' && sendProblemsOf(thread).find(isJobRefused);
  return refused ? sendProblemMessage(thread, refused) : undefined;
}

/** Answers a person whose job was to be followed in a thread that follows one already. */
export const takenMessage = message([
  'This thread already follows a job, so I started nothing else here. Reply in it to instruct the agent.',
]);

/** Answers a person whose threads follow the maximum number of jobs. */
export function tooManyThreadsMessage(max: number): Message {
  const what = `You follow ${countOf(max, 'job')} already. Stop following one first.`;
  return message([[what, ' ', { code: '/docs-agent list' }, ' shows them.']]);
}

const followHint: Part[] = ['To follow an existing job, reply ', { code: '@Docket follow <job id>' }, '.'];

/** Answers a mention that is no instruction. `problem` says why the job that it asks for is not followed. */
export function mentionMessage(
  { id, problem }: { id: string; problem?: Message | undefined },
  parsed: Exclude<ThreadText, { kind: 'instruction' }>,
): Message {
  if (parsed.kind === 'follow' && problem) return problem;
  if (parsed.kind === 'badFollow') return message([badFollowLine]);
  if (parsed.kind === 'export') return exportOffer(id, parsed);
  return parsed.kind === 'command' && parsed.command !== 'help'
    ? message(['This thread follows no agent job, so there is nothing to change.', followHint])
    : overviewMessage;
}

/** Answers a mention under a message whose thread takes no instructions. */
export const closedThreadMessage = message([
  [
    "Replies here don't go to the docs agent. Click [Ask the agent] above, or type ",
    { code: '/docs-agent new' },
    ' and your instruction.',
  ],
]);

/** Offers to start a new job with the text of a mention, and with its background if there is any. */
export function offerMessage(mention: string, excerpt: string, background?: Background): Message {
  const value: z.infer<typeof mentionButton> = { v: 1, mention };
  const button = (label: string, action: string): ButtonParts => ({
    label,
    action,
    value: JSON.stringify(value),
  });
  const ask = `No agent job is followed here. Start a new one with "${sanitizeUserText(excerpt, 60)}"?`;
  if (background === undefined) {
    const start = button('Start a new job', agentActions.startNew);
    return message([ask, followHint], [{ ...start, style: 'primary' }]);
  }
  const along = `${upperFirst(backgroundName(background))} can go along:`;
  return backgroundMessage([ask, followHint, along], background, [
    button(sendWithLabel(background), agentActions.startWithBackground),
    button('Only this message', agentActions.startNew),
    button('Show all', agentActions.showBackground),
  ]);
}
