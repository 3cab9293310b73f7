import { setTimeout as pause } from 'node:timers/promises';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import { type ChaosWorld, keyOf } from './chaos-world.ts';
import type { World } from './world.ts';

const WHERE = '#docs';
/** How often a person looks whether there is something to answer, and how long they think and wait for a change. */
const GLANCE_MS = 300;
const THINK_MS = 2000;
const CLICK_AGAIN_MS = 4000;
/** A person who was told that it did not work tries again. */
const ASK_AGAIN_MS = 700;

/** The sites that are exported, each once. */
export const chaosDomains = (count: number) =>
  Array.from({ length: count }, (_, index) => `site-${String(index + 1).padStart(3, '0')}.acme.com`);

/** What people did for their exports. */
export interface ExportAnswers {
  /** Commands that were typed once more, since no answer came or it was a refusal. */
  askedAgain: number;
  /** Questions whether an export had started: it had, or not. */
  found: number;
  startedAgain: number;
  /** Links that people had to ask for. */
  links: number;
}

export const newExportAnswers = (): ExportAnswers => ({ askedAgain: 0, found: 0, startedAgain: 0, links: 0 });

/** Asks for the export of a site until it is accepted, as a person would who reads the channel. */
export async function askForExport(
  chaos: ChaosWorld,
  domain: string,
  answers: ExportAnswers,
  random: () => number,
): Promise<void> {
  const { slack } = chaos.world;
  const person = slack.person(random() < 0.5 ? 'ana' : 'ben');
  for (;;) {
    chaos.route(random);
    const { ok, ephemeral } = await person.types(WHERE, `/docs-export ${domain}`);
    const told = ephemeral === undefined ? '' : slack.read(ephemeral);
    if (ok && (told === '' || told.includes('is already being exported'))) return;
    await pause(ASK_AGAIN_MS);
    if (cardsOf(chaos.world, domain).length > 0) return;
    answers.askedAgain += 1;
  }
}

/** Answers what messages of exports ask, as somebody who looked in the platform's dashboard, until `stop` aborts. */
export async function answerExports(
  { world }: ChaosWorld,
  answers: ExportAnswers,
  stop: AbortSignal,
): Promise<void> {
  const nextMs = new Map<SentMessage, number>();
  const counted = new Set<string>();
  const ana = world.slack.person('ana');
  while (!stop.aborted) {
    await pause(GLANCE_MS);
    for (const [message, button] of openExportQuestions(world)) {
      const dueMs = nextMs.get(message) ?? Date.now() + THINK_MS;
      if (!nextMs.has(message)) nextMs.set(message, dueMs);
      if (Date.now() < dueMs) continue;
      nextMs.set(message, Date.now() + CLICK_AGAIN_MS);
      const key = `${keyOf(message)} ${button}`;
      const isNew = !counted.has(key);
      counted.add(key);
      const jobId = world.platform.starts.find(({ domain }) => domain === domainOf(message))?.jobId;
      if (button === 'Start again' && jobId !== undefined) {
        if (isNew) answers.found += 1;
        await givesJobId(world, message, jobId);
        continue;
      }
      if (isNew) answers[button === 'Start again' ? 'startedAgain' : 'links'] += 1;
      await ana.clicks(message, button).catch(() => {});
    }
  }
}

async function givesJobId({ slack }: World, message: SentMessage, jobId: string) {
  const ana = slack.person('ana');
  try {
    await ana.clicks(message, "It's there: watch it");
    if (ana.modal()) await ana.submits({ 'Job ID': jobId });
  } catch {
    // The message has changed meanwhile, or no bot answered.
  }
  while (ana.modal()) await ana.closes();
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
  return (
    cardsOf(world, domain).some((card) => slack.read(card).startsWith(`✅ ${domain} exported`)) &&
    endingsOf(world, domain).some((ending) => slack.read(ending).includes(`${domain} is exported`))
  );
}

const endingsOf = ({ slack }: World, domain: string) =>
  slack.messages.filter(
    (message) => keyOf(message).includes('.end.') && !message.deleted && domainOf(message) === domain,
  );

/** What became of all exports; each list names sites, and is empty when nothing went wrong. */
export interface ExportVerdict {
  /** Accepted, but without a visible outcome. */
  lost: string[];
  startedTwice: string[];
  /** Accepted as two requests, or with two endings. */
  toldTwice: string[];
  openQuestions: string[];
}

/** Judges by what the platform started and what Slack shows alone. */
export function verdictOnExports(world: World, domains: readonly string[]): ExportVerdict {
  const starts = (domain: string) => world.platform.starts.filter((start) => start.domain === domain).length;
  return {
    lost: domains.filter((domain) => !isExported(world, domain)),
    startedTwice: domains.filter((domain) => starts(domain) > 1),
    toldTwice: domains.filter((domain) => cardsOf(world, domain).length > 1),
    openQuestions: openExportQuestions(world).map(([message]) => world.slack.read(message)),
  };
}
