import type { z } from 'zod';
import {
  joinParts,
  type Line,
  layout,
  type Message,
  message,
  openThreadLink,
  type Part,
} from '../../../slack/blocks.ts';
import { countOf, sanitizeUserText } from '../../../slack/text.ts';
import { exportOffer } from '../../export/progress-view.ts';
import type { Need, RunNeeds } from '../../feature.ts';
import { overviewMessage } from '../../help-view.ts';
import { notPermittedText, shortId } from '../../wording-view.ts';
import type { ThreadText } from '../thread-text.ts';
import { agentActions, checkButton, type mentionButton, threadButtonOf } from './buttons.ts';
import { troubleMessage } from './messages-view.ts';
import {
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
  isOver,
  isSoleAuthor,
  type SendProblem,
  sendProblemsOf,
  type ThreadRun,
} from './record.ts';
import { stateOf, threadPermalink } from './view.ts';

export function ephemeralMessage(thread: ThreadRun, ephemeral: Ephemeral): Message {
  const { kind } = ephemeral;
  if (kind === 'question') return questionMessage(thread, ephemeral);
  if (kind === 'status') return statusMessage(thread);
  const lines = LINES[kind];
  return message(typeof lines === 'function' ? lines(ephemeral, thread) : lines);
}

/** Answers a request to follow without a whole job id. */
const badFollowLine: Part[] = ['Which job? Write ', { code: '@Docket follow' }, ' and its whole ID.'];

const LINES: Record<
  Exclude<Ephemeral['kind'], 'question' | 'status'>,
  Line[] | ((ephemeral: Ephemeral, thread: ThreadRun) => Line[])
