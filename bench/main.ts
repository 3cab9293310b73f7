import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PLOTS, writeDocs } from './parts/docs.ts';

/**
 * Runs every bench of this folder, one after another, since two at once would disturb each other.
 * `npm run bench -- idle` runs one, `npm run bench -- figures` those of docs/benchmarks.md, and with `--write-docs`
 * writes that page; other arguments that begin with `--` are passed on.
 */
const FIGURES = ['acknowledge', 'reply-latency', 'watched-exports', 'second-worker', 'idle'];

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('--') && arg !== '--write-docs');
const named = args.filter((arg) => !arg.startsWith('--'));
const wanted = named.flatMap((name) => (name === 'figures' ? FIGURES : [name]));
const writes = args.includes('--write-docs');

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== basename(import.meta.filename))
  .map((file) => basename(file, '.ts'))
  .sort();
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}; there is ${names.join(', ')}, and figures.`);
  process.exit(1);
}
if (writes && !FIGURES.every((name) => wanted.includes(name))) {
  console.error('The page has the figures of one run: npm run bench -- figures --write-docs');
  process.exit(1);
}

const printed = new Map<string, string>();
for (const name of wanted.length > 0 ? wanted : names) {
  console.log(`\n== ${name}\n`);
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...options], {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, ...(writes && { BENCH_PLOTS: PLOTS }) },
  });
  const text = readAlong(child);
  const [code] = await once(child, 'close');
  printed.set(name, text());
  if (code !== 0) process.exitCode = 1;
}
if (writes) writeDocs(printed);

/** Shows what a process prints, and returns all of it. */
function readAlong({ stdout }: ChildProcess): () => string {
  let text = '';
  stdout?.setEncoding('utf8').on('data', (part: string) => {
    process.stdout.write(part);
    text += part;
  });
  return () => text;
}
