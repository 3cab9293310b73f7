import { fileURLToPath } from 'node:url';
import { browserHere, fetchBrowser } from '../../scripts/browser.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Fetches the browser once for all files. Where it cannot be had, they say so and are left out. */
export default async function setup(): Promise<void> {
  if (browserHere(root) === undefined) await fetchBrowser(root);
}
