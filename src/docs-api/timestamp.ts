const FROM_MS = Date.UTC(2000, 0);
const TO_MS = Date.UTC(2200, 0);

/** Seconds, milliseconds, microseconds: within 2000–2200 their ranges do not overlap, so the size gives the unit. */
const MS_PER_UNIT = [1000, 1, 0.001];

const ISO = /^(\d{4}-?\d{2}-?\d{2})(?:[T ]([\d:.,]+) ?(Z|[+-][\d:]+)?)?$/iu;
const HTTP_DATE = /^[a-z]{3}, ?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/iu;

/**
 * Returns the epoch milliseconds of a moment in any common form: ISO 8601 (a time without a zone is UTC), HTTP date,
 * epoch seconds, milliseconds or microseconds as number or text. Returns undefined for everything else, and outside
 * 2000–2200.
 */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return parseNumber(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d{9,17}(?:\.\d+)?$/u.test(text)) return parseNumber(Number(text));
  return inRange(HTTP_DATE.test(text) ? Date.parse(text) : parseIso(text));
}

function parseNumber(value: number): number | undefined {
  return MS_PER_UNIT.map((unit) => inRange(value * unit)).find((ms) => ms !== undefined);
}

function parseIso(text: string): number {
  const [, day, time = '00', zone = 'Z'] = ISO.exec(text) ?? [];
  if (day === undefined) return Number.NaN;
  try {
    return Temporal.Instant.from(`${day}T${time}${zone}`).epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}

function inRange(ms: number): number | undefined {
  return ms >= FROM_MS && ms < TO_MS ? Math.round(ms) : undefined;
}

/** Parses `Retry-After` as seconds or HTTP date. Returns milliseconds from `nowMs`; a date in the past is 0. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(?:\.\d+)?$/u.test(text)) return Math.round(Number(text) * 1000);
  const atMs = /^[a-z]{3,9}, /iu.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
