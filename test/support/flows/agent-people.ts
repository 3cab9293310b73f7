import { setTimeout as pause } from 'node:timers/promises';
import type { Ephemeral, SentMessage } from '../../../demo/slack/workspace.ts';
import { type ChaosWorld, keyOf } from './chaos-world.ts';
import type { World } from './world.ts';

/** One thread that follows a job of its own, and what people write there. */
export interface ChaosThread {
  name: string;
  jobId: string;
  root: SentMessage;
  /** By ana, who follows the job, in the order they were written. */
  replies: ChaosReply[];
  /** By ben, who is asked first. */
  held?: ChaosReply & { deleted: boolean };
}

export interface ChaosReply {
  /** What the agent is to get. */
  text: string;
  message: SentMessage;
}

export interface ChaosOptions {
  threads: number;
  /** By ana, in each thread. */
  replies: number;
  /** The longest pause of a person between two replies. */
  gapMs: number;
}

/** How often a person looks whether there is something to answer. */
const GLANCE_MS = 250;
/** People take their time, in which others write on. */
const THINK_MS = 2000;
/** A person who sees no change clicks again. */
const CLICK_AGAIN_MS = 4000;

/** Ana follows a job in each thread. */
export async function followJobs({ world }: ChaosWorld, count: number): Promise<ChaosThread[]> {
  const { slack, platform } = world;
  const names = Array.from({ length: count }, (_, n) => `t${String(n + 1).padStart(2, '0')}`);
  return Promise.all(
    names.map(async (name) => {
      const jobId = platform.agent.add({ ref: `agent/${name}` });
      await slack.person('ana').types('#docs', `/docs-agent follow ${jobId}`);
      const isRoot = (message: SentMessage) =>
        keyOf(message).endsWith('.card') && slack.read(message).includes(`agent/${name}`);
      const root = await slack.until(() => slack.messages.find(isRoot), 30_000, `the card of ${name}`);
      return { name, jobId, root, replies: [] };
    }),
  );
}

/**
 * What people do in one thread: each writes the next only when Slack's event of the one before was accepted, since
 * Slack promises no order of what it sends again. In every second thread, ben joins in half way: his reply is held,
 * and he edits it and says "Send", or deletes it. From then on ana mentions Docket.
 */
export async function converse(
  chaos: ChaosWorld,
  thread: ChaosThread,
  { replies, gapMs }: Pick<ChaosOptions, 'replies' | 'gapMs'>,
  random: () => number,
): Promise<void> {
  const { slack } = chaos.world;
  const { root, name } = thread;
  const [ana, ben] = [slack.person('ana'), slack.person('ben')];
  const place = { threadTs: root.ts };
  const variant = Number(name.slice(1)) % 4;
  for (let n = 1; n <= replies; n += 1) {
    await pause(random() * gapMs);
    chaos.route(random);
    const text = `${name} r${String(n).padStart(3, '0')} please improve the page about errors`;
    const mention = thread.held === undefined ? '' : '@docket ';
    const message = await untilAccepted(slack, () => void ana.says('#docs', mention + text, place));
    thread.replies.push({ text, message });
    if (n !== Math.ceil(replies / 2) || variant > 1) continue;
    const draft = `${name} b001 is this about version one?`;
    const joined = await untilAccepted(slack, () => void ben.says('#docs', draft, place));
    thread.held = { text: draft, message: joined, deleted: variant === 1 };
    if (variant === 1) await untilAccepted(slack, () => void ben.deletes(joined));
    else {
      thread.held.text = `${name} b001 is this about version two?`;
      await untilAccepted(slack, () => void ben.edits(joined, `${name} b001 is this about version two?`));
    }
  }
}

/** Acts, and waits until the bot has accepted every event of it. Returns the message that was written, if one was. */
async function untilAccepted(slack: World['slack'], act: () => void): Promise<SentMessage> {
  const before = slack.events.length;
  act();
  const events = slack.events.slice(before);
  const message = slack.messages.findLast(({ from }) => from !== 'docket');
  if (message === undefined || events.length === 0) throw new Error('Slack sent no event');
  await slack.until(() => events.every(({ ended }) => ended), 90_000, 'the end of the events');
  const lost = events.filter(({ accepted }) => !accepted);
  if (lost.length > 0) throw new Error(`Slack gave up on ${lost.length} events`);
  return message;
}

/** What the people who answer have done so far. */
export interface Answers {
  /** Messages that asked whether an unclear send arrived. */
  questions: number;
  leave: number;
  again: number;
  /** Sends that certainly did not arrive, and that ana had sent again. */
  failed: number;
}

/**
 * Ana answers each question about an unclear send as one who looked at the platform, and ben his own about his reply,
 * until `stop` aborts.
 */
export async function answerQuestions(
  { world }: ChaosWorld,
  threads: readonly ChaosThread[],
  stop: AbortSignal,
): Promise<Answers> {
  const { slack } = world;
  const asked = new Map<SentMessage | Ephemeral, { clicks: number; nextMs: number }>();
  const answers: Answers = { questions: 0, leave: 0, again: 0, failed: 0 };
  const due = (target: SentMessage | Ephemeral) => {
    const { clicks, nextMs } = asked.get(target) ?? { clicks: -1, nextMs: 0 };
    if (Date.now() < nextMs) return undefined;
    asked.set(target, { clicks: clicks + 1, nextMs: Date.now() + (clicks < 0 ? THINK_MS : CLICK_AGAIN_MS) });
    return clicks < 0 ? undefined : clicks === 0 ? 'first' : 'again';
  };
  while (!stop.aborted) {
    await pause(GLANCE_MS);
    for (const message of openTroubles(world)) {
      const which = due(message);
      if (which === undefined) continue;
      const buttons = slack.read(message);
      if (!buttons.includes('[Leave it]')) {
        if (which === 'first') answers.failed += 1;
        void slack
          .person('ana')
          .clicks(message, 'Send again')
          .catch(() => {});
        continue;
      }
      const arrived = hasArrived(world, threads, message);
      if (which === 'first') {
        answers.questions += 1;
        answers[arrived ? 'leave' : 'again'] += 1;
      }
      void slack
        .person('ana')
        .clicks(message, arrived ? 'Leave it' : 'Send again')
        .catch(() => {});
    }
    for (const question of slack.ephemerals.filter((one) => isOpenQuestion(world, one)))
      if (due(question))
        void slack
          .person('ben')
          .clicks(question, 'Send')
          .catch(() => {});
  }
  return answers;
}

/** Questions and failures in the threads that wait for a person. */
export function openTroubles({ slack }: World): SentMessage[] {
  return slack.messages.filter(
    (message) => keyOf(message).includes('.trouble.') && /\[Send (it )?again\]/.test(slack.read(message)),
  );
}

const isOpenQuestion = ({ slack }: World, one: Ephemeral) =>
  one.to === slack.person('ben').id && !one.deleted && slack.read(one).includes('[Send]');

/** Whether the platform has the instruction that a question is about, which it names by its first words. */
function hasArrived({ platform, slack }: World, threads: readonly ChaosThread[], question: SentMessage) {
  const tag = /t\d+ [rb]\d+/.exec(slack.read(question))?.[0];
  const thread = threads.find(({ root }) => root.ts === question.threadTs);
  if (tag === undefined || thread === undefined) throw new Error('a question about nothing');
  return platform.agent.messages.some(
    ({ jobId, prompt }) => jobId === thread.jobId && prompt.startsWith(tag),
  );
}
