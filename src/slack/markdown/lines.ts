/** Puts `> ` before every line. */
export function quoted(markdown: string): string {
  return markdown
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** No empty lines around, no white space at the ends of lines. */
export function withoutLineEnds(text: string): string {
  return text
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .replace(/(?<![^\S\n])[^\S\n]+(?=\n|$)/g, '')
    .trimEnd();
}
