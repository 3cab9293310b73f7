import '../config/node-version.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { diagnose } from './diagnose.ts';
import { readManifestScopes } from './manifest-scopes.ts';
import { isGood, renderJson, renderLines } from './render.ts';

const TIME_LIMIT_MS = 5000;

const USAGE = `Usage: npm run doctor [-- --json], in the image: doctor [--json]
Checks what Docket needs, one line per check. Exits with 0 if nothing is wrong, else with 1.
`;

/** Prints what is wrong with this machine and its settings, and ends the process. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const args = process.argv.slice(2);
  const unknown = args.filter((arg) => arg !== '--json');
  if (unknown.length > 0) return end(USAGE, unknown.every((arg) => arg === '--help') ? 0 : 1);
  const findings = await diagnose({
    env,
    envFile: inRoot('.env'),
    nodeVersion: process.version,
    manifestScopes: readManifestScopes(readFileSync(inRoot('manifest.yml'), 'utf8')),
    searchPath: env.PATH ?? '',
    machineMs: Date.now,
    timeLimitMs: TIME_LIMIT_MS,
  });
  const text = args.includes('--json') ? renderJson(findings) : renderLines(findings);
  end(text, isGood(findings) ? 0 : 1);
}

const inRoot = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Ends also while a request that nobody waits for any more is under way. */
function end(text: string, code: number): void {
  process.stdout.write(text, () => process.exit(code));
}

if (import.meta.main) await main(process.env);
