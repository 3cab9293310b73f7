/** A figure, and whether its bound held; without `held` it has none. */
export interface Row {
  what: string;
  figure: string;
  held?: boolean;
}

/** Prints the figures; a broken bound makes the process end with 1. */
export function printTable(rows: readonly Row[]): void {
  const wide = (of: (row: Row) => string) => Math.max(...rows.map((row) => of(row).length));
  const [what, figure] = [wide((row) => row.what), wide((row) => row.figure)];
  for (const row of rows) {
    const verdict = row.held === undefined ? '' : row.held ? 'ok' : 'BROKEN';
    console.log(`${row.what.padEnd(what)}  ${row.figure.padEnd(figure)}  ${verdict}`.trimEnd());
  }
  if (rows.some(({ held }) => held === false)) process.exitCode = 1;
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
