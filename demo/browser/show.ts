import { Interrupted, interruption } from '../interruption.ts';
import { buildPage } from './build.ts';
import { openInBrowser } from './open.ts';
import { type Demo, FolderInUse, startDemo } from './start.ts';

/** So that the address stays the same from one time to the next. */
const PORT = 8140;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Shows Docket in the browser until Ctrl-C. Returns the exit code. */
export async function showInBrowser(keep: string | undefined): Promise<number> {
  const interrupted = interruption();
  let starting: Promise<Demo> | undefined;
  try {
    print('Starting the demo: a Slack and a docs platform on this machine, and the real Docket.');
    // A first start builds the page, which needs no Docket, and Docket no page.
    const pageFolder = await Promise.race([buildPage(), interrupted]);
    starting = startDemo({ pageFolder, port: PORT, keep, searchPath: process.env.PATH, onError: report });
    const { url } = await Promise.race([starting, interrupted]);
    print(`\n  ${url}\n`);
    print(
      keep === undefined
        ? 'Ctrl-C ends it, and leaves nothing.'
        : `Ctrl-C ends it; its data stay in ${keep}.`,
    );
    openInBrowser(url, { env: process.env, platform: process.platform, isTerminal: process.stdout.isTTY });
    return await interrupted;
  } catch (error) {
    return await end(error, starting);
  }
}

async function end(error: unknown, starting: Promise<Demo> | undefined): Promise<number> {
  const isAsked = error instanceof Interrupted;
  if (isAsked) print('\nStopping…');
  else if (error instanceof FolderInUse) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  // One that fails while it starts has ended everything by itself.
  const demo = await starting?.catch(() => undefined);
  await demo?.stop();
  if (isAsked) print('Everything is stopped.');
  return isAsked ? error.exitCode : 1;
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
}
