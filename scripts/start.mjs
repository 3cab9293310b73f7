// npm start: brings what Docket needs, reads .env and starts it in this process, so that signals reach it.
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { endWithProblem } from './child.mjs';
import { pathWithRedis, preparePackages } from './prepare.mjs';
import { SetupError } from './shell.mjs';

// src/config/node.ts does this as well, but only when all modules are read.
setFlagsFromString('--semi-space-growth-factor=1');

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (await prepare().catch(endWithProblem)) {
  const { main } = await import('../src/app.ts');
  await main(process.env);
  module.flushCompileCache();
}

async function prepare() {
  if (!(await preparePackages(root))) return false;
  // A start with compiled code takes half the time. When the folder cannot be written to, nothing is cached. Before any
  // TypeScript: one file that is not cached loads the compiler, which takes 10 MB for good.
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'docket', 'compiled'));
  const { readEnvFile } = await import('../src/config/env-file.ts');
  const file = readEnvFile(join(root, '.env'));
  if (file.problem) throw new SetupError(file.problem);
  if (file.warning) process.stderr.write(`${file.warning}\n`);
  for (const [name, value] of Object.entries(file.values ?? {})) process.env[name] ??= value;
  process.env.PATH = await pathWithRedis(process.env);
  return true;
}
