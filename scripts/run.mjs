// node scripts/run.mjs COMMAND ARGUMENTS…: runs a command of the project, after setting up what it needs.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithProblem, runInOurPlace } from './child.mjs';
import { setUp } from './setup.mjs';
import { SetupError } from './shell.mjs';
import { setupProblem } from './versions.mjs';

/** Tools that only read the code: they must work on a machine that can have no Redis. */
const WITHOUT_REDIS = ['tsc', 'biome', 'knip'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [command, ...args] = process.argv.slice(2);

try {
  const problem = setupProblem(process.version);
  if (problem) throw new SetupError(problem);
  if (!command) throw new SetupError('Usage: node scripts/run.mjs COMMAND ARGUMENTS…');
  const path = await setUp(root, { redis: !WITHOUT_REDIS.includes(command) });
  runInOurPlace(command, args, { ...process.env, PATH: path });
} catch (error) {
  endWithProblem(error);
}
