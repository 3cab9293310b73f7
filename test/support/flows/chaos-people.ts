import { setTimeout as pause } from 'node:timers/promises';
import type { Ephemeral, SentMessage } from '../../../demo/slack/workspace.ts';
import { type ChaosWorld, keyOf, postedTwice } from './chaos-world.ts';
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

interface ChaosReply {
  /** What the agent is to get. */
  text: string;
  message: SentMessage;
}

/** How often a person looks whether there is something to answer, and how long they think and wait for a change. */
const GLANCE_MS = 250;
const THINK_MS = 2000;
const CLICK_AGAIN_MS = 4000;
/** A person who was told that it did not work tries again. */
const ASK_AGAIN_MS = 700;

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
  { replies, gapMs }: { replies: number; gapMs: number },
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

/** The sites that are exported, each once. */
export const chaosDomains = (count: number) =>
  Array.from({ length: count }, (_, index) => `site-${String(index + 1).padStart(3, '0')}.acme.com`);

/** Asks for the export of a site until it is accepted, as a person would who reads the channel. */
export async function askForExport(
  chaos: ChaosWorld,
  domain: string,
  answers: Answers,
  random: () => number,
): Promise<void> {
  const { slack } = chaos.world;
  const person = slack.person(random() < 0.5 ? 'ana' : 'ben');
  for (;;) {
    chaos.route(random);
    const { ok, ephemeral } = await person.types('#docs', `/docs-export ${domain}`);
    const told = ephemeral === undefined ? '' : slack.read(ephemeral);
    if (ok && (told === '' || told.includes('is already being exported'))) return;
    await pause(ASK_AGAIN_MS);
    if (cardsOf(chaos.world, domain).length > 0) return;
    answers.askedAgain += 1;
  }
}

/** What people did, and how often. */
export const newAnswers = () => ({
  /** Questions about an unclear send: it had arrived, or not. */
  leave: 0,
  again: 0,
  /** Sends that certainly did not arrive, and that ana had sent again. */
  failed: 0,
  /** Commands that were typed once more, since no answer came or it was a refusal. */
  askedAgain: 0,
  /** Questions whether an export had started: it had, or not. */
  found: 0,
  startedAgain: 0,
  /** Links that people had to ask for. */
  links: 0,
});
export type Answers = ReturnType<typeof newAnswers>;

/** What waits for a person: the click that answers it, and what it counts as. */
interface Question {
  about: SentMessage | Ephemeral;
  counts?: keyof Answers;
  answer(): Promise<unknown>;
}

/** Answers all that people are asked, as those who look at the platform, until `stop` aborts. */
export async function answerQuestions(
  { world }: ChaosWorld,
  threads: readonly ChaosThread[],
  answers: Answers,
  stop: AbortSignal,
): Promise<void> {
  const nextMs = new Map<string, number>();
  const counted = new Set<string>();
  while (!stop.aborted) {
    await pause(GLANCE_MS);
    for (const { about, counts, answer } of openQuestions(world, threads)) {
      const id = `${about.channel} ${about.ts} ${counts}`;
      const dueMs = nextMs.get(id);
      nextMs.set(id, dueMs === undefined ? Date.now() + THINK_MS : dueMs);
      if (dueMs === undefined || Date.now() < dueMs) continue;
      nextMs.set(id, Date.now() + CLICK_AGAIN_MS);
      if (counts !== undefined && !counted.has(id)) answers[counts] += 1;
      counted.add(id);
      // The message may have changed meanwhile, or no bot may answer.
      void answer().catch(() => {});
    }
  }
}

function openQuestions(world: World, threads: readonly ChaosThread[]): Question[] {
  const { slack, platform } = world;
  const [ana, ben] = [slack.person('ana'), slack.person('ben')];
  const sends = openTroubles(world).map((about): Question => {
    const isUnclear = slack.read(about).includes('[Leave it]');
    const counts = !isUnclear ? 'failed' : hasArrived(world, threads, about) ? 'leave' : 'again';
    return { about, counts, answer: () => ana.clicks(about, counts === 'leave' ? 'Leave it' : 'Send again') };
  });
  const exports = openExportQuestions(world).map(([about, button]): Question => {
    const jobId = platform.starts.find(({ domain }) => domain === domainOf(about))?.jobId;
    if (button !== 'Start again') return { about, counts: 'links', answer: () => ana.clicks(about, button) };
    return jobId === undefined
      ? { about, counts: 'startedAgain', answer: () => ana.clicks(about, button) }
      : { about, counts: 'found', answer: () => givesJobId(world, about, jobId) };
  });
  const isHeld = (one: Ephemeral) => one.to === ben.id && !one.deleted && slack.read(one).includes('[Send]');
  const held = slack.ephemerals
    .filter(isHeld)
    .map((about): Question => ({ about, answer: () => ben.clicks(about, 'Send') }));
  return [...sends, ...exports, ...held];
}

async function givesJobId({ slack }: World, message: SentMessage, jobId: string) {
  const ana = slack.person('ana');
  try {
    await ana.clicks(message, "It's there: watch it");
    if (ana.modal()) await ana.submits({ 'Job ID': jobId });
  } finally {
    while (ana.modal()) await ana.closes();
  }
}

