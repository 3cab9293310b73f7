import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';

export type YamlPath = readonly PropertyKey[];

export interface YamlFile {
  /** The content; undefined if it is not YAML. */
  value: unknown;
  /** The first place that is not YAML, or has an alias. */
  brokenAt: { line: number; column: number } | undefined;
  /** Returns the line of the value at `path`, counted from 1; if there is none, of the nearest parent. */
  lineOf(path: YamlPath): number;
}

/** Parses YAML without aliases. Never throws, and repeats no part of the text, as the package's messages may. */
export function readYaml(text: string): YamlFile {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const broken = document.errors.map(({ pos }) => pos[0]);
  // An alias can refer to nothing, or make a short file long.
  visit(document, { Alias: (_, { range }) => void broken.push(range?.[0] ?? 0) });
  if (broken[0] !== undefined) {
    const { line, col } = counter.linePos(broken[0]);
    return { value: undefined, brokenAt: { line, column: col }, lineOf: () => line };
  }

  function lineOf(path: YamlPath): number {
    let found: unknown = document.contents;
    let line = 1;
    for (const step of path) {
      const pair = isMap(found) && found.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      const next = pair ? pair.key : isSeq(found) ? found.items[Number(step)] : undefined;
      if (isNode(next) && next.range) line = counter.linePos(next.range[0]).line;
      found = pair ? pair.value : next;
    }
    return line;
  }

  return { value: document.toJS(), brokenAt: undefined, lineOf };
}
