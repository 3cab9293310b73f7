import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { canFetch, fetchPackages } from './debs.mjs';

/** @param {string} folder */
const programsIn = (folder) => {
  const found = { prometheus: join(folder, 'prometheus'), promtool: join(folder, 'promtool') };
  return Object.values(found).every((program) => existsSync(program)) ? found : undefined;
};

/**
 * Returns the paths of Prometheus and its tool. When they are not installed, they are fetched into the cache folder on
 * Debian and Ubuntu. Returns undefined when they cannot be.
 */
export async function findPrometheus(root, path = process.env.PATH ?? '') {
  const installed = path.split(':').map(programsIn).find(Boolean);
  if (installed !== undefined) return installed;
  const target = join(root, 'node_modules', '.cache', 'docket', 'prometheus');
  const fetched = () => programsIn(join(target, 'root', 'usr', 'bin'));
  if (fetched() === undefined && (await canFetch())) await fetchPackages(target, ['prometheus']);
  return fetched();
}

if (import.meta.filename === process.argv[1]) await findPrometheus(dirname(import.meta.dirname));
