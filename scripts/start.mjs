// npm start: checks what Docket needs, reads .env and starts it in this process, so that signals reach it.
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { missingPackages } from './packages.mjs';
import { redisPath } from './redis.mjs';
import { startProblem } from './versions.mjs';

// src/config/node.ts does this as well, but only when all modules are read.
setFlagsFromString('--semi-space-growth-factor=1');

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const problem = startProblem(process.version) ?? packagesProblem();
if (problem) fail(problem);

// A start with compiled code takes half the time. When the folder cannot be written to, nothing is cached. Before any
// TypeScript: one file that is not cached loads the compiler, which takes 10 MB for good.
module.enableCompileCache(join(root, 'node_modules', '.cache', 'docket', 'compiled'));
const { readEnvFile } = await import('../src/config/env-file.ts');
const file = readEnvFile(join(root, '.env'));
if (file.problem) fail(file.problem);
if (file.warning) process.stderr.write(`${file.warning}\n`);
for (const [name, value] of Object.entries(file.values ?? {})) process.env[name] ??= value;
const path = process.env.PATH ?? '';
// The demo or the tests may have fetched a server; without one the app itself says what to do.
if (!process.env.REDIS_URL) process.env.PATH = redisPath(root, path) ?? path;

const { main } = await import('../src/app.ts');
await main(process.env);
module.flushCompileCache();

function fail(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

function packagesProblem() {
  const missing = missingPackages(root);
  if (missing.length === 0) return undefined;
  return `Packages are missing: ${missing.join(', ')}.\nRun "npm ci" (on a server "npm ci --omit=dev --ignore-scripts"), then start again.`;
}
