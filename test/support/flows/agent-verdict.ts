import type { SentMessage } from '../../../demo/slack/workspace.ts';
import { type ChaosThread, openTroubles } from './agent-people.ts';
import { keyOf, postedTwice } from './chaos-world.ts';
import type { World } from './world.ts';

/** What became of everything that people wrote; each list names what went wrong, and is empty when nothing did. */
export interface Verdict {
  lost: string[];
  twice: string[];
  outOfOrder: string[];
  /** The platform got what nobody wrote, or what was taken back. */
  unwanted: string[];
  /** Replies that neither a reaction nor a message tells of. */
  withoutOutcome: string[];
  /** Messages of the bot that are there twice. */
  postedTwice: string[];
  openQuestions: string[];
}

/** Judges by what the platform took and what Slack shows alone. */
export function verdictOn(world: World, threads: readonly ChaosThread[]): Verdict {
  const { slack, platform } = world;
  const { userId } = slack.workspace.bot;
  const verdict: Verdict = {
    lost: [],
    twice: [],
    outOfOrder: [],
    unwanted: [],
    withoutOutcome: [],
    postedTwice: postedTwice(world),
    openQuestions: openTroubles(world).map((message) => slack.read(message)),
  };
  const shows = (message: SentMessage, ...names: string[]) =>
    message.reactions.some(({ name, users }) => names.includes(name) && users.includes(userId));

  for (const { jobId, replies, held } of threads) {
    const taken = platform.agent.messages
      .filter((message) => message.jobId === jobId)
      .map(({ prompt }) => prompt);
    const wanted = replies.map(({ text }) => text);
    const mayBe = held && !held.deleted ? [held.text] : [];
    verdict.lost.push(...wanted.filter((text) => !taken.includes(text)));
    verdict.twice.push(...taken.filter((text, at) => taken.indexOf(text) < at));
    verdict.unwanted.push(...taken.filter((text) => ![...wanted, ...mayBe].includes(text)));
    const places = taken.map((text) => wanted.indexOf(text)).filter((place) => place >= 0);
    verdict.outOfOrder.push(
      ...places.flatMap((place, at) => (place < (places[at - 1] ?? -1) ? [wanted[place] ?? ''] : [])),
    );
    // The status of its round says that a reply was taken, or else a reaction.
    const isShown = (message: SentMessage) =>
      shows(message, 'eyes') ||
      (message.reactions.length === 0 &&
        slack.messages.some((one) => one.threadTs === message.threadTs && keyOf(one).includes('.round.')));
    for (const { text, message } of replies) if (!isShown(message)) verdict.withoutOutcome.push(text);
    if (held === undefined) continue;
    const outcome =
      held.deleted ||
      (taken.includes(held.text) ? isShown(held.message) : shows(held.message, 'double_vertical_bar'));
    if (!outcome) verdict.withoutOutcome.push(held.text);
  }

  return verdict;
}
