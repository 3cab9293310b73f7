import { withoutAnsi } from '../runtime/answers.ts';
import { hideSecrets } from '../runtime/secrets.ts';

/** Maximum length of stored text from the platform, in characters. */
const MAX_LENGTH = 300;

/**
 * Returns text of the platform as one line that may be shown to a person: without control and invisible characters, and
 * cut. Secrets by their form, and the user and the query of links are removed, since a presigned link has its signature there.
 */
export function oneLine(text: string): string {
  const line = withoutAnsi(text)
    .replace(/\s+/gu, ' ')
    .replace(/\p{C}/gu, '')
    .slice(0, MAX_LENGTH * 20)
    .replace(/\b(https?:\/\/)[^\s/?#@]*@/giu, '$1')
    .replace(/\b(https?:\/\/[^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu, (_, link, query) =>
      query ? `${link}?…` : link,
    );
  return cut(hideSecrets(line).trim(), MAX_LENGTH);
}

/** Returns at most `max` characters of a text, the last one an ellipsis if it was cut. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  // One character more than allowed, at two units each: the rest of a long text is never read.
  const characters = [...text.slice(0, 2 * max + 1)];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

const MAX_DETAILS = 3;

/** Returns a failed job's `error`, or the text of an error response: `error`, `message`, `title` or `detail` (RFC 9457), with its `details`. */
export function parseErrorText(value: unknown): string | undefined {
  const inner = fieldOf(value, 'error');
  const others = ['message', 'title', 'detail'].map((name) => fieldOf(value, name));
  const [text] = [value, inner, fieldOf(inner, 'message'), ...others].flatMap(parseText);
  const details = [fieldOf(inner, 'details') ?? fieldOf(value, 'details')]
    .flat()
    .slice(0, MAX_DETAILS)
    .flatMap((detail) => parseText(fieldOf(detail, 'message')));
  const rest = [...new Set(details)].filter((detail) => detail !== text).join('; ');
  return parseText([text, rest].filter(Boolean).join(': '))[0];
}

/** Returns an own field of a value; undefined if the value is not an object. */
const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;

const parseText = (value: unknown) => [typeof value === 'string' ? oneLine(value) : ''].filter(Boolean);

/** Maximum lines of a log that people see, and characters of a line that Docket reads. */
const MAX_LOG_LINES = 3;
const MAX_LOG_LINE = 2000;

const namesFile = /\w\.(?:mdx?|json|ya?ml|[jt]sx?|css|html?|svg|png)\b/i;
const namesError = /error|fail|invalid|unexpected|missing|not found|could not|cannot/i;

/**
 * Returns the first lines of a failed build's log that name a file and an error, else a file; else the summary, or the
 * last line.
 */
export function logExcerpt(logs: readonly unknown[] = [], summary = ''): string[] {
  const lines = logs
    .flatMap((entry) => (typeof entry === 'string' ? entry.split('\n') : []))
    .map((text) => text.slice(0, MAX_LOG_LINE));
  const files = lines.filter((text) => namesFile.test(text));
  const last = lines.findLast((text) => text.trim() !== '') ?? '';
  const choices = [files.filter((text) => namesError.test(text)), files, [summary.trim() || last]];
  const [found = []] = choices.filter(({ length }) => length > 0);
  return found.slice(0, MAX_LOG_LINES).map(oneLine).filter(Boolean);
}

/** The progress of an export: `fraction`, 0 to 1, or `text`, as the platform wrote it. */
export interface Progress {
  fraction?: number;
  /** The number may also be a percentage below one: it is a fraction only if later ones stay below one as well. */
  unsure?: true;
  text?: string;
}

const MAX_PROGRESS_LENGTH = 80;

/**
 * Reads `progress`, whose type and unit the contract does not promise. Returns `undefined` for anything but:
 *
 * - a number from 0 to 100, a percentage as the one published platform sends it. Strictly between 0 and 1 it counts as
 *   a fraction that is `unsure`. Exactly 1 is 1 %, and 100 % only when the job has completed;
 * - text with such a number ("42", "0.42") or a percentage ("42%"); any other text is kept as it is;
 * - an object with the numbers `done` and `total`.
 */
export function parseProgress(value: unknown, completed: boolean): Progress | undefined {
  if (typeof value === 'number') return parsePercentage(value, completed);
  if (typeof value !== 'string') {
    const [done, total] = [fieldOf(value, 'done'), fieldOf(value, 'total')];
    const isCount = typeof done === 'number' && typeof total === 'number' && done >= 0 && done <= total;
    return isCount && total > 0 ? { fraction: done / total } : undefined;
  }
  const text = cut(oneLine(value), MAX_PROGRESS_LENGTH);
  const [, number, percent] = /^(\d{1,3}(?:\.\d+)?) ?(%?)$/u.exec(text) ?? [];
  if (number === undefined) return text === '' ? undefined : { text };
  if (!percent) return parsePercentage(Number(number), completed) ?? { text };
  return Number(number) <= 100 ? { fraction: Number(number) / 100 } : { text };
}

function parsePercentage(value: number, completed: boolean): Progress | undefined {
  if (value === 1) return { fraction: completed ? 1 : 0.01 };
  if (value > 0 && value < 1) return { fraction: value, unsure: true };
  return value >= 0 && value <= 100 ? { fraction: value / 100 } : undefined;
}

const FROM_MS = Date.UTC(2000, 0);
const TO_MS = Date.UTC(2200, 0);

const ISO = /^(\d{4}-?\d{2}-?\d{2})(?:[T ]([\d:.,]+) ?(Z|[+-][\d:]+)?)?$/iu;

/**
 * Returns epoch milliseconds of an ISO 8601 time (UTC if it has no zone), or of seconds or milliseconds as number or
 * text. Returns undefined for everything else, and outside 2000–2200.
 */
export function parseTimestamp(value: unknown): number | undefined {
  const text = String(typeof value === 'string' || typeof value === 'number' ? value : '').trim();
  const [number] = /^\d{9,14}(?:\.\d+)?$/u.exec(text) ?? [];
  const [, day, time = '00', zone = 'Z'] = ISO.exec(text) ?? [];
  try {
    const ms = number
      ? Number(number) * (Number(number) < TO_MS / 1000 ? 1000 : 1)
      : Temporal.Instant.from(`${day}T${time}${zone}`).epochMilliseconds;
    return ms >= FROM_MS && ms < TO_MS ? Math.round(ms) : undefined;
  } catch {
    return undefined;
  }
}

/** At signs, also in the forms that addresses of pages contain. */
const atSigns = /[@＠﹫]|%(?:25)?40/gu;

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** File endings, none of which is a top-level domain. */
const fileEnding = '(?:[cm]?[jt]sx?|json|css|html?|xml|ya?ml|txt|png|jpe?g|gif|svg|webp|wasm)';

/**
 * Text, an at sign, and a complete domain. Packages with a scope, a version or a file (`@acme/sdk`, `sdk@1.2`,
 * `lodash@es.mjs`) do not match.
 */
const address = new RegExp(
  String.raw`[^\s@/]@[^\s@/?&=#,;:]+[.。．｡](?!${fileEnding}\b)(?:xn--[\w-]+|\p{L}[\p{L}\p{M}]+)(?![.-]?[\p{L}\p{N}])`,
  'iu',
);

/** Returns whether text contains an e-mail address. Call it before the text is cut: half an address does not match. */
export function holdsEmailAddress(text: string): boolean {
  // Most text has no at sign, and there may be tens of thousands of rows.
  if (text.search(atSigns) < 0) return false;
  return address.test(text.replace(invisible, '').replace(atSigns, '@'));
}
