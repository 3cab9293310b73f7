const SECONDS = /^\d{1,9}(?:\.\d+)?$/u;
const HTTP_DATE = /^[a-z]{3,9}, /iu;

/** `Retry-After` as seconds or HTTP date, in milliseconds from `nowMs`; a date in the past is 0. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (SECONDS.test(text)) return Math.round(Number(text) * 1000);
  const atMs = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
