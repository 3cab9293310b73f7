import { styleText } from 'node:util';

const SIGNS = {
  ok: ['✔', 'green'],
  wrong: ['✖', 'red'],
  warning: ['!', 'yellow'],
  'not checked': ['–', 'gray'],
} as const;

/** The result of a check of a setting or a part of this machine. */
export interface Line {
  status: keyof typeof SIGNS;
  about: string;
  /** Says what to do, unless all is well. Contains no secret. */
  text: string;
}

export const ok = (about: string, text: string): Line => ({ status: 'ok', about, text });
export const wrong = (about: string, text: string): Line => ({ status: 'wrong', about, text });
export const warning = (about: string, text: string): Line => ({ status: 'warning', about, text });
export const notChecked = (about: string, text: string): Line => ({ status: 'not checked', about, text });

/** Returns the printed line, in colours if the standard output shows them. */
export function render({ status, about, text }: Line): string {
  const [sign, colour] = SIGNS[status];
  return `${styleText(colour, `${sign} ${status.padEnd(11)}`)} ${about}: ${text}`;
}

/** Returns the printed lines, and one that counts them. */
export function renderAll(lines: readonly Line[]): string {
  const count = (wanted: Line['status']) => lines.filter(({ status }) => status === wanted).length;
  const counts = `${count('wrong')} wrong, ${count('warning')} to look at, ${count('not checked')} not checked.`;
  return `${[...lines.map(render), counts].join('\n')}\n`;
}

/** Returns whether there are no errors; warnings do not count. */
export const isGood = (lines: readonly Line[]): boolean => lines.every(({ status }) => status !== 'wrong');
