// node scripts/operate.mjs FILE ARGUMENTS…: brings what is missing, as npm start does, and runs a program of src for
// operators.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithProblem, runInOurPlace } from './child.mjs';
import { pathWithRedis, preparePackages } from './prepare.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);

const path = await prepare().catch(endWithProblem);
if (path !== undefined)
  runInOurPlace(process.execPath, [`${root}/${file}`, ...args], { ...process.env, PATH: path });

async function prepare() {
  if (!(await preparePackages(root))) return undefined;
  const { readEnvFile } = await import('../src/config/env-file.ts');
  return await pathWithRedis({ ...readEnvFile(`${root}/.env`).values, ...process.env });
}
