import { parseArgs } from 'node:util';

/** What `npm run demo --` was asked for. */
export type DemoOptions =
  | { show: 'browser'; keep?: string }
  | { show: 'terminal' }
  | { show: 'stand-ins'; envFile?: string }
  | { show: 'help' };

export const USAGE = `npm run demo                       Docket in a Slack on this machine, in your browser
npm run demo -- --keep FOLDER      the same; its data and logs stay in this folder, to be looked at
npm run demo -- --terminal         a story in the terminal: an export, the docs agent, a digest
npm run demo -- --stand-ins        only Slack and the docs platform, to develop a bot against them
npm run demo -- --stand-ins --env FILE   the same; its settings are written to this file`;

/** Asked for something that there is not. The message is a sentence. */
export class WrongOptions extends Error {
  override name = 'WrongOptions';
}

export function readOptions(args: string[]): DemoOptions {
  const values = parsed(args);
  if (values.help) return { show: 'help' };
  const { keep, env: envFile, terminal, 'stand-ins': standIns } = values;
  if (terminal && standIns) throw new WrongOptions('--terminal and --stand-ins do not go together.');
  if (keep !== undefined && (terminal || standIns))
    throw new WrongOptions('--keep goes with the demo in the browser alone.');
  if (envFile !== undefined && !standIns) throw new WrongOptions('--env goes with --stand-ins alone.');
  if (keep === '' || envFile === '') throw new WrongOptions('--keep and --env want a name.');
  if (terminal) return { show: 'terminal' };
  if (standIns) return { show: 'stand-ins', ...(envFile !== undefined && { envFile }) };
  return { show: 'browser', ...(keep !== undefined && { keep }) };
}

function parsed(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        terminal: { type: 'boolean' },
        'stand-ins': { type: 'boolean' },
        keep: { type: 'string' },
        env: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new WrongOptions(error.message.split('. ')[0] ?? error.message);
  }
}
