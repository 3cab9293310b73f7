import '../config/node-version.ts';
import { readPublicUrl } from './manifest.ts';
import { createAppText, setUpDocket } from './setup.ts';
import { createTerminal, Interrupted } from './terminal.ts';

const USAGE = `Usage: npm run setup [-- https://the.address.that.slack.reaches]
Without an address it sets up Socket Mode, which needs none.
`;

/** Asks for missing settings, or prints the steps if there is no terminal; exits with 0 if all is well. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const [typed] = process.argv.slice(2);
  const publicUrl = typed === undefined ? undefined : readPublicUrl(typed);
  process.exitCode = 1;
  if (typed !== undefined && publicUrl === undefined) process.stderr.write(USAGE);
  else if (!process.stdin.isTTY || !process.stdout.isTTY)
    process.stdout.write(
      `Setup asks questions, and needs a terminal. By hand: docs/setup.md.\n${createAppText(publicUrl)}`,
    );
  else process.exitCode = await ask(env, publicUrl);
}

async function ask(variables: NodeJS.ProcessEnv, publicUrl: string | undefined): Promise<number> {
  const terminal = createTerminal();
  try {
    return (await setUpDocket({ variables, publicUrl, terminal })) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    terminal.say('\nStopped. Your answers so far are saved; run npm run setup to continue.');
    return 130;
  } finally {
    terminal.close();
  }
}

if (import.meta.main) await main(process.env);