/** Questions and failures in the threads that wait for a person. */
export function openTroubles({ slack }: World): SentMessage[] {
  return slack.messages.filter(
    (message) => keyOf(message).includes('.trouble.') && /\[Send (it )?again\]/.test(slack.read(message)),
  );
}

/** Whether the platform has the instruction that a question is about, which it names by its first words. */
function hasArrived({ platform, slack }: World, threads: readonly ChaosThread[], question: SentMessage) {
  const tag = /t\d+ [rb]\d+/.exec(slack.read(question))?.[0];
  const thread = threads.find(({ root }) => root.ts === question.threadTs);
  if (tag === undefined || thread === undefined) throw new Error('a question about nothing');
  return platform.agent.messages.some(
    ({ jobId, prompt }) => jobId === thread.jobId && prompt.startsWith(tag),
  );
}

/** Messages of exports that wait for a person, each with the button that goes on. */
export function openExportQuestions({ slack }: World): [SentMessage, string][] {
  return slack.messages.flatMap((message): [SentMessage, string][] => {
    if (!/\.(question|end)\./.test(keyOf(message)) || message.deleted || !domainOf(message)) return [];
    const button = /\[(Start again|Get the link|Check now)\]/.exec(slack.read(message))?.[1];
    return button === undefined ? [] : [[message, button]];
  });
}

const domainOf = ({ text }: SentMessage) => /site-\d+\.acme\.com/.exec(text)?.[0] ?? '';

const cardsOf = ({ slack }: World, domain: string) =>
  slack.messages.filter((message) => keyOf(message).endsWith('.card') && domainOf(message) === domain);

/** Returns whether an export has its last outcome, as its thread and its card show. */
export function isExported(world: World, domain: string): boolean {
  const { slack } = world;
  const endings = slack.messages.filter(
    (message) => keyOf(message).includes('.end.') && !message.deleted && domainOf(message) === domain,
  );
  return (
    cardsOf(world, domain).some((card) => slack.read(card).startsWith(`✅ ${domain} exported`)) &&
    endings.some((ending) => slack.read(ending).includes(`${domain} is exported`))
  );
}

/**
 * Judges by what the platform took and what Slack shows alone. Returns what became of everything that people wrote and
 * asked for; each list names what went wrong, and is empty when nothing did.
 */
export function verdictOn(world: World, threads: readonly ChaosThread[], domains: readonly string[]) {
  const { slack, platform } = world;
  const { userId } = slack.workspace.bot;
  const starts = (domain: string) => platform.starts.filter((start) => start.domain === domain).length;
  const verdict = {
    exportsLost: domains.filter((domain) => !isExported(world, domain)),
    exportsStartedTwice: domains.filter((domain) => starts(domain) > 1),
    /** Accepted as two requests, or with two endings. */
    exportsToldTwice: domains.filter((domain) => cardsOf(world, domain).length > 1),
    sendsLost: [] as string[],
    sentTwice: [] as string[],
    outOfOrder: [] as string[],
    /** The platform got what nobody wrote, or what was taken back. */
    unwanted: [] as string[],
    /** Replies that neither a reaction nor a message tells of. */
    withoutOutcome: [] as string[],
    postedTwice: postedTwice(world),
    openQuestions: [...openTroubles(world), ...openExportQuestions(world).map(([message]) => message)].map(
      slack.read,
    ),
  };
  const shows = (message: SentMessage, ...names: string[]) =>
    message.reactions.some(({ name, users }) => names.includes(name) && users.includes(userId));
  // The status of its round says that a reply was taken, or else a reaction.
  const isShown = (message: SentMessage) =>
    shows(message, 'eyes') ||
    (message.reactions.length === 0 &&
      slack.messages.some((one) => one.threadTs === message.threadTs && keyOf(one).includes('.round.')));

  for (const { jobId, replies, held } of threads) {
    const taken = platform.agent.messages
      .filter((message) => message.jobId === jobId)
      .map(({ prompt }) => prompt);
    const wanted = replies.map(({ text }) => text);
    const mayBe = held && !held.deleted ? [held.text] : [];
    verdict.sendsLost.push(...wanted.filter((text) => !taken.includes(text)));
    verdict.sentTwice.push(...taken.filter((text, at) => taken.indexOf(text) < at));
    verdict.unwanted.push(...taken.filter((text) => ![...wanted, ...mayBe].includes(text)));
    const places = taken.map((text) => wanted.indexOf(text)).filter((place) => place >= 0);
    verdict.outOfOrder.push(
      ...places.flatMap((place, at) => (place < (places[at - 1] ?? -1) ? [wanted[place] ?? ''] : [])),
    );
    for (const { text, message } of replies) if (!isShown(message)) verdict.withoutOutcome.push(text);
    if (held === undefined || held.deleted) continue;
    const hasOutcome = taken.includes(held.text)
      ? isShown(held.message)
      : shows(held.message, 'double_vertical_bar');
    if (!hasOutcome) verdict.withoutOutcome.push(held.text);
  }
  return verdict;
}
