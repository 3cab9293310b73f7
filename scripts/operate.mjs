// node scripts/operate.mjs FILE ARGUMENTS…: runs a program of src for operators. On a server it does with the packages of
// production; elsewhere what is missing is set up first.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInOurPlace } from './child.mjs';
import { missingPackages } from './packages.mjs';
import { redisPath } from './redis.mjs';
import { startProblem } from './versions.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [file, ...args] = process.argv.slice(2);
const program = `${root}/${file}`;

const problem = startProblem(process.version);

// On a server nothing may be set up.
if (problem && process.env.NODE_ENV === 'production') {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else if (problem || missingPackages(root).length > 0)
  runInOurPlace(process.execPath, [`${root}/scripts/run.mjs`, 'node', program, ...args], process.env);
else {
  const path = process.env.PATH ?? '';
  runInOurPlace(process.execPath, [program, ...args], {
    ...process.env,
    PATH: redisPath(root, path) ?? path,
  });
}
