import type { Finding } from './diagnose.ts';
import type { Outcome } from './outcome.ts';

const SIGNS: Record<Outcome['status'], { sign: string; colour: number }> = {
  ok: { sign: '✔', colour: 32 },
  wrong: { sign: '✖', colour: 31 },
  warning: { sign: '!', colour: 33 },
  'not checked': { sign: '–', colour: 90 },
};

/** Returns a line for each finding, and one that counts them. */
export function renderLines(findings: readonly Finding[], colours: boolean): string {
  const lines = findings.map(({ title, status, text }) => {
    const { sign, colour } = SIGNS[status];
    const mark = `${sign} ${status.padEnd(11)}`;
    return `${colours ? `\u001b[${colour}m${mark}\u001b[0m` : mark} ${title}: ${text}`;
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
