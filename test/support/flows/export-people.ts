import { setTimeout as pause } from 'node:timers/promises';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { ChaosWorld } from './agent-chaos.ts';
import { keyOf } from './agent-people.ts';
import type { World } from './world.ts';

/** How many people ask at once. */
const ASKING = 4;
/** A person who sees no card asks again. */
const CARD_MS = 5000;
const CLICK_AGAIN_MS = 4000;

/** What a card says in the end: no export may stay at anything else. */
const OVER =
  /: (?:exported|export failed|not started|not found|no longer watched|exported, no link yet|not started again|stopped by an error)\. Static export/;

const cardsOf = ({ slack }: World, domain: string) =>
  slack.messages.filter(
    (message) => /\.card(?:\.dm)?$/.test(keyOf(message)) && message.text.startsWith(`${domain}:`),
  );

/** Each site is exported once, asked for by somebody who asks again until a card is there. */
export async function askForExports(
  chaos: ChaosWorld,
  domains: readonly string[],
  gapMs: number,
  random: () => number,
): Promise<void> {
  const { world } = chaos;
  const { slack, platform } = world;
  const left = [...domains];
  const ask = async (who: 'ana' | 'ben') => {
    for (let domain = left.shift(); domain !== undefined; domain = left.shift()) {
      const site = domain;
      platform.plan({ domain: site, durationMs: 500 + random() * 6000 });
      await pause(random() * gapMs);
      const isThere = () => cardsOf(world, site).length > 0;
      while (!isThere()) {
        chaos.route(random);
        await slack.person(who).types('#docs', `/docs-export ${site}`);
        await slack.until(isThere, CARD_MS).catch(() => {});
      }
    }
  };
  await Promise.all(Array.from({ length: ASKING }, (_, n) => ask(n % 2 === 0 ? 'ana' : 'ben')));
}

/** How many starts people were asked about, and what they answered. */
export interface StartAnswers {
  questions: number;
  leave: number;
  again: number;
}

/** People answer each question about a start as one who looked at the platform, until `stop` aborts. */
export async function answerStarts(world: World, stop: AbortSignal): Promise<StartAnswers> {
  const { slack, platform } = world;
  const answers: StartAnswers = { questions: 0, leave: 0, again: 0 };
  const nextMs = new Map<SentMessage, number>();
  while (!stop.aborted) {
    await pause(250);
    for (const message of slack.messages) {
      const domain = /Did the export of (\S+) start\?/.exec(message.text)?.[1];
      if (domain === undefined || Date.now() < (nextMs.get(message) ?? 0)) continue;
      const started = platform.starts.some((start) => start.domain === domain);
      if (!nextMs.has(message)) {
        answers.questions += 1;
        answers[started ? 'leave' : 'again'] += 1;
      }
      nextMs.set(message, Date.now() + CLICK_AGAIN_MS);
      void slack
        .person('ana')
        .clicks(message, started ? 'Leave it' : 'Start again')
        .catch(() => {});
    }
  }
  return answers;
}

/** Returns the sites whose request came to nothing that people can see, and what they see instead. */
export function lostExports(world: World, domains: readonly string[]): string[] {
  return domains.flatMap((domain) => {
    const cards = cardsOf(world, domain);
    if (cards.length === 0) return [`${domain}: no card`];
    return cards.filter(({ text }) => !OVER.test(text)).map(({ text }) => text);
  });
}

export function startedTwice({ platform }: World): string[] {
  const domains = platform.starts.map(({ domain }) => domain);
  return domains.filter((domain, at) => domains.indexOf(domain) < at);
}
