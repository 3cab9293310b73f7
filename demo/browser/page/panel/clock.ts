const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Returns how far it is to the next Monday, 9:01 in this browser's zone, when a weekly digest has just become due. */
export function toMondayMs(nowMs: number): number {
  const monday = new Date(nowMs);
  monday.setHours(9, 1, 0, 0);
  const days = (8 - monday.getDay()) % 7;
  monday.setDate(monday.getDate() + days);
  if (monday.getTime() <= nowMs) monday.setDate(monday.getDate() + 7);
  return monday.getTime() - nowMs;
}

export const MOVES = [
  { label: '+1 hour', byMs: () => HOUR_MS },
  { label: '+1 day', byMs: () => DAY_MS },
  { label: 'To Monday 9:01', byMs: toMondayMs },
];
