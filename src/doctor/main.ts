import '../config/node-version.ts';
import { diagnose } from './diagnose.ts';
import { isGood, renderAll } from './lines.ts';

/** Prints a line for each part that Docket needs, and ends the process: with 1 on an error, else with 0. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const lines = await diagnose(env);
  process.stdout.write(renderAll(lines), () => process.exit(isGood(lines) ? 0 : 1));
}

if (import.meta.main) await main(process.env);
