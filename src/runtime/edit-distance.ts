/** Returns the known word that a word may misspell, at most `maxSlips` letters away; none for a known word. */
export function nearest(word: string, known: readonly string[], maxSlips: (known: string) => number) {
  if (known.includes(word)) return undefined;
  const near = known.filter((one) => editDistance(word, one) <= maxSlips(one));
  return near.toSorted((one, other) => editDistance(word, one) - editDistance(word, other))[0];
}

/** Returns how many letters have to be added, removed or replaced: the Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (other[column - 1] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
