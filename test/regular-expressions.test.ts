import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { check } from 'recheck';
import { beforeAll, expect, test } from 'vitest';
import { type Pattern, sources } from './support/built-patterns.ts';

const root = join(import.meta.dirname, '..');

/** They read settings alone, which nobody else writes; and their patterns take a quarter of the time. */
const OF_OPERATORS = ['src/config/settings.ts', 'src/runtime/outgoing.ts', 'src/store/redis/connections.ts'];

const isRegExp = (node: Expression) => node.type === 'Identifier' && node.name === 'RegExp';

/** The regular expressions that a file writes out, and how often it builds one. */
function writtenIn(file: string) {
  const literals: Pattern[] = [];
  let built = 0;
  new Visitor({
    Literal(node) {
      if ('regex' in node) literals.push({ file, source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression({ callee }) {
      if (isRegExp(callee)) built += 1;
    },
    CallExpression({ callee }) {
      if (isRegExp(callee)) built += 1;
    },
  }).visit(parseSync(file, readFileSync(join(root, file), 'utf8')).program);
  return { literals, built };
}

/** Only counts of steps decide, and no time: a busy machine would make a fast pattern look slow. */
const patient = { timeout: null, attackTimeout: null, incubationTimeout: null, seedingTimeout: null };

/** recheck does not know the flag `v`. A pattern that repeats nothing takes a fixed number of steps at each place. */
const isFixed = ({ source, flags }: Pattern) => flags.includes('v') && !/[*+]|\{\d/.test(source);

/** Why it takes longer than its text is long; nothing where it does not. */
async function problemOf(pattern: Pattern): Promise<string | undefined> {
  const { file, source, flags } = pattern;
  if (isFixed(pattern)) return undefined;
  const found = await check(source, flags, patient);
  if (found.status === 'safe') return undefined;
  return `${file}: /${source}/${flags} ${found.status === 'unknown' ? found.error.kind : found.complexity.summary}`;
}

let built: Pattern[];

beforeAll(async () => {
  const script = join(import.meta.dirname, 'support/built-patterns.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 100e6 });
  built = JSON.parse(stdout);
});

test('the check knows a slow pattern from a fast one', async () => {
  const pattern = (source: string) => ({ file: 'here', source, flags: '' });
  expect(await problemOf(pattern('a+$'))).toBe('here: /a+$/ 2nd degree polynomial');
  expect(await problemOf(pattern('(?<!a)a+$'))).toBeUndefined();
});

test('no pattern in src takes longer than its text is long', async () => {
  const literals = sources
    .filter((file) => !OF_OPERATORS.includes(file))
    .flatMap((file) => writtenIn(file).literals);
  expect(literals.length).toBeGreaterThan(100);
  const problems: string[] = [];
  // Many are built again and again, or written twice.
  const unlike = new Map([...literals, ...built].map((one) => [`/${one.source}/${one.flags}`, one]));
  for (const pattern of unlike.values()) problems.push((await problemOf(pattern)) ?? '');
  expect(problems.filter((problem) => problem !== '')).toEqual([]);
}, 600_000);

test('every place that builds a pattern was seen building one', () => {
  const building = sources.filter((file) => writtenIn(file).built > 0);
  expect(building.filter((file) => !built.some((pattern) => pattern.file === file))).toEqual([]);
});
