import type { CleanText } from './platform-text.ts';

/** How far an export is. `fraction` is 0 to 1; `text` is the platform's own words. At least one of them is there. */
export interface Progress {
  fraction?: number;
  /** The number may as well be a percentage below one: believe it only when it stays below one. */
  unsure?: true;
  text?: string;
}

const MAX_TEXT_LENGTH = 80;

const PERCENT_KEYS = ['percent', 'percentage', 'pct', 'percentcomplete', 'percentdone', 'completedpercent'];
const FRACTION_KEYS = ['fraction', 'ratio'];
const NUMBER_KEYS = ['value', 'progress'];
const TEXT_KEYS = ['message', 'text', 'label', 'description', 'stage', 'phase', 'step'];
const DONE_KEYS = [
  'done',
  'completed',
  'complete',
  'finished',
  'processed',
  'exported',
  'rendered',
  'current',
];
const TOTAL_KEYS = ['total', 'max', 'expected'];

/**
 * Reads `progress`, whose type and unit the API does not promise, without inventing anything.
 *
 * - A number is a percentage, 0 to 100, as the one published platform sends it; strictly between 0 and 1 it is taken
 *   for a fraction, with a doubt (`unsure`). Exactly 1 is 1 % (early rather than wrongly done), and the whole only when the job has completed.
 * - Text: "42%", "0.42", "42", "12/40", "12 of 40"; other words are kept as `text`.
 * - An object: a percentage, a fraction, done and total under several names, or words.
 * - Anything else, and numbers outside these ranges, is dropped.
 */
export function parseProgress(value: unknown, completed: boolean, clean: CleanText): Progress | undefined {
  if (typeof value === 'number') return progressOfNumber(value, completed);
  if (typeof value === 'string') return progressOfText(value, completed, clean);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return progressOfObject(value, completed, clean);
  }
  return undefined;
}

function withFraction(fraction: number | undefined): Progress | undefined {
  return fraction === undefined ? undefined : { fraction };
}

/** A number whose unit nobody told. */
function progressOfNumber(value: number, completed: boolean): Progress | undefined {
  const progress = withFraction(fractionOfNumber(value, completed));
  return progress && value > 0 && value < 1 ? { ...progress, unsure: true } : progress;
}

function fractionOfNumber(value: number, completed: boolean): number | undefined {
  if (value === 1) return completed ? 1 : 0.01;
  if (value > 0 && value < 1) return value;
  return ratio(value, 100);
}

function ratio(done: number, total: number): number | undefined {
  return total > 0 && done >= 0 && done <= total ? done / total : undefined;
}

function progressOfText(value: string, completed: boolean, clean: CleanText): Progress | undefined {
  const text = shorten(clean(value));
  if (text === '') return undefined;
  const percent = /^(\d{1,3}(?:[.,]\d+)?) ?%$/u.exec(text)?.[1];
  if (percent !== undefined) return withFraction(ratio(parseDecimal(percent), 100)) ?? { text };
  if (/^\d{1,3}(?:[.,]\d+)?$/u.test(text)) {
    return progressOfNumber(parseDecimal(text), completed) ?? { text };
  }
  const [, done, total] = /^(\d{1,9}) ?(?:\/|of) ?(\d{1,9})\b/iu.exec(text) ?? [];
  const fraction = done && total ? ratio(Number(done), Number(total)) : undefined;
  return { ...withFraction(fraction), text };
}

function parseDecimal(text: string): number {
  return Number(text.replace(',', '.'));
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_TEXT_LENGTH
    ? text
    : `${characters.slice(0, MAX_TEXT_LENGTH - 1).join('')}…`;
}

function progressOfObject(value: object, completed: boolean, clean: CleanText): Progress | undefined {
  const fields = new Map(
    Object.entries(value).map(([key, field]) => [key.toLowerCase().replace(/[_-]/gu, ''), field]),
  );
  const number = (keys: string[]) =>
    keys.map((key) => parseAmount(fields.get(key))).find((n) => n !== undefined);

  const percent = number(PERCENT_KEYS);
  const part = number(FRACTION_KEYS);
  const done = number(DONE_KEYS.flatMap(keyVariants));
  const total = number(TOTAL_KEYS.flatMap(keyVariants));
  const plain = number(NUMBER_KEYS);
  const fraction =
    (percent === undefined ? undefined : ratio(percent, 100)) ??
    (part === undefined ? undefined : ratio(part, 1)) ??
    (done === undefined || total === undefined ? undefined : ratio(done, total));
  const known =
    withFraction(fraction) ?? (plain === undefined ? undefined : progressOfNumber(plain, completed));

  const rawText = TEXT_KEYS.map((key) => fields.get(key)).find((field) => typeof field === 'string');
  const text = typeof rawText === 'string' ? shorten(clean(rawText)) : '';
  if (known === undefined && text === '') return undefined;
  return { ...known, ...(text === '' ? {} : { text }) };
}

/** `done`, `pagesDone`, `donePages`, `doneCount` … */
function keyVariants(word: string): string[] {
  return [word, `pages${word}`, `${word}pages`, `${word}count`];
}

function parseAmount(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || !/^\d{1,9}(?:[.,]\d+)?$/u.test(value.trim())) return undefined;
  return parseDecimal(value.trim());
}
