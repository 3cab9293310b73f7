import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addLibraries, canFetch, fetchPackages, writeWrapper } from './debs.mjs';
import { announced } from './shell.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** With the machine's own fonts, lines would break elsewhere on each machine. */
const FONTS = ['fonts-lato', 'fonts-noto-color-emoji', 'fonts-dejavu-core'];

const cached = (root, what) => join(root, 'node_modules', '.cache', 'docket', what);

/**
 * Returns Chromium and the environment in which it has the gallery's fonts: `{ executablePath, env }`. Returns undefined
 * where one of them is not here; `fetchBrowser` fetches them.
 */
export function browserHere(root, path = process.env.PATH ?? '') {
  const installed = path.split(':').flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const executablePath = [...installed, join(cached(root, 'chromium'), 'bin', 'chromium')].find(existsSync);
  const fonts = cached(root, 'fonts');
  if (executablePath === undefined || !existsSync(fonts)) return undefined;
  const config = join(fonts, 'fonts.conf');
  const elements = `<dir>${join(fonts, 'root', 'usr', 'share', 'fonts')}</dir><cachedir>${join(fonts, 'cache')}</cachedir>`;
  writeFileSync(config, `<?xml version="1.0"?><fontconfig>${elements}</fontconfig>\n`);
  return { executablePath, env: { FONTCONFIG_FILE: config } };
}

/**
 * Fetches what `browserHere` lacks into the cache folder on Debian, and returns it; nothing is installed. Ubuntu has the
 * fonts alone. Returns undefined when it cannot be.
 */
export async function fetchBrowser(root) {
  if (browserHere(root) === undefined && (await canFetch()))
    await announced('Fetching Chromium and fonts…', async () => {
      await fetchPackages(cached(root, 'fonts'), FONTS);
      if (browserHere(root) === undefined)
        await fetchPackages(cached(root, 'chromium'), ['chromium', 'chromium-common'], prepareChromium);
    });
  return browserHere(root);
}

async function prepareChromium(work, debs) {
  const program = join(debs.root, 'usr', 'lib', 'chromium', 'chromium');
  if (!existsSync(program) || !(await addLibraries(debs, program))) return false;
  mkdirSync(join(work, 'bin'));
  writeWrapper(work, program, debs.root, 'chromium');
  return true;
}
