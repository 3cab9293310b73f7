/** 2026-09-20 14:00 UTC, the time of the examples. */
export const NOW_MS = Date.UTC(2026, 8, 20, 14);
