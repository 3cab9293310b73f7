import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readManifestScopes } from '../doctor/manifest-scopes.ts';
import { describeSetup, SetupProblem, setUpDocket } from './setup.ts';
import { createTerminal, Interrupted } from './terminal.ts';

const TIME_LIMIT_MS = 5000;

const inRoot = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Asks for what is missing, or says what that is where there is no terminal; ends the process with 0 when all is good. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const manifest = readFileSync(inRoot('manifest.yml'), 'utf8');
  const options = {
    env,
    envFile: inRoot('.env'),
    envExample: readFileSync(inRoot('.env.example'), 'utf8'),
    manifest,
    manifestScopes: readManifestScopes(manifest),
    nodeVersion: process.version,
    searchPath: env.PATH ?? '',
    machineMs: Date.now,
    timeLimitMs: TIME_LIMIT_MS,
  };
  try {
    process.exitCode = await run(options);
  } catch (error) {
    if (error instanceof Interrupted) {
      process.stdout.write('\nStopped. Your answers so far are saved; run npm run setup to continue.\n');
      process.exitCode = 130;
    } else if (error instanceof SetupProblem) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    } else throw error;
  }
  // A probe that nobody waits for any more may be under way.
  process.stdout.write('', () => process.exit());
}

async function run(options: Parameters<typeof setUpDocket>[0]): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    const { text, missing } = describeSetup(options);
    process.stdout.write(text);
    return missing ? 1 : 0;
  }
  const terminal = createTerminal(process.stdin, process.stdout);
  try {
    return (await setUpDocket(options, terminal)) ? 0 : 1;
  } finally {
    terminal.close();
  }
}

if (import.meta.main) await main(process.env);
