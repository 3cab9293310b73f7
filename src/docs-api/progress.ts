import { z } from 'zod';
import { type CleanText, cut } from './platform-text.ts';

/** The progress of an export: `fraction`, 0 to 1, or `text`, as the platform wrote it. */
export interface Progress {
  fraction?: number;
  /** The number may also be a percentage below one: it is a fraction only if later ones stay below one as well. */
  unsure?: true;
  text?: string;
}

const MAX_TEXT_LENGTH = 80;

const countsSchema = z.object({ done: z.number().nonnegative(), total: z.number().positive() });

/**
 * Reads `progress`, whose type and unit the contract does not promise. Returns `undefined` for anything but:
 *
 * - a number from 0 to 100, a percentage as the one published platform sends it. Strictly between 0 and 1 it counts as
 *   a fraction that is `unsure`. Exactly 1 is 1 %, and 100 % only when the job has completed;
 * - text with such a number ("42", "0.42") or a percentage ("42%"); any other text is kept as it is;
 * - an object with the numbers `done` and `total`.
 */
export function parseProgress(value: unknown, completed: boolean, clean: CleanText): Progress | undefined {
  if (typeof value === 'number') return parseNumber(value, completed);
  if (typeof value === 'string') return parseText(cut(clean(value), MAX_TEXT_LENGTH), completed);
  const { data: counts } = countsSchema.safeParse(value);
  return counts && counts.done <= counts.total ? { fraction: counts.done / counts.total } : undefined;
}

function parseNumber(value: number, completed: boolean): Progress | undefined {
  if (value === 1) return { fraction: completed ? 1 : 0.01 };
  if (value > 0 && value < 1) return { fraction: value, unsure: true };
  return value >= 0 && value <= 100 ? { fraction: value / 100 } : undefined;
}

function parseText(text: string, completed: boolean): Progress | undefined {
  if (text === '') return undefined;
  const [, number, percent] = /^(\d{1,3}(?:\.\d+)?) ?(%?)$/u.exec(text) ?? [];
  if (number === undefined) return { text };
  if (!percent) return parseNumber(Number(number), completed) ?? { text };
  return Number(number) <= 100 ? { fraction: Number(number) / 100 } : { text };
}
