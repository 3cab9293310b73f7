import { fileURLToPath } from 'node:url';
import { fetchBrowser } from './browser.mjs';

/** Fetches what draws the gallery, where that can be, so that `npm test` checks how many lines messages take. */
const found = await fetchBrowser(fileURLToPath(new URL('../', import.meta.url)));
if (found === undefined) process.stderr.write('Chromium and its fonts cannot be fetched here.\n');
