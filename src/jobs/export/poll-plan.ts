import type { Timing } from '../../runtime/timing.ts';
import type { Snapshot } from '../poll-record.ts';
import { estimateEnd } from '../polling.ts';

/** What is known of an export that runs. */
export interface Watched {
  startedAtMs: number;
  snapshots: readonly Snapshot[];
  /** How long earlier exports of the same took. */
  durationsMs: readonly number[];
}

/**
 * The price of a poll, in milliseconds of the mean lag. It is higher for a short export, where a fixed pause takes few
 * polls as well: so neither short nor long exports cost more polls than that.
 */
const pollPriceMs = (ranMs: number) => 350 * Math.sqrt(300_000 / Math.max(ranMs, 10_000));

/** Without anything to go by, an export lasts longer than `t` with the chance `(1 + t / PRIOR_MS) ** -PRIOR_DECAY`. */
const PRIOR_MS = 30_000;
const PRIOR_DECAY = 0.35;

/** While nothing says when it ends, pauses grow to this within seconds, and after half an hour slowly go on to grow. */
const BLIND_MS = 10_000;
const BLIND_FIRST_MS = 2500;
const BLIND_PART = 1 / 200;

const blindPauseMs = (ranMs: number) =>
  Math.max(Math.min(BLIND_FIRST_MS + ranMs, BLIND_MS), ranMs * BLIND_PART);

/** While it tells its progress, no pause is longer than this, or than this part of the time that it has run. */
const LIVE_MS = 10_000;
const LIVE_PART = 1 / 3;

/** How far we believe that progress goes on as it went, before what earlier exports took is compared. */
const PROGRESS_WEIGHT = 0.75;

/** An end that progress promises counts for so much less where no earlier export took nearly as long. */
const LEAST_FIT = 0.05;

/** How much exports of one site are taken to differ, as a part of their duration, as if so many had been seen. */
const USUAL_SPREAD = 0.15;
const USUAL_SPREAD_COUNT = 2;

/** The pause is found by adding up over so many parts of the longest one. */
const PARTS = 120;

/** A belief about when the export ends: after so long, how likely it still runs, and how likely it ends just then. */
interface Belief {
  weight: number;
  at(ranMs: number): { survival: number; density: number };
}

/**
 * Returns when to poll an export next, in milliseconds from now.
 *
 * Polls are placed so that the mean lag is shortest for their number: their density goes with the square root of the
 * hazard, the chance that the export ends now when it has not ended yet. Beliefs about the end are mixed: that it goes
 * on as its progress says, that it takes as long as one of the earlier exports, and that nothing is known. What should
 * have ended the export by now loses its weight by itself. `jitter` is 0 to 1 and spreads runs that began together.
 */
export function planPollMs(
  watched: Watched,
  nowMs: number,
  { pollMinMs, pollMaxMs }: Pick<Timing, 'pollMinMs' | 'pollMaxMs'>,
  jitter: number,
): number {
  const ranMs = Math.max(0, nowMs - watched.startedAtMs);
  const tellsProgress = watched.snapshots.some(({ fraction }) => fraction !== undefined);
  const liveMs = tellsProgress ? Math.max(LIVE_MS, ranMs * LIVE_PART) : pollMaxMs;
  const maxMs = Math.max(pollMinMs, Math.min(pollMaxMs, liveMs));
  const beliefs = informedBeliefs(watched);
  const unknown = unknownBelief(watched.durationsMs.length);
  const partMs = maxMs / PARTS;
  const wanted = 0.9 + jitter * 0.2;
  let sum = 0;
  for (let part = 0; part < PARTS; part += 1) {
    const atMs = ranMs + (part + 0.5) * partMs;
    let survival = 0;
    let density = 0;
    for (const { weight, at } of beliefs) {
      const one = at(atMs);
      survival += weight * one.survival;
      density += weight * one.density;
    }
    const prior = unknown.at(atMs);
    const unknownSurvival = unknown.weight * prior.survival;
    const all = survival + unknownSurvival;
    const hazard = (density + unknown.weight * prior.density) / all;
    const least = unknownSurvival / all / blindPauseMs(atMs);
    sum += Math.max(Math.sqrt(hazard / pollPriceMs(atMs)), least) * partMs;
    if (sum >= wanted) return Math.round(Math.max(pollMinMs, (part + 1) * partMs));
  }
  return Math.round(maxMs);
}

/** With every export that was seen, one that is like none of them gets less likely. */
function unknownBelief(seen: number): Belief {
  return {
    weight: seen === 0 ? 1 : 1 / (seen + 2),
    at(ms) {
      const survival = (1 + ms / PRIOR_MS) ** -PRIOR_DECAY;
      return { survival, density: (survival * PRIOR_DECAY) / (PRIOR_MS + ms) };
    },
  };
}

function informedBeliefs({ startedAtMs, snapshots, durationsMs }: Watched): Belief[] {
  const beliefs: Belief[] = [];
  const seen = durationsMs.length;
  if (seen > 0) beliefs.push({ weight: 1 - 1 / (seen + 2), at: likeEarlier(durationsMs) });
  const end = estimateEnd(snapshots);
  if (end === undefined) return beliefs;
  const endMs = end.atMs - startedAtMs;
  const scaleMs = Math.max(end.errorMs * 0.3, 200);
  const fits = beliefs.reduce((least, { at }) => Math.min(least, at(endMs).density * endMs), 1);
  const weight = (PROGRESS_WEIGHT / (1 - PROGRESS_WEIGHT)) * Math.max(fits, LEAST_FIT);
  beliefs.push({
    weight,
    at(ms) {
      const survival = 1 / (1 + Math.exp(Math.min(700, (ms - endMs) / scaleMs)));
      return { survival, density: (survival * (1 - survival)) / scaleMs };
    },
  });
  return beliefs;
}

/** Each duration stands for those near it, the nearer the more alike the durations are and the more of them there are. */
function likeEarlier(durationsMs: readonly number[]): Belief['at'] {
  const count = durationsMs.length;
  const logs = durationsMs.map((ms) => Math.log(Math.max(1, ms)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  const variance = (USUAL_SPREAD_COUNT * USUAL_SPREAD ** 2 + squares) / (USUAL_SPREAD_COUNT + count - 1);
  const scale = 0.55 * 1.06 * Math.sqrt(variance) * count ** -0.2;
  return (ms) => {
    const log = Math.log(Math.max(1, ms));
    let survival = 0;
    let density = 0;
    for (const one of logs) {
      const survives = 1 / (1 + Math.exp(Math.min(700, (log - one) / scale)));
      survival += survives;
      density += survives * (1 - survives);
    }
    return { survival: survival / count, density: density / (count * scale * Math.max(1, ms)) };
  };
}
