import { expect, vi } from 'vitest';
import type { Call } from '../../../demo/wire.ts';
import { addSite } from './site.ts';
import { type ExportStory, type Moment, tellStory } from './trouble.ts';
import { type Bot, createWorld, type World } from './world.ts';

/** A call that stands still at the moment of its story. */
export interface Held {
  moment: Moment;
  bot: Bot;
  call: Call;
  /** Lets the call go on, and waits for the end of its story. */
  goOn(): Promise<unknown>;
}

/**
 * A world for many exports at once, which must not wait for each other. While bots start in the crowd, an answer may come
 * too late for Slack: then people ask again.
 */
export const crowdedWorld = () =>
  createWorld({ slack: { rateLimits: false }, mayViolate: /^\/docs-export: no answer within 3000 ms$/ });

/** What its bots are started with. */
export const crowded = {
  timing: { editsPerMinute: 1000, readsPerMinute: 1000 },
  config: 'limits: { exportStatusPerSecond: 100, exportsPerPerson: 100 }\n',
};

/** The same where calls stand still until all others do; who survives waits as long for the calls of the dead. */
export const standingStill = (callMs = 8000) => ({
  ...crowded,
  // A call that Redis was too slow to mark in time is not made, and is looked for as long as one that was.
  timing: { ...crowded.timing, slackCallMs: callMs, docsCallMs: callMs, callMarginMs: 2000 },
});

/**
 * Tells a story for each moment, all at once and each on a site of its own. Once every call stands still at its
 * moment, `strike` is awaited, and then all go on. Returns the story of each moment; one that never came up was not
 * struck.
 */
export async function tellStruckStories(
  world: World,
  moments: Moment[],
  strike: (held: Held[]) => Promise<void>,
): Promise<Map<Moment, ExportStory>> {
  const held: Held[] = [];
  const stories = new Map<Moment, ExportStory>();
  const gates: (() => void)[] = [];
  const ended = new Set<Moment>();

  async function tell(moment: Moment, who: 'ana' | 'ben', accepted: () => void) {
    const place = addSite(world, `site-${world.slack.workspace.channels.length}`, who);
    const story = tellStory(
      world,
      {
        moment,
        accepted,
        act(bot, call) {
          const gate = Promise.withResolvers<void>();
          gates.push(gate.resolve);
          held.push({
            moment,
            bot,
            call,
            goOn() {
              gate.resolve();
              return story;
            },
          });
          return gate.promise;
        },
      },
      place,
    );
    stories.set(moment, await story);
    ended.add(moment);
  }
  const onTheWay = (some: Moment[]) =>
    some.filter((moment) => !ended.has(moment) && !held.some((one) => one.moment === moment));
  const allStand = (some: Moment[]) =>
    vi.waitFor(() => expect(onTheWay(some)).toEqual([]), { timeout: 150_000, interval: 20 });

  // Whoever asks has to wait for it, and only for 3 s; and it is asked once for each person.
  const atOnce = moments.filter(({ label }) => label === 'users.info');
  const others = moments.filter((moment) => !atOnce.includes(moment));
  const telling: Promise<void>[] = [];
  // One after the other: requests have little time, and there are many.
  for (const moment of others) {
    const accepted = Promise.withResolvers<void>();
    const story = tell(moment, 'ana', accepted.resolve);
    telling.push(story);
    await Promise.race([accepted.promise, story]);
  }
  await allStand(others);
  telling.push(...atOnce.map((moment) => tell(moment, 'ben', () => {})));
  const all = Promise.all(telling);
  all.catch(() => {});
  await allStand(atOnce);
  await strike(held);
  for (const goOn of gates) goOn();
  await all;
  return stories;
}
