/** A block of code, as it is, between fences that are longer than any inside. */
export function fence(code: string, language = ''): string {
  const ticks = '`'.repeat(Math.max(3, longestTicks(code) + 1));
  return `${ticks}${language}\n${code}\n${ticks}`;
}

/** One line of code within a text. */
export function codeSpan(line: string): string {
  const ticks = '`'.repeat(longestTicks(line) + 1);
  // One space at each end is dropped when Markdown is read.
  const pad = /^`|`$|^ .* $/.test(line) ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

function longestTicks(code: string): number {
  return (code.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
}
