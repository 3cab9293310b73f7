import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A regular expression, and the file of src that has it. */
export interface Pattern {
  file: string;
  source: string;
  flags: string;
}

const root = join(import.meta.dirname, '../..');

/** The files of src, from the project's folder. */
export const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));

/** Imports all files, and returns the patterns that they build meanwhile. For a process of its own. */
async function recordBuilt(): Promise<Pattern[]> {
  const built: Pattern[] = [];
  const note = (source: string | RegExp, flags = '') => {
    const caller = new Error().stack?.split('\n')[3] ?? '';
    const file = sources.find((name) => caller.includes(join(root, name)));
    if (file !== undefined) built.push({ file, source: String(source), flags });
  };
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, parts: [string], newTarget) {
      note(...parts);
      return Reflect.construct(target, parts, newTarget);
    },
    apply(target, that, parts: [string]) {
      note(...parts);
      return Reflect.apply(target, that, parts);
    },
  });
  for (const file of sources) await import(join(root, file));
  return built;
}

if (import.meta.main) process.stdout.write(JSON.stringify(await recordBuilt()), () => process.exit());
