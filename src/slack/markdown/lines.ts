/** Puts `> ` before every line. */
export function quoteLines(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** No empty lines around, no white space at the ends of lines. */
export function trimLines(text: string): string {
  return text
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .replace(/(?<![^\S\n])[^\S\n]+(?=\n|$)/g, '')
    .trimEnd();
}
