import { styleText } from 'node:util';
import type { Finding } from './diagnose.ts';
import type { Outcome } from './outcome.ts';

/** The sign and the colour of each status. */
export const SIGNS = {
  ok: { sign: '✔', colour: 'green' },
  wrong: { sign: '✖', colour: 'red' },
  warning: { sign: '!', colour: 'yellow' },
  'not checked': { sign: '–', colour: 'gray' },
} as const;

/** Returns a line for each finding, and one that counts them; in colours where the standard output shows them. */
export function renderLines(findings: readonly Finding[]): string {
  const lines = findings.map(({ title, status, text }) => {
    const { sign, colour } = SIGNS[status];
    return `${styleText(colour, `${sign} ${status.padEnd(11)}`)} ${title}: ${text}`;
  });
  const count = (wanted: Outcome['status']) => findings.filter(({ status }) => status === wanted).length;
  const counts = `${count('wrong')} wrong, ${count('warning')} to look at, ${count('not checked')} not checked.`;
  return `${[...lines, counts].join('\n')}\n`;
}

/** Returns the findings for scripts. */
export const renderJson = (findings: readonly Finding[]): string =>
  `${JSON.stringify({ ok: isGood(findings), checks: findings }, undefined, 2)}\n`;

/** Returns whether nothing is wrong; a warning is not. */
export const isGood = (findings: readonly Finding[]): boolean =>
  findings.every(({ status }) => status !== 'wrong');
