import {
  type Answers,
  answerQuestions,
  type ChaosOptions,
  converse,
  followJobs,
  openTroubles,
} from './agent-people.ts';
import { type StrikeOptions, strike } from './agent-strikes.ts';
import { type Verdict, verdictOn } from './agent-verdict.ts';
import type { Strikes } from './chaos-strikes.ts';
import { becomesIdle, type ChaosWorld } from './chaos-world.ts';

/** What a run came to. */
export interface ChaosOutcome {
  verdict: Verdict;
  /** Nothing was under way any more in the end. */
  idle: boolean;
  strikes: Strikes;
  answers: Answers;
  /** Replies, those that are held included. */
  written: number;
  /** Instructions that the platform took. */
  taken: number;
  /** Attempts of Slack to tell the bots something, beyond the first ones. */
  retries: number;
  seconds: number;
}

/** Lets people write in many threads while everything breaks, then repairs it, waits for the end, and judges. */
export async function runChaos(
  chaos: ChaosWorld,
  options: ChaosOptions & StrikeOptions,
  random: () => number,
): Promise<ChaosOutcome> {
  const { slack, platform } = chaos.world;
  const threads = await followJobs(chaos, options.threads);
  const beganAtMs = Date.now();
  const [spoken, over] = [new AbortController(), new AbortController()];
  const striking = strike(chaos, options, random, spoken.signal);
  const answering = answerQuestions(chaos, threads, over.signal);
  try {
    await Promise.all(threads.map((thread) => converse(chaos, thread, options, random)));
  } finally {
    spoken.abort();
  }
  const strikes = await striking;
  const idle = await becomesIdle(chaos, () => openTroubles(chaos.world).length === 0);
  over.abort();
  return {
    idle,
    strikes,
    answers: await answering,
    verdict: verdictOn(chaos.world, threads),
    written: threads.reduce((sum, { replies, held }) => sum + replies.length + (held ? 1 : 0), 0),
    taken: platform.agent.messages.length,
    retries: slack.events.reduce((sum, { attempts }) => sum + attempts.length - 1, 0),
    seconds: (Date.now() - beganAtMs) / 1000,
  };
}
