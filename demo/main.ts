// npm run demo: see `USAGE` in options.ts.
import { type DemoOptions, readOptions, USAGE, WrongOptions } from './options.ts';

await run(wanted());

function wanted(): DemoOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof WrongOptions)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}\n`);
    process.exit(1);
  }
}

/** Each loads only what it needs. */
async function run(options: DemoOptions): Promise<void> {
  switch (options.show) {
    case 'help':
      process.stdout.write(`${USAGE}\n`);
      return;
    case 'terminal':
      await import('./terminal/story.ts');
      return;
    case 'stand-ins':
      process.exit(await (await import('./browser/stand-ins.ts')).standInsAlone(options.envFile));
      break;
    case 'browser':
      process.exit(await (await import('./browser/show.ts')).showInBrowser(options.keep));
  }
}
