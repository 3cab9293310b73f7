import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, parseSync, Visitor } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** Places that pass on problems of other ones, or take their names from a table. */
const WITHOUT_NAME = ['src/server/health.ts', 'src/server/work-watch.ts', 'src/workspaces.ts'];

/** Its problem is only in the log, and the schema of a trouble raises none. */
const NO_PROBLEMS = ['src/store/embedded-redis.ts', 'src/store/values.ts'];

/** Returns the levels of each problem that `/readyz` can show, as the source raises it. Throws if it cannot say a name. */
export function problemLevels(): Map<string, Set<string>> {
  const levels = new Map<string, Set<string>>();
  const add = (name: string, ...found: string[]) =>
    levels.set(name, (levels.get(name) ?? new Set()).union(new Set(found)));
  for (const file of globSync('src/**/*.ts', { cwd: root }).filter((one) => !NO_PROBLEMS.includes(one)))
    new Visitor({
      ObjectExpression({ properties }) {
        const all = properties.flatMap((one) =>
          one.type === 'Property' ? [[keyOf(one.key), one.value]] : [],
        );
        const { name, level, text, fix } = Object.fromEntries(all);
        if (name === undefined || (text ?? fix) === undefined) return;
        const names = literalsOf(name, file);
        if (names.length === 0 && !WITHOUT_NAME.includes(file)) throw new Error(`${file}: which problem?`);
        const standard = fix ? 'warn' : 'error';
        for (const one of names) add(one, ...(level ? literalsOf(level, file) : [standard]));
      },
    }).visit(parseSync(file, read(file)).program);
  for (const [, name = ''] of read('src/store/values.ts').matchAll(/'(deployment_\w+)'/g)) add(name, 'warn');
  const tables = [...keysOf('src/server/work-watch.ts', 'TEXTS'), ...keysOf('src/workspaces.ts', 'texts')];
  for (const name of tables) add(name, 'error');
  const file = 'src/store/redis/check.ts';
  const [, warned = ''] = /level: (.+) \? 'warn' : 'error'/.exec(read(file)) ?? [];
  for (const kind of keysOf(file, 'TEXTS'))
    add(`redis_${kind}`, warned.includes(`'${kind}'`) ? 'warn' : 'error');
  return levels;
}

const keyOf = (key: Node) => (key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : '');

/** Returns the texts that an expression may have, by the constant of its name if it is one. */
function literalsOf(node: Node, file: string): string[] {
  if (node.type === 'Literal') return [String(node.value)];
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].flatMap((one) => literalsOf(one, file));
  return node.type === 'Identifier'
    ? constantsOf(file, node.name).flatMap((one) => literalsOf(one, file))
    : [];
}

function constantsOf(file: string, name: string): Node[] {
  const found: Node[] = [];
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && id.name === name && init) found.push(init);
    },
  }).visit(parseSync(file, read(file)).program);
  return found.map((one) => (one.type === 'TSAsExpression' ? one.expression : one));
}

const keysOf = (file: string, table: string): string[] =>
  constantsOf(file, table).flatMap((one) =>
    one.type === 'ObjectExpression'
      ? one.properties.map((row) => (row.type === 'Property' ? String(keyOf(row.key)) : ''))
      : [],
  );
