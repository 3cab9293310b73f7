import '../config/node-version.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { parse } from 'yaml';
import { type EnvFile, readEnvFile } from '../config/env-file.ts';
import { readSettings, SettingsError } from '../config/settings.ts';
import { prepareWayOut } from '../runtime/outgoing.ts';
import {
  checkBotToken,
  checkPort,
  checkProjects,
  checkRequests,
  checkStorage,
  type Line,
  ok,
  warning,
  wrong,
} from './checks.ts';

/** Returns the path of a file beside package.json. */
export const inRoot = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Returns the scopes of the bot in manifest.yml. */
export const manifestScopes = (): string[] =>
  parse(readFileSync(inRoot('manifest.yml'), 'utf8')).oauth_config.scopes.bot;

/** Checks everything that Docket needs. Returns a line for each part; for wrong settings, one for each problem. */
export async function diagnose(variables: NodeJS.ProcessEnv): Promise<Line[]> {
  const file = readEnvFile(inRoot('.env'));
  const env = { ...(file.is === 'read' && file.values), ...variables };
  try {
    const settings = readSettings(env);
    prepareWayOut(settings);
    const lines = await Promise.all([
      [judgeEnvFile(file), ok('Settings', 'All are valid.')],
      checkBotToken(settings, manifestScopes()),
      checkRequests(settings),
      checkProjects(settings),
      checkStorage(settings, env.PATH ?? ''),
      checkPort(settings, env),
    ]);
    return lines.flat();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [
      judgeEnvFile(file),
      ...error.problems.map((text) => wrong('Settings', text)),
      warning('Slack, docs platform, Redis, port', 'Not checked. Fix the settings first.'),
    ];
  }
}

function judgeEnvFile(file: EnvFile): Line {
  if (file.is === 'unreadable') return wrong('.env', file.problem);
  if (file.is === 'absent')
    return ok('.env', 'There is none: settings come from the environment. npm run setup writes one.');
  return file.warning === undefined
    ? ok('.env', 'Only its owner can read it.')
    : warning('.env', file.warning);
}

const SIGNS = {
  ok: ['✔', 'green'],
  wrong: ['✖', 'red'],
  warning: ['!', 'yellow'],
} as const;

/** Returns the printed lines, in colours if the standard output shows them. */
export const render = (lines: readonly Line[]): string =>
  lines
    .map(({ status, about, text }) => {
      const [sign, colour] = SIGNS[status];
      return `${styleText(colour, `${sign} ${status.padEnd(7)}`)} ${about}: ${text}\n`;
    })
    .join('');

/** Returns whether there are no errors; warnings do not count. */
export const isGood = (lines: readonly Line[]): boolean => lines.every(({ status }) => status !== 'wrong');

/** Prints a line for each part that Docket needs, and ends the process: with 1 on an error, else with 0. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const lines = await diagnose(env);
  const count = (wanted: Line['status']) => lines.filter(({ status }) => status === wanted).length;
  const counts = `${count('wrong')} wrong, ${count('warning')} to look at.`;
  process.stdout.write(`${render(lines)}${counts}\n`, () => process.exit(isGood(lines) ? 0 : 1));
}

if (import.meta.main) await main(process.env);
