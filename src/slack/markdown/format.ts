import { cleanText } from './spans.ts';

/** Returns a code block between fences longer than any inside; an empty text if the code is blank. */
export function fence(text: string, language = ''): string {
  const code = cleanText(text).replace(/^\n|\n$/g, '');
  if (code.trim() === '') return '';
  const ticks = '`'.repeat(Math.max(3, longestTicks(code) + 1));
  return `${ticks}${language}\n${code}\n${ticks}`;
}

/** Returns one line of code as a Markdown code span. */
export function codeSpan(line: string): string {
  const ticks = '`'.repeat(longestTicks(line) + 1);
  // Readers of Markdown drop one space at each end.
  const pad = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

function longestTicks(code: string): number {
  return (code.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}

/** Returns the text with `> ` before every line. */
export function quoteLines(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** Returns the text without empty lines around it and white space at the ends of its lines. */
export function trimLines(text: string): string {
  return text
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .replace(/(?<![^\S\n])[^\S\n]+(?=\n|$)/g, '')
    .trimEnd();
}

/**
 * Returns a Slack date in UTC: "2026-09-20 14:00 UTC". Text around the `{date…}` and `{time…}` of Slack's format stays.
 * `timestamp` is in seconds; if it is invalid, returns the fallback.
 */
export function formatDate(timestamp: unknown, format: string, fallback: string): string {
  const seconds = typeof timestamp === 'string' && timestamp.trim() === '' ? Number.NaN : Number(timestamp);
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return fallback;
  const [day = '', time = ''] = at.toISOString().split('T');
  const minutes = `${time.slice(0, 5)} UTC`;
  if (format.trim() === '') return fallback || `${day} ${minutes}`;
  return format.replace(/\{([a-z_]+)\}/g, (_, token) => {
    if (token === 'time') return minutes;
    if (token === 'time_secs') return `${time.slice(0, 8)} UTC`;
    return token === 'ago' ? `${day} ${minutes}` : day;
  });
}
