import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';

export interface Line {
  status: 'ok' | 'wrong' | 'warning';
  about: string;
  /** Says what to do, unless all is well. Contains no secret. */
  text: string;
}

export const ok = (about: string, text: string): Line => ({ status: 'ok', about, text });
export const wrong = (about: string, text: string): Line => ({ status: 'wrong', about, text });
export const warning = (about: string, text: string): Line => ({ status: 'warning', about, text });

const SIGNS = { ok: ['✔', 'green'], wrong: ['✖', 'red'], warning: ['!', 'yellow'] } as const;

/** Returns the printed lines, in colours if the standard output shows them. */
export const render = (lines: readonly Line[]): string =>
  lines
    .map(({ status, about, text }) => {
      const [sign, colour] = SIGNS[status];
      return `${styleText(colour, `${sign} ${status.padEnd(7)}`)} ${about}: ${text}\n`;
    })
    .join('');

/** Returns whether there are no errors; warnings do not count. */
export const isGood = (lines: readonly Line[]): boolean => lines.every(({ status }) => status !== 'wrong');

/** Returns the path of a file beside package.json. */
export const inRoot = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** How long an answer may take. */
export const LIMIT_MS = 5000;
