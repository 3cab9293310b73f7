import {
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';

export type YamlPath = readonly PropertyKey[];

/** A problem in the file. `text` says what is wrong, then how to fix it, and repeats no value. */
export interface YamlProblem {
  path: YamlPath;
  line: number;
  /** Where the file stops being YAML. */
  column?: number;
  text: string;
}

export interface YamlFile {
  /** The content, in arrays and objects without a prototype; `undefined` when it is not YAML. */
  value: unknown;
  problems: YamlProblem[];
  /** Returns the line of what is at `path`, counted from 1; when nothing is there, of the nearest thing around it. */
  lineOf(path: YamlPath): number;
}

/** Reads YAML 1.2. Aliases and tags are problems: a settings file needs none, and each value then has one line. */
export function readYaml(text: string): YamlFile {
  const counter = new LineCounter();
  // `uniqueKeys` compares every key with every other; `toPlain` finds duplicates in linear time.
  const document = parseDocument<Node>(text, {
    lineCounter: counter,
    uniqueKeys: false,
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
  });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line, col } = counter.linePos(broken.pos[0]);
    const problem = { path: [], line, column: col, text: syntaxProblem(broken.code) };
    return { value: undefined, problems: [problem], lineOf: () => line };
  }
  return toPlain(document.contents, counter);
}

/** Returns a path as the key of a map. */
const keyOf = (path: YamlPath) => JSON.stringify(path.map(String));

function toPlain(root: Node | null, counter: LineCounter): YamlFile {
  const problems: YamlProblem[] = [];
  const lines = new Map([[keyOf([]), 1]]);

  const lineAt = (node: Node | null, parentLine: number) =>
    node?.range ? counter.linePos(node.range[0]).line : parentLine;

  function toValue(node: Node | null, path: YamlPath, line: number): unknown {
    lines.set(keyOf(path), line);
    if (isAlias(node)) {
      problems.push({ path, line, text: 'is an alias, which Docket does not read. Write the value out.' });
      return undefined;
    }
    if (node?.tag) {
      problems.push({
        path,
        line,
        text: 'has a tag, which Docket does not read. Remove the word with the !.',
      });
      return undefined;
    }
    if (isSeq<Node>(node)) {
      return node.items.map((item, index) => toValue(item, [...path, index], lineAt(item, line)));
    }
    if (isMap<Node, Node | null>(node)) return mapToValue(node, path, line);
    return isScalar(node) ? node.value : null;
  }

  function mapToValue(map: YAMLMap<Node, Node | null>, path: YamlPath, mapLine: number) {
    const values: Record<string, unknown> = Object.create(null);
    for (const { key, value } of map.items) {
      const line = lineAt(key, mapLine);
      const name = keyName(key);
      if (name === undefined) {
        problems.push({ path, line, text: 'has a key that is not one word. Write each as name: value.' });
        continue;
      }
      const inner = [...path, name];
      if (name === '__proto__') {
        problems.push({ path: inner, line, text: 'is a name that cannot be used. Choose another.' });
      } else if (name in values) {
        const first = lines.get(keyOf(inner));
        problems.push({
          path: inner,
          line,
          text: `appears twice, first in line ${first}. Keep one.`,
        });
      } else values[name] = toValue(value, inner, line);
    }
    return values;
  }

  const value = toValue(root, [], 1);
  return {
    value,
    problems,
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(keyOf(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

/** Returns a key as it is written, since a project may be called `2026` or `true`; `undefined` when it is no scalar. */
function keyName(key: Node): string | undefined {
  if (!isScalar(key) || key.tag) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? '');
}

/** Returns our own text: the package's messages may repeat values of the file. */
function syntaxProblem(code: ErrorCode): string {
  return `is not YAML: ${reasons[code] ?? 'this is not allowed here. Fix the indentation or punctuation.'}`;
}

const reasons: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'a backslash in double quotes. Use single quotes.',
  BAD_INDENT: 'the indentation differs from the lines around it, or a bracket is open. Fix it.',
  BAD_SCALAR_START: 'no word may begin with this character. Put the word in quotes.',
  BLOCK_AS_IMPLICIT_KEY:
    'a second "name:" in one line. Give it a line of its own, or put the value in quotes.',
  MISSING_CHAR: 'a colon, a quote, a bracket or a space before # is missing. Add it.',
  MULTIPLE_DOCS: 'a second document begins. Remove the line with ---.',
  MULTILINE_IMPLICIT_KEY: 'a name without a colon. Add the colon.',
  RESOURCE_EXHAUSTION: 'it is nested too deeply. Remove brackets.',
  TAB_AS_INDENT: 'a tab indents the line. Use spaces.',
};