> = {
  files: [`I'll send the text. ${LEFT_OUT_TEXT}`],
  edited: ['That was already sent. Reply with the correction instead.'],
  lateMention: ['I only read new replies. Write it again with @Docket.'],
  notPermitted: (ephemeral) => [notPermittedText('agent', contactText(ephemeral))],
  noLongerAllowed: (ephemeral) => [
    `You may no longer instruct the agent here, so your waiting instructions were not sent. Ask ${contactText(ephemeral)}.`,
  ],
  tooEmpty: ["That has no text, so nothing was sent. Write what the agent should do; it can't get files."],
  tooLong: ({ characters = 0, most = 0, excerpt }) => [
    `${tooLongText(characters, most)} Split it into several replies.`,
    quoted(excerpt),
  ],
  tooMany: ({ most = 0, excerpt }) => [tooManyText(most), quoted(excerpt)],
  mode: ({ about }) => [modeText(about)],
  badFollow: [badFollowLine],
  followsAlready: ({ about }, thread) => [
    about !== undefined && about === thread.agentJobId
      ? ['This thread already follows that job.']
      : [`This thread follows ${jobText(thread)}. Type `, { code: '@Docket stop' }, ' first.'],
  ],
  stopped: (_, thread) => [
    `I stopped following ${jobText(thread)} here.${unsentText(thread.ended?.unsent ?? 0)}`,
  ],
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

/** The known status, without a poll. */
function statusMessage(thread: ThreadRun): Message {
  const { icon, label } = stateOf(thread);
  const open = thread.rounds.findLast(({ ending }) => ending === undefined);
  const seenAtMs = thread.seen?.atMs;
  const facts = [
    open?.last && `Working on ${quotedShort(open.last.excerpt)}`,
    waitingText(thread),
    seenAtMs !== undefined && ['last checked ', { time: seenAtMs, format: '{ago}' }],
  ];
  return layout({
    icon,
    lines: [[{ bold: label }, ` · ${jobName(thread)}`]],
    small: [joinParts(facts)],
    buttons: [...pullRequestButton(thread.seen?.prLink), thread.state !== 'ended' && checkButton(thread)],
  });
}

const contactText = ({ about }: Ephemeral) =>
  sanitizeUserText(about ?? '', 200) || 'the people who run Docket';

function questionMessage(thread: ThreadRun, { to, about, excerpt }: Ephemeral): Message {
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

const jobText = ({ agentJobId }: ThreadRun) =>
  agentJobId === undefined ? 'a job that is being created' : `job ${shortId(agentJobId)}`;

/** Held replies and sends of unknown result need a decision by their authors. */
export const threadNeeds: RunNeeds<ThreadRun> = {
  of(thread) {
    if (thread.state === 'ended') return [];
    const sends = sendProblemsOf(thread).filter(
      ({ why, answer }) => why === 'unknown' && answer === undefined,
    );
    return [
      ...sends.map((trouble): Need => ({ user: trouble.by.id, id: sendId(trouble) })),
      ...heldFirst(thread).map(({ by, id }): Need => ({ user: by.id, id: heldId(id) })),
    ];
  },

  line(thread, need, { workspaceUrl }) {
    const url = workspaceUrl();
    const where = openThreadLink(url && threadPermalink(thread, url));
    const trouble = troubleOf(thread, need);
    if (trouble !== undefined) {
      const question = trouble.creates ? 'Was the job created?' : 'Did it reach the agent?';
      return ['⚠️ ', { bold: 'Send unclear' }, ` · ${quotedShort(trouble.excerpt)} · ${question}`, ...where];
    }
    const held = heldInstruction(thread, need);
    const more = held && !isSoleAuthor(thread, need.user) ? heldOf(thread, need.user).length - 1 : 0;
    const rest = more > 0 ? ` and ${more} more` : '';
    const what = `${quotedShort(held?.excerpt)}${rest} · Is this for the agent? · ${jobName(thread)}`;
    return ['⏸ ', { bold: 'Held' }, ` · ${what}`, ...where];
  },

  question(thread, need) {
    const trouble = troubleOf(thread, need);
    if (trouble !== undefined) return troubleMessage(thread, trouble);
    const held = heldInstruction(thread, need);
    const about = { about: held?.id, excerpt: held?.excerpt };
    return ephemeralMessage(thread, { id: need.id, to: need.user, kind: 'question', ...about });
  },

  answered(thread, need) {
    const trouble = troubleOf(thread, need);
    if (trouble?.answer !== undefined) return troubleMessage(thread, trouble);
    return message([settledText(heldInstruction(thread, need))]);
  },
};

function settledText(one: Instruction | undefined): string {
  if (one?.state === 'notForAgent')
    return `Not sent, because you said it's not for the agent: ${quoted(one.excerpt)}`;
  if (one?.state === 'withdrawn') return `Not sent, because its message was deleted: ${quoted(one.excerpt)}`;
  const isSent = one !== undefined && (one.state === 'sent' || !isOver(one));
  if (!isSent) return 'Already handled: its thread shows the result.';
  return `${quoted(one.excerpt)} goes to the agent.`;
}

const sendId = ({ id, attempt }: Pick<SendProblem, 'id' | 'attempt'>) => `send ${id} ${attempt}`;
const heldId = (id: string) => `held ${id}`;

const troubleOf = (thread: ThreadRun, { id, user }: Need) =>
  sendProblemsOf(thread).find((one) => sendId(one) === id && one.by.id === user);

const heldInstruction = (thread: ThreadRun, { id, user }: Need) => {
  const one = findInstruction(thread, id.slice(heldId('').length));
  return one?.by.id === user ? one : undefined;
};

/** Returns the replies to ask about. One answer covers all held replies of a person; for a sole author, only one. */
function heldFirst(thread: ThreadRun): Instruction[] {
  const held = thread.instructions.filter(({ state }) => state === 'held');
  return held.filter(
    (one, index) =>
      isSoleAuthor(thread, one.by.id) || held.findIndex(({ by }) => by.id === one.by.id) === index,
  );
}

// Answers to people where no thread follows a job.

export const unknownJobMessage = (jobId: string): Message =>
  message([`No job with the ID "${sanitizeUserText(jobId, 60)}".`]);

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

export const tooLongMentionMessage = (characters: number, most: number): Message =>
  message([`${tooLongText(characters, most)} Nothing was sent.`]);

/** Offers to start a new job with the text of a mention. */
export function offerMessage(mention: string, excerpt: string): Message {
  const value: z.infer<typeof mentionButton> = { v: 1, mention };
  const start = { label: 'Start a new job', action: agentActions.startNew, value: JSON.stringify(value) };
  return message(
    [`No agent job is followed here. Start a new one with "${sanitizeUserText(excerpt, 60)}"?`, followHint],
    [{ ...start, style: 'primary' }],
  );
}
