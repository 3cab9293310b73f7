import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'demo', 'browser', 'page');
const cache = join(root, 'node_modules', '.cache', 'docket');

/** What the page is made of outside its folder. */
export const OTHER_SOURCES = [
  'demo/browser/build.ts',
  'demo/browser/protocol.ts',
  'demo/words.ts',
  'package-lock.json',
];

/**
 * Builds the page, unless it is built already as its sources and the packages are now. Returns its folder, with
 * `index.html` and `assets`.
 */
export async function buildPage(): Promise<string> {
  const folder = join(cache, `page-${sourcesHash()}`);
  if (existsSync(join(folder, 'index.html'))) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = `${folder}.${process.pid}`;
  const { build } = await import('vite');
  await build({
    root: page,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      // A page that may load from its own origin alone has no pictures in its addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 2000,
    },
  });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another one built the same at the same time.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(join(folder, 'index.html'))) throw error;
  }
  return folder;
}

function sourcesHash(): string {
  const files = globSync('**/*', { cwd: page, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const file of [...files, ...OTHER_SOURCES.map((name) => join(root, name))])
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}
