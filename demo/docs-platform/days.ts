import { createHash } from 'node:crypto';

export const DAY_MS = 86_400_000;
/** Days of history that the stand-in has. */
export const HISTORY_DAYS = 400;

/** UTC day number of a day, `YYYY-MM-DD`. */
export function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** The day numbers of a range that have begun, and that the stand-in still knows of: `first` to `last`, exclusive. */
export function knownDays(from: string, to: string, nowMs: number): { first: number; last: number } {
  const last = Math.min(dayNumber(to), Math.floor(nowMs / DAY_MS) + 1);
  return { first: Math.max(dayNumber(from), last - HISTORY_DAYS), last };
}

/** How much of a day is over, 0 to 1. */
export function pastOf(day: number, nowMs: number): number {
  return Math.min(1, Math.max(0, nowMs / DAY_MS - day));
}

/** A number from 0 to 1 that only depends on the words. */
export function chance(...words: string[]): number {
  return createHash('sha1').update(words.join('\n')).digest().readUInt32BE(0) / 2 ** 32;
}
